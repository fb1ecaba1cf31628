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

INK = "currentColor"  # colour of the surrounding text: readable on light and dark backgrounds
FAINT = 0.16  # opacity of grid lines
MUTED = 0.72  # opacity of secondary elements, such as ticks
SIZE = 8.5  # type size

X = float | Literal["left", "right"]
Y = float | Literal["top", "bottom"]
Dash = Literal["", "--", ":"]
Anchor = Literal["start", "middle", "end"]
Upright = Literal["top", "middle", "bottom"]


@dataclass(frozen=True, slots=True)
class Scale:
    """The range of an axis; the axis is reversed if `low` is the larger number."""

    low: float = 0.0
    high: float = 1.0
    log: bool = False

    def shares(self, values: Any) -> np.ndarray:
        """Return positions along the axis, from 0 to 1; a value outside gets the nearer end."""
        given, low, high = np.asarray(values, float), self.low, self.high
        if self.log:
            given = np.log(np.maximum(given, min(low, high)))
            low, high = np.log(low), np.log(high)
        return np.clip((given - low) / ((high - low) or 1.0), 0.0, 1.0)

    def holds(self, values: Any) -> np.ndarray:
        """Return which values are within the axis; missing values are not."""
        given, (low, high) = np.asarray(values, float), sorted((self.low, self.high))
        return (low <= given) & (given <= high)


@dataclass(frozen=True, slots=True)
class Look:
    """Fill and edge of a shape; a line has only an edge."""

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
    """The area between two lines."""

    x: np.ndarray
    low: np.ndarray
    high: np.ndarray
    look: Look
    label: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """Points, the line through them, or both; interrupted at missing and out-of-range values."""

    x: np.ndarray
    y: np.ndarray
    look: Look
    marker: str = ""
    size: float = 5.0
    label: str = ""
    mark_edge: str = "none"


@dataclass(frozen=True, slots=True)
class Rule:
    """A straight line across the panel: vertical at `x`, or horizontal at `y`."""

    look: Look
    x: float | None = None
    y: float | None = None


@dataclass(frozen=True, slots=True)
class Words:
    """Text at a position: in panel coordinates or at an edge, with an offset in points."""

    text: str  # one line, or several
    x: X  # anchor position
    y: Y  # anchor position
    right: float = 0.0  # offset to the right, in points
    up: float = 0.0  # offset upwards, in points
    anchor: Anchor = "start"  # the end of the text at the anchor
    upright: Upright = "middle"  # the vertical alignment at the anchor
    size: float = SIZE  # type size
    bold: bool = False  # whether the type is bold
    opacity: float = 1.0  # less than 1 for secondary text


@dataclass(frozen=True, slots=True)
class Tick:
    """A tick: a number and its label."""

    value: float
    label: str
    anchor: Anchor | None = None


Mark = Bar | Area | Line | Rule | Words


@dataclass(slots=True)
class Axis:
    """One side of a panel."""

    scale: Scale = field(default_factory=Scale)  # its range
    ticks: Sequence[Tick] = ()  # the labelled ones
    grid: bool = False  # whether a faint line crosses the panel at each tick
    muted: bool = True  # whether labels are muted
    slanted: bool = False  # whether labels are slanted because they do not fit side by side

    def name(
        self, values: Iterable[float], labels: Iterable[str], *, grid: bool = False,
        muted: bool = True, slanted: bool = False,
    ) -> None:  # fmt: skip
        """Set the ticks and their labels."""
        self.ticks = [Tick(float(at), label) for at, label in zip(values, labels, strict=True)]
        self.grid, self.muted, self.slanted = grid, muted, slanted

    def end_last(self) -> None:
        """Right-align the last label at its tick, so that it is not cut off."""
        self.ticks = [*self.ticks[:-1], replace(self.ticks[-1], anchor="end")]


@dataclass(slots=True)
class Panel:
    """An area with two axes, and its marks in drawing order."""

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
        """Add a rectangle from one corner; a negative size extends to the left or downwards."""
        self.marks.append(Bar(left, low, width, height, look, label))

    def area(
        self, x: Any, low: Any, high: Any, look: Look, label: str = "", *, steps: bool = False
    ) -> None:
        """Fill between two lines; with steps, each value holds until the next."""
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
        """Add a line through points; with steps, each value holds until the next."""
        x, y = np.asarray(x, float), np.asarray(y, float)
        if steps:
            x, y = _held(x), _values_held(y)
        self.marks.append(Line(x, y, look, marker, size, label, mark_edge))

    def stems(self, x: Any, low: float, high: Any, look: Look) -> None:
        """Add vertical lines as a single mark, so that thousands of lines keep the page small."""
        x, high = np.asarray(x, float), np.asarray(high, float)
        nothing = np.full(len(x), np.nan)
        ends = np.stack([np.full(len(x), low), high, nothing], axis=1).ravel()
        self.marks.append(Line(np.repeat(x, 3), ends, look))

    def rule(self, look: Look, *, x: float | None = None, y: float | None = None) -> None:
        """Add a straight line across the panel."""
        self.marks.append(Rule(look, x, y))

    def words(self, text: str, x: X, y: Y, **how: Any) -> None:
        """Add a text; see `Words`."""
        self.marks.append(Words(text, x, y, **how))

    def heading(self, text: str) -> None:
        """Add a title above the panel."""
        self.words(text, "left", "top", up=2, upright="bottom", size=7.5, opacity=MUTED)

    def labelled(self) -> list[Bar | Area | Line]:
        """Return the marks for a legend: the first mark with each label."""
        marks = [mark for mark in self.marks if isinstance(mark, Bar | Area | Line) and mark.label]
        return list({mark.label: mark for mark in reversed(marks)}.values())[::-1]


def _held(x: np.ndarray) -> np.ndarray:
    return np.repeat(x, 2)[1:]


def _values_held(y: np.ndarray) -> np.ndarray:
    return np.repeat(y, 2)[:-1]


@dataclass(frozen=True, slots=True)
class Legend:
    """The key to colours, hatching and lines, in rows of `columns`."""

    entries: Sequence[Bar | Area | Line]
    left: float
    top: float
    columns: int = 4
    handle: float = 1.7  # length of the sample, relative to the type size

    @property
    def labels(self) -> list[str]:
        """The labels of the entries, in order."""
        return [entry.label for entry in self.entries]


@dataclass(slots=True)
class Chart:
    """Panels on a sheet, with a legend."""

    width: float  # of the sheet
    height: float  # of the sheet
    panels: list[Panel] = field(default_factory=list)  # in order of addition
    legend: Legend | None = None  # None if there is nothing to explain

    def panel(self, *, left: float, right: float, top: float, bottom: float) -> Panel:
        """Add a panel at the given distances from the sheet's edges."""
        size = self.width - left - right, self.height - top - bottom
        added = Panel(left, bottom, *size)
        self.panels.append(added)
        return added

    def explain(
        self, entries: Sequence[Bar | Area | Line], *, left: float, top: float = 0.03,
        columns: int = 4, handle: float = 1.7,
    ) -> None:  # fmt: skip
        """Set the legend; `left` and `top` position its corner."""
        self.legend = Legend(entries, left, top, columns, handle)
