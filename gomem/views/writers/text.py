"""Write a document as plain text, for a terminal or elsewhere."""

from __future__ import annotations

import io
import textwrap
from typing import TYPE_CHECKING

from gomem.errors import printable
from gomem.views.document import (
    MARKS,
    Card,
    Codes,
    Figure,
    Folded,
    Notes,
    Paragraph,
    Table,
    unchosen,
)
from gomem.views.writers.text_table import TextColumn, text_tables

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console

    from gomem.views.document import Block, Document, Section, Step, Verdict

WIDTH = 100
NARROWEST = 40
PLACED = 3  # words of a row that can be written as `file: line 9: error`
STYLES = {
    "critical": "bold red", "warning": "bold yellow", "info": "cyan", "good": "bold green",
    "neutral": "bold",
}  # fmt: skip


def write_text(document: Document, *, width: int = WIDTH, color: bool = False) -> str:
    """Write the verdict and the brief sections, without figures and folds."""
    console = console_of(width, color=color)
    _Writer(console).document(document)
    return written_to(console)


def written_to(console: Console) -> str:
    """The console's output, without trailing spaces."""
    assert isinstance(console.file, io.StringIO)
    return "\n".join(line.rstrip() for line in console.file.getvalue().split("\n"))


def console_of(width: int, *, color: bool) -> Console:
    """Create a console that ignores the environment."""
    from rich.console import Console

    return Console(
        file=io.StringIO(),
        width=max(width, NARROWEST),
        force_terminal=color,
        color_system="standard" if color else None,
        markup=False,
        emoji=False,
        highlight=False,
        legacy_windows=False,
        _environ={},
    )


class _Writer:
    """Writes blocks below one another."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def document(self, document: Document) -> None:
        self._wrapped(document.title, "bold")
        if document.verdict is not None:
            self._gap()
            self._verdict(document.verdict)
            if document.facts:
                self._gap()
        for label, value in document.facts:
            self._wrapped(f"{label}: {value}", "dim", hang=2)
        for section in document.sections:
            if section.brief:
                self._section(section)
        self._gap()
        self._wrapped(f"Made by {document.made_by}.", "dim")

    def _verdict(self, verdict: Verdict) -> None:
        label = f"{verdict.lead_in}{verdict.stop} " if verdict.lead_in else ""
        mark, style = MARKS[verdict.tone], STYLES[verdict.tone]
        self._wrapped(f"{mark} {label}{verdict.sentence}", style, hang=2)
        if verdict.number and not verdict.where:  # which begins with it
            self._wrapped(verdict.number, "bold")
        for line in verdict.lines:
            self._wrapped(line)
        self._steps("Next", verdict.steps)

    def _steps(self, heading: str, steps: Iterable[Step], indent: int = 0) -> None:
        """Text, and each command on a separate line, which is never broken."""
        from rich.text import Text

        head = f"{heading}: "
        for step in steps:
            if step.is_command:
                if head:
                    self._wrapped(head.strip(), None, indent, indent)
                command = f"{' ' * (indent + 2)}{readable(step.text)}"
                self._console.print(Text(command), soft_wrap=True)
            else:
                self._wrapped(f"{head}{step.text.strip()}", None, indent + 2 * (not head), indent)
            head = ""

    def _section(self, section: Section) -> None:
        self._gap()
        self._wrapped(section.heading, "bold")
        blocks = unchosen(section.blocks)
        shown = [block for block in blocks if not isinstance(block, Figure | Folded)]
        for before, block in zip([None, *shown], shown, strict=False):
            # Notes follow their table without a blank line.
            if before is not None and (
                isinstance(before, Card)
                or isinstance(block, Table | Card)
                or (isinstance(before, Table) and isinstance(block, Paragraph))
            ):
                self._gap()
            if isinstance(block, Table) and block.caption != section.heading:
                self._wrapped(block.caption, "dim")
            if isinstance(block, Notes) and shown == [
                block
            ]:  # the heading says that they are notes
                for line in block.lines:
                    self._wrapped(f"• {line}", "dim", hang=2)
                continue
            self._block(block)

    def _block(self, block: Block) -> None:
        if isinstance(block, Table):
            self._table(block)
        elif isinstance(block, Paragraph):
            self._wrapped(block.text)
        elif isinstance(block, Notes):
            for line in block.lines:
                self._wrapped(f"note: {line}", "dim", hang=2)
        elif isinstance(block, Codes):
            self._wrapped(f"{block.words}: {', '.join(block.names)}.", "dim", hang=2)
        elif isinstance(block, Card):
            self._card(block)

    def _card(self, card: Card) -> None:
        self._wrapped(f"{MARKS[card.tone]} {card.title}", STYLES[card.tone], hang=2)
        about = ", ".join((card.label, *card.about))
        self._wrapped(f"{card.code} ({about})", "dim", 2, 2)
        for row in card.proof.rows:
            *where, value = (cell.text for cell in row)
            self._wrapped(f"{'  '.join(where)} = {value}", None, 4, 2)
        for heading, steps in card.explained:
            self._steps(heading, steps, 2)
        if card.references:
            self._wrapped(f"See: {', '.join(card.references)}", None, 4, 2)

    def _table(self, table: Table) -> None:
        if ">" not in table.sides:  # text columns alone would be too narrow
            for row in table.rows:
                apart = ": " if len(row) <= PLACED else " · "
                where = apart.join(cell.text for cell in row[:-1])
                said = ": ".join(filter(None, [where, row[-1].text]))
                notes = (f" ({cell.note})" for cell in row if cell.note)
                self._wrapped("".join((said, *notes)), hang=2)
            return
        shown = table.rows[: table.brief_rows]
        columns = [
            TextColumn(readable(heading), side == ">", [readable(cell.text) for cell in cells])
            for heading, side, *cells in zip(
                table.columns, table.sides, *shown, *table.total, strict=True
            )
        ][: table.brief_columns]
        drawn = text_tables(columns, self._console.width, bold_rows=len(table.total))
        for number, part in enumerate(drawn):
            if number:
                self._gap()
            self._console.print(part)
        if len(shown) < len(table.rows):
            self._wrapped(f"and {len(table.rows) - len(shown)} more", "dim")

    def _gap(self) -> None:
        self._console.print()

    def _wrapped(self, text: str, style: str | None = None, hang: int = 0, indent: int = 0) -> None:
        """Write a paragraph with a hanging indent."""
        from rich.text import Text

        lines = textwrap.wrap(
            printable(text),  # with non-breaking spaces, at which no line ends
            self._console.width,
            initial_indent=" " * indent,
            subsequent_indent=" " * max(hang, indent),
            break_on_hyphens=False,
        )
        for line in lines:
            self._console.print(Text(_with_plain_spaces(line), style=style or ""), overflow="fold")


def readable(text: str) -> str:
    """Remove control characters, which could steer the terminal; narrow spaces become plain."""
    return printable(_with_plain_spaces(text))


def _with_plain_spaces(text: str) -> str:
    return text.replace("\u202f", " ").replace("\u00a0", " ")
