"""Levels over the moments, as lines on a time axis; a panel for each of several processes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gomem.charts.chart import Chart, Dash, Look, Panel, Scale, Tick
from gomem.charts.figure import Drawing, beginning, name_bytes
from gomem.charts.look import BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILLION
from gomem.charts.time_axis import name_times
from gomem.units import format_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

WIDTH, HEIGHT = 7.6, 2.9  # inches, as all lengths here
LEFT, RIGHT, TOP, FOOT = 0.78, 0.12, 0.36, 0.42
LEGEND_ROW = 0.18
LEGEND_COLUMNS = 4
LEGEND_CHARACTERS = 62  # of all names in a row
MAX_MARKED = 40  # moments; with more, lines have no markers
NAMES = 8  # moments; with more, only some are named
NAME_CHARACTERS = 14
ACROSS, SMALL, GAP, TITLE, SMALL_FOOT = 3, 1.35, 0.16, 0.4, 0.3  # small multiples
SMALL_TICKS = 4  # times in a small panel; of names, only the first and the last
TITLE_CHARACTERS = 30
ALIKE = 0.1  # of the longest period: if a period is shorter, panels have separate time axes
# Distinct by marker and dash as well as by colour.
LINES: tuple[tuple[str, str, Dash], ...] = (
    (VERMILLION, "o", ""),
    (BLUE, "s", ""),
    (ORANGE, "^", ""),
    (GREEN, "D", "--"),
    (PURPLE, "v", "--"),
    (GREY, "o", ":"),
)


def plot_levels(levels: pd.DataFrame, *, name: str = "levels") -> Drawing:
    """Draw levels in bytes, a line per column: a row per moment, indexed by time.

    If a moment has no time, moments are drawn in order. Raises ValueError if there are more columns
    than the six distinct line styles.
    """
    values = _values(levels)
    columns = _legend_columns(values)
    top = TOP + LEGEND_ROW * ((max(1, values.shape[1]) - 1) // columns)
    chart = Chart(WIDTH, HEIGHT)
    panel = chart.panel(left=LEFT, right=RIGHT, top=top, bottom=FOOT)
    at = _name_moments(panel, levels, _seconds(levels))
    _draw(panel, at, values, _highest(values))
    chart.explain(panel.labelled(), left=LEFT, columns=columns, handle=2.4)
    first = levels.index[0] if _seconds(levels) is not None else None
    since = "" if first is None else f", from {first:%Y-%m-%d %H:%M:%S} UTC"
    return Drawing(name, f"Levels over the snapshots{since}", _describe(values), chart)


def _legend_columns(values: pd.DataFrame) -> int:
    """All names in one row, if they fit."""
    is_short = sum(map(len, map(str, values))) <= LEGEND_CHARACTERS
    return len(LINES) if is_short else LEGEND_COLUMNS


def plot_small_multiples(levels: Mapping[str, pd.DataFrame], *, name: str = "multiples") -> Drawing:
    """Draw the levels of several processes as `plot_levels` does, by title, on one byte scale.

    If all moments have a time, and no process was watched for less than a tenth of the longest
    period, the panels also share a time axis.
    """
    values = {title: _values(frame) for title, frame in levels.items()}
    high = max(map(_highest, values.values()))
    seconds = {title: _seconds(frame) for title, frame in levels.items()}
    ends = [0.0 if found is None else float(found[-1]) for found in seconds.values()]
    last = max(ends) if min(ends) >= ALIKE * max(ends) else None
    lines = next(iter(values.values())).shape[1]
    head = TOP + LEGEND_ROW * ((max(1, lines) - 1) // LEGEND_COLUMNS)
    rows = -(-len(levels) // ACROSS)
    chart = Chart(WIDTH, head + rows * (TITLE + SMALL + SMALL_FOOT))
    for place, (title, frame) in enumerate(levels.items()):
        row, column = divmod(place, ACROSS)
        wide = (WIDTH - LEFT - RIGHT - GAP * (ACROSS - 1)) / ACROSS
        left = LEFT + column * (wide + GAP)
        top = head + row * (TITLE + SMALL + SMALL_FOOT) + TITLE
        panel = chart.panel(
            left=left, right=WIDTH - left - wide, top=top, bottom=chart.height - top - SMALL
        )
        timed = seconds[title] if all(ends) else None
        at = _name_moments(panel, frame, timed, last=last, most=SMALL_TICKS)
        _draw(panel, at, values[title], high)
        _entitle(panel, title, values[title], labelled=place % ACROSS == 0)
    chart.explain(chart.panels[0].labelled(), left=LEFT, columns=LEGEND_COLUMNS, handle=2.4)
    told = " ".join(f"{title}: {_describe(found)}" for title, found in values.items())
    return Drawing(name, "Levels over the snapshots, side by side", told, chart)


def _entitle(panel: Panel, title: str, values: pd.DataFrame, *, labelled: bool) -> None:
    """The panel's title and the peak of its first line; scale labels only at the left of a row."""
    shown = beginning(title, TITLE_CHARACTERS)
    panel.words(shown, "left", "top", up=14, upright="bottom", bold=True)
    known = values.iloc[:, 0].dropna()
    if len(known):
        panel.heading(f"{known.name} peak {format_bytes(int(known.max()))}")
    if not labelled:
        panel.y.ticks = [Tick(tick.value, "") for tick in panel.y.ticks]


