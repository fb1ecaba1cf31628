"""RSS by owner at each snapshot: groups stacked in columns, with RSS as a line on top.

What Go has reserved but is not in RSS is drawn hollow, on top of RSS, not below zero. All
columns have the same groups: if one snapshot has the Go heap as a single group, every column does.
A few columns are placed side by side with their names; many are placed on a time axis, if each has
a time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gomem.analysis.memory.groups import COARSER, NAMES
from gomem.charts.chart import INK, MUTED, Area, Chart, Line, Look, Panel, Scale
from gomem.charts.figure import Drawing, beginning, name_bytes
from gomem.charts.look import EDGE, GREY, GROUP_LOOK, NONE
from gomem.charts.time_axis import name_times
from gomem.units import format_bytes
from gomem.views.words import CLAIMED, GROUPS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from gomem.analysis.memory.groups import MemoryGroups

    FloatArray = NDArray[np.float64]

WIDTH, HEIGHT = 7.6, 3.5  # inches, as all lengths here
SCALE, LEGEND = 0.78, 2.62  # margins: scale on the left, legend on the right
COLUMNS = WIDTH - SCALE - LEGEND
FOOT, SLANTED_FOOT, TOP = 0.42, 0.85, 0.28
CHARACTER = 0.085  # approximate width of a character in the names
MAX_VALUES = 7  # moments; with more, columns have no value
MAX_LABELS = 12  # moments; with more, only some are named
LABEL_CHARACTERS = 16
# column width, and half of the RSS stroke on it, as fractions of a moment's width
COLUMN, CAP = 0.62, 0.37
CAP_LINE = 2.0
SMALL = 0.005  # of the largest column: smaller groups are drawn as one
REST = "other groups"
RSS = "RSS"

Known = tuple["MemoryGroups", int | None]  # the groups, and RSS if known


def on_a_clock(seconds: Sequence[float] | None) -> bool:
    """Whether to use a time axis: there are many moments, and no two have the same time."""
    return seconds is not None and len(seconds) > MAX_LABELS and bool((np.diff(seconds) > 0).all())


def plot_groups_over_moments(
    moments: Mapping[str, Known],
    seconds: Sequence[float] | None = None,
    *,
    name: str = "timeline",
) -> Drawing:
    """Draw groups and RSS of several moments in order, or on a time axis if `seconds` is given.

    Without RSS, the memory reserved by Go is drawn.
    """
    columns = _alike([_Column.of(*known) for known in moments.values()])
    clock = seconds if on_a_clock(seconds) else None
    edges = _edges(len(columns), clock)
    foot = SLANTED_FOOT if clock is None and _slanted(list(moments)) else FOOT
    chart = Chart(WIDTH, HEIGHT)
    panel = chart.panel(left=SCALE, right=LEGEND, top=TOP, bottom=foot)
    _draw_columns(panel, columns, edges)
    _draw_rss(panel, columns, edges)
    _frame(panel, columns)
    if clock is None:
        panel.x.scale = Scale(-0.6, len(columns) - 0.4)
        panel.x.name(*_names(list(moments)), muted=False, slanted=_slanted(list(moments)))
    else:
        name_times(panel.x, float(edges[0, 0]), float(edges[-1, 1]))
    # In stacking order, the top first.
    lines = [mark for mark in panel.labelled() if isinstance(mark, Line)]
    layers = [mark for mark in panel.labelled() if isinstance(mark, Area)]
    left = SCALE + COLUMNS + 0.1
    chart.explain([*lines, *reversed(layers)], left=left, top=TOP, columns=1)
    described = "; ".join(
        f"{moment} {format_bytes(column.rss_bytes)}"
        for moment, column in zip(moments, columns, strict=True)
    )
    title = "RSS by owner, snapshot by snapshot"
    return Drawing(name, title, f"RSS at each snapshot: {described}.", chart)


@dataclass(frozen=True)
class _Column:
    """One moment, in bytes by group."""

    names: dict[str, str]
    sizes: dict[str, int]
    beyond: int
    rss_bytes: int | None

    @classmethod
    def of(cls, groups: MemoryGroups, rss_bytes: int | None) -> _Column:
        return cls(groups.names, *groups.drawn(rss_bytes), rss_bytes)

    @property
    def top(self) -> int:
        return sum(self.sizes.values()) + self.beyond


@dataclass(frozen=True)
class _Layer:
    """One group over all moments, in bytes."""

    label: str
    colour: str
    hatch: str
    sizes: tuple[int, ...]


def _layers(columns: Sequence[_Column]) -> list[_Layer]:
    """The visible groups in order, one layer for the others, and reserved memory."""
    threshold = SMALL * max((column.top for column in columns), default=0)
    names = {group: name for column in columns for group, name in column.names.items()}
    layers, small = [], [0] * len(columns)
    for group in GROUPS:
        sizes = tuple(column.sizes.get(group, 0) for column in columns)
        if max(sizes, default=0) >= max(threshold, 1):
            layers.append(_Layer(names[group], *GROUP_LOOK[group], sizes))
        else:
            small = [sum(pair) for pair in zip(small, sizes, strict=True)]
    if any(small):
        layers.append(_Layer(REST, GREY, "++++", tuple(small)))
    beyond = tuple(column.beyond for column in columns)
    if max(beyond, default=0) >= max(threshold, 1):
        layers.append(_Layer(CLAIMED, NONE, "", beyond))
    return layers


def _alike(columns: Sequence[_Column]) -> list[_Column]:
    """Merge groups so that all columns are divided like the coarsest."""
    there = {group for column in columns for group, size in column.sizes.items() if size}
    for whole, parts in COARSER.items():
        if whole in there:
            columns = [_together(column, whole, parts) for column in columns]
    return list(columns)


def _together(column: _Column, whole: str, parts: Sequence[str]) -> _Column:
    inside = {group for group in (whole, *parts) if group in column.sizes}
    sizes = {group: size for group, size in column.sizes.items() if group not in inside}
    sizes[whole] = sum(column.sizes[group] for group in inside)
    return replace(column, names=column.names | {whole: NAMES[whole]}, sizes=sizes)


def _edges(count: int, clock: Sequence[float] | None) -> FloatArray:
    """Left and right edge of each column: of its place, or halfway to its neighbours in time."""
    if clock is None:
        half = COLUMN / 2 if count <= MAX_LABELS else 0.5
        places = np.arange(count)
        return np.stack([places - half, places + half], axis=1)
    times = np.asarray(clock, np.float64)
    halves = np.diff(times) / 2
    return np.stack(
        [times - np.append(halves[:1], halves), times + np.append(halves, halves[-1:])], axis=1
    )


def _draw_columns(panel: Panel, columns: Sequence[_Column], edges: FloatArray) -> None:
    """Stack the layers; each layer is one shape across all columns."""
    apart = np.full(len(columns), np.nan)  # gap between two columns
    x = np.column_stack([edges, apart]).ravel()
    low = np.zeros(len(columns))
    for layer in _layers(columns):
        top = low + layer.sizes
        is_hollow = layer.colour == NONE
        edge, opacity = (INK, MUTED) if is_hollow else (EDGE, 1.0)
        # else the hollow layer is invisible
        width = 0.6 if is_hollow or len(columns) <= MAX_LABELS else 0
        look = Look(layer.colour, layer.hatch, edge, width=width, opacity=opacity)
        foot, head = (np.stack([end, end, apart], axis=1).ravel() for end in (low, top))
        panel.area(x, foot, head, look, layer.label)
        low = top


def _draw_rss(panel: Panel, columns: Sequence[_Column], edges: FloatArray) -> None:
    known = [
        (edge, column.rss_bytes)
        for edge, column in zip(edges.tolist(), columns, strict=True)
        if column.rss_bytes is not None
    ]
    if not known:
        return
    is_apart = len(columns) <= MAX_LABELS  # a stroke per column, or one line
    beyond, gap = (CAP - COLUMN / 2, [float("nan")]) if is_apart else (0.0, [])
    x = [end for (left, right), _ in known for end in (left - beyond, right + beyond, *gap)]
    y = [end for _, size in known for end in (size, size, *([size] if gap else []))]
    panel.line(x, y, Look(edge=INK, width=CAP_LINE), RSS)
    above: dict[str, Any] = {"up": 4, "anchor": "middle", "upright": "bottom", "bold": True}
    for (left, right), size in known if len(columns) <= MAX_VALUES else ():
        panel.words(format_bytes(size), (left + right) / 2, size, **above)


def _frame(panel: Panel, columns: Sequence[_Column]) -> None:
    high = max([1, *(column.top for column in columns)])
    panel.y.scale = Scale(0, high * 1.02)
    name_bytes(panel.y, 0, high)
    panel.has_foot = False
    panel.rule(Look(edge=INK, width=0.8), y=0)


def _names(names: list[str]) -> tuple[list[int], list[str]]:
    """Positions and text of the names: all if they are few, else evenly spaced ones."""
    places = list(range(0, len(names), -(-len(names) // MAX_LABELS)))
    return places, [beginning(names[place], LABEL_CHARACTERS) for place in places]


def _slanted(names: list[str]) -> bool:
    """Whether names side by side would overlap."""
    _, shown = _names(names)
    return max(map(len, shown), default=0) * CHARACTER > 0.9 * COLUMNS / max(1, len(shown))
