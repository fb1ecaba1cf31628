"""A figure as it stands in a page: a chart, and the words for those who cannot see it."""

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
    """A figure with the words that stand for it where it cannot be seen."""

    name: str  # unique on its page; ids in the SVG begin with it
    title: str  # what it shows, in a few words
    description: str  # what is to be seen in it, for those who cannot see it
    chart: Chart  # the figure itself
    heading: str = ""  # above it, where no caption says of what it is

    def __post_init__(self) -> None:
        """A name that cannot be an id is a mistake of the caller's."""
        if not re.fullmatch(r"[A-Za-z][\w-]*", self.name):
            raise ValueError(f"{self.name!r}: not an id; wanted a letter, then word characters")

    def svg(self) -> str:
        """The figure as an SVG element to stand in a page."""
        return write_svg(self.chart, name=self.name, title=self.title, description=self.description)

    def _repr_html_(self) -> str:
        if not self.heading:
            return self.svg()
        return f"<figure><figcaption>{escape(self.heading)}</figcaption>{self.svg()}</figure>"

    def __repr__(self) -> str:
        """What it shows, in words: a few lines at most."""
        return f"<Figure {beginning(f'{self.title}: {self.description}', REPR)}>"


def beginning(name: str, most: int) -> str:
    """A name as its beginning, where it is longer than there is room for."""
    return name if len(name) <= most else f"{name[: most - 1]}…"


def byte_ticks(low: float, high: float, at_most: int = 6) -> list[int]:
    """Round numbers of bytes from `low` to `high`: a power of two apart, 0 among them."""
    step = 1
    while (high - low) / step > at_most:
        step *= 2
    first, last = int(low // step) + (low % step > 0), int(high // step)
    return [step * number for number in range(first, last + 1)]


def tick_label(size: int) -> str:
    """Bytes of a tick without digits that say nothing: `64 MiB`, `1.5 GiB`, `0`."""
    if size == 0:
        return "0"
    number, prefix = format_bytes(size).split(" ")
    return minus(f"{float(number):g} {prefix}")


def name_bytes(axis: Axis, low: float, high: float) -> None:
    """Ticks, labels and faint grid lines in bytes, from `low` to `high`."""
    ticks = byte_ticks(low, high)
    axis.name(ticks, [tick_label(size) for size in ticks], grid=True)
