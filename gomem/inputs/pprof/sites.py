"""Allocation sites, with the sampling error of their values; see `statistics/sampling.py`."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gomem.inputs.answer import Answer
from gomem.inputs.pprof.calls.nodes import ROW_NAMES, top_of
from gomem.inputs.pprof.columns import BASE_UNITS
from gomem.inputs.pprof.sampling import sampling_of
from gomem.inputs.schema import Column, build
from gomem.statistics.sampling import Sampling, interval
from gomem.text import File, Function

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pandas as pd

    from gomem.inputs.pprof.table import Profile

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

SITES = (
    Column("function", "str", "", "Function, line, file or package, as pprof prints it.", Function),
    Column("flat", "int64", "", "Allocated there; in the unit of the sample type."),
    Column("flat_low", "Int64", "", "Lower end of flat's 95 % interval."),
    Column("flat_high", "Int64", "", "Upper end of flat's 95 % interval."),
    Column("flat_fraction", "float64", "fraction", "Flat by the profile's total."),
    Column("cum", "int64", "", "Allocated there or in the functions that it called."),
    Column("cum_low", "Int64", "", "Lower end of cum's 95 % interval."),
    Column("cum_high", "Int64", "", "Upper end of cum's 95 % interval."),
    Column("cum_fraction", "float64", "fraction", "Cum by the profile's total."),
)


@dataclass(frozen=True)
class Bounds:
    """95 % intervals of sums, rounded outwards; NaN if nothing was sampled."""

    low: FloatArray
    high: FloatArray


@dataclass(frozen=True, repr=False)
class AllocationSites(Answer):
    """The largest sites of one sample type, in pprof's order.

    Rows are stored as columns, one entry per site, and become a frame on request: a command that
    prints twenty rows does not need pandas.

    Attributes:
        sample_type: The sample type, such as `inuse_space`.
        unit: Its unit, as the profile declares it.
        total: The total of the whole profile.
        function: Function, line, file or package, as pprof prints it.
        flat: Allocated by the site itself, in the unit.
        flat_bounds: The 95 % intervals of flat.
        cum: Allocated by the site and the functions that it called.
        cum_bounds: The 95 % intervals of cum.
        note: Why there are no intervals; empty if there are.
        row_name: What a row is, one of `ROW_NAMES`; also the name of the frame's first column.
        total_is_derived: Whether a pasted table has no total, so that it is derived from shares.
        printed_shares: For a pasted table: the printed share of each row's flat.
        without_stack: The part of the total on samples without a stack, which no row includes.
        is_shown_in_part: Whether that part is what a pasted table or excerpt does not show.
        is_printed: Whether the rows are those of a pasted table, which has no stacks.
    """

    sample_type: str
    unit: str
    total: int
    function: list[str]
    flat: IntArray
    flat_bounds: Bounds
    cum: IntArray
    cum_bounds: Bounds
    note: str = ""
    row_name: str = "function"
    total_is_derived: bool = False
    printed_shares: Mapping[str, float] = field(default_factory=dict)
    without_stack: int = 0
    is_shown_in_part: bool = False
    is_printed: bool = False

    def __repr__(self) -> str:
        return f"<{len(self.function)} sites of {self.sample_type}>"

    @cached_property
    def top(self) -> pd.DataFrame:
        """A row per site; see `SITES`, with the unit of the sample type.

        The first column is named after the granularity: `function`, `file`, `line`, `package`, …
        """
        values = dict(zip(_NAMES, self._columns(), strict=True))
        for name in _BOUNDS:
            unknown = np.isnan(values[name])
            known = np.where(unknown, 0, values[name]).astype(np.int64)
            values[name] = np.ma.masked_array(known, unknown)
        values[self.row_name] = values.pop("function")
        return build(values, _sites_in(BASE_UNITS.get(self.unit, ""), self.row_name))

    @property
    def column_names(self) -> tuple[str, ...]:
        """The column names in `SITES`."""
        return _NAMES

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield the rows as dicts of plain values; None if a bound is unknown."""
        columns = (np.asarray(column, dtype=object).tolist() for column in self._columns())
        for values in zip(*columns, strict=True):
            row = dict(zip(_NAMES, values, strict=True))
            for name in _BOUNDS:
                row[name] = None if math.isnan(row[name]) else int(row[name])
            yield row

    def _columns(self) -> tuple[Any, ...]:
        """The values in the order of `SITES`."""
        whole = self.total or np.nan
        shares = self.flat / whole
        for row, name in enumerate(self.function):
            shares[row] = self.printed_shares.get(name, shares[row])
        flat = (self.flat, self.flat_bounds.low, self.flat_bounds.high, shares)
        cum = (self.cum, self.cum_bounds.low, self.cum_bounds.high, self.cum / whole)
        return (self.function, *flat, *cum)


