"""Which allocation sites changed between two profiles by more than sampling error?

A site has two names if it was renamed or moved between two builds.

A rename is literal, `OLD=NEW`: a function, a type or a package path, with everything inside. A
rename applies to function names that equal OLD, or that begin with OLD followed by a character that
is not part of an identifier. So `main.handle` also renames `main.handle.func1`, but not
`main.handleAll`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from gomem.errors import CaptureError
from gomem.inputs.pprof.sampling import sampling_of
from gomem.inputs.schema import Column, build
from gomem.statistics.sampling import UNSEEN_SIGHTINGS, FloatArray, Sampling, interval
from gomem.text import Function, Quoted, Words, text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from gomem.inputs.pprof.columns import PprofColumns, RowArray
    from gomem.inputs.pprof.table import Profile

STATES = ("new", "gone", "grew", "shrank", "~")
SITES = (
    Column("function", "str", "", "Who allocates.", Function),
    Column("before", "Float64", "", "Flat value before, in the profile's unit; 0 if not there."),
    Column("after", "Float64", "", "Flat value after, in the profile's unit; 0 if not there."),
    Column("change", "Float64", "", "After less before."),
    Column("low", "Float64", "", "Lower end of the change's 95 % interval; missing if unknown."),
    Column("high", "Float64", "", "Upper end of the change's 95 % interval; missing if unknown."),
    Column("state", "str", "", "new, gone, grew, shrank, or ~ for sampling noise.", Words),
)
FLAT = ["flat", "flat_low", "flat_high"]


def compare_sites(
    before: pd.DataFrame,
    after: pd.DataFrame,
    *,
    before_unseen_high: float | pd.Series = 0.0,
    after_unseen_high: float | pd.Series = 0.0,
) -> pd.DataFrame:
    """Compare the flat values of two sampled profiles by site, the largest change first.

    A side has the columns `function` (unique), `flat`, `flat_low`, `flat_high`; for the rows see
    `SITES`. The interval of a difference is computed from the intervals of the two values, which
    need not be symmetric (Zou and Donner 2008). If the interval of a site's difference includes 0,
    the site might not have changed.

    `before_unseen_high` and `after_unseen_high` bound sites that a profile does not show: the upper
    end of the 95 % interval of a count of 0, which is 3.7 samples, in the profile's unit; 0 for a
    profile that counts everything. Each is one number, or one number per function. Raises
    ValueError if a function occurs twice in one profile.
    """
    return compare_site_runs([before], [after], [before_unseen_high], [after_unseen_high])


def compare_site_runs(
    before: Sequence[pd.DataFrame],
    after: Sequence[pd.DataFrame],
    before_unseen_high: Sequence[float | pd.Series],
    after_unseen_high: Sequence[float | pd.Series],
) -> pd.DataFrame:
    """Compare several profiles per side by site, as `compare_sites` does two profiles.

    The value of a side is the mean over its profiles. Samples of different runs are independent, so
    the interval of a mean is computed from the intervals of the values, like that of a difference.
    That interval covers only sampling noise, not other variation between runs.
    """
    old, new = ([run.set_index("function")[FLAT] for run in side] for side in (before, after))
    functions = _union([*old, *new])
    old_flat, old_low, old_high = _mean(old, functions, before_unseen_high)
    new_flat, new_low, new_high = _mean(new, functions, after_unseen_high)
    change = new_flat - old_flat
    low = change - np.hypot(new_flat - new_low, old_high - old_flat)
    high = change + np.hypot(new_high - new_flat, old_flat - old_low)
    appeared, vanished = (~functions.isin(_union(side)) for side in (old, new))
    states = {
        "new": (low > 0) & appeared,
        "grew": low > 0,
        "gone": (high < 0) & vanished,
        "shrank": high < 0,
    }
    columns = {
        "function": functions.to_numpy(dtype=object),
        "before": old_flat,
        "after": new_flat,
        "change": change,
        "low": low,
        "high": high,
        "state": np.select(list(states.values()), list(states), "~"),
    }
    largest_first = np.lexsort((columns["function"], -np.abs(change)))
    return build({name: values[largest_first] for name, values in columns.items()}, SITES)


@dataclass(frozen=True)
class SiteChanges:
    """The change between two profiles, for one sample type."""

    sample_type: str  # such as `inuse_space`
    unit: str  # its unit, as the profile declares it
    sites: pd.DataFrame  # rows as in `SITES`, the largest change first
    note: str = ""  # why there are no intervals, so every state is `~`; empty if there are


def profile_changes(
    before: Profile,
    after: Profile,
    sample_type: str | None = None,
    granularity: str = "functions",
    *,
    cum: bool = False,
    one_process: bool = False,
) -> SiteChanges:
    """Find what changed between two profiles by more than sampling error.

    If both profiles are from one process, the later alloc_* includes the earlier alloc_*, and the
    difference is a sample itself: it is more precise than a difference of two runs. Raises
    ValueError if a profile does not have the sample type (by default that of `after`), or if the
    granularity is unknown.
    """
    chosen = after.sample_type(sample_type)
    old, new = (_measure(profile, chosen.type, granularity, cum=cum) for profile in (before, after))
    note = old.note or new.note
    if one_process and chosen.type.startswith("alloc_") and not note:
        unseen = unseen_high(after.period) if chosen.unit == "bytes" else np.nan
        return SiteChanges(chosen.type, chosen.unit, _grown(old, new, unseen))
    sites = compare_sites(
        old.frame(),
        new.frame(),
        before_unseen_high=unseen_in(before, after, chosen.type, granularity),
        after_unseen_high=unseen_in(after, before, chosen.type, granularity),
    )
    return SiteChanges(chosen.type, chosen.unit, sites, note)


def unseen_high(
    rate_bytes: float | None, object_bytes: pd.Series | None = None
) -> float | pd.Series:
    """Return an upper bound, in bytes, for a site that a sampled profile does not show.

    NaN if the sampling rate is unknown. With the mean object size by function, the bound is in
    objects, and unknown where the size is 0 or unknown.
    """
    unseen_bytes = UNSEEN_SIGHTINGS * (np.nan if rate_bytes is None else rate_bytes)
    if object_bytes is None:
        return unseen_bytes
    return unseen_bytes / object_bytes.where(object_bytes > 0)


def _union(sides: Sequence[pd.DataFrame]) -> pd.Index:
    functions = sides[0].index if sides else pd.Index([], dtype=object)
    for side in sides[1:]:
        functions = functions.union(side.index, sort=False)
    return functions.unique()


def _mean(
    runs: Sequence[pd.DataFrame], functions: pd.Index, unseen_high: Sequence[float | pd.Series]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the mean flat value and interval of every function."""
    aligned = [_aligned(run, functions, high) for run, high in zip(runs, unseen_high, strict=True)]
    flats, lows, highs = (np.array(part) for part in zip(*aligned, strict=True))
    flat, n = flats.mean(axis=0), len(runs)
    below = np.sqrt(((flats - lows) ** 2).sum(axis=0)) / n
    above = np.sqrt(((highs - flats) ** 2).sum(axis=0)) / n
    return flat, flat - below, flat + above


