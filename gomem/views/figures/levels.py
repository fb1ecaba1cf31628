"""Levels of one process over its moments, as lines on one clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gomem.units import format_bytes
from gomem.views.figures.chart import Chart, Dash, Look, Panel, Scale
from gomem.views.figures.figure import Drawing, name_bytes
from gomem.views.figures.look import BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILLION
from gomem.views.figures.time_axis import name_times

if TYPE_CHECKING:
    import pandas as pd

WIDTH, HEIGHT = 7.6, 2.9  # inches, as all lengths here
LEFT, RIGHT, TOP, FOOT = 0.78, 0.12, 0.36, 0.42
LEGEND_ROW = 0.18
LEGEND_COLUMNS = 4
FEW = 40  # so many moments have room for a mark each
NAMES = 8  # so many moments have room for their names
NAME_CHARACTERS = 14
# Told apart by mark and dash as well as by colour.
LINES: tuple[tuple[str, str, Dash], ...] = (
    (VERMILLION, "o", ""),
    (BLUE, "s", ""),
    (ORANGE, "^", ""),
    (GREEN, "D", "--"),
    (PURPLE, "v", "--"),
    (GREY, "o", ":"),
)


def plot_levels(levels: pd.DataFrame, *, name: str = "levels") -> Drawing:
    """Draw levels in bytes, a line each.

    Args:
        levels: A row a moment in order, indexed by time, with `moment` and a column for each line,
            six of them at most. Where a moment has no time, all stand one after the other.
        name: Unique on its page.

    Raises:
        ValueError: There are more columns than lines can be told apart.
    """
    columns = [column for column in levels.columns if column != "moment"]
    if len(columns) > len(LINES):
        raise ValueError(f"{len(columns)} columns; wanted {len(LINES)} lines at most")
    rows = -(-max(1, len(columns)) // LEGEND_COLUMNS)
    top = TOP + LEGEND_ROW * (rows - 1)
    chart = Chart(WIDTH, HEIGHT)
    panel = chart.panel(left=LEFT, right=RIGHT, top=top, bottom=FOOT)
    at = _name_moments(panel, levels)
    values = levels[columns].apply(lambda column: column.astype("Float64"))
    _draw(panel, at, values)
    chart.explain(panel.labelled(), left=LEFT, columns=LEGEND_COLUMNS, handle=2.4)
    return Drawing(name, "Levels over the moments", _describe(values), chart)


def _name_moments(panel: Panel, levels: pd.DataFrame) -> np.ndarray:
    """Where each moment stands: seconds since the first one, or its place if a time is missing."""
    times = levels.index
    if len(levels) > 1 and not times.isna().any() and times[0] < times[-1]:
        seconds = np.asarray((times - times[0]).total_seconds(), float)
        name_times(panel.x, 0.0, float(seconds[-1]))
        return seconds
    places = np.arange(len(levels), dtype=float)
    panel.x.scale = Scale(-0.2, max(1.0, len(levels) - 0.8))
    every = -(-max(1, len(levels)) // NAMES)
    names = [_short(str(one)) for one in levels["moment"]]
    panel.x.name(places[::every], names[::every])
    return places


def _draw(panel: Panel, at: np.ndarray, values: pd.DataFrame) -> None:
    mark_all = len(at) <= FEW
    for column, (colour, mark, dash) in zip(values, LINES[: values.shape[1]], strict=True):
        level = values[column].to_numpy(float, na_value=np.nan)
        look = Look(edge=colour, width=1.5, dash=dash)
        panel.line(at, level, look, str(column), marker=mark if mark_all else "", size=4.5)
    known = values.to_numpy(float, na_value=np.nan)
    high = 1.05 * float(np.nanmax(known, initial=0.0)) or 1.0
    panel.y.scale = Scale(0, high)
    name_bytes(panel.y, 0, high)


def _short(moment: str) -> str:
    return moment if len(moment) <= NAME_CHARACTERS else f"{moment[: NAME_CHARACTERS - 1]}…"


def _describe(values: pd.DataFrame) -> str:
    each = []
    for column in values:
        known = values[column].dropna()
        if len(known):
            first, last, highest = (format_bytes(int(one)) for one in (
                known.iloc[0], known.iloc[-1], known.max()))  # fmt: skip
            each.append(f"{column}: {first} at first, {last} at last, {highest} at most")
    return "; ".join(each) + "."
