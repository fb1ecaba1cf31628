"""Which interval between two profiles stands out, and which functions allocated in it?

A monitoring agent takes heap profiles at intervals. The memory of a spike is usually freed before
the next profile, so inuse_* shows nothing. But the runtime counts allocations from the program's
start and never resets them. The difference of two profiles therefore has every spike between them,
even one that lasted a millisecond. So this module compares alloc_* as differences and inuse_* as
levels, never the other way round.

A profile shows the allocations up to the second-to-last collection. Without a collection between
two profiles, the second repeats the first, and the interval extends to the next profile with new
data. The later profile can also include allocations from before the earlier profile, above all if
the program forced a collection in between. So this module also gives the expected allocation for
the longest time that an interval can cover (see `analysis.profiles.published`).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from gomem.analysis.profiles.changes import SiteChanges, profile_changes
from gomem.analysis.profiles.published import counting
from gomem.inputs.answer import Answer
from gomem.inputs.pprof.calls.stacks import caller_of
from gomem.inputs.schema import Column, build, build_rows
from gomem.text import Function, MomentName, Words
from gomem.units import MIB

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gomem.inputs.pprof.table import Profile

INTERVALS = (
    Column("before", "str", "", "Moment of the earlier profile.", MomentName),
    Column("after", "str", "", "Moment of the later profile, the first with new data.", MomentName),
    Column("seconds", "float64", "s", "Between the two."),
    Column(
        "seconds_at_most",
        "float64",
        "s",
        "Longest time that the interval might cover, as profiles lag.",
    ),
    Column("allocated_bytes", "float64", "B", "Allocated between the two; an estimate."),
    Column("bytes_per_second", "float64", "B", "Mean allocation rate, in bytes a second."),
    Column("inuse_bytes", "float64", "B", "In use in the later profile: a level."),
)
EXTRA = (
    Column("function", "str", "", "Who allocates.", Function),
    Column("bytes", "float64", "B", "Allocated in the interval."),
    Column("usual_bytes", "float64", "B", "Bytes at its median rate in the other intervals."),
    Column("extra_bytes", "float64", "B", "Bytes beyond the usual."),
    Column("low", "float64", "B", "Lower end of the 95 % interval of what is extra."),
    Column("high", "float64", "B", "Upper end of the same."),
    Column("state", "str", "", "more, less, or ~ for sampling noise.", Words),
)
TOO_FEW = 2  # rates: too few for a median
OBJECTS = "alloc_objects"
# twice the usual sampling interval: an object this large is practically always sampled
MIN_OBJECT = MIB


@dataclass(frozen=True, repr=False)
class Spike(Answer):
    """An interval between two profiles, and what was allocated in the interval."""

    before: str  # snapshot of the earlier profile
    after: str  # snapshot of the later profile
    seconds: float  # between the two
    allocated_bytes: float  # during the interval
    # The allocation at the usual rate in the same time: the median of the other intervals' rates;
    # with only two others, the higher; NaN without others.
    usual_bytes: float
    usual_at_most_bytes: float  # the same for the longest time that the interval can cover
    intervals: int  # number of intervals, including those without new data
    with_news: int  # number of intervals with new data, and so a rate
    is_at_end: bool  # whether it is the first or last of these
    allocated: pd.DataFrame  # by site, from alloc_space; rows as in `EXTRA`, the largest first
    in_use: SiteChanges  # inuse_space at both snapshots, and the change
    caller: str  # the program's own function for which the first of these sites allocates most

    @property
    def extra_bytes(self) -> float:
        """Bytes allocated beyond the usual amount."""
        return self.allocated_bytes - self.usual_bytes

    @property
    def beyond_lag_bytes(self) -> float:
        """Bytes allocated beyond the usual amount, if the interval is as long as it can be."""
        return self.allocated_bytes - self.usual_at_most_bytes

    @property
    def kept_bytes(self) -> float:
        """Bytes by which in-use memory grew over the interval."""
        return float(self.in_use.sites["after"].sum() - self.in_use.sites["before"].sum())


def intervals_of(profiles: Mapping[str, Profile]) -> pd.DataFrame:
    """Return what was allocated between consecutive heap profiles of a process that have new data.

    Profiles without a time or without allocation counts are left out. If a count falls, a new
    process began, and the two profiles have no interval.
    """
    rows = []
    for old, new in pairwise(counting(profiles).news):
        allocated = new.profile.total("alloc_space") - old.profile.total("alloc_space")
        seconds = new.seconds - old.seconds
        if allocated >= 0 and seconds > 0:
            at_most = new.seconds - old.since_seconds
            in_use = new.profile.total("inuse_space")
            rate = allocated / seconds
            rows.append((old.moment, new.moment, seconds, at_most, allocated, rate, in_use))
    return build_rows(rows, INTERVALS)


def find_spike(
    profiles: Mapping[str, Profile],
    at: str | pd.Timestamp | None = None,
    granularity: str = "functions",
) -> Spike | None:
    """Compare the profile after a spike with the profile before; None without two profiles.

    `at` is a snapshot or a time: it selects the first profile from then on, which counts the
    allocations until then, or else the last profile. If None, the interval with most allocation
    beyond the usual is selected. For `granularity` see `Profile.top`. Raises KeyError if there is
    no such snapshot.
    """
    intervals = intervals_of(profiles)
    if intervals.empty:
        return None
    place = _place(intervals, profiles, at)
    row, usual = intervals.iloc[place], _usual_of_others(intervals, place)
    before, after = profiles[row["before"]], profiles[row["after"]]
    changes = profile_changes(before, after, "alloc_space", granularity, one_process=True)
    allocated = _extra(changes, _usual_rates(intervals, profiles, row, granularity), row)
    most = str(allocated["function"].iloc[0]) if len(allocated) else ""
    return Spike(
        before=row["before"],
        after=row["after"],
        seconds=float(row["seconds"]),
        allocated_bytes=float(row["allocated_bytes"]),
        usual_bytes=usual * float(row["seconds"]),
        usual_at_most_bytes=usual * float(row["seconds_at_most"]),
        intervals=counting(profiles).intervals,
        with_news=len(intervals),
        is_at_end=place in (0, len(intervals) - 1),
        allocated=allocated,
        in_use=profile_changes(before, after, "inuse_space", granularity),
        caller=caller_of(after, most, "alloc_space") if len(allocated) else "",
    )


def _usual_rates(
    intervals: pd.DataFrame, profiles: Mapping[str, Profile], spike: pd.Series, granularity: str
) -> pd.Series:
    """Return each site's median rate in the other intervals."""

    def allocated(moment: str) -> pd.Series:
        top = profiles[moment].top_rows("alloc_space", granularity)
        return pd.Series(top.flat, top.function, dtype="float64").groupby(level=0).sum()

    others = intervals[intervals["after"] != spike["after"]]
    if others.empty:
        return pd.Series(dtype="float64")
    rates = [
        allocated(row.after).sub(allocated(row.before), fill_value=0.0) / row.seconds
        for row in others.itertuples()
    ]
    return pd.concat(rates, axis=1).fillna(0.0).median(axis=1)


