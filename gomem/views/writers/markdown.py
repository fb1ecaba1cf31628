"""The report as Markdown, to be pasted into an issue, a pull request or a postmortem."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gomem.views.document import Block, Case, Cell, Folded, Notes, Paragraph, Section, Table
from gomem.views.report.report import build_report
from gomem.views.share import shareable

if TYPE_CHECKING:
    from gomem.diagnosis.diagnosis import Diagnosis

# What could begin or end markup, a table's cell, a mention or a tag.
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~@&])")
_LINE_BREAKS = re.compile(r"[\r\n\v\f\x85\u2028\u2029]+")


def render_markdown_report(diagnosis: Diagnosis, *, redact: bool = False) -> str:
    """Write all that the HTML report says, without its figures.

    Args:
        diagnosis: The answers.
        redact: Whether to hide folder and moment names; see `shareable`.
    """
    report = build_report(shareable(diagnosis, redact=redact))
    verdict = report.verdict
    level = "" if verdict.severity is None else f"{str(verdict.severity).capitalize()}: "
    blocks = [f"# {escaped(report.title)}: Go memory report"]
    blocks.append(f"**{level}{escaped(verdict.sentence)}**")
    blocks.append(escaped(verdict.residence))
    if verdict.beside:
        blocks.append(f"Also: {escaped('; '.join(verdict.beside))}.")
    blocks.append("\n".join(f"- {label}: {escaped(value)}" for label, value in report.facts))
    blocks.append("## Findings")
    for case in report.cases:
        blocks += _case(case)
    blocks.append(f"Looked for: {', '.join(map(_code, report.checked))}.")
    for section in report.sections:
        blocks += section_lines(section)
    blocks.append(f"Made by {report.made_by}.")
    return "\n\n".join(blocks) + "\n"


def _case(case: Case) -> list[str]:
    first = case.first
    where = f", at {escaped(first.moment)}" if first.moment else ""
    blocks = [
        f"### {escaped(first.title)}",
        f"{_code(first.code)}, {first.severity}, {first.confidence}{where}",
        f"**Why.** {escaped(first.mechanism)}",
        f"**What to do.** {escaped(first.next_step)}",
        _table(case.evidence),
    ]
    if first.references:
        blocks.append(f"See {', '.join(map(_reference, first.references))}.")
    for other, evidence in case.others:
        also = f"Also at {other.moment}: {other.title}" if other.moment else f"Also: {other.title}"
        blocks += _folded(also, [_table(evidence)])
    return blocks


def section_lines(section: Section) -> list[str]:
    """A section in paragraphs; figures are left out."""
    written = [_block(block) for block in section.blocks]
    return [f"## {escaped(section.heading)}", *(line for lines in written for line in lines)]


def _block(block: Block) -> list[str]:
    if isinstance(block, Table):
        return [_table(block)]
    if isinstance(block, Paragraph):
        return [escaped(block.text)]
    if isinstance(block, Notes):
        return ["\n".join(f"- {escaped(line)}" for line in block.lines)]
    if isinstance(block, Folded):
        inside = [line for inner in block.blocks for line in _block(inner)]
        return _folded(block.summary, inside) if inside else []
    return []


def _folded(summary: str, inside: list[str]) -> list[str]:
    """Blank lines around what is inside, so that it is still read as Markdown."""
    return [f"<details><summary>{escaped(summary)}</summary>", *inside, "</details>"]


def _table(table: Table) -> str:
    rules = ["---:" if side == ">" else ":---" for side in table.sides]
    lines = [[escaped(heading) for heading in table.columns], rules]
    lines += [[_cell(cell) for cell in row] for row in table.rows]
    lines += [
        [f"**{text}**" if (text := _cell(cell)) else "" for cell in row] for row in table.total
    ]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _cell(cell: Cell) -> str:
    text = _code(cell.text) if cell.code else escaped(cell.text)
    return f"{text}<br>{escaped(cell.note)}" if cell.note else text


def _reference(reference: str) -> str:
    """Not escaped where it names an issue, so that the reader's site makes it a link."""
    plain = re.fullmatch(r"golang/go#\d+", reference)
    return reference if plain else escaped(reference)


def _code(text: str) -> str:
    """A name as code; with a backtick or a bar in it, which end code or cell, as escaped text."""
    one_line = _LINE_BREAKS.sub(" ", text)
    return escaped(one_line) if re.search(r"[`|]", one_line) or not one_line else f"`{one_line}`"


def escaped(text: str) -> str:
    """Text that Markdown shows as it is."""
    return (
        _SPECIAL.sub(r"\\\1", _LINE_BREAKS.sub(" ", text))
        .replace("\\<", "&lt;")
        .replace("\\&", "&amp;")
    )
