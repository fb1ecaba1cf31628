"""What does one value per side show, and what do several verdicts add up to?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.analysis.memory.ledger_change import MIN_BYTES, MIN_SHARE
from gomem.comparison.samples import BETTER, SAME, TOO_FEW, WORSE
from gomem.comparison.single_values import MIN_CPU

if TYPE_CHECKING:
    from collections.abc import Sequence

MIXED = "mixed"
JUDGEMENTS = (BETTER, WORSE, MIXED, SAME, TOO_FEW)
# At GOGC=100 a heap swings between what is live and twice that, so two moments of one process may
# differ by a factor of two although nothing changed. What lies beyond is no swing.
SWING = 2.0
MIN_SERIES = 3  # moments that say how far a side's own values spread


def least_of(unit: str) -> float:
    """The least change in a unit that is one; 0 where the share alone decides."""
    return {"B": MIN_BYTES, "fraction": MIN_CPU}.get(unit, 0.0)


def direction(
    before: float,
    after: float,
    *,
    least: float = MIN_BYTES,
    before_series: Sequence[float] = (),
    after_series: Sequence[float] = (),
) -> str:
    """What one value a side can tell of something of which less is better.

    It is `same` below `least` or 2 %; better or worse for a change beyond a heap's own swing, or
    where the gap between the sides' values at all their moments is wider than either side spreads;
    else `?`.
    """
    if abs(after - before) < max(least, MIN_SHARE * max(before, after)):
        return SAME
    is_beyond_swing = max(before, after) > SWING * min(before, after)
    if is_beyond_swing or _apart(before_series, after_series, least):
        return WORSE if after > before else BETTER
    return TOO_FEW


def _apart(before: Sequence[float], after: Sequence[float], least: float) -> bool:
    if min(len(before), len(after)) < MIN_SERIES:
        return False
    spreads = [max(series) - min(series) for series in (before, after)]
    gap = max(min(after) - max(before), min(before) - max(after))
    return gap > max(*spreads, least)


def together(verdicts: Sequence[str]) -> str:
    """One verdict of several: what speaks for and against is mixed, and what is `?` only waits."""
    found = set(verdicts)
    if MIXED in found or {BETTER, WORSE} <= found:
        return MIXED
    return next((verdict for verdict in (WORSE, BETTER, TOO_FEW) if verdict in found), SAME)
