"""Write a document as Markdown, to paste into an issue, a pull request or a postmortem."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from gomem.errors import printable
from gomem.views.references import address_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from gomem.views.document import (
        Block,
        Card,
        Cell,
        Document,
        Folded,
        Section,
        Step,
        Table,
        Verdict,
    )

# Characters that can start or end markup, a table cell, a mention or a tag.
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~@&])")
_LINE_BREAKS = re.compile(r"[\r\n\v\f\x85\u2028\u2029]+")


def write_markdown(document: Document) -> str:
    """Write everything that the HTML page has, without figures."""
    blocks = [f"# {escaped(document.title)}: {escaped(document.kind)}"]
    if document.verdict is not None:
        blocks += verdict_lines(document.verdict)
    facts = [f"- {escaped(label)}: {escaped(value)}" for label, value in document.facts]
    blocks += ["\n".join(facts)] if facts else []
    for section in document.sections:
        blocks += section_lines(section)
    blocks.append(f"Made by {escaped(document.made_by)}.")
    return "\n\n".join(blocks) + "\n"


def verdict_lines(verdict: Verdict) -> list[str]:
    """The verdict in paragraphs."""
    label = f"{escaped(verdict.lead_in.capitalize())}{verdict.stop} " if verdict.lead_in else ""
    lines = [f"**{label}{escaped(verdict.sentence)}**"]
    lines += map(escaped, ("" if verdict.where else verdict.number, *verdict.lines))
    return [line for line in lines if line] + _steps("Next", verdict.steps)


def _steps(heading: str, steps: Iterable[Step]) -> list[str]:
    """Text as a paragraph under a heading, commands as code blocks."""
    lines: list[str] = []
    for step in steps:
        head = f"**{escaped(heading)}.** " if not lines else ""
        if step.is_command:
            lines += [head.strip(), _code(step.text)] if head else [_code(step.text)]
        else:
            lines.append(f"{head}{escaped(step.text.strip())}")
    return lines


def section_lines(section: Section) -> list[str]:
    """A section in paragraphs; figures are left out."""
    return [f"## {escaped(section.heading)}", *block_lines(section.blocks)]


def block_lines(blocks: Iterable[Block]) -> list[str]:
    """Blocks in paragraphs; figures are left out."""
    lines: list[str] = []
    for block in blocks:
        write = _WRITTEN.get(type(block).__name__)
        lines += write(block) if write else []
    return lines


def _card(card: Card) -> list[str]:
    blocks = [
        f"### {escaped(card.title)}",
        ", ".join([_code(card.code), *map(escaped, (card.label, *card.about))]),
        *(line for heading, steps in card.explained for line in _steps(heading, steps)),
        _table(card.proof),
    ]
    if card.references:
        blocks.append(f"See {', '.join(map(_reference, card.references))}.")
    return blocks


def _folded(block: Folded) -> list[str]:
    """A fold; blank lines around the content make it parse as Markdown."""
    inside = block_lines(block.blocks)
    if not inside:
        return []
    return [f"<details><summary>{escaped(block.summary)}</summary>", *inside, "</details>"]


def _table(table: Table) -> str:
    rules = ["---:" if side == ">" else ":---" for side in table.sides]
    lines = [[escaped(heading) for heading in table.columns], rules]
    lines += [list(map(_cell, row)) for row in table.rows]
    total = (map(_cell, row) for row in table.total)
    lines += [[f"**{text}**" if text else "" for text in row] for row in total]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _cell(cell: Cell) -> str:
    text = _code(cell.text) if cell.code else escaped(cell.text)
    return f"{text}<br>{escaped(cell.note)}" if cell.note else text


def _reference(reference: str) -> str:
    """A reference as a link, if it has a URL."""
    address = address_of(reference)
    return f"[{escaped(reference)}]({address})" if address else escaped(reference)


def _code(text: str) -> str:
    """A name as code; escaped text if it has a backtick or a bar, which end code or cell."""
    one_line = _one_line(text)
    return escaped(one_line) if re.search(r"[`|]", one_line) or not one_line else f"`{one_line}`"


def escaped(text: str) -> str:
    """Escape text so that Markdown shows it unchanged."""
    return _SPECIAL.sub(r"\\\1", _one_line(text)).replace("\\<", "&lt;").replace("\\&", "&amp;")


def _one_line(text: str) -> str:
    return printable(_LINE_BREAKS.sub(" ", text))


# Figures and blocks of the first screen are left out.
_WRITTEN: dict[str, Callable[[Any], list[str]]] = {
    "Table": lambda table: [_table(table)],
    "Paragraph": lambda paragraph: [escaped(paragraph.text)],
    "Notes": lambda notes: ["\n".join(f"- {escaped(line)}" for line in notes.lines)],
    "Codes": lambda codes: [f"{escaped(codes.words)}: {', '.join(map(_code, codes.names))}."],
    "Choice": lambda choice: block_lines(choice.folded()),
    "Folded": _folded,
    "Card": _card,
}
