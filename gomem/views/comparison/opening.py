"""The first screen of a comparison, beside the verdict: RSS by owner, a bar a side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.charts.look import GROUP_LOOK
from gomem.inputs.schema import rows_of
from gomem.units import format_bytes
from gomem.views.comparison.tables import size_cell
from gomem.views.comparison.words import groups_of, pair_of
from gomem.views.document import Bar, Bars, Key, Piece

if TYPE_CHECKING:
    from gomem.comparison.samples import Comparison
    from gomem.views.document import Block

CAPTION = "RSS by owner"
GREY = GROUP_LOOK["undivided"]


def owner_bars(comparison: Comparison, before: str, after: str) -> tuple[Block, ...]:
    """The bars, of sides that are called so; none where RSS is not known on both.

    An owner of which only bounds are known is drawn with the middle between them.
    """
    pair = pair_of(comparison, "of_metrics")
    owners = [] if pair is None else rows_of(groups_of(comparison, pair))
    if not owners:
        return ()
    named = {"before": before, "after": after}
    rss = rows_of(comparison.moments[comparison.moments["of_metrics"]])[0]
    middles = {
        side: [(row[f"{side}_low"] + row[f"{side}_high"]) / 2 for row in owners] for side in named
    }
    longest = max(map(sum, middles.values()))
    looks = [GROUP_LOOK.get(row["group"], GREY) for row in owners]
    bars = tuple(
        Bar(
            name,
            format_bytes(rss[f"{side}_rss_bytes"]),
            tuple(
                Piece(size / longest, *look)
                for size, look in zip(middles[side], looks, strict=True)
                if size
            ),
        )
        for side, name in named.items()
    )
    keys = tuple(
        Key(row["name"], *look, tuple(size_cell(row, side).text for side in named))
        for row, look in zip(owners, looks, strict=True)
    )
    return (Bars(CAPTION, bars, keys),)
