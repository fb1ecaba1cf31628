"""Dumbbells: each metric before and after, as a multiple of its value before, joined by a line.

The scale is logarithmic: double is as far to the right as half to the left. A metric that fell to
0 is at the left end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gomem.charts.chart import INK, MUTED, Look, Scale
from gomem.charts.figure import Drawing
from gomem.inputs.schema import rows_of
from gomem.units import format_relative, is_unknown, minus
from gomem.views.figures.benchmarks import have_multiples
from gomem.views.figures.rows import SIDES, explain_sides, label_rows, rows_panel
from gomem.views.measurements import format_level

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

NAMES, WORDS = 1.8, 2.5  # inches on either side of the rows
# Range of the axis; values beyond are drawn at its ends.
MIN_RATIO, MAX_RATIO = 1 / 1000, 1000.0
MANY = 1000  # ratio of highest to lowest: with more, the ticks' names do not fit
ROOM = 1.15  # factor beyond the first and the last value
TICKS = (0.001, 0.01, 0.1, 0.2, 0.5, 1, 2, 5, 10, 100, 1000)


def plot_dumbbells(
    metrics: pd.DataFrame, *, titles: Mapping[str, str] | None = None, name: str = "dumbbells"
) -> Drawing:
    """Draw each row of `METRICS` with a value above 0 before, under its title."""
    rows = rows_of(metrics[have_multiples(metrics)])
    chart, panel = rows_panel(len(rows), left=NAMES, right=WORDS)
    ratios = [
        min(MAX_RATIO, max(MIN_RATIO, row["after_median"] / row["before_median"])) for row in rows
    ]
    for place, ratio in enumerate(ratios):
        panel.line([1.0, ratio], [place] * 2, Look(edge=INK, width=1.2, opacity=MUTED))
        for (colour, marker, _), at in zip(SIDES.values(), (1.0, ratio), strict=True):
            look = Look(edge=colour, width=0)
            panel.line([at], [place], look, marker=marker, mark_edge=INK)
    words = [_words(row) for row in rows]
    names = [(titles or {}).get(row["name"], row["name"]) for row in rows]
    label_rows(panel, names, [", ".join(filter(None, both)) for both in words])
    low, high = min([0.5, *ratios]) / ROOM, max([2.0, *ratios]) * ROOM
    panel.x.scale = Scale(low, high, log=True)
    is_wide = high / low > MANY  # some ticks have no room for a name
    unnamed = {0.2, 0.5, 2, 5} if is_wide else set()
    ticks = [tick for tick in TICKS if low <= tick <= high and tick not in unnamed]
    panel.x.name(ticks, [f"×{tick:g}" for tick in ticks], grid=True)
    panel.rule(Look(edge=INK, width=0.8, opacity=MUTED), x=1)
    explain_sides(chart, left=NAMES, bars=False)
    each = [f"{row['name']}: {', '.join(both)}" for row, both in zip(rows, words, strict=True)]
    return Drawing(name, "Before and after", "; ".join(each) + ".", chart)


def _words(row: Mapping[str, Any]) -> tuple[str, str]:
    """Both values, and the change if known."""
    sides = " → ".join(format_level(row[f"{side}_median"], row["unit"]) for side in SIDES)
    return sides, "" if is_unknown(row["change"]) else minus(format_relative(row["change"]))
