"""How much is in use by heap profiles, at most?

A profile shows what was in use at the collection before the last, so one taken while a heap fills
or empties is behind. Of several the largest counts, with the upper end of its sampling's interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gomem.inputs.pprof.sampling import sampling_of
from gomem.statistics.sampling import Sampling, interval

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gomem.inputs.pprof.table import Profile

IN_USE, ALLOCATED = "inuse_space", "alloc_space"


@dataclass(frozen=True)
class InUseTotals:
    """What heap profiles of one process have in use."""

    at_most: float  # the most that any has, to the upper end of its 95 % interval, in bytes
    moment: str  # of the profile that has it
    allocated: Mapping[str, int]  # what each counts since the start, by moment, in bytes


def in_use_totals(profiles: Mapping[str, Profile]) -> InUseTotals | None:
    """Sum heap profiles; None if one does not count both, or nothing is in use."""
    if not all({IN_USE, ALLOCATED} <= set(one.sample_type_names) for one in profiles.values()):
        return None
    highest = {
        name: (total_bounds(one) or (0.0, float(one.total(IN_USE))))[1]
        for name, one in profiles.items()
    }
    if not any(highest.values()):
        return None
    moment = max(highest, key=lambda name: highest[name])
    allocated = {name: one.total(ALLOCATED) for name, one in profiles.items()}
    return InUseTotals(highest[moment], moment, allocated)


def total_bounds(profile: Profile) -> tuple[float, float] | None:
    """Between which bytes lies what is in use in 95 of 100 cases; None if nothing says."""
    total, sampling = profile.total(IN_USE), sampling_of(profile, IN_USE)
    if not isinstance(sampling, Sampling) or not total:
        return None
    sums = Sampling(*(np.array([part.sum()]) for part in sampling.parts))
    low, high = interval(np.array([float(total)]), sums)
    if np.isnan(low[0]) or np.isnan(high[0]):
        return None
    return float(low[0]), float(high[0])
