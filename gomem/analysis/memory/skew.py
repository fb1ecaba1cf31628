"""Do MemStats and the kernel's files show the same state, or did a GC run in between?

The ledger subtracts numbers of one source from numbers of the other. A collection between the two
readings moves memory from objects to idle spans, and from idle to released, while RSS still shows
the other state. MemStats identifies its last collection by number and by wall clock (`NumGC`,
`LastGC`). A gctrace log has every collection since the start. A collection that appears in both
relates the log's clock to the wall clock, to within a millisecond. So the collections between two
readings can be counted: MemStats is placed among them exactly, by number; the kernel's files are
placed by the clock.
"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from gomem.analysis.collector.steps import CONCURRENT, STOPS

# A log is exact to 1 ms. Its phases are truncated to two digits, and so are those of the collection
# that relates it to the wall clock. If the kernel's reading is closer than this, the order is
# unknown.
CLOCK_SECONDS = 0.005
TOTAL_CYCLES = "/gc/cycles/total:gc-cycles"


@dataclass(frozen=True)
class Skew:
    """How far apart in time MemStats and the mappings of one snapshot were read."""

    seconds: float | None = None  # between MemStats and the mappings; None if a time is unknown
    collections: int | None = None  # that ended in between; None if they cannot be counted
    source: str = ""  # the source of this count

    @property
    def crosses_a_collection(self) -> bool:
        """Whether a GC certainly ran between MemStats and the mappings."""
        return bool(self.collections)

    def is_within(self, seconds: float) -> bool:
        """Whether both were certainly read within so many seconds."""
        return self.seconds is not None and self.seconds <= seconds


def measure_skew(
    memstats_time: pd.Timestamp | None,
    kernel_time: pd.Timestamp | None,
    ends: pd.Series | None = None,
    stats: pd.Series | None = None,
    counts: tuple[int, int] | None = None,
) -> Skew:
    """Return the time between two readings, and the collections that ended in between.

    `ends` is the wall-clock end of each collection (`collection_ends`), `stats` the row of
    MemStats. `counts` are the numbers of collections by MemStats and by runtime/metrics of the same
    snapshot: if they differ, a collection ran during the snapshot.
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
    """Return the skew of a snapshot whose manifest counts the collections in between."""
    source = "NumGC before and after, in gomem.json"
    return Skew(_seconds(memstats_time, kernel_time), collections, source)


def _seconds(time: pd.Timestamp | None, other: pd.Timestamp | None) -> float | None:
    if time is None or other is None:
        return None
    return abs((other - time).total_seconds())


_CLOCK = pd.Timedelta(seconds=CLOCK_SECONDS)


def _count_after(ends: pd.Series | None, number: int, kernel_time: pd.Timestamp) -> int | None:
    """Count collections after MemStats, which was read first, and before smaps."""
    if ends is None:
        return None
    after = ends[ends.index > number]
    if (surely := after < kernel_time - _CLOCK).any():
        return int(surely.sum())
    # A count of zero proves nothing unless the log continues after smaps.
    goes_on = bool((ends > kernel_time + _CLOCK).any())
    return 0 if goes_on and not (after < kernel_time + _CLOCK).any() else None


def _count_before(
    ends: pd.Series | None, stats: pd.Series, kernel_time: pd.Timestamp
) -> int | None:
    """Count collections after smaps, which was read first, and before MemStats.

    LastGC alone shows whether there was one, to the nanosecond; the log has the number.
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
    """Return the wall-clock end of each collection of a log, by number; None if unknown.

    Any MemStats row of the same process relates the log to the wall clock; if the log ends before
    its LastGC, an entry of PauseEnd does.
    """
    if cycles["number"].duplicated().any():
        return None  # two runs in one log: a dump could belong to either
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
