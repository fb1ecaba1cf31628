"""A profile as a flame graph: one SVG that is complete without a script.

Callees hang below their callers (an icicle); a frame's width is its cumulative value. Each frame's
exact numbers are in its title, which browsers show under the pointer and read aloud. A small script
adds zoom, search and keys.

For two profiles the frames are as wide as the larger side. Orange is more, blue is less, stronger
for a larger share; hatched changes are within sampling noise.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any
from zlib import crc32

from gomem.charts.figure import beginning
from gomem.errors import printable
from gomem.inputs.pprof.calls.names import package_of
from gomem.inputs.schema import rows_of
from gomem.units import format_count, format_fraction, is_unknown, minus
from gomem.views.profile.top import value_formatter
from gomem.views.writers.scripts import flame_script

if TYPE_CHECKING:
    from gomem.analysis.profiles.call_tree import CallTree

WIDTH, ROW = 960, 18  # in SVG user units, about pixels
GAP = 0.8  # between adjacent frames
CHARACTER = 6.7  # width of a character in SVG user units
# of a name, in characters; Go's longest names, of generic types, are about this long
MAX_NAME = 300
MIN_LABEL = 3  # in characters: a shorter piece of a name is useless
TEXT = "#17191c"  # dark on all fills, which do not depend on the page's theme
WHOLE = "#b9bec3"
PACKAGES = ("#f2c879", "#e8a35c", "#9fcbe8", "#a8d5a2", "#d8b7dd", "#e5d98b")
MORE = ("#f7dcb0", "#f0b75f", "#e69f00")
LESS = ("#c6e0f2", "#86bfe6", "#56a8de")
SAME = "#d5d8db"
SHARES = (0.1, 0.5)  # change relative to the larger side, from which the colour gets stronger
NOISE = (
    '<defs><pattern id="{name}-noise" width="6" height="6" patternUnits="userSpaceOnUse" '
    f'patternTransform="rotate(45)"><path d="M0 0V6" stroke="{TEXT}" stroke-width="1.6" '
    'opacity=".35"/></pattern></defs>'
)


@dataclass(frozen=True)
class FlameGraph:
    """A flame graph to embed in a page."""

    name: str  # unique on its page; prefix of ids in the SVG
    title: str  # short title
    description: str  # text alternative for people who cannot see it
    tree: CallTree  # the frames
    upwards: bool = False  # whether callees are above their callers

    def __post_init__(self) -> None:
        """Raise ValueError if the name cannot be an id."""
        if not re.fullmatch(r"[A-Za-z][\w-]*", self.name):
            raise ValueError(f"{self.name!r}: not an id; wanted a letter, then word characters")

    def svg(self) -> str:
        """Return the graph as an SVG element, without a script."""
        frames = rows_of(self.tree.frames)
        depth = max(frame["depth"] for frame in frames)
        words = _Words(self.tree)
        drawn = "\n".join(self._frame(frame, depth, words) for frame in frames)
        return f"{self._opening(depth)}\n{drawn}\n</svg>"

    def _opening(self, depth: int) -> str:
        name, whole = self.name, self.tree.frames["value"].iloc[0]
        turns, noise = f'data-total="{whole:.0f}" ', ""
        if self.tree.is_difference:
            turns, noise = "", NOISE.format(name=name)
        return (
            f'<svg class="figure flame" xmlns="http://www.w3.org/2000/svg" '
            f'{turns}data-unit="{escape(self.tree.unit)}" '
            f'viewBox="0 0 {WIDTH} {(depth + 1) * ROW}" role="img" '
            f'aria-labelledby="{name}-title {name}-desc" style="width:100%;height:auto;'
            f'font:11px ui-monospace,Menlo,Consolas,monospace">'
            f'<title id="{name}-title">{escape(self.title)}</title>'
            f'<desc id="{name}-desc">{escape(self.description)}</desc>'
            f"{noise}"
        )

    def _frame(self, frame: dict[str, Any], deepest: int, words: _Words) -> str:
        left, width = frame["start"] * WIDTH, frame["width"] * WIDTH
        top = (deepest - frame["depth"] if self.upwards else frame["depth"]) * ROW
        gap = GAP if width > 4 * GAP else 0.0
        box = f'x="{left:.2f}" y="{top}" width="{width - gap:.2f}" height="{ROW - 1}"'
        hatching = f'<rect {box} fill="url(#{self.name}-noise)"/>' if words.is_noise(frame) else ""
        label = escape(shortened(known_name(frame["name"]), width))
        text = f'<text x="{left + 3:.2f}" y="{top + 12}" fill="{TEXT}">{label}</text>'
        return (
            f'<g data-p="{frame["parent"]}" data-x="{frame["start"]:.6f}" '
            f'data-w="{frame["width"]:.6f}"><title>{escape(words.of(frame))}</title>'
            f'<rect {box} fill="{words.colour(frame)}"/>{hatching}{text}</g>'
        )

    def html(self) -> str:
        """Return the graph as an HTML element, which `flame_script` extends if it is included."""
        return f'<div class="gomem-flame">{self.svg()}</div>'

    def _repr_html_(self) -> str:
        return f"{self.html()}<script>{flame_script()}</script>"


def draw_flame(tree: CallTree, *, upwards: bool = False, name: str = "flame") -> FlameGraph:
    """Draw a call tree, callees below their callers or above, or a difference of two profiles."""
    words = _Words(tree)
    first = tree.frames.iloc[0].to_dict()
    against = ", compared with another profile" if tree.is_difference else ""
    largest = tree.frames.sort_values("own", ascending=False, kind="stable").iloc[0]
    description = (
        f"{words.number(first['value'])} in {len(tree.frames) - 1} frames; the largest flat value "
        f"is {known_name(largest['name'])}: {words.number(largest['own'])}."
    )
    if tree.note:
        description += f" No intervals: {tree.note}."
    title = f"Flame graph of {tree.sample_type}{against}"
    return FlameGraph(name, title, description, tree, upwards)


def known_name(name: str) -> str:
    """A name as one line, without control characters, of limited length."""
    return printable(beginning(name, MAX_NAME))


def shortened(name: str, width: float) -> str:
    """Shorten a function's name to fit, without the path of its package."""
    # Slashes in type arguments or a receiver do not belong to the path.
    ends = [place for place in (name.find("["), name.find("(")) if place >= 0]
    short = name[name.rfind("/", 0, min(ends, default=len(name))) + 1 :]
    room = int((width - 4) / CHARACTER)
    if len(short) <= room:
        return short
    return f"{short[: room - 1]}…" if room >= MIN_LABEL else ""


