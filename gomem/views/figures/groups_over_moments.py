"""RSS by owner at each moment: groups stacked in columns, with RSS as a line on top.

The hollow part above RSS is reserved by Go and not in RSS. So no column begins below zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gomem.charts.chart import INK, MUTED, Area, Chart, Line, Look, Panel, Scale
from gomem.charts.figure import Drawing, beginning, name_bytes
from gomem.charts.look import EDGE, GREY, GROUP_LOOK, NONE
from gomem.units import format_bytes
from gomem.views.words import CLAIMED, GROUPS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gomem.analysis.memory.groups import MemoryGroups

WIDTH, HEIGHT = 7.6, 3.5  # inches, as all lengths here
SCALE, LEGEND = 0.78, 2.35  # beside the columns: the scale to their left, the legend to their right
COLUMNS = WIDTH - SCALE - LEGEND
FOOT, SLANTED_FOOT, TOP = 0.42, 0.85, 0.28
CHARACTER = 0.085  # about as wide as one is in a name below
MAX_VALUES = 7  # so many moments have room for a value on each column
MAX_LABELS = 12  # so many names fit below
LABEL_CHARACTERS = 16
COLUMN, CAP = 0.62, 0.37  # width of a column, and half of the stroke on top of it; a moment is 1
CAP_LINE = 2.0
SMALL = 0.005  # of the largest column: groups that stay below it are drawn as one
REST = "other groups"
RSS = "RSS"

Known = tuple["MemoryGroups", int | None]  # the groups, and RSS if known


def plot_groups_over_moments(moments: Mapping[str, Known], *, name: str = "timeline") -> Drawing:
    """Draw several moments side by side, in order, not to scale in time, by groups and RSS.

    Without RSS, the memory that Go reserved is drawn.
    """
    columns = [_Column.of(*known) for known in moments.values()]
    foot = SLANTED_FOOT if _slanted(list(moments)) else FOOT
    chart = Chart(WIDTH, HEIGHT)
    panel = chart.panel(left=SCALE, right=LEGEND, top=TOP, bottom=foot)
    _draw_columns(panel, columns)
    _draw_rss(panel, columns)
    _frame(panel, list(moments), columns)
    # In the columns' own order: the top of the stack first.
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
    """Layers of the groups that show, in their order, one of the rest, and what is reserved."""
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


def _draw_columns(panel: Panel, columns: Sequence[_Column]) -> None:
    """Stack the layers; one layer's piece of each column is drawn as one shape."""
    wide = COLUMN if len(columns) <= MAX_LABELS else 1.0
    places = np.arange(len(columns))
    apart = np.full(len(columns), np.nan)  # between two columns
    x = np.stack([places - wide / 2, places + wide / 2, apart], axis=1).ravel()
    low = np.zeros(len(columns))
    for layer in _layers(columns):
        top = low + layer.sizes
        edge, opacity = (INK, MUTED) if layer.colour == NONE else (EDGE, 1.0)
        width = 0.6 if wide < 1 else 0
        look = Look(layer.colour, layer.hatch, edge, width=width, opacity=opacity)
        foot, head = (np.stack([end, end, apart], axis=1).ravel() for end in (low, top))
        panel.area(x, foot, head, look, layer.label)
        low = top


def _draw_rss(panel: Panel, columns: Sequence[_Column]) -> None:
    known = [
        (place, column.rss_bytes)
        for place, column in enumerate(columns)
        if column.rss_bytes is not None
    ]
    if not known:
        return
    half = CAP if len(columns) <= MAX_LABELS else 0.5
    apart = float("nan") if len(columns) <= MAX_LABELS else None  # a stroke a column, or one line
    x = [end for place, _ in known for end in (place - half, place + half, apart)]
    y = [end for _, size in known for end in (size, size, apart)]
    known_x, known_y = ([at for at in ends if at is not None] for ends in (x, y))
    panel.line(known_x, known_y, Look(edge=INK, width=CAP_LINE), RSS)
    above: dict[str, Any] = {"up": 4, "anchor": "middle", "upright": "bottom", "bold": True}
    for place, size in known if len(columns) <= MAX_VALUES else ():
        panel.words(format_bytes(size), place, size, **above)


def _frame(panel: Panel, names: list[str], columns: Sequence[_Column]) -> None:
    high = max([1, *(column.top for column in columns)])
    panel.x.scale = Scale(-0.6, len(names) - 0.4)
    panel.y.scale = Scale(0, high * 1.02)
    panel.x.name(*_names(names), muted=False, slanted=_slanted(names))
    name_bytes(panel.y, 0, high)
    panel.has_foot = False
    panel.rule(Look(edge=INK, width=0.8), y=0)


def _names(names: list[str]) -> tuple[list[int], list[str]]:
    """Where names stand below, and which: all of a few, every so many of many."""
    places = list(range(0, len(names), -(-len(names) // MAX_LABELS)))
    return places, [beginning(names[place], LABEL_CHARACTERS) for place in places]


def _slanted(names: list[str]) -> bool:
    """Whether names side by side would run into one another."""
    _, shown = _names(names)
    return max(map(len, shown), default=0) * CHARACTER > 0.9 * COLUMNS / max(1, len(shown))
