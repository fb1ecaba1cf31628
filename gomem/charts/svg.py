"""Write a chart as SVG for a page: equal charts always give equal bytes.

The background is transparent, and text and lines take the colour of the surrounding text. Text
stays text: it can be searched, selected and read aloud. Ids begin with the figure's name, so a page
can have several figures.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from gomem.charts.chart import FAINT, INK, MUTED, SIZE, Area, Bar, Line, Look, Rule, Words
from gomem.errors import printable

if TYPE_CHECKING:
    from gomem.charts.chart import Chart, Legend, Mark, Panel

POINTS = 72.0  # per inch
CHARACTER = 0.6  # average width of a character, relative to the type size, for a wide font
LINE = 1.2  # line spacing, relative to the type size
# baseline below the anchor, relative to the type size
UPRIGHT = {"top": 0.76, "middle": 0.35, "bottom": -0.24}
TICK = 4.0  # points between a panel and its tick labels
SLANT = 30  # degrees
ROW = 13.0  # points between rows of a legend
GAP = 12.0  # points between columns of a legend
_DASH_LENGTHS = {"--": (3.7, 1.6), ":": (1.0, 1.65)}  # relative to the line width
_HATCHES = {  # on a tile of size 1
    "/": "M-.25 .25L.25 -.25M0 1L1 0M.75 1.25L1.25 .75",
    "\\": "M-.25 .75L.25 1.25M0 0L1 1M.75 -.25L1.25 .25",
    "|": "M.5 0V1",
    "-": "M0 .5H1",
}
_HATCHES["x"] = _HATCHES["/"] + _HATCHES["\\"]
_HATCHES["+"] = _HATCHES["|"] + _HATCHES["-"]
_MARKERS = {  # around 0, of width 1
    "s": "M-.5 -.5H.5V.5H-.5Z",
    "^": "M0 -.5L.5 .5H-.5Z",
    "v": "M0 .5L.5 -.5H-.5Z",
    "D": "M0 -.65L.65 0L0 .65L-.65 0Z",
    "o": "M-.5 0A.5 .5 0 1 1 .5 0A.5 .5 0 1 1 -.5 0Z",
}


def write_svg(chart: Chart, *, name: str, title: str, description: str) -> str:
    """Write a chart as an SVG element whose ids begin with `name`, unique on the page.

    Title and description are the text alternative for people who cannot see it.
    """
    sheet = _Sheet(name, chart.width * POINTS, chart.height * POINTS)
    for panel in chart.panels:
        _Field(sheet, panel).draw()
    if chart.legend is not None:
        _draw_legend(sheet, chart.legend)
    return sheet.svg(title, description)


@dataclass(slots=True)
class _Sheet:
    """SVG elements in order, in points with y pointing down, and the patterns they use."""

    name: str
    width: float
    height: float
    elements: list[str] = field(default_factory=list)
    patterns: dict[tuple[str, str, str], str] = field(default_factory=dict)

    def svg(self, title: str, description: str) -> str:
        name, box = self.name, f"0 0 {_number(self.width)} {_number(self.height)}"
        opening = (
            f'<svg class="figure" xmlns="http://www.w3.org/2000/svg" viewBox="{box}" role="img" '
            f'aria-labelledby="{name}-title {name}-desc" style="width:100%;'
            f"max-width:{self.width / POINTS:.2f}in;height:auto;overflow:visible;"
            f"font-size:{SIZE}px;font-family:var(--sans,'DejaVu Sans',Verdana,sans-serif);"
            f'stroke-linejoin:round" fill="{INK}">'
            f'<title id="{name}-title">{_text(title)}</title>'
            f'<desc id="{name}-desc">{_text(description)}</desc>'
        )
        patterns = f"<defs>{''.join(self.patterns.values())}</defs>" if self.patterns else ""
        return "\n".join([opening + patterns, *self.elements, "</svg>"])

    def path(self, path: str, look: Look) -> None:
        if path:
            self.elements.append(f'<path d="{path}"{self.look(look)}/>')

    def look(self, look: Look) -> str:
        """Convert a look to attributes; a hatched fill becomes a pattern."""
        fill = self.hatched(look) if look.hatch else look.fill
        said = f' fill="{fill}"'
        if look.edge != "none" and look.width:
            said += f' stroke="{look.edge}" stroke-width="{_number(look.width)}"'
            if look.dash:
                on, off = (_number(length * look.width) for length in _DASH_LENGTHS[look.dash])
                said += f' stroke-dasharray="{on} {off}"'
        return said + (f' opacity="{_number(look.opacity)}"' if look.opacity < 1 else "")

    def hatched(self, look: Look) -> str:
        key = look.fill, look.hatch, look.edge
        if key not in self.patterns:
            ident = f"{self.name}-hatch-{len(self.patterns)}"
            tile = 20 / len(look.hatch)  # more strokes are denser
            ground = f'<path d="M0 0H1V1H0Z" fill="{look.fill}"/>' if look.fill != "none" else ""
            ink = look.edge if look.edge != "none" else INK
            self.patterns[key] = (
                f'<pattern id="{ident}" width="1" height="1" patternUnits="userSpaceOnUse" '
                f'patternTransform="scale({_number(tile)})">{ground}<path '
                f'd="{_HATCHES[look.hatch[0]]}" stroke="{ink}" stroke-width="{0.7 / tile:.3g}" '
                f'fill="none"/></pattern>'
            )
        return f"url(#{self.name}-hatch-{list(self.patterns).index(key)})"

    def words(self, x: float, y: float, words: Words, *, slanted: bool = False) -> None:
        lines = words.text.split("\n") if words.text else []
        middle = {"top": 0.0, "middle": 0.5, "bottom": 1.0}[words.upright] * (len(lines) - 1)
        foot = y + words.size * (UPRIGHT[words.upright] - LINE * middle)
        said = f' text-anchor="{words.anchor}"' if words.anchor != "start" else ""
        said += f' font-size="{_number(words.size)}"' if words.size != SIZE else ""
        said += ' font-weight="bold"' if words.bold else ""
        said += f' opacity="{_number(words.opacity)}"' if words.opacity < 1 else ""
        said += f' transform="rotate(-{SLANT} {_number(x)} {_number(y)})"' if slanted else ""
        for place, line in enumerate(lines):
            at = f'x="{_number(x)}" y="{_number(foot + place * LINE * words.size)}"'
            self.elements.append(f"<text {at}{said}>{_text(line)}</text>")

    def markers(self, x: np.ndarray, y: np.ndarray, line: Line) -> None:
        """Draw a marker at each point."""
        known = np.isfinite(x) & np.isfinite(y)
        shape = _MARKERS[line.marker]
        look = f'fill="{line.look.edge}"'
        if line.mark_edge != "none":
            look += f' stroke="{line.mark_edge}" stroke-width="{0.6 / line.size:.3g}"'
        self.elements += [
            f'<path d="{shape}" {look} transform="translate({_number(right)} {_number(down)}) '
            f'scale({_number(line.size)})"/>'
            for right, down in zip(x[known], y[known], strict=True)
        ]


@dataclass(frozen=True, slots=True)
class _Field:
    """A panel with its position on the sheet."""

    sheet: _Sheet
    panel: Panel

    @property
    def edges(self) -> tuple[float, float, float, float]:
        """Left, top, right and bottom, in points."""
        left, right = self.panel.left, self.panel.left + self.panel.width
        foot, head = self.panel.bottom, self.panel.bottom + self.panel.height
        height = self.sheet.height
        return left * POINTS, height - head * POINTS, right * POINTS, height - foot * POINTS

    def right(self, values: Any) -> np.ndarray:
        left, _, right, _ = self.edges
        return left + self.panel.x.scale.shares(values) * (right - left)

    def down(self, values: Any) -> np.ndarray:
        _, top, _, bottom = self.edges
        return bottom + self.panel.y.scale.shares(values) * (top - bottom)

    def draw(self) -> None:
        left, top, right, bottom = self.edges
        x, y = self.panel.x, self.panel.y
        places = self.right([tick.value for tick in x.ticks]) if x.grid else ()
        path = "".join(f"M{_number(at)} {_number(top)}V{_number(bottom)}" for at in places)
        places = self.down([tick.value for tick in y.ticks]) if y.grid else ()
        path += "".join(f"M{_number(left)} {_number(at)}H{_number(right)}" for at in places)
        self.sheet.path(path, Look(edge=INK, opacity=FAINT))
        for mark in self.panel.marks:
            self._draw(mark)
        if self.panel.has_foot:
            foot = f"M{_number(left)} {_number(bottom)}H{_number(right)}"
            self.sheet.path(foot, Look(edge=INK))
        muted = MUTED if x.muted else 1.0
        for tick, at in zip(x.ticks, self.right([tick.value for tick in x.ticks]), strict=True):
            anchor = tick.anchor or ("end" if x.slanted else "middle")
            words = Words(tick.label, "left", "bottom", anchor=anchor, upright="top", opacity=muted)
            self.sheet.words(at, bottom + TICK, words, slanted=x.slanted)
        muted = MUTED if y.muted else 1.0
        for tick, at in zip(y.ticks, self.down([tick.value for tick in y.ticks]), strict=True):
            words = Words(tick.label, "left", "bottom", anchor="end", opacity=muted)
            self.sheet.words(left - TICK, at, words)

    def _draw(self, mark: Mark) -> None:
        if isinstance(mark, Bar):
            self._draw_bar(mark)
        elif isinstance(mark, Area):
            x, low, high = self.right(mark.x), self.down(mark.low), self.down(mark.high)
            # Along the upper line, and back along the lower.
            path = ""
            for run in _runs(x, low, high):
                around = np.append(x[run], x[run][::-1]), np.append(high[run], low[run][::-1])
                path += f"M{_points(*around)}Z"
            self.sheet.path(path, mark.look)
        elif isinstance(mark, Line):
            self._draw_line(mark)
        elif isinstance(mark, Rule):
            self._draw_rule(mark)
        else:
            self._draw_words(mark)

    def _draw_bar(self, bar: Bar) -> None:
        left, right = sorted(self.right([bar.left, bar.left + bar.width]).tolist())
        top, bottom = sorted(self.down([bar.low, bar.low + bar.height]).tolist())
        box = (
            f'x="{_number(left)}" y="{_number(top)}" width="{_number(right - left)}" '
            f'height="{_number(bottom - top)}"'
        )
        self.sheet.elements.append(f"<rect {box}{self.sheet.look(bar.look)}/>")

    def _draw_line(self, line: Line) -> None:
        seen = self.panel.x.scale.holds(line.x) & self.panel.y.scale.holds(line.y)
        x, y = np.where(seen, (self.right(line.x), self.down(line.y)), np.nan)
        if line.look.width:
            path = "".join(f"M{_points(x[run], y[run])}" for run in _runs(x, y))
            self.sheet.path(path, line.look)
        if line.marker:
            self.sheet.markers(x, y, line)

    def _draw_rule(self, rule: Rule) -> None:
        left, top, right, bottom = self.edges
        if rule.x is not None and self.panel.x.scale.holds(rule.x):
            at = _number(float(self.right(rule.x)))
            self.sheet.path(f"M{at} {_number(top)}V{_number(bottom)}", rule.look)
        if rule.y is not None and self.panel.y.scale.holds(rule.y):
            at = _number(float(self.down(rule.y)))
            self.sheet.path(f"M{_number(left)} {at}H{_number(right)}", rule.look)

    def _draw_words(self, words: Words) -> None:
        left, top, right, bottom = self.edges
        x = {"left": left, "right": right}.get(words.x) if isinstance(words.x, str) else None
        y = {"top": top, "bottom": bottom}.get(words.y) if isinstance(words.y, str) else None
        x = float(self.right(words.x)) if x is None else x
        y = float(self.down(words.y)) if y is None else y
        self.sheet.words(x + words.right, y - words.up, words)


def _draw_legend(sheet: _Sheet, legend: Legend) -> None:
    """Draw rows of samples with their labels; a column is as wide as its longest label."""
    handle = legend.handle * SIZE
    x = legend.left * POINTS
    for column in range(legend.columns):
        entries = legend.entries[column :: legend.columns]
        for row, entry in enumerate(entries):
            y = legend.top * POINTS + (row + 0.5) * ROW
            _draw_sample(sheet, entry, x, y, handle)
            sheet.words(x + handle + 5, y, Words(entry.label, 0, 0))
        longest = max((len(entry.label) for entry in entries), default=0)
        x += handle + 5 + longest * CHARACTER * SIZE + GAP


def _draw_sample(
    sheet: _Sheet, entry: Bar | Area | Line, x: float, y: float, handle: float
) -> None:
    if isinstance(entry, Line):
        sheet.path(f"M{_number(x)} {_number(y)}h{_number(handle)}", entry.look)
        if entry.marker:
            sheet.markers(np.array([x + handle / 2]), np.array([y]), entry)
        return
    box = f'x="{_number(x)}" y="{_number(y - 3.5)}" width="{_number(handle)}" height="7"'
    sheet.elements.append(f"<rect {box}{sheet.look(entry.look)}/>")


def _runs(*columns: np.ndarray) -> list[slice]:
    """Slices of consecutive rows without missing numbers."""
    known = np.concatenate([[False], np.isfinite(columns).all(axis=0), [False]])
    edges = np.flatnonzero(known[1:] != known[:-1])
    return [slice(begin, end) for begin, end in edges.reshape(-1, 2)]


def _points(x: np.ndarray, y: np.ndarray) -> str:
    """Coordinates rounded to a hundredth of a point, which is finer than print."""
    rounded = np.round(np.stack([x, y], axis=1), 2).tolist()
    return " ".join(f"{right:g} {down:g}" for right, down in rounded)


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _text(text: str) -> str:
    return escape(printable(text))