def _extra(changes: SiteChanges, usual_rates: pd.Series, spike: pd.Series) -> pd.DataFrame:
    """Return what each site allocated beyond its usual, which is taken as exact."""
    sites = changes.sites.astype({"change": "float64", "low": "float64", "high": "float64"})
    usual = usual_rates.reindex(sites["function"]).fillna(0.0).to_numpy() * spike["seconds"]
    low, high = sites["low"] - usual, sites["high"] - usual
    columns = {
        "function": sites["function"],
        "bytes": sites["change"],
        "usual_bytes": usual,
        "extra_bytes": sites["change"] - usual,
        "low": low,
        "high": high,
        "state": np.select([low > 0, high < 0], ["more", "less"], "~"),
    }
    table = build(columns, EXTRA).sort_values("extra_bytes", ascending=False, kind="stable")
    return table.reset_index(drop=True)


def _place(
    intervals: pd.DataFrame, profiles: Mapping[str, Profile], at: str | pd.Timestamp | None
) -> int:
    """Return the row of the requested interval."""
    if at is None:
        usual = np.array([_usual_of_others(intervals, place) for place in range(len(intervals))])
        extra = intervals["allocated_bytes"] - np.nan_to_num(usual) * intervals["seconds_at_most"]
        return int(extra.to_numpy().argmax())
    time = profiles[at].time if isinstance(at, str) else at
    ends = pd.Series([profiles[name].time for name in intervals["after"]])
    later = np.flatnonzero((ends >= time).to_numpy())
    return int(later[0]) if len(later) else len(intervals) - 1


def _usual_of_others(intervals: pd.DataFrame, place: int) -> float:
    """Return the median rate of all other intervals; with only two, the higher; NaN without any.

    An unknown third rate could make the higher of two the median.
    """
    others = np.sort(np.delete(intervals["bytes_per_second"].to_numpy(), place))
    if len(others) <= TOO_FEW:
        return float(others[-1]) if len(others) else np.nan
    return float(np.median(others))


@dataclass(frozen=True)
class LargeObject:
    """The largest single object allocated between two profiles."""

    seconds: float  # midpoint of the interval, in seconds since 1970
    # lower bound of the in-use memory then: the object, plus the smaller of the two profiles
    least_in_use: float
    moment: str  # the later of the two, the first that counts it


def large_objects(profiles: Mapping[str, Profile]) -> list[LargeObject]:
    """Return the largest object of each interval between two heap profiles with new data.

    A buffer that is allocated and freed between two profiles is in use in neither. But allocations
    are counted from the program's start, all objects of one sample have one size, and an object
    much larger than the sampling interval is always sampled. So the difference of two profiles
    shows the buffer, which was in memory in addition to what the profiles have in use. Profiles
    without allocation counts are left out.
    """
    with_objects = {
        m: profile for m, profile in profiles.items() if OBJECTS in profile.sample_type_names
    }
    news = counting(with_objects).news
    if not news:
        return []
    begin = news[0].profile.columns.time_nanos / 1e9 - news[0].seconds
    counts = [_counts(new.profile) for new in news]
    found = []
    for (old, before), (new, after) in pairwise(zip(news, counts, strict=True)):
        sizes = [size for size, count in after.items() if count > before.get(size, 0.0)]
        if sizes:
            seconds = begin + (old.until_seconds + new.seconds) / 2
            in_use = float(min(end.profile.total("inuse_space") for end in (old, new)))
            found.append(LargeObject(seconds, max(sizes) + in_use, new.moment))
    return found


def _counts(profile: Profile) -> dict[int, float]:
    """Count large objects allocated since the start, by size."""
    objects, space = profile.values(OBJECTS), profile.values("alloc_space")
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.nan_to_num(space / objects, posinf=0.0)
    there = size >= MIN_OBJECT
    sizes, place = np.unique(np.round(size[there]).astype(np.int64), return_inverse=True)
    return dict(zip(sizes.tolist(), np.bincount(place, objects[there]).tolist(), strict=True))
