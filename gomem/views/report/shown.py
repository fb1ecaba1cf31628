"""What there is of each moment, of which a reader chooses one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gomem.text import MomentName
from gomem.views.document import Block, Choice, Figure, Folded, Option, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from gomem.charts.figure import Drawing
    from gomem.diagnosis.diagnosis import Diagnosis

NUMBERS = "The numbers of this figure"
FIGURES = 6  # moments with a large figure: a page has to be sent around
LISTED = 24  # moments with tables of allocation sites


def first_of(names: Collection[str], diagnosis: Diagnosis) -> str:
    """Which of some moments to show first: the one that the verdict is about, if it is there."""
    first = diagnosis.shown_first
    return first if first is not None and first in names else next(iter(names))


def drawn_of(names: Sequence[str], first: str, most: int = FIGURES) -> frozenset[str]:
    """Moments that are worth a large figure: all of a few, else some evenly among them."""
    if len(names) <= most:
        return frozenset(names)
    last = len(names) - 1
    return frozenset({first, *(names[place * last // (most - 1)] for place in range(most))})


def with_numbers(
    caption: str, plot: Callable[..., Drawing], numbers: Callable[[], Mapping[str, Any]],
    below: Table,
) -> tuple[Figure, Folded]:  # fmt: skip
    """A figure, and folded below it the numbers that it is drawn of."""
    return Figure(caption, plot, numbers), Folded(NUMBERS, (below,))


def of_moments(
    blocks: Mapping[str, tuple[Block, ...]], first: str, words: Mapping[str, str] | None = None
) -> Choice:
    """A choice between moments by name, in order, each with a few words where there are any."""
    options = tuple(
        Option(MomentName(name), MomentName(name) + (words or {}).get(name, ""), shown)
        for name, shown in blocks.items()
    )
    return Choice(options, list(blocks).index(first))
