"""What can one value per side show, and what do several verdicts add up to?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.analysis.memory.ledger_change import MIN_BYTES, MIN_SHARE
from gomem.comparison.samples import BETTER, SAME, TOO_FEW, WORSE
from gomem.comparison.single_values import MIN_CPU

if TYPE_CHECKING:
    from collections.abc import Sequence

MIXED = "mixed"
JUDGEMENTS = (BETTER, WORSE, MIXED, SAME, TOO_FEW)
# At GOGC=100 a heap swings between its live size and twice that, so two moments of an unchanged
# process can differ by a factor of two. A larger change is not this swing.
SWING = 2.0
MIN_SERIES = 3  # moments needed to estimate how much a side's values vary


def least_of(unit: str) -> float:
    """The smallest change in a unit that counts; 0 if only the relative change matters."""
    return {"B": MIN_BYTES, "fraction": MIN_CPU}.get(unit, 0.0)


def direction(
    before: float,
    after: float,
    *,
    least: float = MIN_BYTES,
    before_series: Sequence[float] = (),
    after_series: Sequence[float] = (),
) -> str:
    """Judge one value per side of a lower-is-better metric.

    The verdict is `same` below `least` or 2 %; better or worse if the change exceeds a heap's
    normal swing, or if the gap between the sides' values at all their moments is wider than the
    spread of either side; else `?`.
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
    """Combine verdicts: better and worse give mixed; `?` only if nothing is better or worse."""
    found = set(verdicts)
    if MIXED in found or {BETTER, WORSE} <= found:
        return MIXED
    return next((verdict for verdict in (WORSE, BETTER, TOO_FEW) if verdict in found), SAME)