def sites_named(granularity: str) -> tuple[Column, ...]:
    """Return `SITES` with the first column named after the granularity."""
    return _sites_in("", ROW_NAMES.get(granularity, "function"))


@cache
def _sites_in(unit: str, row_name: str) -> tuple[Column, ...]:
    """Return `SITES` with the unit of a sample type, and the first column named `row_name`."""
    in_unit = {"int64": unit, "Int64": unit}
    first, *others = SITES
    return (
        replace(first, name=row_name, holds=File if row_name == "file" else Function),
        *(replace(column, unit=in_unit.get(column.dtype, column.unit)) for column in others),
    )


_NAMES = tuple(column.name for column in SITES)
_BOUNDS = tuple(name for name in _NAMES if name.endswith(("_low", "_high")))


def top_sites(
    profile: Profile,
    sample_type: str | None = None,
    n: int | None = None,
    granularity: str = "functions",
    *,
    cum: bool = False,
) -> AllocationSites:
    """Return the largest sites, with 95 % intervals.

    Only sampled heap profiles have intervals. `sample_type` None means the default one, `n` None
    all rows; see `Profile.top` for the granularity, and for errors.
    """
    wanted: object = n
    if wanted is not None and (isinstance(wanted, bool) or not hasattr(wanted, "__index__")):
        hint = f"; did you mean granularity={n!r}?" if isinstance(wanted, str) else ""
        raise TypeError(f"n: {n!r}; wanted a number of rows, or None for all{hint}")
    chosen = profile.sample_type(sample_type)
    nodes, sampling = profile.nodes(granularity), sampling_of(profile, chosen.type)
    weights: list[NDArray[Any]] = [profile.values(sample_type)]
    if isinstance(sampling, Sampling):
        weights += sampling.parts
    flat, *behind_flat = map(nodes.flat, weights)
    cumulative, *behind_cum = nodes.cum_of_each(weights)
    cumulative = profile.with_printed(cumulative, nodes, sample_type)
    top = top_of(nodes, flat, cumulative, by_cum=cum, n=n)
    return AllocationSites(
        sample_type=chosen.type,
        unit=chosen.unit,
        total=profile.total(sample_type),
        function=top.function,
        flat=top.flat,
        flat_bounds=_bounds(top.flat, [part[top.node] for part in behind_flat]),
        cum=top.cum,
        cum_bounds=_bounds(top.cum, [part[top.node] for part in behind_cum]),
        note="" if isinstance(sampling, Sampling) else sampling,
        row_name=ROW_NAMES[granularity],
        total_is_derived=profile.printed is not None and chosen.type in profile.printed.derived,
        printed_shares={}
        if profile.printed is None
        else profile.printed.shares.get(chosen.type, {}),
        without_stack=int(profile.values(sample_type)[profile.columns.lacks_stack].sum()),
        is_shown_in_part=profile.printed is not None or profile.header_total is not None,
        is_printed=not profile.has_stacks,
    )


def _bounds(sums: IntArray, behind: list[FloatArray]) -> Bounds:
    """Return the intervals of sums, given the same sums of `Sampling.parts`; else NaN."""
    if not behind:
        unknown = np.full(len(sums), np.nan)
        return Bounds(unknown, unknown)
    low, high = interval(sums.astype(np.float64), Sampling(*behind))
    return Bounds(np.floor(low), np.ceil(high))
