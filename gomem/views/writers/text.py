"""The report as text for a terminal, or for wherever plain text goes."""

from __future__ import annotations

import io
import textwrap
from typing import TYPE_CHECKING

from gomem.causes.finding import Severity
from gomem.errors import printable
from gomem.views.document import Block, Case, Cell, Notes, Paragraph, Report, Section, Table
from gomem.views.report.report import build_report
from gomem.views.report.tables import DAMAGE, SITES
from gomem.views.share import shareable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    from gomem.diagnosis.diagnosis import Diagnosis

WIDTH = 100
NARROWEST = 40
SITE_ROWS, SITE_COLUMNS = 10, 5  # who wants more asks `gomem top`
SECTIONS = (
    "ledger", "moments", "changes", "limits", "mappings", "allocations", "growth", "collector",
    "unread",
)  # fmt: skip
HEADING = 10  # characters of a number's heading, where a table is wider than the terminal
MARKS = {Severity.CRITICAL: "■", Severity.WARNING: "▲", Severity.INFO: "●"}
STYLES = {Severity.CRITICAL: "bold red", Severity.WARNING: "bold yellow", Severity.INFO: "cyan"}


def render_text_report(
    diagnosis: Diagnosis, *, width: int = WIDTH, color: bool = False, redact: bool = False
) -> str:
    """Write the verdict, the findings and the tables of the moment that matters most.

    Args:
        diagnosis: The answers.
        width: Columns of the terminal.
        color: Whether it is a terminal that shows colours.
        redact: Whether to hide folder and moment names; see `shareable`.
    """
    return text_of(build_report(shareable(diagnosis, redact=redact)), width=width, color=color)


def text_of(report: Report, *, width: int = WIDTH, color: bool = False) -> str:
    """A report for a terminal, or for a file where there is none."""
    console = _console(max(width, NARROWEST), color=color)
    _Writer(console).report(report)
    assert isinstance(console.file, io.StringIO)
    return "\n".join(line.rstrip() for line in console.file.getvalue().split("\n"))


def _console(width: int, *, color: bool) -> Console:
    """A console that writes the same whatever the environment says."""
    from rich.console import Console

    return Console(
        file=io.StringIO(),
        width=width,
        force_terminal=color,
        color_system="standard" if color else None,
        markup=False,
        emoji=False,
        highlight=False,
        legacy_windows=False,
        _environ={},
    )


