"""Allocation sites before and after: two bars for each site."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.charts.chart import INK, Look, Scale
from gomem.charts.figure import Drawing, name_bytes
from gomem.inputs.schema import rows_of
from gomem.units import format_bytes
from gomem.views.figures.flame_graph import known_name, shortened
from gomem.views.figures.rows import HATCHES, SIDES, explain_sides, label_rows, rows_panel

if TYPE_CHECKING:
    import pandas as pd

SITES_DRAWN = 10
NAMES, STATES = 2.6, 0.7  # inches on either side of the rows
NAME_ROOM = 255.0  # width of a name; a character has about seven units
BAR = 0.3  # of a row's height


def plot_site_changes(sites: pd.DataFrame, *, name: str = "sites") -> Drawing:
    """Draw the first `SITES_DRAWN` sites on both sides, in bytes.

    `sites` are rows of `comparison.sites.SITE_CHANGES` of one sample type, largest change first.
    """
    rows = rows_of(sites[(sites["before"] > 0) | (sites["after"] > 0)].head(SITES_DRAWN))
    chart, panel = rows_panel(len(rows), left=NAMES, right=STATES)
    high = max([1.0, *(max(row["before"], row["after"]) for row in rows)])
    for place, row in enumerate(rows):
        for side, (colour, _, shift) in SIDES.items():
            look = Look(colour, HATCHES[side], INK)
            panel.bar(0, place - shift - BAR / 2, row[side], BAR, look)
    names = [shortened(known_name(row["function"]), NAME_ROOM) for row in rows]
    label_rows(panel, names, [row["state"] for row in rows])
    panel.x.scale = Scale(0, high * 1.02)
    name_bytes(panel.x, 0, high)
    explain_sides(chart, left=NAMES, bars=True)
    each = [", ".join(f"{format_bytes(row[side])} {side}" for side in SIDES) for row in rows]
    described = [f"{row['function']}: {sizes}" for row, sizes in zip(rows, each, strict=True)]
    return Drawing(name, "Allocation sites before and after", "; ".join(described) + ".", chart)