@dataclass(frozen=True)
class _Words:
    """The text and the colour of a frame."""

    tree: CallTree

    def of(self, frame: dict[str, Any]) -> str:
        """Name and numbers, one per line."""
        whole = self.tree.frames["value"].iloc[0]
        share = f" ({format_fraction(frame['value'] / whole)})" if whole else ""
        value = f"{self.tree.sample_type}: {self.exact(frame['value'])}{share}"
        lines = [known_name(frame["name"]), value]
        if not is_unknown(frame["low"]):
            low, high = self.number(frame["low"]), self.number(frame["high"])
            lines.append(f"95 % interval: {low} to {high}")
        if frame["own"] != frame["value"]:
            lines.append(f"flat: {self.exact(frame['own'])}")
        if frame["hidden"]:
            lines.append(f"in calls too narrow or too deep to draw: {self.exact(frame['hidden'])}")
        if self.tree.is_difference:
            lines += self._change(frame)
        return "\n".join(lines)

    def _change(self, frame: dict[str, Any]) -> list[str]:
        sign = "+" if frame["change"] > 0 else ""
        before, change = self.exact(frame["before"]), self.exact(frame["change"])
        lines = [f"before: {before}", f"change: {sign}{change}"]
        if not is_unknown(frame["change_low"]):
            low, high = self.number(frame["change_low"]), self.number(frame["change_high"])
            noise = "; within noise" if self.is_noise(frame) else ""
            lines.append(f"95 % interval of the change: {low} to {high}{noise}")
        return lines

    def number(self, value: float) -> str:
        """Format a number for people."""
        return minus(value_formatter(self.tree.unit)(value))

    def exact(self, value: float) -> str:
        """Format with all digits, if `number` rounds."""
        rounded, all_digits = self.number(value), f"{minus(format_count(value))} B"
        if self.tree.unit != "bytes" or rounded == all_digits:
            return rounded
        return f"{rounded} = {all_digits}"

    def is_noise(self, frame: dict[str, Any]) -> bool:
        """Whether the change is within sampling noise."""
        if not self.tree.is_difference or is_unknown(frame["change_low"]):
            return False
        return bool(frame["change_low"] <= 0 <= frame["change_high"])

    def colour(self, frame: dict[str, Any]) -> str:
        """Colour by package; with two profiles, by change."""
        if self.tree.is_difference:
            larger = max(abs(frame["value"]), abs(frame["before"]))
            share = abs(frame["change"]) / larger if larger else 0.0
            strength = sum(share >= step for step in SHARES)
            if not frame["change"]:
                return SAME
            return (MORE if frame["change"] > 0 else LESS)[strength]
        if frame["parent"] < 0:
            return WHOLE
        return PACKAGES[crc32(package_of(frame["name"]).encode()) % len(PACKAGES)]
