"""The largest sites: a bar for each, with the 95 % sampling interval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gomem.charts.chart import INK, MUTED, Look, Panel, Scale
from gomem.charts.figure import Drawing, name_bytes
from gomem.charts.look import BLUE, EDGE
from gomem.inputs.schema import rows_of
from gomem.units import is_unknown, minus
from gomem.views.figures.flame_graph import known_name, shortened
from gomem.views.figures.rows import rows_panel
from gomem.views.measurements import format_value

if TYPE_CHECKING:
    import pandas as pd

NAMES, NUMBERS = 2.7, 0.8  # inches on either side of the bars
NAME_ROOM = 255.0  # width of a name; a character has about seven units
BAR = 0.56  # of a row's height
SITES = 12  # maximum number of rows
BYTES = frozenset({"bytes", "B"})


def plot_sites(sites: pd.DataFrame, unit: str, *, title: str, name: str = "sites") -> Drawing:
    """Draw the first `SITES` sites, the largest at the top.

    `sites` has columns `function`, `value`, and `low` and `high` (missing if unknown), in the
    profile's unit: `bytes`, `count`.
    """
    rows: list[dict[str, Any]] = rows_of(sites[sites["value"] != 0].head(SITES))
    chart, panel = rows_panel(
        len(rows), left=NAMES, right=NUMBERS, width=7.6, row=0.29, head=0.08, foot=0.38
    )
    names = [shortened(known_name(row["function"]), NAME_ROOM) for row in rows]
    panel.y.name(range(len(names)), names, muted=False)
    for place, row in enumerate(rows):
        _draw_row(panel, place, row, unit)
    # The axis starts at 0 and includes all intervals.
    known = [row[key] for row in rows for key in ("value", "low", "high")]
    ends = [float(end) for end in known if not is_unknown(end)]
    low, high = min([0.0, *ends]), max([0.0, *ends]) or 1.0
    panel.x.scale = Scale(1.02 * low, 1.02 * high)
    if unit in BYTES:
        name_bytes(panel.x, low, high)
    else:
        panel.x.name([0.0, high], ["0", format_value(high, unit)], grid=True)
        panel.x.end_last()
    described = [f"{row['function']}: {format_value(row['value'], unit)}" for row in rows]
    return Drawing(name, title, "; ".join(described) + ".", chart)


def by_flat(top: pd.DataFrame) -> pd.DataFrame:
    """Prepare sites of a profile (`inputs.pprof.sites.SITES`) for `plot_sites`, by flat value."""
    return top.rename(columns={"flat": "value", "flat_low": "low", "flat_high": "high"})


def _draw_row(panel: Panel, place: int, row: dict[str, Any], unit: str) -> None:
    panel.bar(0, place - BAR / 2, float(row["value"]), BAR, Look(BLUE, edge=EDGE))
    if not is_unknown(row["low"]) and not is_unknown(row["high"]):
        ends, look = [float(row["low"]), float(row["high"])], Look(edge=INK, width=1.4)
        panel.line(ends, [place, place], look)
        for end in ends:
            panel.line([end, end], [place - 0.12, place + 0.12], look)
    panel.words(minus(format_value(row["value"], unit)), "right", place, right=6, opacity=MUTED)
