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
NO_BREAK = "\u00a0"  # space
Tone = Literal["critical", "warning", "info", "good", "neutral"]
# A tone also has a word, so that colour is not needed to read it.
MARKS = {"critical": "■", "warning": "▲", "info": "●", "good": "✓", "neutral": "●"}


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a table."""

    text: str  # formatted for people
    exact: str = ""  # the value with all digits, if `text` is rounded
    note: str = ""  # a few words below it
    code: bool = False  # whether it is a name to type or search for
    link: str = ""  # a page with more about it; empty if none


@dataclass(frozen=True, slots=True)
class Table:
    """A table whose first column names its rows."""

    caption: str  # what the table shows
    columns: tuple[str, ...]  # headings
    sides: str  # one letter per column: `<` for words, `>` for numbers
    rows: tuple[tuple[Cell, ...], ...]  # rows of cells, one cell per column
    total: tuple[tuple[Cell, ...], ...] = ()  # rows of totals, below the others
    brief_rows: int | None = None  # how many rows a terminal shows; None for all
    brief_columns: int | None = None  # how many columns a terminal shows; None for all


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A few sentences."""

    text: str


@dataclass(frozen=True, slots=True)
class Notes:
    """Caveats on the numbers above."""

    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Codes:
    """Names to search for, in one line, after introductory words."""

    words: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure, drawn only by a writer that can show it."""

    caption: str  # what the figure shows
    plot: Callable[..., Drawing | FlameGraph]  # draws the figure
    # Returns what is drawn, as arguments of `plot`: frames, numbers and names.
    numbers: Callable[[], Mapping[str, Any]] = dict
    scripted: bool = False  # whether a script extends it, if scripts can run

    def draw(self) -> Drawing | FlameGraph:
        """Draw the figure."""
        return self.plot(**self.numbers())


@dataclass(frozen=True, slots=True)
class Folded:
    """Blocks that are collapsed at first, such as those of another moment."""

    summary: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """Something to do: words, or a command to paste."""

    text: str
    is_command: bool = False


@dataclass(frozen=True, slots=True)
class Card:
    """A finding with its reason and its evidence."""

    title: str  # the finding
    tone: Tone  # its severity
    label: str  # severity and confidence, such as `warning · likely`
    code: str  # its code
    about: tuple[str, ...]  # further facts, a few words each
    explained: tuple[tuple[str, tuple[Step, ...]], ...]  # heading and text: mechanism, next steps
    proof: Table  # the evidence
    references: tuple[str, ...] = ()  # links for further reading


@dataclass(frozen=True, slots=True)
class Lead:
    """A short card for the first screen: finding, one line of evidence, next step."""

    title: str  # the finding
    tone: Tone  # its severity
    label: str  # severity and confidence, such as `warning · likely`
    code: str  # its code
    proof: str  # one line of evidence
    steps: tuple[Step, ...]  # the first command with its words, or the first words
    section: str  # the name of the section with the full card


@dataclass(frozen=True, slots=True)
class Tile:
    """One prominent number."""

    value: str  # formatted for people
    name: str  # what it measures


@dataclass(frozen=True, slots=True)
class Tiles:
    """A few numbers in a row."""

    tiles: tuple[Tile, ...]


@dataclass(frozen=True, slots=True)
class Piece:
    """A segment of a bar."""

    share: float  # its length as a fraction of the longest bar
    colour: str  # fill colour; empty if hollow
    hatch: str = ""  # a hatch of `look`


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of segments."""

    name: str  # what it shows
    value: str  # its length, formatted for people
    pieces: tuple[Piece, ...]  # from left to right
    code: bool = False  # whether the name is one to search for
    finer: tuple[Piece, ...] = ()  # finer segments, for a thin bar below; empty if there are none


@dataclass(frozen=True, slots=True)
class Key:
    """A legend entry: a colour's meaning, with its numbers in each of the bars."""

    name: str  # the meaning
    colour: str  # empty if hollow
    hatch: str  # a hatch of `look`
    values: tuple[str, ...]  # formatted for people, one per bar
    change: str = ""  # from the first bar to the last; empty with a single bar
    is_finer: bool = False  # whether it divides the previous entry, in the thin bar


@dataclass(frozen=True, slots=True)
class Bars:
    """Bars below one another, as wide as the page."""

    caption: str  # what they show
    bars: tuple[Bar, ...]  # from top to bottom
    keys: tuple[Key, ...] = ()  # the legend; empty if there is only one colour


@dataclass(frozen=True, slots=True)
class Option:
    """One of several moments to choose from."""

    name: str  # the moment's name
    heading: str  # the moment's name, with a few words about it
    blocks: tuple[Block, ...]  # the content for this moment


