"""A chart as data: panels with scales, and the bars, areas, lines and words on them.

Marks use the units of their panel, so a test can check what was drawn. `svg` turns the chart into a
picture. Lengths are in inches, type sizes and line widths in points.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

INK = "currentColor"  # of the text around the figure: it reads on light and on dark paper
FAINT = 0.16  # opacity of grid lines
MUTED = 0.72  # opacity of what stands back, such as ticks
SIZE = 8.5  # of type

X = float | Literal["left", "right"]
Y = float | Literal["top", "bottom"]
Dash = Literal["", "--", ":"]
Anchor = Literal["start", "middle", "end"]
Upright = Literal["top", "middle", "bottom"]


@dataclass(frozen=True, slots=True)
class Scale:
    """Which numbers an axis has, from its beginning to its end; `low` may be the larger one."""

    low: float = 0.0
    high: float = 1.0
    log: bool = False

    def shares(self, values: Any) -> np.ndarray:
        """How far along the axis values stand, from 0 to 1; what lies outside stands at its end."""
        given, low, high = np.asarray(values, float), self.low, self.high
        if self.log:
            given = np.log(np.maximum(given, min(low, high)))
            low, high = np.log(low), np.log(high)
        return np.clip((given - low) / ((high - low) or 1.0), 0.0, 1.0)

    def holds(self, values: Any) -> np.ndarray:
        """Which values lie on the axis; none that is missing."""
        given, (low, high) = np.asarray(values, float), sorted((self.low, self.high))
        return (low <= given) & (given <= high)


@dataclass(frozen=True, slots=True)
class Look:
    """How something is filled and edged; a line is all edge."""

    fill: str = "none"
    hatch: str = ""
    edge: str = "none"
    width: float = 0.6
    dash: Dash = ""
    opacity: float = 1.0


@dataclass(frozen=True, slots=True)
class Bar:
    """A rectangle."""

    left: float
    low: float
    width: float
    height: float
    look: Look
    label: str = ""


@dataclass(frozen=True, slots=True)
class Area:
    """What lies between two lines."""

    x: np.ndarray
    low: np.ndarray
    high: np.ndarray
    look: Look
    label: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """Points, the line through them, or both; it breaks where a number is missing, or outside."""

    x: np.ndarray
    y: np.ndarray
    look: Look
    marker: str = ""
    size: float = 5.0
    label: str = ""
    mark_edge: str = "none"


@dataclass(frozen=True, slots=True)
class Rule:
    """A straight line across the panel: upright at `x`, or level at `y`."""

    look: Look
    x: float | None = None
    y: float | None = None


@dataclass(frozen=True, slots=True)
class Words:
    """A text at a place: in the panel's numbers or at an edge, moved by points."""

    text: str  # one line, or several
    x: X  # where it is anchored
    y: Y  # likewise
    right: float = 0.0  # points to the right of that place
    up: float = 0.0  # points above it
    anchor: Anchor = "start"  # which end of the text stands there
    upright: Upright = "middle"  # which height of it
    size: float = SIZE  # of the type
    bold: bool = False  # whether it is
    opacity: float = 1.0  # below 1, it stands back


@dataclass(frozen=True, slots=True)
class Tick:
    """A number of an axis and what it is called there."""

    value: float
    label: str
    anchor: Anchor | None = None


Mark = Bar | Area | Line | Rule | Words


@dataclass(slots=True)
class Axis:
    """One side of a panel."""

    scale: Scale = field(default_factory=Scale)  # its numbers
    ticks: Sequence[Tick] = ()  # the ones that are named
    grid: bool = False  # whether a faint line crosses the panel at each of them
    muted: bool = True  # whether their names stand back
    slanted: bool = False  # whether names are written uphill, where they have no room side by side

    def name(
        self, values: Iterable[float], labels: Iterable[str], *, grid: bool = False,
        muted: bool = True, slanted: bool = False,
    ) -> None:  # fmt: skip
        """Name these numbers."""
        self.ticks = [Tick(float(at), label) for at, label in zip(values, labels, strict=True)]
        self.grid, self.muted, self.slanted = grid, muted, slanted

    def end_last(self) -> None:
        """Let the last name end at its tick, where its second half would be cut off."""
        self.ticks = [*self.ticks[:-1], replace(self.ticks[-1], anchor="end")]


