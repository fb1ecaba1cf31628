"""A figure for a page: a chart, and the text alternative for people who cannot see it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from gomem.charts.svg import write_svg
from gomem.units import format_bytes, minus

if TYPE_CHECKING:
    from gomem.charts.chart import Axis, Chart

REPR = 400  # characters


@dataclass(frozen=True)
class Drawing:
    """A figure with its text alternative."""

    name: str  # unique on its page; prefix of ids in the SVG
    title: str  # short title
    description: str  # text alternative for people who cannot see it
    chart: Chart  # the chart
    heading: str = ""  # heading above it, if no caption names its subject

    def __post_init__(self) -> None:
        """Raise ValueError if the name cannot be an id."""
        if not re.fullmatch(r"[A-Za-z][\w-]*", self.name):
            raise ValueError(f"{self.name!r}: not an id; wanted a letter, then word characters")

    def svg(self) -> str:
        """Return the figure as an SVG element to embed in a page."""
        return write_svg(self.chart, name=self.name, title=self.title, description=self.description)

    def _repr_html_(self) -> str:
        if not self.heading:
            return self.svg()
        return f"<figure><figcaption>{escape(self.heading)}</figcaption>{self.svg()}</figure>"

    def __repr__(self) -> str:
        """The text alternative, at most a few lines."""
        return f"<Figure {beginning(f'{self.title}: {self.description}', REPR)}>"


def beginning(name: str, most: int) -> str:
    """Shorten a name to its beginning if it is too long."""
    return name if len(name) <= most else f"{name[: most - 1]}…"


def byte_ticks(low: float, high: float, at_most: int = 6) -> list[int]:
    """Return round byte numbers from `low` to `high`: multiples of a power of two, including 0."""
    step = 1
    while (high - low) / step > at_most:
        step *= 2
    first, last = int(low // step) + (low % step > 0), int(high // step)
    return [step * number for number in range(first, last + 1)]


def tick_label(size: int) -> str:
    """Format the bytes of a tick without trailing zeros: `64 MiB`, `1.5 GiB`, `0`."""
    if size == 0:
        return "0"
    number, prefix = format_bytes(size).split(" ")
    return minus(f"{float(number):g} {prefix}")


def name_bytes(axis: Axis, low: float, high: float) -> None:
    """Add ticks, labels and faint grid lines in bytes, from `low` to `high`."""
    ticks = byte_ticks(low, high)
    axis.name(ticks, [tick_label(size) for size in ticks], grid=True)
