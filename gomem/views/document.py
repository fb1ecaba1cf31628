"""What is said, before anything decides how it looks: one document for every output.

A report, a comparison, an inspection and what a notebook's cell shows are documents. A document is
made once, passes through `share`, and is then written as HTML, as text or as Markdown. It is plain
data and plain text: each writer escapes for its own language.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from gomem.text import Text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from gomem.charts.figure import Drawing
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


@dataclass(frozen=True, slots=True)
class Lead:
    """A card cut short, for the first screen: what was found, one proof, what to do.

    Attributes:
        title: What was found.
        tone: How much it matters.
        code: Its fixed name.
        proof: One line of evidence.
        next_step: What to do, in a sentence.
        section: The name of the section that has it at length.
    """

    title: str
    tone: Tone
    code: str
    proof: str
    next_step: str
    section: str


@dataclass(frozen=True, slots=True)
class Tile:
    """One number that says much.

    Attributes:
        value: As people read it.
        name: Of what.
    """

    value: str
    name: str


@dataclass(frozen=True, slots=True)
class Tiles:
    """A few numbers in a row."""

    tiles: tuple[Tile, ...]


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a bar.

    Attributes:
        share: How long it is, of the longest bar.
        colour: That it is filled with; empty for one that is hollow.
        hatch: On it, as `look` has it.
    """

    share: float
    colour: str
    hatch: str = ""


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of pieces, one after the other.

    Attributes:
        name: What it is of.
        value: How long it is, as people read it.
        pieces: From the left.
        code: Whether the name is one to be searched for.
    """

    name: str
    value: str
    pieces: tuple[Piece, ...]
    code: bool = False


@dataclass(frozen=True, slots=True)
class Key:
    """What a colour stands for, with its numbers in each of the bars.

    Attributes:
        name: What it stands for.
        colour: Empty for what is hollow.
        hatch: On it.
        values: One a bar, as people read them.
    """

    name: str
    colour: str
    hatch: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Bars:
    """A few bars, one below the other, as wide as the page is.

    Attributes:
        caption: What they show.
        bars: From above.
        keys: What their colours stand for; none where there is one colour.
    """

    caption: str
    bars: tuple[Bar, ...]
    keys: tuple[Key, ...] = ()


@dataclass(frozen=True, slots=True)
class Option:
    """One of several moments that a reader can choose.

    Attributes:
        name: The moment's.
        heading: The moment, with a few words of it.
        blocks: What there is of it.
    """

    name: str
    heading: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """The same of several moments. A page shows the one that its reader chooses, everywhere.

    Attributes:
        options: In the moments' order.
        first: Which of them is shown before anybody chooses.
    """

    options: tuple[Option, ...]
    first: int = 0

    def folded(self) -> tuple[Block, ...]:
        """The first as it is, the others folded: for where nobody can choose."""
        others = [
            Folded(option.heading, option.blocks)
            for place, option in enumerate(self.options)
            if place != self.first
        ]
        together = in_one_fold(others, f"the other {len(others)} moments")
        return (*self.options[self.first].blocks, *together)


Block = Table | Paragraph | Notes | Codes | Figure | Folded | Card | Tiles | Lead | Bars | Choice


def unchosen(blocks: Iterable[Block]) -> list[Block]:
    """Blocks with the first of each choice in its place, and the others folded."""
    return [
        shown
        for block in blocks
        for shown in (block.folded() if isinstance(block, Choice) else (block,))
    ]


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
        gist: What it comes down to, in a line; a page folds a section that has one.
        opened: Whether a page shows it unfolded all the same.
    """

    name: str
    heading: str
    blocks: tuple[Block, ...]
    brief: bool = True
    gist: str = ""
    opened: bool = False

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
        next_step: What to do, in a sentence or two; empty where there is nothing to say.
        further: What else there is, in a sentence.
    """

    tone: Tone
    label: str
    sentence: str
    details: tuple[str, ...] = ()
    next_step: str = ""
    further: str = ""

    @property
    def lead_in(self) -> str:
        """The label, to stand before the sentence; empty where that begins with it."""
        return "" if self.sentence.lower().startswith(self.label) else self.label

    @property
    def lines(self) -> tuple[str, ...]:
        """All that follows the sentence."""
        step = "Next: " + Text(self.next_step) if self.next_step else ""
        return tuple(line for line in (*self.details, step, self.further) if line)


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
        opening: What stands beside the verdict, on the first screen; the sections say it at length.
        moments: The names of the moments that its choices are between, in order.
    """

    kind: str
    title: str
    facts: tuple[tuple[str, str], ...]
    verdict: Verdict | None
    sections: tuple[Section, ...]
    made_by: str = ""
    opening: tuple[Block, ...] = ()
    moments: tuple[str, ...] = ()

    @property
    def is_scripted(self) -> bool:
        """Whether there is a figure of which a script makes more."""
        return any(section.is_scripted for section in self.sections)


def _is_scripted(block: Block) -> bool:
    if isinstance(block, Folded):
        return any(map(_is_scripted, block.blocks))
    if isinstance(block, Choice):
        return any(_is_scripted(one) for option in block.options for one in option.blocks)
    return isinstance(block, Figure) and block.scripted
