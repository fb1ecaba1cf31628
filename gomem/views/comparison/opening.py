"""The first screen of a comparison, beside the verdict: RSS by owner, a bar a side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.charts.look import GROUP_LOOK
from gomem.units import format_bytes
from gomem.views.comparison.words import owners, pair_of
from gomem.views.document import Bar, Bars, Key, Piece

if TYPE_CHECKING:
    from gomem.comparison.samples import Comparison
    from gomem.views.document import Block

CAPTION = "RSS by owner"


def owner_bars(comparison: Comparison, before: str, after: str) -> tuple[Block, ...]:
    """The bars; none where memory is not divided on both sides.

    Args:
        comparison: The answer.
        before: What one side is called.
        after: What the other is called.
    """
    pair = pair_of(comparison, "of_metrics")
    shown = [] if pair is None else owners(comparison, pair)
    named = {"before": before, "after": after}
    sums = {side: sum(owner.bytes[side] for owner in shown) for side in named}
    longest = max(sums.values())
    if not longest:
        return ()
    bars = tuple(
        Bar(
            name,
            format_bytes(sums[side]),
            tuple(
                Piece(owner.bytes[side] / longest, *GROUP_LOOK[owner.group])
                for owner in shown
                if owner.bytes[side]
            ),
        )
        for side, name in named.items()
    )
    keys = tuple(
        Key(
            owner.name,
            *GROUP_LOOK[owner.group],
            tuple(format_bytes(owner.bytes[side]) for side in named),
        )
        for owner in shown
    )
    return (Bars(CAPTION, bars, keys),)
