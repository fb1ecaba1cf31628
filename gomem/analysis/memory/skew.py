"""Do MemStats and the kernel's files show the same state, or did a GC run in between?

The ledger subtracts numbers of one source from numbers of the other. A collection between the two
readings moves memory from objects to idle spans, and from idle to released, while RSS shows the
state at the other reading. MemStats identifies its last collection by number and by wall clock
(`NumGC`, `LastGC`). A gctrace log has every collection since the start. A collection that appears
in both ties the log to the wall clock, to a millisecond. So the collections between two readings
can be counted: exactly by number on the MemStats side, and by the clock on the kernel's side.
"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from gomem.analysis.collector.steps import CONCURRENT, STOPS

# A log is exact to 1 ms, its phases are cut to two digits, and so are those of the collection that
# ties it to the clock: closer to the kernel's reading than this, nobody knows which was first.
CLOCK_SECONDS = 0.005
TOTAL_CYCLES = "/gc/cycles/total:gc-cycles"


@dataclass(frozen=True)
class Skew:
    """How far apart the two sides of a moment are."""

    seconds: float | None = None  # between MemStats and the mappings; None if a time is unknown
    collections: int | None = None  # that ended between them, as far as they can be counted
    source: str = ""  # what they were counted from

    @property
    def crosses_a_collection(self) -> bool:
        """Whether a GC certainly ran between the two sides."""
        return bool(self.collections)


def measure_skew(
    memstats_time: pd.Timestamp | None,
    kernel_time: pd.Timestamp | None,
    ends: pd.Series | None = None,
    stats: pd.Series | None = None,
    counts: tuple[int, int] | None = None,
) -> Skew:
    """How far apart two readings are, and the collections that ended in between.

    `ends` is when each collection ended by the wall clock (`collection_ends`), `stats` the row of
    MemStats; `counts` are collections so far by MemStats and by runtime/metrics of the same moment:
    if they differ, one ran while the moment was taken.
    """
    seconds = _seconds(memstats_time, kernel_time)
    if memstats_time is None or kernel_time is None or stats is None or pd.isna(stats["NumGC"]):
        found = None
    elif kernel_time >= memstats_time:
        found = _count_after(ends, int(stats["NumGC"]), kernel_time)
    else:
        found = _count_before(ends, stats, kernel_time)
    if not found and counts is not None and counts[0] != counts[1]:
        return Skew(seconds, abs(counts[1] - counts[0]), "NumGC against runtime/metrics")
    return Skew(seconds, found, "" if found is None else "NumGC, LastGC and the gctrace log")


def counted_skew(
    memstats_time: pd.Timestamp | None, kernel_time: pd.Timestamp | None, collections: int
) -> Skew:
    """The skew of a moment whose collector read NumGC on both sides of the kernel's files."""
    source = "NumGC before and after, in gomem.json"
    return Skew(_seconds(memstats_time, kernel_time), collections, source)


def _seconds(time: pd.Timestamp | None, other: pd.Timestamp | None) -> float | None:
    if time is None or other is None:
        return None
    return abs((other - time).total_seconds())


_CLOCK = pd.Timedelta(seconds=CLOCK_SECONDS)


def _count_after(ends: pd.Series | None, number: int, kernel_time: pd.Timestamp) -> int | None:
    """MemStats came first: collections that it does not know and that ended before smaps."""
    if ends is None:
        return None
    after = ends[ends.index > number]
    if (surely := after < kernel_time - _CLOCK).any():
        return int(surely.sum())
    # That none is found proves nothing unless the log goes on after smaps.
    goes_on = bool((ends > kernel_time + _CLOCK).any())
    return 0 if goes_on and not (after < kernel_time + _CLOCK).any() else None


def _count_before(
    ends: pd.Series | None, stats: pd.Series, kernel_time: pd.Timestamp
) -> int | None:
    """Smaps came first: collections that MemStats knows and that ended after smaps.

    LastGC alone says whether there was one, to the nanosecond; the log says how many.
    """
    if pd.isna(stats["LastGC"]):
        return 0 if int(stats["NumGC"]) == 0 else None
    if stats["LastGC"] <= kernel_time:
        return 0
    if ends is None:
        return 1
    known = ends[ends.index <= int(stats["NumGC"])]
    return max(1, int((known > kernel_time + _CLOCK).sum()))


def collection_ends(
    cycles: pd.DataFrame, memstats: pd.DataFrame, pauses: pd.DataFrame | None = None
) -> pd.Series | None:
    """When each collection of a log ended, by number and wall clock; None if nothing ties the two.

    Any row of MemStats of the same process does; or, of a log that ends before it, one of the
    pauses that it remembers.
    """
    if cycles["number"].duplicated().any():
        return None  # two runs in one log: nothing says which of them a dump belongs to
    phases = cycles[[STOPS[0], *CONCURRENT, STOPS[1]]].fillna(0).sum(axis=1)
    since_start = (cycles["at_seconds"] + phases).set_axis(cycles["number"])
    ties = [memstats[["NumGC", "LastGC"]]]
    if pauses is not None:
        ties.append(pauses[["number", "end"]].iloc[::-1])
    for tie in ties:
        for number, end in tie.dropna().itertuples(index=False):
            if number in since_start.index:
                zero = since_start[number]
                return end + pd.to_timedelta(since_start - zero, unit="s")
    return None
