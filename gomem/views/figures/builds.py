"""Small multiples: a panel per metric, with each build's median and its interval.

A dotted vertical line at the baseline's median shows the distance of each build. Each panel has its
own scale, which begins at zero.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gomem.charts.chart import INK, MUTED, Chart, Look, Panel, Scale
from gomem.charts.figure import Drawing
from gomem.charts.look import BLUE, ORANGE
from gomem.inputs.schema import rows_of
from gomem.units import is_unknown
from gomem.views.figures.rows import short_name
from gomem.views.measurements import format_level

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

WIDTH, ROW, HEAD, FOOT, GAP = 7.4, 0.24, 0.3, 0.3, 0.3  # inches, as all lengths here
NAMES = 1.5  # of the builds, left of each panel row
NAME_CHARACTERS = 22
ACROSS = 2
_KEYS = ["layer", "unit", "name"]


def plot_builds(
    metrics: pd.DataFrame, *, titles: Mapping[str, str] | None = None, name: str = "builds"
) -> Drawing:
    """Draw each metric's builds below one another, except those without a median.

    `metrics` are rows of `comparison.builds.BUILD_METRICS`; `titles` has the display names that
    differ from a metric's name.
    """
    known = metrics[metrics["median"].notna()]
    groups = [rows_of(group) for _, group in known.groupby(_KEYS, sort=False)]
    lines = [groups[first : first + ACROSS] for first in range(0, len(groups), ACROSS)]
    heights = [HEAD + ROW * max(map(len, line)) + FOOT for line in lines]
    chart = Chart(WIDTH, sum(heights))
    for number, line in enumerate(lines):
        # A single panel in a row takes its whole width.
        wide = (WIDTH - len(line) * NAMES - (len(line) - 1) * GAP) / len(line)
        top, below = sum(heights[:number]), sum(heights[number + 1 :])
        for place, rows in enumerate(line):
            left = NAMES + place * (wide + GAP + NAMES)
            panel = chart.panel(
                left=left, right=WIDTH - left - wide, top=top + HEAD, bottom=below + FOOT
            )
            _draw(panel, rows, (titles or {}).get(rows[0]["name"], rows[0]["name"]))
    return Drawing(name, "Builds and the baseline", _describe(groups), chart)


def _draw(panel: Panel, rows: Sequence[Mapping[str, Any]], title: str) -> None:
    panel.y.scale = Scale(len(rows) - 0.5, -0.5)
    panel.y.name(
        range(len(rows)), [short_name(row["build"], NAME_CHARACTERS) for row in rows], muted=False
    )
    panel.heading(short_name(title))
    ends = [row[end] for row in rows for end in ("median", "high") if not is_unknown(row[end])]
    high = max([0.0, *ends]) or 1.0
    panel.x.scale = Scale(-0.02 * high, high * 1.05)
    panel.x.name([0, high], ["0", format_level(high, rows[0]["unit"])])
    panel.x.end_last()
    panel.rule(Look(edge=INK, width=0.8, dash=":", opacity=MUTED), x=rows[0]["baseline_median"])
    for place, row in enumerate(rows):
        colour, marker = (ORANGE, "s") if is_unknown(row["verdict"]) else (BLUE, "o")
        if not is_unknown(row["low"]):
            panel.line([row["low"], row["high"]], [place] * 2, Look(edge=colour, width=2.2))
        panel.line(
            [row["median"]], [place], Look(edge=colour, width=0), marker=marker, mark_edge=INK
        )


def _describe(groups: Sequence[Sequence[Mapping[str, Any]]]) -> str:
    each = [
        f"{rows[0]['name']}: "
        + ", ".join(f"{row['build']} {format_level(row['median'], row['unit'])}" for row in rows)
        for rows in groups
    ]
    return "; ".join(each) + "."
