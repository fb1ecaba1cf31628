"""Content for each moment, from which the reader chooses one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gomem.analysis.memory.groups import UNDIVIDED
from gomem.text import MomentName
from gomem.views.document import Block, Choice, Figure, Folded, Option, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from gomem.charts.figure import Drawing
    from gomem.diagnosis.diagnosis import Diagnosis

NUMBERS = "The numbers of this figure"
FIGURES = 6  # moments with a large figure; more would make the page too large to send
# Snapshots of which a single number is known; of more, the tables of the first only are shown.
MANY_UNDIVIDED = 100
LISTED = 24  # moments with tables of allocation sites


def first_of(names: Collection[str], diagnosis: Diagnosis) -> str:
    """The moment to show first: that of the verdict, or the last if it is not among them."""
    first = diagnosis.shown_first
    return first if first is not None and first in names else list(names)[-1]


def with_tables(names: Sequence[str], diagnosis: Diagnosis) -> frozenset[str]:
    """The snapshots that get tables of their own: not those of a long log that has RSS alone."""
    undivided = [
        name
        for name in names
        if (groups := diagnosis.by_moment[name].groups) is not None
        and {*groups.sizes, *groups.claimed} <= {UNDIVIDED}
    ]
    return frozenset(names) - frozenset(undivided if len(undivided) > MANY_UNDIVIDED else ())


def drawn_of(names: Sequence[str], first: str, most: int = FIGURES) -> frozenset[str]:
    """Moments that get a large figure: all if they are few, else evenly spaced ones."""
    if len(names) <= most:
        return frozenset(names)
    last = len(names) - 1
    return frozenset({first, *(names[place * last // (most - 1)] for place in range(most))})


def with_numbers(
    caption: str, plot: Callable[..., Drawing], numbers: Callable[[], Mapping[str, Any]],
    below: Table,
) -> tuple[Figure, Folded]:  # fmt: skip
    """A figure, and below it its numbers as a folded table."""
    return Figure(caption, plot, numbers), Folded(NUMBERS, (below,))


def of_moments(
    blocks: Mapping[str, tuple[Block, ...]], first: str, words: Mapping[str, str] | None = None
) -> Choice:
    """A choice of moments by name, in order, with `words` about some of them."""
    options = tuple(
        Option(MomentName(name), MomentName(name) + (words or {}).get(name, ""), shown)
        for name, shown in blocks.items()
    )
    return Choice(options, list(blocks).index(first))
