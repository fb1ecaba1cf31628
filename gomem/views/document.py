"""What is said, before anything decides how it looks: one document for every output.

A report, a comparison, an inspection and what a notebook's cell shows are documents. A document is
made once, passes through `share`, and is then written as HTML, as text or as Markdown. It is plain
data and plain text: each writer escapes for its own language.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gomem.views.figures.figure import Drawing
    from gomem.views.figures.flame_graph import FlameGraph

MANY_FOLDED = 8
Tone = Literal["critical", "warning", "info", "good", "neutral"]


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a table.

    Attributes:
        text: As people read it.
        exact: The same to the last digit, where `text` is rounded.
        note: A few words below it.
        code: Whether it is a name to be typed or searched for.
    """

    text: str
    exact: str = ""
    note: str = ""
    code: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table whose first column names its rows.

    Attributes:
        caption: What it holds.
        columns: Headings.
        sides: One letter a column: `<` for words, `>` for numbers.
        rows: Cells, as many as columns.
        total: Rows that sum the others up, below them.
        brief_rows: How many rows a terminal shows; None for all.
        brief_columns: How many columns a terminal shows; None for all.
    """

    caption: str
    columns: tuple[str, ...]
    sides: str
    rows: tuple[tuple[Cell, ...], ...]
    total: tuple[tuple[Cell, ...], ...] = ()
    brief_rows: int | None = None
    brief_columns: int | None = None


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A few sentences."""

    text: str


@dataclass(frozen=True, slots=True)
class Notes:
    """What to know before trusting the numbers above."""

    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Codes:
    """Names to be searched for, in a row, behind the words that introduce them."""

    words: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure, drawn only by a writer that can show it.

    Attributes:
        caption: What is to be seen.
        plot: Draws it.
        numbers: Gives what is drawn, by the parameters of `plot`: frames, numbers and names.
        scripted: Whether a script adds to it, where scripts may run.
    """

    caption: str
    plot: Callable[..., Drawing | FlameGraph]
    numbers: Callable[[], Mapping[str, Any]] = dict
    scripted: bool = False

    def draw(self) -> Drawing | FlameGraph:
        """The figure."""
        return self.plot(**self.numbers())


@dataclass(frozen=True, slots=True)
class Folded:
    """Blocks that are folded away until wanted, such as those of another moment."""

    summary: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Card:
    """One thing that was found, with its reason and its proof.

    Attributes:
        title: What was found.
        tone: How much it matters.
        code: Its fixed name.
        about: What else to know at a glance, in a few words each.
        explained: Heading and text: why it is so, what to do.
        proof: What shows it.
        references: Where to read on.
    """

    title: str
    tone: Tone
    code: str
    about: tuple[str, ...]
    explained: tuple[tuple[str, str], ...]
    proof: Table
    references: tuple[str, ...] = ()


Block = Table | Paragraph | Notes | Codes | Figure | Folded | Card


def in_one_fold(folded: Sequence[Folded], summary: str) -> tuple[Folded, ...]:
    """Many folded blocks as one: even closed, they would be pages of headings."""
    return tuple(folded) if len(folded) <= MANY_FOLDED else (Folded(summary, tuple(folded)),)


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands below it.

    Attributes:
        name: Its id, unique in the document.
        heading: What it is about.
        blocks: In order.
        brief: Whether it also belongs in what a terminal shows.
    """

    name: str
    heading: str
    blocks: tuple[Block, ...]
    brief: bool = True

    @property
    def is_scripted(self) -> bool:
        """Whether there is a figure of which a script makes more."""
        return any(map(_is_scripted, self.blocks))


@dataclass(frozen=True, slots=True)
class Verdict:
    """The document in a sentence or two.

    Attributes:
        tone: How much it matters.
        label: The verdict in a word or two, such as `warning` or `worse`.
        sentence: What it comes down to.
        details: What else to know at once, in sentences.
    """

    tone: Tone
    label: str
    sentence: str
    details: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """A whole document.

    Attributes:
        kind: What it is, such as `Go memory report`.
        title: What it is about: the capture, by name.
        facts: Label and value: Go release, moments, baseline.
        verdict: What it comes down to; None if it only lists.
        sections: Everything else, in order.
        made_by: Which gomem made it.
    """

    kind: str
    title: str
    facts: tuple[tuple[str, str], ...]
    verdict: Verdict | None
    sections: tuple[Section, ...]
    made_by: str = ""

    @property
    def is_scripted(self) -> bool:
        """Whether there is a figure of which a script makes more."""
        return any(section.is_scripted for section in self.sections)


def _is_scripted(block: Block) -> bool:
    if isinstance(block, Folded):
        return any(map(_is_scripted, block.blocks))
    return isinstance(block, Figure) and block.scripted
