"""Which functions have more than before, in pprof's count, and by more than sampling error?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gomem.analysis.profiles.changes import profile_changes
from gomem.analysis.profiles.lifetimes import lifetimes
from gomem.inputs.pprof.calls.nodes import ROW_NAMES
from gomem.inputs.schema import Column, build, rows_of
from gomem.text import Function, Words

if TYPE_CHECKING:
    import pandas as pd

    from gomem.inputs.pprof.table import Profile

DIFFERENCES = (
    Column("function", "str", "", "Function, line, file or package, as pprof prints it.", Function),
    Column("flat", "int64", "", "Change of the flat value."),
    Column("flat_low", "Int64", "", "Lower end of flat's 95 % interval."),
    Column("flat_high", "Int64", "", "Upper end of flat's 95 % interval."),
    Column("flat_fraction", "float64", "fraction", "Flat by the total: see `Profile.diff`."),
    Column("cum", "int64", "", "Change of the cumulative value."),
    Column("cum_low", "Int64", "", "Lower end of cum's 95 % interval."),
    Column("cum_high", "Int64", "", "Upper end of cum's 95 % interval."),
    Column("cum_fraction", "float64", "fraction", "Cum by the total: see `Profile.diff`."),
    Column("flat_state", "str", "", "new, gone, grew, shrank, or ~ for sampling noise.", Words),
    Column("cum_state", "str", "", "The same of cum.", Words),
    Column("lifetime_seconds", "Float64", "s", "Mean lifetime of what is allocated there itself."),
    Column("lifetime_low", "Float64", "s", "Lower end of its 95 % interval."),
    Column("lifetime_high", "Float64", "s", "Upper end of the same; missing if there is none."),
)
LIFETIME = ("lifetime_seconds", "lifetime_low", "lifetime_high")
NORMALIZED = "one side was scaled to the sum of the other"


@dataclass(frozen=True)
class TopDifference:
    """The changes of one sample type, by function."""

    sample_type: str  # such as `inuse_space`
    unit: str  # its unit, as the profile declares it
    total: int  # the base of fractions
    top: pd.DataFrame  # rows as in `DIFFERENCES`, in pprof's order
    note: str = ""  # why there are no intervals; empty if there are
    row_name: str = "function"  # the kind of row, one of `ROW_NAMES`

    @property
    def column_names(self) -> tuple[str, ...]:
        """The names of the columns of `top`."""
        return tuple(self.top.columns)

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows as plain values by column."""
        return rows_of(self.top)


def top_difference(
    difference: Profile,
    after: Profile,
    before: Profile,
    sample_type: str | None = None,
    *,
    n: int | None = None,
    granularity: str = "functions",
    cum: bool = False,
    one_process: bool = False,
    normalized: bool = False,
) -> TopDifference:
    """List `after.diff(before)` as `top_sites` lists a profile, with intervals and states.

    The three profiles have the same filters. `normalized` says that one side was scaled, so that
    its sampling is unknown; for `one_process` see `profile_changes`. Raises ValueError if there is
    no such sample type or granularity.
    """
    chosen = difference.sample_type(sample_type)
    row_name = ROW_NAMES[granularity]
    top = difference.top(chosen.type, n, granularity, cum=cum).rename(
        columns={row_name: "function"}
    )
    columns: dict[str, Any] = {name: top[name] for name in top.columns}
    note = NORMALIZED if normalized else ""
    for word in ("flat", "cum"):
        changes = profile_changes(
            before, after, chosen.type, granularity, cum=word == "cum", one_process=one_process
        )
        note = note or changes.note
        columns |= _known(word, top["function"], changes.sites, is_known=not note)
    if one_process and not normalized:
        columns |= _lifetimes(before, after, granularity, top["function"])
    total = difference.total(chosen.type)
    return TopDifference(
        chosen.type, chosen.unit, total, build(columns, DIFFERENCES), note, row_name
    )


def _lifetimes(
    before: Profile, after: Profile, granularity: str, functions: pd.Series
) -> dict[str, pd.Series]:
    """Return the object lifetimes of each row; none if two profiles do not show them."""
    found = lifetimes({"before": before, "after": after}, granularity)
    if found is None or found.last != "after":
        return {}
    by_name = found.sites.set_index("function")
    shared = functions.duplicated(keep=False).to_numpy()
    return {
        name: by_name[name].reindex(functions).mask(shared).reset_index(drop=True)
        for name in LIFETIME
    }


def _known(
    word: str, functions: pd.Series, sites: pd.DataFrame, *, is_known: bool
) -> dict[str, pd.Series]:
    """Return bounds and state of each row; unknown for names that several rows have."""
    by_name = sites.set_index("function")
    shared = functions.duplicated(keep=False).to_numpy() | (not is_known)
    low, high = (by_name[end].reindex(functions).mask(shared) for end in ("low", "high"))
    return {
        f"{word}_low": np.floor(low).astype("Int64").reset_index(drop=True),
        f"{word}_high": np.ceil(high).astype("Int64").reset_index(drop=True),
        f"{word}_state": by_name["state"].reindex(functions).mask(shared).reset_index(drop=True),
    }
