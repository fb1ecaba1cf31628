"""Checks shared by several causes: does the live heap grow, and which files say so?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gomem.analysis.series.level import LATE
from gomem.causes.scores import bounded_log, scores
from gomem.text import Count
from gomem.units import MIB

if TYPE_CHECKING:
    from gomem.analysis.series.level import Level, Rise
    from gomem.causes.case import Case
    from gomem.causes.thresholds import Thresholds

CODE = "heap-growth"
PROFILES = "profiles"  # where the live heap's readings come from


def features(case: Case) -> dict[str, float] | None:
    """Return the inputs of the score; None if the live heap has not risen by enough."""
    live, thresholds = case.facts.live_heap, case.thresholds
    rise = None if live is None else live.rise
    if live is None or rise is None or not matters(rise, thresholds):
        return None
    if rise.readings < thresholds.growth_readings and not _is_large(rise, thresholds):
        return None
    return {
        "linear_share": rise.linear_share,
        "beyond_ceiling": rise.beyond_ceiling,
        "coverage": bounded_log(rise.coverage),
        "seconds": bounded_log(rise.seconds),
        "readings": bounded_log(min(rise.readings, thresholds.growth_many_readings)),
        "kinds": float(len(live.agreeing)),
    }


def _is_large(rise: Rise, thresholds: Thresholds) -> bool:
    """Return whether a rise is large enough to count with only two readings."""
    is_many_times = rise.last >= thresholds.growth_few_ratio * rise.first
    return is_many_times and rise.grown >= thresholds.growth_few_bytes


def matters(rise: Rise | None, thresholds: Thresholds) -> bool:
    """Return whether a level has risen by enough for the score, and by more than its error."""
    if rise is None or rise.slope <= 0:  # a single step: most pairs of readings do not rise
        return False
    least = max(thresholds.growth_bytes, thresholds.growth_fraction * rise.last, rise.error)
    return rise.grown >= least


def has_stopped(case: Case) -> bool:
    """Return whether many readings of RSS show that the rise between a few profiles is over.

    Two profiles show a step: it can have taken place at any time between them. If RSS rose by far
    less than a steady rise would have added to it since, or fell, the step is over.
    """
    live, thresholds, level = case.facts.live_heap, case.thresholds, case.facts.rss_level
    rise = None if live is None else live.rise
    if rise is None or rise.readings >= thresholds.growth_readings:
        return False
    if any(moment.time is None for moment in case.facts.of_last_process if moment.rss_bytes):
        return False
    since = level.since_start
    if (
        len(since) < thresholds.growth_many_readings
        or since.span_seconds < thresholds.most_share * rise.seconds
    ):
        return False
    seconds, values = since.seconds, since.values
    late = float(np.interp(seconds[-1] - LATE * since.span_seconds, seconds, values))
    expected = rise.rate * LATE * since.span_seconds
    return float(values[-1]) - late < thresholds.growth_stopped_share * expected


def printed_bytes(size: float, level: Level) -> int:
    """Return a reading as the GC log prints it, in whole MiB rounded down; others as they are."""
    return round(size) // MIB * MIB if level.source == "log" else round(size)


def read_from(level: Level, case: Case) -> str:
    """Return the source of the live heap: the log, or the number of profiles or snapshots."""
    log, snapshots = case.facts.collector, len(case.facts.moments)
    if level.source == PROFILES:
        return str(Count(len(case.facts.profiles.paths), "heap profile"))
    if level.source == "log" and log is not None:
        return log.path
    counted = str(Count(snapshots, "snapshot"))
    return counted if log is None or len(level) <= snapshots else f"{counted}, {log.path}"


def probability(case: Case) -> float:
    """Return the probability that the live heap grows; 0 if the rise is too small to score."""
    values = features(case)
    return 0.0 if values is None else scores()[CODE].probability(values)


def grows(case: Case) -> bool:
    """Return whether the live heap grows to the end, with at least `possible` confidence."""
    return probability(case) >= case.thresholds.possible_probability
