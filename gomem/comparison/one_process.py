"""Are both sides captures of one process, at two times? Then nothing about its build differs."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from gomem.sources.times import parse_time

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gomem.capture.capture import Capture
    from gomem.diagnosis.diagnosis import Diagnosis

# The kernel gives the start to 10 ms. Copies of a service can start within a second of one another,
# each with PID 1 in its container.
SAME_START = timedelta(milliseconds=50)


def seconds_between(old: Sequence[Diagnosis], new: Sequence[Diagnosis]) -> float | None:
    """Return the time between the last snapshots of one process; None for two processes."""
    before, after = [run.capture for run in old], [run.capture for run in new]
    first, *others = map(_identity, (*before, *after))
    if first is None or not all(_is_same(first, other) for other in others):
        return None
    ends = _last_time(before), _last_time(after)
    if ends[0] is None or ends[1] is None or ends[0] == ends[1]:
        return None
    return (ends[1] - ends[0]).total_seconds()


def _identity(capture: Capture) -> tuple[object, datetime] | None:
    """The PID and the start, by the collector or by the metrics page, which has no PID."""
    started = parse_time(capture.manifest.fact("started"))
    if started is not None:
        return capture.manifest.fact("pid"), started
    starts = capture.process["process_start_time_seconds"].dropna().unique()
    return (None, starts[0].floor("us").to_pydatetime()) if len(starts) == 1 else None


def _is_same(before: tuple[object, datetime], after: tuple[object, datetime] | None) -> bool:
    return after is not None and before[0] == after[0] and abs(before[1] - after[1]) < SAME_START


def _last_time(captures: Iterable[Capture]) -> datetime | None:
    times = (moment.time for capture in captures for moment in capture.by_moment.values())
    return max((time for time in times if time is not None), default=None)
