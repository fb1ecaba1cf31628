"""The document model, independent of the output format.

Reports, comparisons, inspections and the output of notebook cells are documents. A document is
built once, passes through `share`, and is then written as HTML, text or Markdown. It holds plain
data and plain text; each writer escapes for its own format.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from gomem.charts.figure import Drawing
    from gomem.views.figures.flame_graph import FlameGraph

About = TypeVar("About")
MANY_FOLDED = 8
Tone = Literal["critical", "warning", "info", "good", "neutral"]
# With a tone, so that colour alone says nothing.
MARKS = {"critical": "■", "warning": "▲", "info": "●", "good": "✓", "neutral": "●"}


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a table."""

    text: str  # as people read it
    exact: str = ""  # the same to the last digit, where `text` is rounded
    note: str = ""  # a few words below it
    code: bool = False  # whether it is a name to be typed or searched for
    link: str = ""  # a page beside this one that says more; empty for none


@dataclass(frozen=True, slots=True)
class Table:
    """A table whose first column names its rows."""

    caption: str  # what it holds
    columns: tuple[str, ...]  # headings
    sides: str  # one letter a column: `<` for words, `>` for numbers
    rows: tuple[tuple[Cell, ...], ...]  # cells, as many as columns
    total: tuple[tuple[Cell, ...], ...] = ()  # rows that sum the others up, below them
    brief_rows: int | None = None  # how many rows a terminal shows; None for all
    brief_columns: int | None = None  # how many columns a terminal shows; None for all


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
    """A figure, drawn only by a writer that can show it."""

    caption: str  # what is to be seen
    plot: Callable[..., Drawing | FlameGraph]  # draws it
    # Gives what is drawn, by the parameters of `plot`: frames, numbers and names.
    numbers: Callable[[], Mapping[str, Any]] = dict
    scripted: bool = False  # whether a script adds to it, where scripts may run

    def draw(self) -> Drawing | FlameGraph:
        """The figure."""
        return self.plot(**self.numbers())


@dataclass(frozen=True, slots=True)
class Folded:
    """Blocks that are folded away until wanted, such as those of another moment."""

    summary: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """Something to do: words, or a command to paste."""

    text: str
    is_command: bool = False


@dataclass(frozen=True, slots=True)
class Card:
    """One thing that was found, with its reason and its proof."""

    title: str  # what was found
    tone: Tone  # how much it matters
    label: str  # the same in a few words, such as `warning · likely`
    code: str  # its fixed name
    about: tuple[str, ...]  # what else to know at a glance, in a few words each
    explained: tuple[tuple[str, tuple[Step, ...]], ...]  # heading and text: why, what to do
    proof: Table  # what shows it
    references: tuple[str, ...] = ()  # where to read on


@dataclass(frozen=True, slots=True)
class Lead:
    """A card cut short, for the first screen: what was found, one proof, what to do."""

    title: str  # what was found
    tone: Tone  # how much it matters
    label: str  # the same in a few words, such as `warning · likely`
    code: str  # its fixed name
    proof: str  # one line of evidence
    step: Step | None  # the first thing to do
    section: str  # the name of the section that has it at length


@dataclass(frozen=True, slots=True)
class Tile:
    """One number that says much."""

    value: str  # as people read it
    name: str  # of what


@dataclass(frozen=True, slots=True)
class Tiles:
    """A few numbers in a row."""

    tiles: tuple[Tile, ...]


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a bar."""

    share: float  # how long it is, of the longest bar
    colour: str  # that it is filled with; empty for one that is hollow
    hatch: str = ""  # on it, as `look` has it


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of pieces, one after the other."""

    name: str  # what it is of
    value: str  # how long it is, as people read it
    pieces: tuple[Piece, ...]  # from the left
    code: bool = False  # whether the name is one to be searched for
    finer: tuple[
        Piece, ...
    ] = ()  # the same more finely, for a thin bar below; none if it is as fine


@dataclass(frozen=True, slots=True)
class Key:
    """What a colour stands for, with its numbers in each of the bars."""

    name: str  # what it stands for
    colour: str  # empty for what is hollow
    hatch: str  # on it
    values: tuple[str, ...]  # one a bar, as people read them
    change: str = ""  # from the first bar to the last; empty of a single bar
    is_finer: bool = False  # whether it divides the key above it, in the thin bar


