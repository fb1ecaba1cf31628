"""Small multiples: the distribution of each quantity over a fleet, and its outliers.

A panel has the range, the interquartile range, the median, and a square for each outlier. So its
size does not depend on the number of instances.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gomem.charts.chart import INK, Chart, Look, Panel, Scale
from gomem.charts.figure import Drawing
from gomem.charts.look import BLUE, ORANGE
from gomem.inputs.schema import rows_of
from gomem.views.figures.rows import short_name
from gomem.views.measurements import format_level

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

WIDTH, HEAD, BODY, FOOT, GAP = 7.4, 0.3, 0.34, 0.32, 0.5  # inches, as all lengths here
ACROSS = 2
NAMED = 2  # outliers in a panel's heading
_Row = dict[str, Any]


def plot_instances(
    distributions: pd.DataFrame, unlike: pd.DataFrame, titles: Mapping[str, str],
    name: str = "instances",
) -> Drawing:  # fmt: skip
    """Draw a panel per quantity.

    Args:
        distributions: Rows of `population.DISTRIBUTIONS` for one service.
        unlike: Rows of `outliers.OUTLIERS`.
        titles: Display names by quantity.
        name: Name of the drawing.
    """
    rows, odd = rows_of(distributions), rows_of(unlike)
    lines = [rows[first : first + ACROSS] for first in range(0, len(rows), ACROSS)]
    height = HEAD + BODY + FOOT
    chart = Chart(WIDTH, height * len(lines))
    wide = (WIDTH - (ACROSS - 1) * GAP - 0.3) / ACROSS
    for number, line in enumerate(lines):
        for place, row in enumerate(line):
            left = 0.1 + place * (wide + GAP)
            panel = chart.panel(
                left=left, right=WIDTH - left - wide, top=number * height + HEAD,
                bottom=(len(lines) - number - 1) * height + FOOT,
            )  # fmt: skip
            mine = [each for each in odd if each["part"] == row["name"]]
            _draw(panel, row, mine, titles[row["name"]])
    return Drawing(name, "Instances by quantity", _describe(rows, odd, titles), chart)


def _draw(panel: Panel, row: _Row, odd: Sequence[_Row], title: str) -> None:
    high = max(row["most"], 0.0) or 1.0
    panel.y.scale = Scale(0.5, -0.5)
    panel.x.scale = Scale(-0.02 * high, high * 1.05)
    named = ", ".join(short_name(each["instance"], 18) for each in odd[:NAMED])
    panel.heading(f"{title}: {named}" if named else title)
    panel.line([row["least"], row["most"]], [0, 0], Look(edge=BLUE, width=1.2))
    panel.line([row["p25"], row["p75"]], [0, 0], Look(edge=BLUE, width=6.0))
    panel.line([row["p50"]], [0], Look(edge=BLUE, width=0), marker="o", mark_edge=INK)
    for each in odd:
        panel.line([each["value"]], [0], Look(edge=ORANGE, width=0), marker="s", mark_edge=INK)
    panel.x.name([0, high], ["0", format_level(high, row["unit"])])
    panel.x.end_last()


def _describe(rows: Sequence[_Row], odd: Sequence[_Row], titles: Mapping[str, str]) -> str:
    each = [
        f"{titles[row['name']]}: {format_level(row['least'], row['unit'])} to "
        f"{format_level(row['most'], row['unit'])}, median {format_level(row['p50'], row['unit'])}"
        for row in rows
    ]
    each += [f"{row['instance']}: {format_level(row['value'], row['unit'])}" for row in odd]
    return "; ".join(each) + "."
