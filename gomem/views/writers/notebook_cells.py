"""The output of a notebook cell: blocks of a document, as HTML and as a few lines of text.

DataFrames keep base units, so that cells can compute with them. Cell output looks as in the report:
bytes with a prefix, and the exact number in a tooltip. Everything from a capture is escaped,
because rendered notebooks are passed on.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from gomem.errors import printable
from gomem.views.document import Block, Card, Paragraph, Table
from gomem.views.here import hidden_here
from gomem.views.share import share
from gomem.views.writers.html import environment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


TEMPLATE = "cell.html.jinja"
LINES = 24  # of a repr: a screen
LONG, KEPT = 400, 150  # characters of a word in a sentence, and of both ends of a longer word
_LONG = re.compile(rf"\S{{{LONG + 1},}}")


@dataclass(frozen=True)
class Shown:
    """Blocks to show in a notebook."""

    # The blocks; empty if the previous cell has already said that there is nothing.
    blocks: tuple[Block, ...] = ()

    @property
    def html(self) -> str:
        """The blocks as an HTML fragment."""
        if not self.blocks:
            return ""
        blocks = map(_readable, share(self.blocks, hidden_here()))
        return environment().get_template(TEMPLATE).render(blocks=list(blocks))

    @property
    def text(self) -> str:
        """The text of all blocks, a line per table row."""
        return "\n".join(map(printable, _lines(share(self.blocks, hidden_here()))))

    def _repr_html_(self) -> str:
        return self.html

    def __repr__(self) -> str:
        """The first lines, at most a screen."""
        lines = self.text.splitlines()
        more = len(lines) - LINES
        return "\n".join([*lines[:LINES], f"and {more} more lines"] if more > 0 else lines)


def _readable(block: Block) -> Block:
    """A sentence with very long words cut to their beginning and end."""
    if not isinstance(block, Paragraph):
        return block
    cut = _LONG.sub(lambda word: f"{word[0][:KEPT]}…{word[0][-KEPT:]}", block.text)
    return replace(block, text=cut)


def sentences(*texts: str) -> Shown:
    """Sentences of an answer; empty ones are left out."""
    return Shown(tuple(Paragraph(text) for text in texts if text))


def _lines(blocks: Iterable[Block]) -> Iterator[str]:
    for block in blocks:
        yield from _SAID.get(type(block).__name__, lambda _: ())(block)


def _card_lines(card: Card) -> Iterator[str]:
    yield f"{card.title} ({', '.join((card.tone, card.code, *card.about))})"
    yield from (f"{heading}: {text}" for heading, text in card.explained)
    yield from _table_lines(card.proof)


def _table_lines(table: Table) -> Iterator[str]:
    yield table.caption
    yield "  ".join(table.columns)
    yield from ("  ".join(cell.text for cell in row) for row in (*table.rows, *table.total))


_SAID: dict[str, Callable[[Any], Iterable[str]]] = {
    "Table": _table_lines,
    "Paragraph": lambda paragraph: (paragraph.text,),
    "Notes": lambda notes: notes.lines,
    "Codes": lambda codes: (f"{codes.words}: {', '.join(codes.names)}.",),
    "Card": _card_lines,
    "Choice": lambda choice: _lines(choice.folded()),
    "Folded": lambda folded: (folded.summary, *_lines(folded.blocks)),
}
