"""Do sizes other than RSS stay level: the heap that a log has, and containers' working sets?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gomem.analysis.series.level import Level
from gomem.diagnosis.few_fields import heap_level, step_of
from gomem.facts.profiles import IN_USE, that_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gomem.causes.thresholds import Thresholds
    from gomem.diagnosis.diagnosis import Diagnosis

MIN_READINGS = 3
LEVEL = ("flat", "decline")  # shapes


def other_levels_stay(diagnosis: Diagnosis) -> bool:
    """Whether at least one size has several readings, and no size, nor any number, has grown."""
    limits = diagnosis.thresholds
    containers = (container.sizes for container in diagnosis.facts.containers)
    known = [(sizes, 1) for sizes in containers if len(sizes) >= MIN_READINGS]
    heap = heap_level(diagnosis)
    if heap is not None and len(heap[1]) >= MIN_READINGS:
        name, stats = heap
        known.append((tuple(map(int, stats[name])), step_of(diagnosis.capture, name)))
    profiles = that_count(IN_USE, diagnosis.capture.heap_profiles).values()
    in_use = [profile.total(IN_USE) for profile in profiles]
    counts = [count.goroutines for count in diagnosis.facts.goroutine_counts]
    is_more = bool(counts) and counts[-1] >= limits.goroutine_growth_ratio * counts[0]
    if not known or (is_more and bool(counts[1:])):
        return False
    has_more = bool(in_use) and limits.has_grown(in_use[0], in_use[-1])
    return not has_more and all(stays(sizes, limits, step) for sizes, step in known)


def stays(sizes: Sequence[int], limits: Thresholds, step: int = 1) -> bool:
    """Whether sizes stay at a level, or swing about one whose lows do not rise.

    Sizes rounded to a step can differ by one step and be the same.
    """
    if max(sizes) - min(sizes) <= step:
        return True
    rise = Level("", np.arange(len(sizes), dtype=float), np.array(sizes, float)).rise
    if rise is None or limits.has_grown(int(rise.first), int(rise.last)):
        return False
    half = len(sizes) // 2
    if rise.shape == "saw-tooth":
        return not limits.has_grown(min(sizes[:half]), min(sizes[half:]))
    return rise.shape in LEVEL
