"""Checks shared by several causes: do threads or queued finalizers pile up?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.causes.live_growth import grows

if TYPE_CHECKING:
    from gomem.causes.case import Case


def threads_pile_up(case: Case) -> bool:
    """Return whether the number of threads grows linearly to the end, by enough to matter."""
    rise, thresholds = case.facts.threads, case.thresholds
    if rise is None or rise.grown < thresholds.thread_growth:
        return False
    return rise.ratio >= thresholds.thread_growth_ratio and rise.goes_on


def finalizers_hold_up(case: Case) -> bool:
    """Return whether finalizers are too slow: the queue grows, or one finalizer is stuck."""
    running = case.facts.finalizing
    if running is None:
        return queue_grows(case)
    is_stuck = (running.wait_seconds or 0) >= case.thresholds.finalizer_seconds
    return is_stuck or grows(case) or queue_grows(case)


def queue_grows(case: Case) -> bool:
    """Return whether the number of queued finalizers in runtime/metrics rises to the end."""
    queue, thresholds = case.facts.finalizer_queue, case.thresholds
    return queue is not None and queue.grown >= thresholds.finalizer_growth and queue.goes_on
