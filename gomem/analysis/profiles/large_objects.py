"""Are single objects allocated now and then that are as large as the heap itself?

A buffer that lives between two profiles is in use in neither of them, and one that lives for less
than two collections may never be. But allocations are counted from the program's start, all objects
of one sample have one size, and an object far larger than the sampling interval is always sampled.
So the difference of two profiles has it, and it was there in one piece.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from gomem.analysis.profiles.published import counting
from gomem.inputs.pprof.calls.stacks import caller_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gomem.inputs.pprof.table import Profile

OBJECTS = "alloc_objects"
HALF = 0.5  # of the largest: a buffer that doubles has smaller ones on its way


@dataclass(frozen=True)
class LargeObjects:
    """Who allocates the largest single object between two profiles.

    Attributes:
        function: Who allocates it.
        caller: The program's own function for which it does; empty if none is known.
        object_bytes: Its size.
        after: Moment of the first profile that counts it.
        seconds: Since the profile before.
        intervals: How many intervals have such objects of the same function, of half of its size
            at least.
        of_intervals: How many intervals there are that say something new.
        usual_bytes: What is in use as a rule: the median of the profiles.
    """

    function: str
    caller: str
    object_bytes: int
    after: str
    seconds: float
    intervals: int
    of_intervals: int
    usual_bytes: float


def find_large_objects(profiles: Mapping[str, Profile], least_bytes: int) -> LargeObjects | None:
    """Find the largest single object that was allocated between two heap profiles.

    Args:
        profiles: By moment, of one process; those that do not count allocations are left out.
        least_bytes: Smaller objects do not matter.

    Returns:
        None if there is none.
    """
    told = {name: one for name, one in profiles.items() if OBJECTS in one.sample_type_names}
    news = counting(told).news
    counts = [_counts(one.profile, least_bytes) for one in news]
    intervals = [
        {key for key, count in new.items() if count > old.get(key, 0.0)}
        for old, new in pairwise(counts)
    ]
    sizes = {key[1] for one in intervals for key in one}
    if not sizes:
        return None
    largest = max(sizes)
    place = next(n for n, one in enumerate(intervals) if largest in {size for _, size in one})
    function = min(name for name, size in intervals[place] if size == largest)
    before, after = news[place], news[place + 1]
    return LargeObjects(
        function=function,
        caller=caller_of(after.profile, function, "alloc_space"),
        object_bytes=largest,
        after=after.moment,
        seconds=after.seconds - before.seconds,
        intervals=sum(
            any(name == function and size >= HALF * largest for name, size in one)
            for one in intervals
        ),
        of_intervals=len(intervals),
        usual_bytes=float(np.median([one.profile.total("inuse_space") for one in news])),
    )


def _counts(profile: Profile, least_bytes: int) -> dict[tuple[str, int], float]:
    """How many large objects were allocated since the start, by function and size."""
    objects, space = profile.values(OBJECTS), profile.values("alloc_space")
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.nan_to_num(space / objects, posinf=0.0)
    there = np.flatnonzero(size >= least_bytes)
    if not len(there):
        return {}
    counts: dict[tuple[str, int], float] = {}
    for name, sample in zip(profile.leaves(there), there.tolist(), strict=True):
        key = name, round(float(size[sample]))
        counts[key] = counts.get(key, 0.0) + float(objects[sample])
    return counts
