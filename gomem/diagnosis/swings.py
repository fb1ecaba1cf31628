"""A size of the heap that rises and falls again: the GC frees the difference."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from gomem.text import Bytes, MomentName, Text, text

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

MIN_RETURNS = 2  # to its peak, by which the size swings


def swing_words(
    known: pd.DataFrame, level: str, size: Text, lows: Sequence[float], ratio: float
) -> Text:
    """Say what the last size is, between which sizes it moved, and whether the low ones rise."""
    words = (
        "{} is {} at {}, and has moved between {} and {} since its first peak: the GC frees the "
        "difference."
    )
    ends = Bytes(int(min(lows))), Bytes(int(known[level].max()))
    said = text(words, level, size, MomentName(known.iloc[-1]["moment"]), *ends)
    rises = lows[-1] >= lows[0] * ratio
    if list(lows) == sorted(lows) and rises and len(lows) > MIN_RETURNS:
        ends = Bytes(int(lows[0])), Bytes(int(lows[-1]))
        said = text("{} What it falls to rises, from {} to {}.", said, *ends)
    return said


def lows_of_swings(sizes: Sequence[float], ratio: float) -> list[float]:
    """What the size fell to after each peak since the first.

    Empty unless it returned to the peak twice, or once and had fallen to what it was at first.
    """
    is_high = [size * ratio >= max(sizes) for size in sizes]
    began = is_high.index(True)
    returns = sum(high and not before for before, high in pairwise(is_high[began:]))
    is_back = began > 0 and min(sizes[began:]) <= ratio * sizes[0]
    if returns < MIN_RETURNS - is_back:
        return []
    lows, turn, is_falling = list[float](), sizes[0], False
    for size in sizes:
        if is_falling and size >= turn * ratio:
            lows.append(turn)
            is_falling, turn = False, size
        elif not is_falling and size * ratio <= turn:
            is_falling, turn = True, size
        else:
            turn = min(turn, size) if is_falling else max(turn, size)
    return [*lows, turn] if is_falling else lows
