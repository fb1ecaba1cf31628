"""A document's first screen as text: what a terminal shows of it, at most `LINES` lines.

What matters least is left out first, so that the verdict and what to do next always stand there.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from gomem.views.document import MARKS, Bars, Lead, Tiles
from gomem.views.figures.rows import short_name
from gomem.views.writers.text import NARROWEST, STYLES, console_of, readable, written_to

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gomem.views.document import Document, Verdict

LINES = 38  # a screen has 40, and the path of the page and a prompt follow
WIDEST = 110  # beyond, lines are hard to read
NAME = 24  # characters of a bar's name
SHADES = "█▓▒░▚▞▤▥▦▩"
HOLLOW = "·"
# What may be left out, the first first.
FACTS, PROOF, STEP, DETAIL, LEAD, KEEP = range(6)

Row = tuple[int, str, str]  # what it is, its text, its style


def write_summary(document: Document, *, width: int, color: bool, more: str) -> str:
    """Write the verdict, the bars and the first findings; `more` says how to see the rest."""
    from rich.text import Text

    wide = max(NARROWEST, min(width, WIDEST))
    rows = [*_head(document, wide), *_opening(document, wide), (KEEP, "", ""), (KEEP, more, "dim")]
    console = console_of(width, color=color)
    for _, text, style in _fitting(rows):
        console.print(Text(text, style=style), soft_wrap=True)
    return written_to(console)


def _fitting(rows: list[Row]) -> list[Row]:
    """The rows without those that matter least, as far as they are too many."""
    for least in range(KEEP):
        while len(rows) > LINES and any(row[0] == least for row in rows):
            last = max(place for place, row in enumerate(rows) if row[0] == least)
            del rows[last]
    return rows


def _wrapped(kind: int, text: str, style: str, width: int, hang: int = 0) -> Iterator[Row]:
    hung = " " * hang
    lines = textwrap.wrap(readable(text), width, subsequent_indent=hung, break_on_hyphens=False)
    yield from ((kind, line, style) for line in lines)


def _head(document: Document, width: int) -> Iterator[Row]:
    """Title, facts in a row, verdict."""
    yield from _wrapped(KEEP, document.title, "bold", width)
    facts = ", ".join(f"{label.lower()} {value}" for label, value in document.facts)
    yield from _wrapped(FACTS, facts, "dim", width)
    verdict = document.verdict
    if verdict is None:
        return
    yield KEEP, "", ""
    label = f"{verdict.lead_in}: " if verdict.lead_in else ""
    sentence = f"{MARKS[verdict.tone]} {label}{verdict.sentence}"
    yield from _wrapped(KEEP, sentence, STYLES[verdict.tone], width, 2)
    yield from _wrapped(DETAIL, " ".join(verdict.details), "", width)
    if verdict.next_step:
        yield from _wrapped(KEEP, f"Next: {verdict.next_step}", "", width)


def _opening(document: Document, width: int) -> Iterator[Row]:
    for block in document.opening:
        if isinstance(block, Bars):
            yield KEEP, "", ""
            yield from _bars(block, width)
        elif isinstance(block, Tiles):
            yield KEEP, "", ""
            told = ", ".join(f"{tile.name} {tile.value}" for tile in block.tiles)
            yield from _wrapped(KEEP, told, "", width)
        elif isinstance(block, Lead):
            yield LEAD, "", ""
            yield from _lead(block, document.verdict, width)


def _lead(lead: Lead, verdict: Verdict | None, width: int) -> Iterator[Row]:
    """A finding; of the one that the verdict has said, the code alone."""
    said = verdict is not None and lead.title[1:] in verdict.sentence
    title = lead.code if said else f"{lead.title} ({lead.code})"
    yield from _wrapped(LEAD, f"{MARKS[lead.tone]} {title}", STYLES[lead.tone], width, 2)
    for kind, text in ((PROOF, lead.proof), (STEP, lead.next_step)):
        if text:
            yield from _wrapped(kind, f"  {text}", "" if kind == STEP else "dim", width, 2)


def _bars(bars: Bars, width: int) -> Iterator[Row]:
    """A line a bar, its pieces in shades; below, what the shades stand for."""
    yield from _wrapped(KEEP, bars.caption, "bold", width)
    names = [short_name(readable(bar.name), NAME) for bar in bars.bars]
    column = max(map(len, names), default=0)
    values = [readable(bar.value) for bar in bars.bars]
    room = max(8, width - column - max(map(len, values), default=0) - 2)
    marks = [SHADES[place % len(SHADES)] if key.colour else HOLLOW
             for place, key in enumerate(bars.keys)]  # fmt: skip
    shades = {(key.colour, key.hatch): mark for key, mark in zip(bars.keys, marks, strict=True)}
    for name, bar, value in zip(names, bars.bars, values, strict=True):
        drawn, end = "", 0.0
        for piece in bar.pieces:  # what is too small for a character is not drawn
            end += piece.share
            usual = SHADES[0] if piece.colour else HOLLOW
            shade = shades.get((piece.colour, piece.hatch), usual)
            drawn += shade * (round(end * room) - len(drawn))
        yield KEEP, f"{name:<{column}} {drawn:<{room}} {value}", ""
    told = [
        f"{mark} {key.name} {' → '.join(key.values)}"
        for mark, key in zip(marks, bars.keys, strict=True)
    ]
    yield from _wrapped(DETAIL, "   ".join(told), "", width)