@dataclass(frozen=True, slots=True)
class Choice:
    """The same content for several moments. The page shows the chosen moment everywhere."""

    options: tuple[Option, ...]  # in order of moments
    first: int = 0  # index of the option shown at first

    def folded(self) -> tuple[Block, ...]:
        """Return the first option, then the others folded, for output without interaction."""
        others = [
            Folded(option.heading, option.blocks)
            for place, option in enumerate(self.options)
            if place != self.first
        ]
        together = in_one_fold(others, f"the other {len(others)} snapshots")
        return (*self.options[self.first].blocks, *together)


Block = Table | Paragraph | Notes | Codes | Figure | Folded | Card | Tiles | Lead | Bars | Choice


def unchosen(blocks: Iterable[Block]) -> list[Block]:
    """Replace each choice with its first option, and fold the others."""
    return [
        shown
        for block in blocks
        for shown in (block.folded() if isinstance(block, Choice) else (block,))
    ]


def in_one_fold(folded: Sequence[Folded], summary: str) -> tuple[Folded, ...]:
    """Put many folds into one: even collapsed, they would fill pages with headings."""
    return tuple(folded) if len(folded) <= MANY_FOLDED else (Folded(summary, tuple(folded)),)


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and its blocks."""

    name: str  # its id, unique in the document
    heading: str  # what it is about
    blocks: tuple[Block, ...]  # in order
    brief: bool = True  # whether a terminal shows it too
    gist: str = ""  # one-line summary; a page collapses a section that has one
    opened: bool = False  # whether a page shows it expanded anyway

    @property
    def is_scripted(self) -> bool:
        """Whether it has a figure that a script extends."""
        return any(map(_is_scripted, self.blocks))


@dataclass(frozen=True, slots=True)
class Verdict:
    """The document's result in a sentence or two."""

    tone: Tone  # its severity
    label: str  # the verdict in few words, such as `warning · likely` or `worse`
    sentence: str  # the result
    details: tuple[str, ...] = ()  # further important facts, in sentences
    steps: tuple[Step, ...] = ()  # what to do; empty if there is nothing to do
    further: str = ""  # further findings, in a sentence
    size: Tile | None = None  # the headline number, if there is one
    where: str = ""  # what that number consists of, for output without figures
    proof: tuple[str, ...] = ()  # evidence for the sentence, a line each

    @property
    def lead_in(self) -> str:
        """The label to put before the sentence; empty if the sentence begins with it."""
        return "" if self.sentence.lower().startswith(self.label) else self.label

    @property
    def stop(self) -> str:
        """What separates the label from the sentence: a label of two parts stands alone."""
        return "." if {",", "("} & set(self.label) else ":"

    @property
    def number(self) -> str:
        """The headline number and its name; empty without one, or if the sentence has it."""
        if self.size is None:
            return ""
        value, said = (words.replace(NO_BREAK, " ") for words in (self.size.value, self.sentence))
        if f" {value}" in f" {said}":
            return ""
        return f"{self.size.value} {self.size.name}"

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines after the sentence, except next steps, for output without figures."""
        return tuple(line for line in (self.where, *self.details, self.further) if line)

    @property
    def paragraphs(self) -> tuple[str, ...]:
        """All sentences, each command in a separate line, for a notebook cell."""
        heads = ("Next: ", *[""] * len(self.steps))
        steps = (head + step.text for head, step in zip(heads, self.steps, strict=False))
        return (self.sentence, *self.lines, *steps)


@dataclass(frozen=True, slots=True)
class Document:
    """A whole document."""

    kind: str  # the kind of document, such as `Go memory report`
    title: str  # the capture's name
    facts: tuple[tuple[str, str], ...]  # label and value, such as Go release, moments, baseline
    verdict: Verdict | None  # the result; None if the document only lists
    sections: tuple[Section, ...]  # everything else, in order
    made_by: str = ""  # the gomem version that made it
    # Blocks beside the verdict, on the first screen; the sections have the details.
    opening: tuple[Block, ...] = ()
    moments: tuple[str, ...] = ()  # names of the moments to choose from, in order

    @property
    def is_scripted(self) -> bool:
        """Whether it has a figure that a script extends."""
        return any(section.is_scripted for section in self.sections)


def _is_scripted(block: Block) -> bool:
    if isinstance(block, Folded):
        return any(map(_is_scripted, block.blocks))
    if isinstance(block, Choice):
        return any(_is_scripted(part) for option in block.options for part in option.blocks)
    return isinstance(block, Figure) and block.scripted


@dataclass(frozen=True, slots=True)
class Part(Generic[About]):
    """A section that a document may have."""

    name: str  # the name by which a notebook requests it
    # Builds the section; None if there is nothing to show.
    make: Callable[[About], Section | None]
    absent: str  # the text for a missing section, and what to collect; no full stop


def sections_of(parts: Iterable[Part[About]], about: About) -> tuple[Section, ...]:
    """Build all sections, without the missing ones."""
    made = (part.make(about) for part in parts)
    return tuple(section for section in made if section is not None)
