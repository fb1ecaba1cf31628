"""Whether threads pile up: the judgement that several causes share."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gomem.causes.case import Case


def threads_pile_up(case: Case) -> bool:
    """Whether the number of threads grows in a line to the end, by enough to matter."""
    rise, thresholds = case.facts.threads, case.thresholds
    if rise is None or rise.grown < thresholds.thread_growth:
        return False
    return rise.ratio >= thresholds.thread_growth_ratio and rise.goes_on
