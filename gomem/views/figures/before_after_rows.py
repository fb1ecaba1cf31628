"""What figures of rows with a before and an after share: room, names, words, the legend."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gomem.views.figures.figure import INK
from gomem.views.figures.look import BLUE, ORANGE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH, ROW, HEAD, FOOT = 7.4, 0.3, 0.36, 0.42  # inches, as all lengths here
NAME_CHARACTERS = 40
# Colour, marker, and how far above the middle of its row each side stands.
SIDES = {"before": (ORANGE, "s", 0.16), "after": (BLUE, "o", -0.16)}
HATCHES = {"before": "////", "after": ""}


def height_of(rows: int) -> float:
    """The height of a figure with so many rows, in inches."""
    return HEAD + ROW * max(1, rows) + FOOT


def add_rows(figure: Figure, rows: int, *, left: float, right: float) -> Axes:
    """Axes for so many rows, with room in inches for names on the left and words on the right."""
    height = height_of(rows)
    box = left / WIDTH, FOOT / height, (WIDTH - left - right) / WIDTH, 1 - (FOOT + HEAD) / height
    return figure.add_axes(box)


def label_rows(axes: Axes, names: Sequence[str], words: Sequence[str]) -> None:
    """Put names left of the rows and words right of them."""
    axes.set_ylim(max(1, len(names)) - 0.5, -0.5)
    axes.set_yticks(range(len(names)), [_short(name) for name in names])
    for place, word in enumerate(words):
        axes.annotate(
            word, (1, place), (8, 0), xycoords=axes.get_yaxis_transform(),
            textcoords="offset points", va="center", annotation_clip=False,
        )  # fmt: skip


def add_legend(axes: Axes, *, bars: bool) -> None:
    """Say which side is which, for bars or for markers."""
    handles = [_bar(side) if bars else _marker(side) for side in SIDES]
    axes.legend(
        handles=handles, loc="lower left", bbox_to_anchor=(0, 1), ncols=2, borderaxespad=0.2,
        handlelength=1.8,
    )  # fmt: skip


def _bar(side: str) -> Any:
    from matplotlib.patches import Patch

    colour = SIDES[side][0]
    return Patch(facecolor=colour, edgecolor=INK, lw=0.6, hatch=HATCHES[side], label=side)


def _marker(side: str) -> Any:
    from matplotlib.lines import Line2D

    colour, marker, _ = SIDES[side]
    return Line2D(
        [], [], color=colour, marker=marker, ms=5, mec=INK, mew=0.6, lw=2.2, label=side
    )  # fmt: skip


def _short(text: str) -> str:
    return text if len(text) <= NAME_CHARACTERS else f"…{text[1 - NAME_CHARACTERS :]}"
