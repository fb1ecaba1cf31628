"""How severe memory outside Go is: the judgement that causes about it share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gomem.analysis.series.trends import above_the_lowest, trend_of
from gomem.causes.finding import Severity
from gomem.facts.moment import seconds_of

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
    off; the rest are notes.

    Args:
        case: What is known.
        size_of: The resident bytes of it at a moment that says so.
        least_bytes: The cause's own threshold, of the size and of the growth.
        moments: Those that say so; those with mappings if None.
    """
    limits, much = case.thresholds, []
    if moments is None:
        moments = [moment for moment in case.facts.moments if moment.mappings is not None]
    sizes = [size_of(moment) for moment in moments]
    trend = trend_of(np.array(sizes, np.float64), seconds_of(moments))
    levelled = trend is not None and trend.levels_off
    for moment, size, grown in zip(moments, sizes, above_the_lowest(sizes), strict=True):
        least = limits.notable(least_bytes, moment.rss_bytes)
        if size >= least:
            large = size >= limits.large_rss_fraction * (moment.rss_bytes or 0)
            warns = large and grown >= least and not levelled
            much.append((moment, Severity.WARNING if warns else Severity.INFO))
    return much
