"""Allocation sites before and after: a bar each for what a site has allocated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gomem.units import format_bytes
from gomem.views.figures.before_after_rows import (
    HATCHES,
    SIDES,
    WIDTH,
    add_legend,
    add_rows,
    height_of,
    label_rows,
)
from gomem.views.figures.figure import INK, Drawing, draw_byte_axis, new_figure, style

if TYPE_CHECKING:
    import pandas as pd

SITES_DRAWN = 10
NAMES, STATES = 2.6, 0.7  # inches beside the rows


def plot_site_changes(sites: pd.DataFrame, *, name: str = "sites") -> Drawing:
    """Draw what the first sites have on both sides, in bytes.

    Args:
        sites: Rows of `gomem.diagnosis.comparison.SITE_CHANGES` of one sample type of bytes, the
            largest change first; the first `SITES_DRAWN` are drawn.
        name: Unique on its page.
    """
    rows = sites.head(SITES_DRAWN).to_dict("records")
    with style():
        figure = new_figure(WIDTH, height_of(len(rows)))
        axes = add_rows(figure, len(rows), left=NAMES, right=STATES)
        high = max([1.0, *(max(row["before"], row["after"]) for row in rows)])
        for place, row in enumerate(rows):
            for side, (colour, _, shift) in SIDES.items():
                axes.barh(
                    place - shift, row[side], 0.3, color=colour, edgecolor=INK, lw=0.6,
                    hatch=HATCHES[side],
                )  # fmt: skip
        label_rows(axes, [row["function"] for row in rows], [row["state"] for row in rows])
        axes.set_xlim(0, high * 1.02)
        draw_byte_axis(axes, 0, high, along="x")
        add_legend(axes, bars=True)
    return Drawing(name, "Allocation sites before and after", _describe(rows), figure)


def _describe(rows: list[dict[str, Any]]) -> str:
    each = []
    for row in rows:
        before, after = (format_bytes(row[side]) for side in SIDES)
        each.append(f"{row['function']}: {before} before, {after} after")
    return "; ".join(each) + "."