def _aligned(
    side: pd.DataFrame, functions: pd.Index, unseen_high: float | pd.Series
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the flat value and interval of every function; 0 for those that are absent."""
    if side.index.has_duplicates:
        twice = side.index[side.index.duplicated()][0]
        raise ValueError(f"function {twice!r} stands in one profile twice")
    flat, low, high = (
        side[name].reindex(functions).to_numpy(dtype=float, na_value=np.nan, copy=True)
        for name in FLAT
    )
    unseen = ~functions.isin(side.index)
    flat[unseen], low[unseen] = 0.0, 0.0
    if isinstance(unseen_high, pd.Series):
        high[unseen] = unseen_high.reindex(functions[unseen]).to_numpy(dtype=float, na_value=np.nan)
    else:
        high[unseen] = unseen_high
    return flat, low, high


@dataclass(frozen=True)
class Measured:
    """The values of one profile by function."""

    functions: pd.Index  # unique
    value: FloatArray  # by function
    sampling: Sampling | None  # sampling data by function; None if unknown
    is_exact: bool  # the program recorded every allocation
    note: str  # why there are no intervals

    def frame(self) -> pd.DataFrame:
        """Return a side for `compare_sites`: functions whose value is not 0, with intervals."""
        low = high = self.value if self.is_exact else np.full(len(self.value), np.nan)
        if self.sampling is not None:
            low, high = interval(self.value, self.sampling)
        columns = {"function": self.functions, "flat": self.value, "flat_low": low}
        return pd.DataFrame({**columns, "flat_high": high})[self.value != 0]

    def at(self, functions: pd.Index) -> Measured:
        """Return the values of these functions; 0 for a function that the profile does not have."""
        place = self.functions.get_indexer(functions)

        def aligned(part: FloatArray) -> FloatArray:
            return np.append(part, 0.0)[place]  # the last one for -1: not found

        sampling = None if self.sampling is None else self.sampling.mapped(aligned)
        return Measured(functions, aligned(self.value), sampling, self.is_exact, self.note)


def _measure(profile: Profile, sample_type: str, granularity: str, *, cum: bool) -> Measured:
    nodes = profile.nodes(granularity)
    add_up = nodes.cum if cum else nodes.flat
    names, number = np.unique(np.array(nodes.names, dtype=object), return_inverse=True)

    def by_name(part: FloatArray) -> FloatArray:
        return np.bincount(number, add_up(part), len(names)).astype(np.float64)

    return measured(profile, sample_type, names, by_name)


def measured(
    profile: Profile,
    sample_type: str,
    names: NDArray[np.object_],
    by_name: Callable[[FloatArray], FloatArray],
) -> Measured:
    """Sum a profile's values by name, with the sampling data of each sum."""
    sampling = sampling_of(profile, sample_type)
    value = by_name(profile.values(sample_type).astype(np.float64))
    exact, functions = is_exact(profile), pd.Index(names, dtype=object)
    if isinstance(sampling, Sampling):
        return Measured(functions, value, sampling.mapped(by_name), exact, "")
    return Measured(functions, value, None, exact, "" if exact else sampling)


def sampled_interval(
    profile: Profile,
    sample_type: str,
    sums: NDArray[Any],
    summed: Callable[[FloatArray], FloatArray],
) -> tuple[FloatArray, FloatArray]:
    """Return the 95 % interval of sums of a profile's values; NaN if the sampling is unknown.

    `summed` computes the sampling data of the sums from the sampling data of the samples.
    """
    sampling = sampling_of(profile, sample_type)
    if isinstance(sampling, str):
        return np.full(len(sums), np.nan), np.full(len(sums), np.nan)
    return interval(sums.astype(np.float64), sampling.mapped(summed))


def _grown(old: Measured, new: Measured, unseen: float | pd.Series) -> pd.DataFrame:
    """Return what one process allocated between two of its profiles, site by site.

    If nothing was sampled, the upper bound is `unseen`.
    """
    functions = old.functions.union(new.functions, sort=False)
    old, new = old.at(functions), new.at(functions)
    change = new.value - old.value
    low = high = change
    if old.sampling is not None and new.sampling is not None:
        low, high = interval(change, new.sampling.since(old.sampling))
    columns = {
        "function": functions.to_numpy(dtype=object),
        "before": old.value,
        "after": new.value,
        "change": change,
        "low": np.where(change == 0, 0.0, low),
        "high": np.where(change == 0, unseen, high),
        "state": np.select([change == 0, old.value == 0], ["~", "new"], "grew"),
    }
    shown = np.flatnonzero((old.value != 0) | (new.value != 0))
    order = shown[np.lexsort((columns["function"][shown], -np.abs(change[shown])))]
    return build({name: values[order] for name, values in columns.items()}, SITES)


def unseen_in(
    profile: Profile, other: Profile, sample_type: str, granularity: str = "functions"
) -> float | pd.Series:
    """Return an upper bound for a site that a profile does not show.

    For object counts, the bound depends on the object sizes in the other profile.
    """
    if is_exact(profile):
        return 0.0
    word, _, what = sample_type.partition("_")
    if what == "space":
        return unseen_high(profile.period)
    if f"{word}_space" not in other.sample_type_names:
        return unseen_high(None)
    space, objects = (
        _measure(other, f"{word}_{name}", granularity, cum=False) for name in ("space", "objects")
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        size = space.value / objects.value
    return unseen_high(profile.period, pd.Series(size, space.functions))


def is_exact(profile: Profile) -> bool:
    """Return whether the program recorded every allocation (MemProfileRate 1)."""
    return profile.period_type.type == "space" and profile.period == 1


@dataclass(frozen=True, slots=True)
class Rename:
    """A rename from `old` to `new`."""

    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.old}={self.new}"

    def applied(self, name: str) -> str:
        """Return the new name of a function, or the same name if the rename does not apply."""
        rest = name.removeprefix(self.old)
        if not name.startswith(self.old) or (_is_word(self.old[-1]) and _is_word(rest[:1])):
            return name
        return self.new + rest


def rename_of(rename: str) -> Rename:
    """Parse `OLD=NEW`; raises CaptureError, with an example, for any other text."""
    old, equals, new = rename.partition("=")
    if not (old and equals and new):
        what = "rename {}: wanted OLD=NEW, such as main.handle=main.serve"
        raise CaptureError(text(what, Quoted(rename)))
    return Rename(old, new)


def renamed(profile: Profile, renames: Sequence[Rename]) -> Profile:
    """Return the profile with its functions renamed, each by the first rename that applies."""
    if not renames:
        return profile
    undropped = profile.undropped
    return replace(
        profile,
        columns=_renamed(profile.columns, renames),
        undropped=None if undropped is None else _renamed(undropped, renames),
    )


def _renamed(columns: PprofColumns, renames: Sequence[Rename]) -> PprofColumns:
    strings = list(columns.strings)
    place = {text: number for number, text in reversed(list(enumerate(strings)))}

    def moved(names: RowArray) -> RowArray:
        changed = names.copy()
        for number in np.unique(names).tolist():
            old = strings[number]
            new = next((name for r in renames if (name := r.applied(old)) != old), old)
            if new != old:
                if new not in place:
                    place[new] = len(strings)
                    strings.append(new)
                changed[names == number] = place[new]
        return changed

    functions = columns.functions
    functions = replace(
        functions, name=moved(functions.name), system_name=moved(functions.system_name)
    )
    return replace(columns, functions=functions, strings=strings)


def _is_word(character: str) -> bool:
    return character == "_" or character.isalnum()
