"""What grows over a series of profiles, how fast, and which stacks belong to the same leak?

Memory in use is a level and has a slope. Memory allocated since the start grows in every healthy
program, so only the difference between two profiles is informative. `series_of` therefore returns
levels for inuse_* and additions for alloc_*, and `growth` takes only levels.

The slope is the Theil–Sen estimate: the median of the slopes between all pairs of snapshots, which
a few outliers cannot move. Its interval is Sen's rank interval, widened by the sampling error. A
slow leak has few sampled objects, and every profile has the same ones. So neighbouring profiles can
agree with each other although all are far from the true value.

Each GC updates a heap profile. A profile that repeats the previous one has no new data. Such a
profile would make the result look more certain than it is, so it is left out. A profile is also
left out if another follows at once (see `analysis.profiles.published`). With rare collections, a
profile shows an old state. A rise between two profiles is called a step only after this lag is
taken into account.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from gomem.analysis.profiles.published import Published, published
from gomem.analysis.series.shapes import shape_of
from gomem.inputs.answer import Answer
from gomem.inputs.pprof.calls.stacks import Stacks
from gomem.inputs.pprof.sampling import sampling_of
from gomem.inputs.schema import Column, build
from gomem.statistics.sampling import FloatArray, limit_ratios
from gomem.statistics.slopes import theil_sen
from gomem.text import Function, Words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gomem.inputs.pprof.table import Profile

GROWTH = (
    Column("stack", "str", "", "Function names, outermost first, joined by `;`.", Function),
    Column("function", "str", "", "Who allocates: the innermost of them.", Function),
    Column("first", "float64", "", "Level in the first profile; in the unit of the sample type."),
    Column("last", "float64", "", "Level in the last profile."),
    Column("slope", "float64", "", "Per second: Theil and Sen's."),
    Column("slope_low", "float64", "", "Lower end of its 95 % interval, sampling included."),
    Column("slope_high", "float64", "", "Upper end of its 95 % interval, sampling included."),
    Column("shape", "str", "", "How it moves, one of `shapes.SHAPES`.", Words),
    Column("projected", "float64", "", "Level at the horizon; only a ramp goes on."),
    Column("projected_low", "float64", "", "Lower end of its 95 % interval; for ramps only."),
    Column("projected_high", "float64", "", "Upper end of its 95 % interval; for ramps only."),
    Column("leak", "Int64", "", "Stacks that grow together, numbered by size from 1; of ramps."),
    Column("representative", "boolean", "", "The largest stack of its leak."),
)

MAX_HORIZON_SECONDS = 3600.0  # default limit of the projection
HORIZON_PER_WATCH = 3  # times the observed time: a line is not reliable further ahead
MIN_MOMENTS = 4  # with fewer, a rank interval excludes nothing
MAX_MOMENTS = 120  # evenly selected from more: they have 7140 pairs
MAX_NAMED = 2000  # stacks with the largest values in any profile; the others are one row
OTHERS = "(other stacks)"
MAX_STACKS = 500  # those that change most; the others are left out
ALIKE = 0.9  # correlation over time of stacks that belong together
OWN_FRAMES = 3  # innermost frames in which stacks of one leak can differ


@dataclass(frozen=True, repr=False)
class Series(Answer):
    """The value of each stack in the profiles of one process."""

    sample_type: str  # such as `inuse_space`
    unit: str  # its unit, as the profiles declare it
    # `moment`, `time`, `seconds` since the first, of each profile with new data
    moments: pd.DataFrame
    # Stacks × snapshots: levels of inuse_*; for alloc_*, additions since the previous snapshot,
    # missing in the first, for which they are unknown.
    values: pd.DataFrame
    variance: pd.DataFrame  # sampling variance of each value; missing if unknown
    repeated: tuple[str, ...] = ()  # profiles left out because they repeat the previous one
    restarts: tuple[str, ...] = ()  # snapshots before which alloc_* fell: another process
    at_once: tuple[str, ...] = ()  # profiles left out because another follows immediately
    # The earliest time that each new profile can show; empty if none lags.
    since_seconds: tuple[float, ...] = ()
    until_seconds: float | None = None  # when the last profile was last seen, repeated or not
    others: frozenset[str] = frozenset()  # functions of dependencies, in the last profile

    @property
    def totals(self) -> pd.Series:
        """The sum over all stacks, by snapshot."""
        return self.values.sum(axis=0, min_count=1)


def series_of(profiles: Mapping[str, Profile], sample_type: str = "inuse_space") -> Series:
    """Arrange periodic profiles of one process as stacks over time.

    The values are levels for inuse_*, and additions for alloc_*. If there are more than `MAX_NAMED`
    stacks, the smallest are merged. Raises ValueError if a profile does not have the sample type,
    or if no profile has a time.
    """
    found = published(profiles)
    news = found.news
    if not news:
        raise ValueError("no profile has a time; at least one is required")
    chosen = news[0].profile.sample_type(sample_type)
    frames, texts = _by_stack([new.profile for new in news], sample_type)
    values, variance = (
        pd.DataFrame({new.moment: frame[part] for new, frame in zip(news, frames, strict=True)})
        for part in ("value", "variance")
    )
    names = [texts[key] for key in values.index]
    values = values.fillna(0.0).groupby(names).sum()
    variance = variance.groupby(names).sum(min_count=1).where(values != 0, 0.0)
    restarts: tuple[str, ...] = ()
    if chosen.type.startswith("alloc_"):
        values, variance, restarts = _additions(values, variance)
    values.index.name = variance.index.name = "stack"
    since = tuple(new.since_seconds for new in news)
    until, others = news[-1].until_seconds, Stacks(news[-1].profile.columns).others
    kept = (_moments(news), values, variance, found.repeated, restarts, found.at_once)
    return Series(chosen.type, chosen.unit, *kept, since, until, others)


def horizon_seconds_of(series: Series) -> float:
    """Return how many seconds ahead a series can be projected.

    The horizon is a multiple of the observed time, and at most an hour.
    """
    watched = float(series.moments["seconds"].iloc[-1])
    return min(HORIZON_PER_WATCH * watched, MAX_HORIZON_SECONDS)


def growth(series: Series, horizon_seconds: float | None = None) -> pd.DataFrame:
    """Return how each stack grows, and which belong to one leak, the largest first; see `GROWTH`.

    There are no rows for fewer than four snapshots. Values are projected to `horizon_seconds` after
    the last profile, by default `horizon_seconds_of(series)`. Raises ValueError for additions,
    which are not levels.
    """
    if series.sample_type.startswith("alloc_"):
        raise ValueError(f"{series.sample_type} only adds up and has no level; use inuse_*")
    horizon = horizon_seconds_of(series) if horizon_seconds is None else horizon_seconds
    seconds, since, levels, noise = _chosen(series)
    if len(np.unique(seconds)) < MIN_MOMENTS or levels.empty:
        return build({}, GROWTH)
    values = levels.to_numpy(np.float64)
    slope, low, high = theil_sen(seconds, values)
    low, high = _with_sampling(slope, low, high, values, noise)
    rows = zip(values, noise, strict=True)
    shapes = np.array([shape_of(seconds, row, sd, since) for row, sd in rows])
    ramps = shapes == "ramp"
    now = np.where(ramps, np.median(values - slope[:, None] * (seconds - seconds[-1]), axis=1), 0)
    ahead = np.where(shapes == "saw-tooth", values.max(axis=1), values[:, -1])
    frame = {
        "stack": levels.index.to_numpy(dtype=object),
        "function": [stack.rpartition(";")[2] for stack in levels.index],
        "first": values[:, 0],
        "last": values[:, -1],
        "slope": slope,
        "slope_low": low,
        "slope_high": high,
        "shape": shapes,
        "projected": np.where(ramps, now + slope * horizon, ahead),
        "projected_low": np.where(ramps, np.maximum(now + low * horizon, 0), np.nan),
        "projected_high": np.where(ramps, now + high * horizon, np.nan),
    }
    table = build(frame, GROWTH[:-2]).sort_values("slope", ascending=False, kind="stable")
    levels = levels.iloc[table.index]
    return _with_leaks(table.reset_index(drop=True), levels)


def _moments(news: Sequence[Published]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "moment": pd.Series([new.moment for new in news], dtype="str"),
            "time": pd.Series([new.profile.time for new in news], dtype="datetime64[ns, UTC]"),
            "seconds": [new.seconds - news[0].seconds for new in news],
        }
    )


def _by_stack(
    profiles: list[Profile], sample_type: str
) -> tuple[list[pd.DataFrame], dict[int, str]]:
    """Return for each profile value and variance by stack, and the names of the largest stacks.

    The other stacks are merged under the number 0. Variances are missing if unknown.
    """
    frames, most = [], pd.Series(dtype="float64", index=pd.Index([], dtype="uint64"))
    stacks = [Stacks(profile.columns) for profile in profiles]
    for profile, of_one in zip(profiles, stacks, strict=True):
        values = profile.values(sample_type).astype(np.float64)
        sampling = sampling_of(profile, profile.sample_type(sample_type).type)
        variance = np.nan if isinstance(sampling, str) else sampling.variance
        rows = pd.DataFrame({"value": values, "variance": variance})
        rows["first"] = np.arange(len(rows))
        by_key = rows.groupby(of_one.keys)
        sums = by_key[["value", "variance"]].sum(min_count=1).assign(first=by_key["first"].first())
        frames.append(sums)
        most = pd.concat([most, sums["value"].abs()]).groupby(level=0).max()
    kept = most.sort_values(ascending=False, kind="stable").index[:MAX_NAMED]
    names = {
        key: of_one.text(int(first))
        for of_one, sums in zip(stacks, frames, strict=True)
        for key, first in sums.loc[sums.index.isin(kept), "first"].items()
    }
    return [_together(sums, kept) for sums in frames], names | {0: OTHERS}


def _together(sums: pd.DataFrame, kept: pd.Index) -> pd.DataFrame:
    """Keep some stacks, and merge the others."""
    key = np.where(sums.index.isin(kept), sums.index, 0)
    return sums[["value", "variance"]].groupby(key).sum(min_count=1)


def _additions(
    values: pd.DataFrame, variance: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame, tuple[str, ...]]:
    """Return additions since the previous snapshot; after a restart, since the start."""
    added, added_variance = values.diff(axis=1), variance.diff(axis=1)
    fell = values.sum(axis=0).diff() < 0
    for name in values.columns[fell]:
        added[name], added_variance[name] = values[name], variance[name]
    return added, added_variance.clip(lower=0), tuple(values.columns[fell])


def _chosen(series: Series) -> tuple[FloatArray, FloatArray, pd.DataFrame, FloatArray]:
    """Select the snapshots and stacks to analyse; and each stack's standard deviation."""
    seconds = series.moments["seconds"].to_numpy(np.float64)
    since = np.array(series.since_seconds) if series.since_seconds else seconds
    places = np.unique(np.linspace(0, len(seconds) - 1, MAX_MOMENTS).round().astype(int))
    if len(seconds) <= MAX_MOMENTS:
        places = np.arange(len(seconds))
    levels = series.values.iloc[:, places]
    spread = (levels.max(axis=1) - levels.min(axis=1)).sort_values(ascending=False, kind="stable")
    kept = spread[levels.max(axis=1) > 0].index[:MAX_STACKS]
    noise = np.sqrt(series.variance.loc[kept].max(axis=1).fillna(0.0)).to_numpy(np.float64)
    return seconds[places], since[places], levels.loc[kept], noise