class _Writer:
    """Writes a report's blocks one below the other."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def report(self, report: Report) -> None:
        verdict = report.verdict
        self._line(report.title, "bold")
        for label, value in report.facts:
            self._wrapped(f"{label}: {value}", "dim", hang=2)
        self._gap()
        if verdict.severity is None:
            self._wrapped(f"✓ {verdict.sentence}", "bold green", hang=2)
        else:
            mark, style = MARKS[verdict.severity], STYLES[verdict.severity]
            self._wrapped(f"{mark} {verdict.severity}: {verdict.sentence}", style, hang=2)
        self._wrapped(verdict.residence, hang=0)
        if verdict.beside:
            self._wrapped(f"Also: {'; '.join(verdict.beside)}.", hang=0)
        for case in report.cases:
            self._case(case)
        self._gap()
        self._wrapped(f"Looked for: {', '.join(report.checked)}.", "dim", hang=2)
        for section in report.sections:
            if section.name in SECTIONS:
                self._section(section)
        self._gap()
        self._line(f"Made by {report.made_by}.", "dim")

    def _case(self, case: Case) -> None:
        first = case.first
        self._gap()
        self._wrapped(f"{MARKS[first.severity]} {first.title}", STYLES[first.severity], hang=2)
        where = f", at {first.moment}" if first.moment else ""
        self._wrapped(f"{first.code} ({first.severity}, {first.confidence}{where})", "dim", 2, 2)
        for row in case.evidence.rows:
            artefact, field, value = (cell.text for cell in row)
            self._wrapped(f"{artefact}  {field} = {value}", None, 4, 2)
        self._wrapped(f"Why: {first.mechanism}", None, 4, 2)
        self._wrapped(f"What to do: {first.next_step}", None, 4, 2)
        if first.references:
            self._wrapped(f"See: {', '.join(first.references)}", None, 4, 2)
        for other, _ in case.others:
            also = f"Also at {other.moment}: " if other.moment else "Also: "
            self._wrapped(also + other.title, None, 4, 2)

    def _section(self, section: Section) -> None:
        self._gap()
        self._line(section.heading, "bold")
        tables = 0
        for block in section.blocks:
            if isinstance(block, Table):
                tables += 1
                if tables > 1:
                    self._gap()
            self._block(block)

    def _block(self, block: Block) -> None:
        """What is folded away is left to the other formats, as figures are."""
        if isinstance(block, Table) and block.name == DAMAGE:
            self._damage(block)
        elif isinstance(block, Table):
            self._table(block)
        elif isinstance(block, Paragraph):
            self._wrapped(block.text)
        elif isinstance(block, Notes):
            for line in block.lines:
                self._wrapped(f"note: {line}", "dim", hang=2)

    def _damage(self, table: Table) -> None:
        for source, where, what in table.rows:
            quoted = f": {what.note!r}" if what.note else ""
            self._wrapped(f"{source.text}: {where.text}: {what.text}{quoted}", hang=2)

    def _table(self, table: Table) -> None:
        of_sites = table.name == SITES
        if of_sites:
            self._line(table.caption, "dim")
        columns = slice(SITE_COLUMNS if of_sites else None)
        drawn = _rich_table(table, columns, self._console.width)
        shown = table.rows[: SITE_ROWS if of_sites else None]
        for row in shown:
            drawn.add_row(*(_cell(cell) for cell in row[columns]))
        for row in table.total:
            drawn.add_row(*(_cell(cell, "bold") for cell in row[columns]))
        self._console.print(drawn)
        if len(shown) < len(table.rows):
            self._line(f"and {len(table.rows) - len(shown)} more", "dim")

    def _gap(self) -> None:
        self._console.print()

    def _line(self, text: str, style: str | None = None) -> None:
        from rich.text import Text

        self._console.print(Text(_readable(text), style=style or ""), overflow="fold")

    def _wrapped(self, text: str, style: str | None = None, hang: int = 0, indent: int = 0) -> None:
        """A paragraph whose further lines hang below its first."""
        lines = textwrap.wrap(
            text,
            self._console.width,
            initial_indent=" " * indent,
            subsequent_indent=" " * max(hang, indent),
            break_on_hyphens=False,
        )
        for line in lines:
            self._line(line, style)


def _rich_table(table: Table, columns: slice, width: int) -> RichTable:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as RichTable

    drawn = RichTable(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    folded = _natural_width(table, columns) > width
    for heading, side in zip(table.columns[columns], table.sides[columns], strict=True):
        lines = textwrap.wrap(printable(heading), HEADING) if folded and side == ">" else []
        drawn.add_column(
            "\n".join(lines) or printable(heading),
            justify="right" if side == ">" else "left",
            no_wrap=side == ">",
            overflow="fold",
            header_style="dim",
        )
    return drawn


def _natural_width(table: Table, columns: slice) -> int:
    """Characters that a table takes if no cell is folded."""
    rows = [[cell.text for cell in row[columns]] for row in (*table.rows, *table.total)]
    by_column = zip(table.columns[columns], *rows, strict=True)
    return sum(max(map(len, texts)) + 1 for texts in by_column)


def _cell(cell: Cell, style: str = "") -> Text:
    from rich.text import Text

    return Text(_readable(cell.text), style=style)


def _readable(text: str) -> str:
    """What an input wrote cannot steer the terminal; our own narrow spaces become plain ones."""
    return printable(text.replace("\u202f", " ").replace("\u00a0", " "))
