"""Whether goroutines pile up, and what is theirs: the judgement that several causes share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.analysis.series.goroutine_growth import DESCRIPTOR_BYTES, begins, is_of_descriptors

if TYPE_CHECKING:
    from gomem.analysis.profiles.growth import GrowingSite
    from gomem.causes.case import Case


def goroutines_pile_up(case: Case) -> bool:
    """Whether the number of goroutines grows by enough to matter."""
    limits, grown = case.thresholds, case.facts.goroutines
    if grown.count is not None:
        return grown.rises and goroutines_grew(case)
    stacks = grown.stacks
    if stacks is not None and stacks.rises and stacks.grown >= limits.goroutine_bytes:
        return stacks.last >= limits.goroutine_growth_ratio * stacks.first
    return grown.descriptors_bytes >= limits.goroutine_growth * DESCRIPTOR_BYTES


def goroutines_rise(case: Case) -> bool:
    """Whether they pile up, or rise by as many, if not to a multiple of what there were."""
    count, least = case.facts.goroutines.count, case.thresholds.goroutine_growth
    many = count is not None and case.facts.goroutines.rises and count.grown >= least
    return goroutines_pile_up(case) or many


def goroutines_grew(case: Case) -> bool:
    """Whether enough more are counted at the last moment than at the first."""
    limits, count = case.thresholds, case.facts.goroutines.count
    return (
        count is not None
        and count.moments >= limits.goroutine_growth_moments
        and count.grown >= limits.goroutine_growth
        and count.last >= limits.goroutine_growth_ratio * count.first
    )


def goroutines_hold(case: Case, site: GrowingSite | None) -> bool:
    """Whether what rises in the heap is what goroutines hold that pile up.

    Args:
        case: What is known.
        site: Who allocates it; None if that is not known. By fewer profiles than it takes to be
            sure, it may as well allocate what the goroutines refer to.
    """
    if site is None or site.contents < case.thresholds.growth_profiles:
        return goroutines_pile_up(case)
    if not goroutines_pile_up(case):
        return False
    return is_of_descriptors(site.stack) or begins(site.stack, case.facts.goroutines.begun)


def goroutines_heap_bytes(case: Case) -> float:
    """What those goroutines hold of the heap that came, as far as that is known.

    Where profiles do not surely name a site that rises and is not theirs, all that rises is.
    """
    grown, site = case.facts.goroutines, case.facts.profiles.growing_site
    if site is not None and not goroutines_hold(case, site):
        return grown.heap_bytes
    return max(grown.heap_bytes, case.facts.held_grown_bytes)