def _with_sampling(
    slope: FloatArray, low: FloatArray, high: FloatArray, values: FloatArray, noise: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Add the sampling error to the error between snapshots (as squares)."""
    level = values.max(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        least, most = limit_ratios(np.where(noise > 0, (level / noise) ** 2, np.inf))
    # For a negative slope, a smaller magnitude is the upper end.
    below, above = np.abs(slope) * (1 - least), np.abs(slope) * (most - 1)
    below, above = np.where(slope >= 0, below, above), np.where(slope >= 0, above, below)
    return slope - np.hypot(slope - low, below), slope + np.hypot(high - slope, above)


def _with_leaks(table: pd.DataFrame, levels: pd.DataFrame) -> pd.DataFrame:
    """Number the leaks: ramps that rise together and differ only in their innermost frames."""
    leaders: list[int] = []
    leak = np.zeros(len(table), np.int64)
    values = levels.to_numpy(np.float64)
    frames = [stack.split(";") for stack in table["stack"]]
    ramps = np.flatnonzero((table["shape"] == "ramp").to_numpy()).tolist()
    place = {row: number for number, row in enumerate(ramps)}
    alike = np.atleast_2d(np.corrcoef(values[ramps])) >= ALIKE if ramps else np.empty((0, 0))
    for row in ramps:
        together = (
            number
            for number, leader in enumerate(leaders, start=1)
            if _shared_callers(frames[row], frames[leader]) and alike[place[row], place[leader]]
        )
        leak[row] = next(together, len(leaders) + 1)
        if leak[row] > len(leaders):
            leaders.append(row)
    is_ramp = pd.Series(leak > 0)
    table["leak"] = pd.Series(leak, dtype="Int64").where(is_ramp)
    leads = pd.Series(np.isin(np.arange(len(table)), leaders), dtype="boolean")
    table["representative"] = leads.where(is_ramp)
    return table


def _shared_callers(stack: list[str], other: list[str]) -> bool:
    """Return whether two stacks differ only in their innermost frames, and share at least two."""
    pairs = enumerate(zip(stack, other, strict=False))
    shorter = min(len(stack), len(other))
    shared = next((depth for depth, (left, right) in pairs if left != right), shorter)
    return shared >= max(2, shorter - OWN_FRAMES)
