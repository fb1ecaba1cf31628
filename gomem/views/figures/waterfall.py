"""The ledger as a waterfall: from heap objects, part by part, to RSS."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gomem.units import format_bytes, format_fraction
from gomem.views.figures.figure import (
    INK,
    MUTED,
    Drawing,
    draw_bar,
    draw_byte_axis,
    new_figure,
    style,
)
from gomem.views.figures.look import LOOK, edge_of
from gomem.views.words import PARTS, minus, part_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from gomem.analysis.memory.rss_vs_heap import Ledger

WIDTH = 7.6  # inches, as all lengths here
ROW = 0.27
NAMES, NUMBERS = 1.62, 1.62  # beside the bars: names to their left, numbers to their right
AXIS = 0.38
TOP = 0.08
BAR = 0.62  # of a row
_TOTAL = "RSS"


def plot_rss_vs_heap(ledger: Ledger, *, name: str = "ledger", moment: str = "") -> Drawing:
    """Draw one moment's ledger; parts of 0 bytes are left out.

    Args:
        ledger: The answer to draw. Without RSS the last bar, the total, is not there.
        name: Unique on its page.
        moment: The moment, for the figure's title.
    """
    rows = _rows(ledger)
    height = TOP + ROW * max(1, len(rows)) + AXIS
    with style():
        figure = new_figure(WIDTH, height)
        box = (
            NAMES / WIDTH,
            AXIS / height,
            (WIDTH - NAMES - NUMBERS) / WIDTH,
            1 - (AXIS + TOP) / height,
        )
        axes = figure.add_axes(box)
        _draw_bars(axes, rows)
        _draw_words(axes, rows, ledger.rss_bytes)
        _frame(axes, rows)
    title = f"Resident memory, part by part: {moment}" if moment else "Resident memory by part"
    return Drawing(name, title, describe_ledger(ledger), figure)


_Row = tuple[str, int, int]  # part, where its bar begins, its bytes


def _rows(ledger: Ledger) -> list[_Row]:
    rows: list[_Row] = []
    reached = 0
    for part, size in zip(ledger.parts["part"], ledger.parts["bytes"], strict=True):
        if size:
            rows.append((str(part), reached, int(size)))
            reached += int(size)
    if ledger.rss_bytes is not None:
        rows.append((_TOTAL, 0, ledger.rss_bytes))
    return rows


def _draw_bars(axes: Axes, rows: list[_Row]) -> None:
    for place, (part, begin, size) in enumerate(rows):
        colour, hatch = LOOK.get(part, (INK, ""))
        draw_bar(
            axes, begin, place - BAR / 2, size, BAR, facecolor=colour, hatch=hatch, lw=0.6,
            edgecolor=edge_of(colour, INK), alpha=MUTED if part == _TOTAL else None,
        )  # fmt: skip
        if place + 1 < len(rows) and rows[place + 1][0] != _TOTAL:
            end = begin + size
            axes.plot(
                [end, end], [place + BAR / 2, place + 1 - BAR / 2], color=INK, lw=0.6, alpha=MUTED
            )


def _draw_words(axes: Axes, rows: list[_Row], rss_bytes: int | None) -> None:
    """Names left of the bars, bytes and share right of them, each in its column."""
    beside = axes.get_yaxis_transform()
    width = WIDTH - NAMES - NUMBERS
    for place, (part, _, size) in enumerate(rows):
        weight = "bold" if part == _TOTAL else "normal"
        words: dict[str, Any] = {
            "transform": beside,
            "va": "center",
            "weight": weight,
            "clip_on": False,
        }
        axes.text(-0.1 / width, place, part_name(part), ha="right", **words)
        axes.text(1 + 0.88 / width, place, minus(format_bytes(size)), ha="right", **words)
        if rss_bytes:
            share = minus(format_fraction(size / rss_bytes))
            axes.text(1 + NUMBERS / width, place, share, ha="right", alpha=MUTED, **words)


def _frame(axes: Axes, rows: list[_Row]) -> None:
    ends = [0, *(begin for _, begin, _ in rows), *(begin + size for _, begin, size in rows)]
    low, high = min(ends), max(ends) or 1
    axes.set_xlim(low, high * 1.01)
    axes.set_ylim(max(1, len(rows)) - 0.5, -0.5)
    axes.set_yticks([])
    draw_byte_axis(axes, low, high, along="x")
    axes.axvline(0, color=INK, lw=0.6)


def describe_ledger(ledger: Ledger) -> str:
    """The figure in words: each part with its bytes, then RSS."""
    parts = [
        f"{part_name(part)} {format_bytes(size)} ({PARTS[part]})"
        for part, size in zip(ledger.parts["part"], ledger.parts["bytes"], strict=True)
        if size
    ]
    return "; ".join(parts) + f". RSS is {format_bytes(ledger.rss_bytes)}."