def _values(levels: pd.DataFrame) -> pd.DataFrame:
    columns = [column for column in levels.columns if column != "moment"]
    if len(columns) > len(LINES):
        raise ValueError(f"{len(columns)} columns; at most {len(LINES)} can be drawn")
    return levels[columns].apply(lambda column: column.astype("Float64"))


def _highest(values: pd.DataFrame) -> float:
    known = values.to_numpy(float, na_value=np.nan)
    return 1.05 * float(np.nanmax(known, initial=0.0)) or 1.0


def _seconds(levels: pd.DataFrame) -> np.ndarray | None:
    """Seconds since the first moment; None if a moment has no time."""
    times = levels.index
    if len(levels) > 1 and not times.isna().any() and times[0] < times[-1]:
        return np.asarray((times - times[0]).total_seconds(), float)
    return None


def _name_moments(
    panel: Panel, levels: pd.DataFrame, seconds: np.ndarray | None, *, last: float | None = None,
    most: int = NAMES,
) -> np.ndarray:  # fmt: skip
    """The position of each moment: seconds since the first, or its index if a time is missing."""
    if seconds is not None:
        name_times(panel.x, 0.0, float(seconds[-1]) if last is None else last, at_most=most)
        return seconds
    places = np.arange(len(levels), dtype=float)
    panel.x.scale = Scale(-0.2, max(1.0, len(levels) - 0.8))
    every = -(-max(1, len(levels)) // most)
    names = [beginning(str(moment), NAME_CHARACTERS) for moment in levels["moment"]]
    panel.x.name(places[::every], names[::every])
    if most < NAMES and len(names) > 1:
        panel.x.ticks = [Tick(0.0, names[0], "start"), Tick(places[-1], names[-1], "end")]
    return places


def _draw(panel: Panel, at: np.ndarray, values: pd.DataFrame, high: float) -> None:
    mark_all = len(at) <= MAX_MARKED
    for column, (colour, mark, dash) in zip(values, LINES[: values.shape[1]], strict=True):
        level = values[column].to_numpy(float, na_value=np.nan)
        known = ~np.isnan(level)  # a moment without the value does not interrupt the line
        look = Look(edge=colour, width=1.5, dash=dash)
        marker = mark if mark_all else ""
        panel.line(at[known], level[known], look, str(column), marker=marker, size=4.5)
    panel.y.scale = Scale(0, high)
    name_bytes(panel.y, 0, high)


def _describe(values: pd.DataFrame) -> str:
    each = []
    for column in values:
        known = values[column].dropna()
        if len(known):
            ends = (known.iloc[0], known.iloc[-1], known.max())
            first, last, highest = (format_bytes(int(end)) for end in ends)
            each.append(f"{column}: {first} at first, {last} at last, peak {highest}")
    return "; ".join(each) + "."
