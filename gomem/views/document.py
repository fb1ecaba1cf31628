"""What a report consists of, before anybody decides how it looks: sections of tables and words.

The report is built once and written as HTML, as text or as Markdown. Everything in it is plain
text: each writer escapes for its own language.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gomem.causes.finding import Finding, Severity
    from gomem.views.figures.figure import Drawing
    from gomem.views.figures.flame_graph import FlameGraph


MANY_FOLDED = 8


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
        caption: What it holds; a writer may show it or only read it aloud.
        columns: Headings.
        sides: One letter a column: `<` for words, `>` for numbers.
        rows: Cells, as many as columns.
        total: Rows that sum the others up, below them.
        name: What kind of table it is, for a writer that treats it in its own way.
    """

    caption: str
    columns: tuple[str, ...]
    sides: str
    rows: tuple[tuple[Cell, ...], ...]
    total: tuple[tuple[Cell, ...], ...] = ()
    name: str = ""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A few sentences."""

    text: str


@dataclass(frozen=True, slots=True)
class Notes:
    """What to know before believing the numbers above."""

    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure, drawn only by a writer that can show it.

    Attributes:
        caption: What is to be seen.
        draw: Makes it.
        scripted: Whether a script makes more of it, where scripts may run.
    """

    caption: str
    draw: Callable[[], Drawing | FlameGraph]
    scripted: bool = False


@dataclass(frozen=True, slots=True)
class Folded:
    """Blocks that are there when wanted, such as those of another moment."""

    summary: str
    blocks: tuple[Block, ...]


def in_one_fold(folded: Sequence[Folded], summary: str) -> tuple[Folded, ...]:
    """Many that are folded, as one: closed, they would still be pages of headings."""
    return tuple(folded) if len(folded) <= MANY_FOLDED else (Folded(summary, tuple(folded)),)


Block = Table | Paragraph | Notes | Figure | Folded


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands below it; `name` is its id."""

    name: str
    heading: str
    blocks: tuple[Block, ...]

    @property
    def is_scripted(self) -> bool:
        """Whether there is a figure of which a script makes more."""
        return any(map(_is_scripted, self.blocks))


def _is_scripted(block: Block) -> bool:
    if isinstance(block, Folded):
        return any(map(_is_scripted, block.blocks))
    return isinstance(block, Figure) and block.scripted


@dataclass(frozen=True, slots=True)
class Case:
    """One cause with all moments in which it was found, the one with most bytes first."""

    first: Finding
    evidence: Table
    others: tuple[tuple[Finding, Table], ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """The report in two sentences.

    Attributes:
        severity: Of the worst finding; None if nothing warns.
        sentence: What is wrong, or that nothing is.
        residence: RSS and its largest parts, in one line.
        beside: What else to know at once: further findings, what could not be read.
    """

    severity: Severity | None
    sentence: str
    residence: str
    beside: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """A whole report.

    Attributes:
        title: The capture, by name.
        facts: Label and value: Go release, moments, baseline.
        verdict: What it comes down to.
        cases: The findings, by cause.
        checked: Codes of all causes that were looked for.
        sections: Everything else, in order.
        made_by: Which gomem made it.
    """

    title: str
    facts: tuple[tuple[str, str], ...]
    verdict: Verdict
    cases: tuple[Case, ...]
    checked: tuple[str, ...]
    sections: tuple[Section, ...]
    made_by: str = field(default="")
