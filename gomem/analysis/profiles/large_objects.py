"""Which single objects were there between two heap profiles, that neither of them shows?

A buffer that lives between two profiles is in use in neither of them, and one that lives for less
than two collections may never be. But allocations are counted from the program's start, all objects
of one sample have one size, and an object far larger than the sampling interval is always sampled.
So the difference of two profiles has it, and it was there in one piece, on top of what was in use.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from gomem.analysis.profiles.published import counting
from gomem.units import MIB

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gomem.analysis.profiles.published import Published
    from gomem.inputs.pprof.table import Profile

OBJECTS = "alloc_objects"
MIN_OBJECT = MIB  # twice the usual sampling interval: an object so large is always sampled


@dataclass(frozen=True)
class LargeObject:
    """The largest single object that was allocated between two profiles."""

    seconds: float  # halfway between the two, in seconds since 1970
    least_in_use: float  # what was in use then at least: the object, and the less that both show
    moment: str  # the later of the two, the first that counts it


def large_objects(profiles: Mapping[str, Profile]) -> list[LargeObject]:
    """The largest object of each interval between two heap profiles that say something new.

    Profiles are of one process; those that do not count allocations are left out.
    """
    news = counting(
        {name: one for name, one in profiles.items() if OBJECTS in one.sample_type_names}
    ).news
    if not news:
        return []
    begin = news[0].profile.columns.time_nanos / 1e9 - news[0].seconds
    counts = [_counts(one.profile) for one in news]
    found = []
    for (old, before), (new, after) in pairwise(zip(news, counts, strict=True)):
        sizes = [size for size, count in after.items() if count > before.get(size, 0.0)]
        if sizes:
            seconds = begin + (old.until_seconds + new.seconds) / 2
            found.append(LargeObject(seconds, max(sizes) + _in_use(old, new), new.moment))
    return found


def _in_use(old: Published, new: Published) -> float:
    return float(min(one.profile.total("inuse_space") for one in (old, new)))


def _counts(profile: Profile) -> dict[int, float]:
    """How many large objects were allocated since the start, by size."""
    objects, space = profile.values(OBJECTS), profile.values("alloc_space")
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.nan_to_num(space / objects, posinf=0.0)
    there = size >= MIN_OBJECT
    sizes, place = np.unique(np.round(size[there]).astype(np.int64), return_inverse=True)
    return dict(zip(sizes.tolist(), np.bincount(place, objects[there]).tolist(), strict=True))