@dataclass(frozen=True, slots=True)
class Bars:
    """A few bars, one below the other, as wide as the page is."""

    caption: str  # what they show
    bars: tuple[Bar, ...]  # from above
    keys: tuple[Key, ...] = ()  # what their colours stand for; none where there is one colour


@dataclass(frozen=True, slots=True)
class Option:
    """One of several moments that a reader can choose."""

    name: str  # the moment's
    heading: str  # the moment, with a few words of it
    blocks: tuple[Block, ...]  # what there is of it


@dataclass(frozen=True, slots=True)
class Choice:
    """The same of several moments. A page shows the one that its reader chooses, everywhere."""

    options: tuple[Option, ...]  # in the moments' order
    first: int = 0  # which of them is shown before anybody chooses

    def folded(self) -> tuple[Block, ...]:
        """The first as it is, the others folded: for where nobody can choose."""
        others = [
            Folded(option.heading, option.blocks)
            for place, option in enumerate(self.options)
            if place != self.first
        ]
        together = in_one_fold(others, f"the other {len(others)} snapshots")
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
    """A heading and what stands below it."""

    name: str  # its id, unique in the document
    heading: str  # what it is about
    blocks: tuple[Block, ...]  # in order
    brief: bool = True  # whether it also belongs in what a terminal shows
    gist: str = ""  # what it comes down to, in a line; a page folds a section that has one
    opened: bool = False  # whether a page shows it unfolded all the same

    @property
    def is_scripted(self) -> bool:
        """Whether there is a figure of which a script makes more."""
        return any(map(_is_scripted, self.blocks))


@dataclass(frozen=True, slots=True)
class Verdict:
    """The document in a sentence or two."""

    tone: Tone  # how much it matters
    label: str  # the verdict in a few words, such as `warning · likely` or `worse`
    sentence: str  # what it comes down to
    details: tuple[str, ...] = ()  # what else to know at once, in sentences
    steps: tuple[Step, ...] = ()  # what to do; none where there is nothing to say
    further: str = ""  # what else there is, in a sentence
    size: Tile | None = None  # the one number to see first, if there is one
    where: str = ""  # what that number consists of, for where no picture shows it
    proof: tuple[str, ...] = ()  # what shows that the sentence is so, a line each

    @property
    def lead_in(self) -> str:
        """The label, to stand before the sentence; empty where that begins with it."""
        return "" if self.sentence.lower().startswith(self.label) else self.label

    @property
    def lines(self) -> tuple[str, ...]:
        """All that follows the sentence but what to do, where nothing is drawn."""
        return tuple(line for line in (self.where, *self.details, self.further) if line)

    @property
    def paragraphs(self) -> tuple[str, ...]:
        """All of it in sentences, a command in a line of its own: for a cell of a notebook."""
        heads = ("Next: ", *[""] * len(self.steps))
        steps = (head + step.text for head, step in zip(heads, self.steps, strict=False))
        return (self.sentence, *self.lines, *steps)


@dataclass(frozen=True, slots=True)
class Document:
    """A whole document."""

    kind: str  # what it is, such as `Go memory report`
    title: str  # what it is about: the capture, by name
    facts: tuple[tuple[str, str], ...]  # label and value: Go release, moments, baseline
    verdict: Verdict | None  # what it comes down to; None if it only lists
    sections: tuple[Section, ...]  # everything else, in order
    made_by: str = ""  # which gomem made it
    # What stands beside the verdict, on the first screen; the sections say it at length.
    opening: tuple[Block, ...] = ()
    moments: tuple[str, ...] = ()  # the names of the moments that its choices are between, in order

    @property
    def is_scripted(self) -> bool:
        """Whether there is a figure of which a script makes more."""
        return any(section.is_scripted for section in self.sections)


def _is_scripted(block: Block) -> bool:
    if isinstance(block, Folded):
        return any(map(_is_scripted, block.blocks))
    if isinstance(block, Choice):
        return any(_is_scripted(part) for option in block.options for part in option.blocks)
    return isinstance(block, Figure) and block.scripted


@dataclass(frozen=True, slots=True)
class Part(Generic[About]):
    """A section that a document can have."""

    name: str  # by which a notebook asks for it
    # The section about something; None where there is nothing to say.
    make: Callable[[About], Section | None]
    absent: str  # what to say then, and what to collect; without a full stop


def sections_of(parts: Iterable[Part[About]], about: About) -> tuple[Section, ...]:
    """Every section that there is."""
    made = (part.make(about) for part in parts)
    return tuple(section for section in made if section is not None)
