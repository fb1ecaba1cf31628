"""Whether goroutines pile up, and what is theirs: the judgement that several causes share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.analysis.series.goroutine_growth import DESCRIPTOR_BYTES
from gomem.causes.scores import bounded_log, scores

if TYPE_CHECKING:
    from gomem.causes.case import Case
    from gomem.causes.finding import Site

CODE = "goroutine-leak"


def features(case: Case) -> dict[str, float] | None:
    """What the score looks at; None where their number has not risen by enough to be looked at."""
    count, thresholds = case.facts.goroutines.count, case.thresholds
    if count is None or count.grown < thresholds.goroutine_growth:
        return None
    if count.last < thresholds.goroutine_growth_ratio * count.first:
        return None
    return {
        "linear_share": count.linear_share,
        "late_share": count.late_share,
        "ratio": bounded_log(count.ratio),
        "readings": bounded_log(count.readings),
        "seconds": bounded_log(count.seconds),
    }


def probability(case: Case) -> float:
    """How often such a rise turned out to be a leak; 0 where it is not looked at."""
    values = features(case)
    return 0.0 if values is None else scores()[CODE].probability(values)


def goroutines_pile_up(case: Case) -> bool:
    """Whether the number of goroutines grows by enough to matter."""
    if case.facts.goroutines.count is not None:
        return probability(case) >= case.thresholds.possible_probability
    return _pile_up_uncounted(case)


def _pile_up_uncounted(case: Case) -> bool:
    """Whether what goes with their number grows to the end, where nobody counts them."""
    if case.facts.goroutine_counts:
        return False  # one count says how many there are, not that they grow
    thresholds, growth = case.thresholds, case.facts.goroutines
    stacks = growth.stacks
    if stacks is not None and stacks.grown >= thresholds.goroutine_bytes:
        is_line = stacks.linear_share >= thresholds.linear_share
        is_watched = stacks.readings >= thresholds.growth_readings
        if is_line and is_watched and stacks.ratio >= thresholds.goroutine_growth_ratio:
            return True
    return growth.descriptors_bytes >= thresholds.uncounted_goroutines * DESCRIPTOR_BYTES


def goroutines_hold(case: Case, sites: tuple[Site, ...]) -> bool:
    """Whether what grows in the heap is what goroutines hold that pile up.

    Args:
        case: What is known.
        sites: Who allocates it, the largest first; empty if that is not known.
    """
    if not goroutines_pile_up(case):
        return False
    waiting = case.facts.goroutines.waiting
    if not sites or waiting is None:
        return True
    theirs = {waiting.function, waiting.created_by, *waiting.begun}
    return any(site.own_function in theirs for site in sites)


def goroutines_heap_bytes(case: Case, sites: tuple[Site, ...]) -> float:
    """What those goroutines hold of the heap that came, at most, as far as that is known."""
    live = case.facts.live_heap
    rise = None if live is None else live.rise
    if rise is None or not goroutines_hold(case, sites):
        return 0.0
    return max(0.0, rise.grown)
