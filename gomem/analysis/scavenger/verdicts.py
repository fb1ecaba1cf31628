"""Why was no more memory returned to the OS, from each snapshot to the next?

The checks run in this order:

- Retained heap is over the scavenger's goal. Then either the scavenger is releasing it
  (`as-intended`), or something delays the release: the process is stopped or the scavenger sleeps
  (`starved`), a rule makes the scavenger wait (`waiting`), or the chunks were dense in the last
  collection (`dense-chunks`). The Go release and the collections since the heap became idle decide
  between these.
- Retained heap is within the goal. Then the largest of these explains RSS: heap kept for reuse by
  pacing (`kept-for-goal`), a memory limit (`limit-driven`), free slots between objects
  (`fragmented`), memory released with MADV_FREE (`madv-free`), huge pages (`huge-pages`), or non-Go
  memory (`not-go-memory`). If all are too small to mention, the verdict is `as-intended`.

The scavenger works in steps. Since Go 1.18 it sleeps after each step for a multiple of the step's
wall-clock time, at first 1 700 times as long: 1.7 s after a step of 1 ms. So a pause of a few
seconds is not a delay. If the scavenger is preempted during a step, it can sleep for minutes.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any

from gomem.analysis.memory.heap_slots import slots_beyond
from gomem.analysis.scavenger.retention import NO_GOAL
from gomem.analysis.scavenger.sentences import (
    LITTLE,
    MIN_BYTES,
    change,
    given_back,
    seconds_between,
    sentence_of,
)
from gomem.inputs.schema import Column, build_rows, rows_of
from gomem.releases import Fact, GoVersion
from gomem.text import MomentName, Words
from gomem.units import KIB, is_unknown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd

    from gomem.analysis.scavenger.sentences import Row

MIN_FRACTION = 0.1  # of the goal or RSS: the runtime itself keeps a tenth more than it needs
STEP_BYTES = 64 * KIB  # its quantum: smaller releases are not visible
PAUSE_SECONDS = 3.0  # 1.7 s, its sleep after the shortest step, plus a reading on either side
FIRST_COLLECTIONS = 2  # collections: before the second there is no goal
NEEDED = ("retained_bytes", "mapped_bytes", "idle_kept_bytes", "HeapInuse")
VERDICTS = {
    "as-intended": "Idle heap is being released, or there is little to release.",
    "kept-for-goal": "Idle heap is kept for reuse: the retained heap is within the goal.",
    "waiting": "Idle heap above the goal waits for the second GC, the next GC, or five minutes.",
    "fragmented": "Fragmentation: free slots in spans with live objects cannot be released.",
    "limit-driven": "GOMEMLIMIT sets the goal of the scavenger.",
    "madv-free": "Memory released with MADV_FREE is still in RSS.",
    "huge-pages": "Huge pages keep more in RSS than Go uses.",
    "dense-chunks": "Idle heap is in chunks that were nearly full in this GC or the last.",
    "starved": "The scavenger has work but does not run: stopped, throttled, or asleep.",
    "not-go-memory": "Memory outside Go in RSS is larger than what could be released.",
    "unknown": "Unknown: insufficient data.",
}
INTERVALS = (
    Column("before", "str", "", "First moment.", MomentName),
    Column("after", "str", "", "Last moment.", MomentName),
    Column("from_seconds", "float64", "s", "Start, since the first moment."),
    Column("seconds", "float64", "s", "Duration; missing without a clock."),
    Column("code", "str", "", "Why no more was released.", Words),
    Column("rule", "str", "", "Case of the verdict; empty if there is only one.", Words),
    Column("bytes", "Int64", "B", "Bytes concerned, at the end."),
    Column("released_change_bytes", "Int64", "B", "Released, less reused and new memory."),
    Column("retained_change_bytes", "Int64", "B", "Change of the retained heap."),
    Column("rss_change_bytes", "Int64", "B", "Change of RSS."),
    Column("sentence", "str", "", "The verdict as a sentence.", Words),
)
EPISODES = (
    *INTERVALS,
    Column("intervals", "int64", "count", "Number of intervals in the episode."),
    Column("returned_bytes", "Int64", "B", "Sum over the intervals that released."),
)


@dataclass(frozen=True)
class _Cause:
    """Why the runtime did not release more: code, case of the verdict, and bytes affected."""

    code: str
    rule: str = ""
    size: int | None = None


@dataclass(frozen=True)
class _Above:
    """An interval between two readings in which the heap exceeds the goal."""

    since: Row  # the first of the consecutive readings with heap above the goal
    silent_seconds: float | None  # how long nothing was released, around these two readings
    goes_back: bool  # whether something was released between the two


def verdicts(retention: pd.DataFrame, version: GoVersion) -> pd.DataFrame:
    """Return why no more was released from one snapshot with MemStats to the next; see `INTERVALS`.

    If no snapshot has MemStats, there is an interval between any two consecutive snapshots, and the
    verdict is `unknown`.
    """
    rows = [_plain(row) for row in rows_of(retention)]
    told = [
        place for place, row in enumerate(rows) if all(row[name] is not None for name in NEEDED)
    ]
    if not told:
        cause = _Cause("unknown", "no-memstats")
        return build_rows((_laid_out(*ends, cause) for ends in pairwise(rows)), INTERVALS)
    chosen = [rows[place] for place in told]
    stopped = [_is_stopped(rows[first : last + 1]) for first, last in pairwise(told)]
    causes = _causes(_with_next(chosen), stopped, version)
    steps = zip(pairwise(chosen), causes, strict=True)
    return build_rows((_laid_out(*ends, cause) for ends, cause in steps), INTERVALS)


def _is_stopped(rows: Sequence[Row]) -> bool:
    """Return whether the process was stopped between two readings with MemStats.

    A tool can stop a process just to read it. A process was running when it answered with MemStats;
    and if a collection ran in between, the process was not stopped throughout.
    """
    first, *between, last = rows
    is_seen = any(row["is_stopped"] is True for row in between)
    return is_seen and first["NumGC"] == last["NumGC"]


def episodes(intervals: pd.DataFrame, retention: pd.DataFrame) -> pd.DataFrame:
    """Merge consecutive intervals with the same verdict; see `EPISODES`.

    Just before a collection, the heap is full and little of it is idle. A few seconds
    with another verdict, between intervals with the same verdict, are merged, too.
    """
    rows = {row["moment"]: _plain(row) for row in rows_of(retention)}
    groups = [list(group) for _, group in groupby(rows_of(intervals), key=_kind)]
    found = []
    for same in _joined(groups):
        before, after = rows[same[0]["before"]], rows[same[-1]["after"]]
        size = same[-1]["bytes"]
        cause = _Cause(*_kind(same[0]), None if is_unknown(size) else int(size))
        changes = [row["released_change_bytes"] for row in same]
        risen = [max(0, int(change)) for change in changes if not is_unknown(change)]
        returned = sum(risen) if risen else None
        found.append((*_laid_out(before, after, cause), len(same), returned))
    return build_rows(found, EPISODES)


def _kind(interval: Row) -> tuple[str, str]:
    return interval["code"], interval["rule"]


def _joined(groups: Sequence[list[Row]]) -> list[list[Row]]:
    """Merge interludes with the groups before and after."""
    joined: list[list[Row]] = []
    place = 0
    while place < len(groups):
        here = groups[place]
        is_interlude = (
            0 < place < len(groups) - 1
            and _kind(here[0]) == LITTLE
            and _kind(joined[-1][0]) == _kind(groups[place + 1][0])
            and sum(row["seconds"] for row in here) <= PAUSE_SECONDS
        )
        if is_interlude:
            joined[-1] += here + groups[place + 1]
            place += 1
        else:
            joined.append(list(here))
        place += 1
    return joined


def _with_next(rows: Sequence[Row]) -> list[Row]:
    """Add `next_mapped_bytes` to rows: the runtime's memory at the next reading, if it is near.

    RSS is read after MemStats, and the heap can grow in between.
    """
    found = [row | {"next_mapped_bytes": None} for row in rows]
    for row, other in pairwise(found):
        seconds = seconds_between(row, other)
        if seconds is not None and seconds <= PAUSE_SECONDS:
            row["next_mapped_bytes"] = int(other["mapped_bytes"])
    return found


def _plain(row: Row) -> Row:
    return {name: None if is_unknown(value) else value for name, value in row.items()}


def _causes(rows: Sequence[Row], stopped: Sequence[bool], version: GoVersion) -> Iterator[_Cause]:
    is_old = version.certainly(Fact.IDLE_SPANS_AGE)
    above = [_above(row, is_old=is_old) for row in rows]
    steps = zip(rows[1:], above[1:], _steps(rows, above), stopped, strict=True)
    for row, size, step, is_stopped in steps:
        if size and is_stopped:
            yield _Cause("starved", "stopped", size)
        elif size and step.goes_back:
            yield _Cause("as-intended", "going-back", size)
        elif size:
            waits = _Cause("waiting", "five-minutes", size)
            yield waits if is_old else _held_up(row, size, step, version)
        elif not is_old and row["goal_bytes"] is None:
            yield _without_goal(row)
        else:
            yield _within_goal(row, is_old=is_old)


def _above(row: Row, *, is_old: bool) -> int:
    """Return retained heap above the goal, if it is large enough to report; else 0.

    Before Go 1.13 it is idle heap beyond what the heap can fill before the next collection, as far
    as it can be resident.
    """
    if is_old:
        goal = row["NextGC"]
        if goal is None or goal >= NO_GOAL:
            return 0
        beyond = row["idle_resident_bytes"] - max(0, int(goal) - row["HeapInuse"])
    else:
        goal, beyond = row["goal_bytes"], row["above_goal_bytes"]
        if goal is None:
            return 0
        beyond = min(beyond, row["idle_kept_bytes"])
    return int(beyond) if beyond > max(MIN_BYTES, MIN_FRACTION * goal) else 0


def _steps(rows: Sequence[Row], above: Sequence[int]) -> Iterator[_Above]:
    """Return since when heap is above the goal, and how long nothing was released."""
    rises = [(given_back(before, after) or 0) >= STEP_BYTES for before, after in pairwise(rows)]
    begins = list(range(len(rows)))  # the first of consecutive ones above the goal
    for place in range(1, len(rows)):
        if above[place] and above[place - 1]:
            begins[place] = begins[place - 1]
    first, last = list(range(len(rises))), list(range(1, len(rows)))  # ends of the silence
    for place in range(1, len(rises)):
        if begins[place + 1] < place and not rises[place - 1]:
            first[place] = first[place - 1]
    for place in reversed(range(len(rises) - 1)):
        if above[place + 1] and not rises[place + 1]:
            last[place] = last[place + 1]
    for place, goes_back in enumerate(rises):
        silent = seconds_between(rows[first[place]], rows[last[place]])
        yield _Above(rows[begins[place + 1]], silent, goes_back)


def _held_up(row: Row, above: int, step: _Above, version: GoVersion) -> _Cause:
    """Return why heap above the goal is not released, from Go 1.13 on."""
    counts = row["NumGC"], step.since["NumGC"]
    is_counted = None not in counts
    is_same = is_counted and counts[0] == counts[1]
    leaves_dense = version.certainly(Fact.DENSE_CHUNKS_STAY)
    gone = given_back(step.since, row) or 0
    if is_same and leaves_dense and gone < STEP_BYTES:
        return _Cause("dense-chunks", "", above)
    silent = step.silent_seconds
    if silent is not None and silent <= PAUSE_SECONDS:
        return _Cause("as-intended", "going-back", above)
    return _silent(above, gone, version, is_counted=is_counted, is_same=is_same)


def _silent(
    above: int, gone: int, version: GoVersion, *, is_counted: bool, is_same: bool
) -> _Cause:
    """Return why nothing was released for longer than the scavenger sleeps.

    `gone` is what was released since the heap rose above the goal. `is_counted` says whether
    collections are counted, `is_same` whether none ran since.
    """
    if not version.certainly(Fact.BACKGROUND_SCAVENGER):
        return _Cause("unknown", "no-release", above)
    if (is_same or not is_counted) and version.possibly(Fact.DENSE_CHUNKS_STAY):
        if not is_counted:
            return _Cause("unknown", "no-count", above)
        if version.certainly(Fact.DENSE_CHUNKS_STAY):
            return _Cause("dense-chunks", "", above)
        return _Cause("unknown", "no-release", above)
    one_pass = version.certainly(Fact.ONE_PASS_A_CYCLE)
    if is_same and one_pass and gone >= above:
        return _Cause("waiting", "next-collection", above)
    return _Cause("starved", "asleep", above)


def _without_goal(row: Row) -> _Cause:
    if row["NumGC"] is not None and row["NumGC"] < FIRST_COLLECTIONS:
        case = "waiting", "second-collection"
    elif row["NextGC"] is not None and row["NextGC"] >= NO_GOAL:
        case = "kept-for-goal", "gogc-off"
    else:
        return _Cause("unknown", "no-goal")
    idle = row["idle_resident_bytes"]
    return _Cause(*case, idle) if idle >= _worth(row) else _within_goal(row, is_old=False)


def _worth(row: Row) -> float:
    """Return the minimum to report: a chunk, or a tenth of RSS (without it, of Go's memory)."""
    whole = row["mapped_bytes"] if row["rss_bytes"] is None else row["rss_bytes"]
    return max(MIN_BYTES, MIN_FRACTION * whole)


def _within_goal(row: Row, *, is_old: bool) -> _Cause:
    """Return what explains most resident memory besides objects, with nothing above the goal."""
    idle = row["idle_resident_bytes"]
    if not is_old and _limit_binds(row) and row["idle_kept_bytes"] >= _worth(row):
        return _Cause("limit-driven", "", row["mapped_bytes"])
    sizes = {
        _Cause("kept-for-goal", "next-gc" if is_old else "goal"): idle,
        _Cause("fragmented"): _free_slots(row),
        _Cause("madv-free"): row["lazy_free_bytes"] or 0,
        _Cause("huge-pages"): row["huge_excess_bytes"] or 0,
        _Cause("not-go-memory"): _beside_go(row),
    }
    cause, size = max(sizes.items(), key=lambda pair: pair[1])
    if size < _worth(row):
        return _Cause(*LITTLE, idle)
    return _Cause(cause.code, cause.rule, int(size))


def _limit_binds(row: Row) -> bool:
    """Return whether a limit sets the goal, and retained memory has reached it."""
    goal, paced = row["goal_bytes"], row["paced_goal_bytes"]
    if goal is None or (row["limit_bytes"] is None and row["limit_goal_bytes"] is None):
        return False
    by_limit = paced is None or goal < paced
    is_near = row["retained_bytes"] >= goal - max(MIN_BYTES, MIN_FRACTION * goal)
    return bool(by_limit and is_near)


def _free_slots(row: Row) -> int:
    """Return free slots that pacing does not explain; 0 under a limit, whose goal excludes them."""
    goal = row["NextGC"]
    if goal is None or goal >= NO_GOAL or row["memory_limit_bytes"] is not None:
        return 0
    if row["HeapAlloc"] is None:
        return 0
    return slots_beyond(row["HeapInuse"], row["HeapAlloc"], int(goal))


def _beside_go(row: Row) -> int:
    """Return resident memory beyond all of Go's, released or not: a lower bound of non-Go memory.

    Some of Go's memory was never touched, so there can be more.
    """
    if row["rss_bytes"] is None:
        return 0
    held = max(row["mapped_bytes"], row["next_mapped_bytes"] or 0)
    known = held + (row["lazy_free_bytes"] or 0) + (row["huge_excess_bytes"] or 0)
    return max(0, row["rss_bytes"] - known)


def _laid_out(before: Row, after: Row, cause: _Cause) -> tuple[Any, ...]:
    return (
        before["moment"],
        after["moment"],
        before["seconds"],
        seconds_between(before, after),
        cause.code,
        cause.rule,
        cause.size,
        given_back(before, after),
        change(before, after, "retained_bytes"),
        change(before, after, "rss_bytes"),
        sentence_of(before, after, (cause.code, cause.rule), cause.size),
    )
