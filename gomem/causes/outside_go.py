"""How severe memory outside Go is: the judgement that causes about it share."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gomem.analysis.memory.groups import NATIVE
from gomem.causes.finding import Severity

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gomem.causes.case import Case
    from gomem.facts.moment import MomentFacts


def outside_go(
    case: Case,
    size_of: Callable[[MomentFacts], int],
    least_bytes: int,
    moments: Sequence[MomentFacts] | None = None,
) -> list[tuple[MomentFacts, Severity]]:
    """The moments with much memory that is not Go's, each with how severe that is.

    A warning is a large part of RSS that has grown since an earlier moment and has not levelled
    off; the rest are notes. A moment that does not divide its memory bounds it all the same: there
    was no more of it than the account leaves for C and other native memory.

    Args:
        case: What is known.
        size_of: The resident bytes of it at a moment that says so.
        least_bytes: The cause's own threshold, of the size and of the growth.
        moments: Those that say so; those with mappings if None.
    """
    thresholds, much = case.thresholds, []
    if moments is None:
        moments = [moment for moment in case.facts.moments if moment.mappings is not None]
    lowest = math.inf
    for moment in case.facts.moments:
        if moment not in moments:
            lowest = min(lowest, _most_native(case, moment))
            continue
        size = size_of(moment)
        lowest = min(lowest, size)
        least = thresholds.notable(least_bytes, moment.rss_bytes)
        if size >= least:
            large = size >= thresholds.large_rss_fraction * (moment.rss_bytes or 0)
            warns = large and size - lowest >= least and not _has_filled(case)
            much.append((moment, Severity.WARNING if warns else Severity.INFO))
    return much


def _most_native(case: Case, moment: MomentFacts) -> float:
    """What C and other native memory can have been at a moment, at most."""
    account = case.facts.account
    snapshot = None if account is None or account.quantity != "rss" else account.of(moment.name)
    return math.inf if snapshot is None else snapshot.likely.parts[NATIVE].high


def _has_filled(case: Case) -> bool:
    """Whether native memory rose at first and has stayed since."""
    rise = None if case.facts.account is None else case.facts.account.rise(frozenset({NATIVE}))
    if rise is None or rise.readings < case.thresholds.growth_readings:
        return False
    return rise.grown > 0 and rise.linear_share < case.thresholds.linear_share