@dataclass(slots=True)
class Panel:
    """A field with two axes, and what is drawn on it, in order."""

    left: float
    bottom: float
    width: float
    height: float
    x: Axis = field(default_factory=Axis)
    y: Axis = field(default_factory=Axis)
    marks: list[Mark] = field(default_factory=list)
    has_foot: bool = True

    def bar(
        self, left: float, low: float, width: float, height: float, look: Look, *, label: str = ""
    ) -> None:
        """A rectangle from a corner; a size below zero goes the other way."""
        self.marks.append(Bar(left, low, width, height, look, label))

    def area(
        self, x: Any, low: Any, high: Any, look: Look, label: str = "", *, steps: bool = False
    ) -> None:
        """Fill between two lines; in steps, each value holds until the next."""
        x, low, high = np.broadcast_arrays(
            *(np.asarray(values, float) for values in (x, low, high))
        )
        if steps:
            x, low, high = _held(x), _values_held(low), _values_held(high)
        self.marks.append(Area(x, low, high, look, label))

    def line(
        self, x: Any, y: Any, look: Look, label: str = "", *, steps: bool = False,
        marker: str = "", size: float = 5.0, mark_edge: str = "none",
    ) -> None:  # fmt: skip
        """A line through points; in steps, each value holds until the next."""
        x, y = np.asarray(x, float), np.asarray(y, float)
        if steps:
            x, y = _held(x), _values_held(y)
        self.marks.append(Line(x, y, look, marker, size, label, mark_edge))

    def stems(self, x: Any, low: float, high: Any, look: Look) -> None:
        """An upright line at each place, all as one: thousands must not make the page large."""
        x, high = np.asarray(x, float), np.asarray(high, float)
        nothing = np.full(len(x), np.nan)
        ends = np.stack([np.full(len(x), low), high, nothing], axis=1).ravel()
        self.marks.append(Line(np.repeat(x, 3), ends, look))

    def rule(self, look: Look, *, x: float | None = None, y: float | None = None) -> None:
        """A straight line across the panel."""
        self.marks.append(Rule(look, x, y))

    def words(self, text: str, x: X, y: Y, **how: Any) -> None:
        """A text; see `Words`."""
        self.marks.append(Words(text, x, y, **how))

    def heading(self, text: str) -> None:
        """What the panel shows, above it."""
        self.words(text, "left", "top", up=2, upright="bottom", size=7.5, opacity=MUTED)

    def labelled(self) -> list[Bar | Area | Line]:
        """What a legend has to explain, the first of each label."""
        marks = [mark for mark in self.marks if isinstance(mark, Bar | Area | Line) and mark.label]
        return list({mark.label: mark for mark in reversed(marks)}.values())[::-1]


def _held(x: np.ndarray) -> np.ndarray:
    return np.repeat(x, 2)[1:]


def _values_held(y: np.ndarray) -> np.ndarray:
    return np.repeat(y, 2)[:-1]


@dataclass(frozen=True, slots=True)
class Legend:
    """What explains colours, hatchings and lines, in rows of `columns`."""

    entries: Sequence[Bar | Area | Line]
    left: float
    top: float
    columns: int = 4
    handle: float = 1.7  # how long the sample is, in sizes of type

    @property
    def labels(self) -> list[str]:
        """Its words, in order."""
        return [entry.label for entry in self.entries]


@dataclass(slots=True)
class Chart:
    """Panels on a sheet, with a legend."""

    width: float  # of the sheet
    height: float  # of the sheet
    panels: list[Panel] = field(default_factory=list)  # in the order in which they were added
    legend: Legend | None = None  # none if nothing has to be explained

    def panel(self, *, left: float, right: float, top: float, bottom: float) -> Panel:
        """Add a panel, as far from the sheet's edges as is said."""
        size = self.width - left - right, self.height - top - bottom
        added = Panel(left, bottom, *size)
        self.panels.append(added)
        return added

    def explain(
        self, entries: Sequence[Bar | Area | Line], *, left: float, top: float = 0.03,
        columns: int = 4, handle: float = 1.7,
    ) -> None:  # fmt: skip
        """Set the legend, whose corner stands at `left` and `top`."""
        self.legend = Legend(entries, left, top, columns, handle)
