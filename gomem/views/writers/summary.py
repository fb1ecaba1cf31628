"""Write a document's first screen as text for a terminal, at most `LINES` lines.

The least important lines are left out first, so the verdict and the next step are always there.
"""

from __future__ import annotations

import textwrap
from itertools import cycle
from typing import TYPE_CHECKING

from gomem.views.document import MARKS, Bars, Document, Key, Lead, Step, Tiles
from gomem.views.figures.rows import short_name
from gomem.views.writers.text import NARROWEST, STYLES, console_of, readable, written_to

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


LINES = 38  # a screen has 40; the page's path and a prompt follow
WIDEST = 110  # longer lines are hard to read
NAME = 24  # characters of a bar's name
SHADES = "█▓▒░▚▞▤▥▦▩"
HOLLOW = "·"
# Kinds of rows to leave out, in this order.
FACTS, PROOF, STEP, DETAIL, LEGEND, LEAD, KEEP = range(7)

Row = tuple[int, str, str]  # kind, text, style


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
    """Drop the least important rows until the others fit."""
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
    """Title and verdict, with the headline number."""
    yield from _wrapped(KEEP, document.title, "bold", width)
    verdict = document.verdict
    if verdict is None:
        return
    yield KEEP, "", ""
    label = f"{verdict.lead_in.upper()}{verdict.stop} " if verdict.lead_in else ""
    sentence = f"{MARKS[verdict.tone]} {label}{verdict.sentence}"
    yield from _wrapped(KEEP, sentence, STYLES[verdict.tone], width, 2)
    if verdict.number:
        yield from _wrapped(KEEP, verdict.number, "bold", width)
    where = () if any(isinstance(block, Bars) for block in document.opening) else (verdict.where,)
    yield from _wrapped(DETAIL, " ".join(filter(None, (*where, *verdict.details))), "", width)
    for line in verdict.proof:
        yield from _wrapped(PROOF, line, "dim", width, 2)
    yield from _steps(verdict.steps, width)


def _steps(steps: Iterable[Step], width: int) -> Iterator[Row]:
    """The next steps: text, and each command on a separate line, which is never broken."""
    head = "Next: "
    for step in steps:
        if step.is_command:
            yield from _wrapped(KEEP, head.strip(), "", width)
            yield KEEP, f"  {readable(step.text)}", "bold"
        else:
            yield from _wrapped(KEEP if head else STEP, f"{head}{step.text.strip()}", "", width)
        head = ""


def _opening(document: Document, width: int) -> Iterator[Row]:
    for block in document.opening:
        if isinstance(block, Bars):
            yield KEEP, "", ""
            yield from _bars(block, width)
        elif isinstance(block, Tiles):
            yield KEEP, "", ""
            tiles = ", ".join(f"{tile.name} {tile.value}" for tile in block.tiles)
            yield from _wrapped(KEEP, tiles, "", width)
        elif isinstance(block, Lead):
            yield LEAD, "", ""
            yield from _lead(block, width)
    facts = ", ".join(f"{label.lower()} {value}" for label, value in document.facts)
    yield FACTS, "", ""
    yield from _wrapped(FACTS, facts, "dim", width)


def _lead(lead: Lead, width: int) -> Iterator[Row]:
    """A further finding, its evidence, and its next step."""
    title = f"{MARKS[lead.tone]} {lead.label.upper()}: {lead.title} ({lead.code})"
    yield from _wrapped(LEAD, title, STYLES[lead.tone], width, 2)
    if lead.proof:
        yield from _wrapped(PROOF, f"  {lead.proof}", "dim", width, 2)
    for step in lead.steps:
        if step.is_command:
            yield STEP, f"  {readable(step.text)}", ""
        else:
            yield from _wrapped(STEP, f"  {step.text}", "", width, 2)


def _bars(bars: Bars, width: int) -> Iterator[Row]:
    """A line per bar, its segments in shades; below, the legend."""
    yield from _wrapped(KEEP, bars.caption, "bold", width)
    names = [short_name(readable(bar.name), NAME) for bar in bars.bars]
    column = max(map(len, names), default=0)
    values = [readable(bar.value) for bar in bars.bars]
    room = max(8, width - column - max(map(len, values), default=0) - 2)
    left = cycle(SHADES)
    marks = [" " if key.is_finer else next(left) if key.colour else HOLLOW for key in bars.keys]
    shades = {(key.colour, key.hatch): mark
              for key, mark in zip(bars.keys, marks, strict=True) if not key.is_finer}  # fmt: skip
    for name, bar, value in zip(names, bars.bars, values, strict=True):
        drawn, end = "", 0.0
        for piece in bar.pieces:  # segments smaller than a character are not drawn
            end += piece.share
            usual = SHADES[0] if piece.colour else HOLLOW
            shade = shades.get((piece.colour, piece.hatch), usual)
            drawn += shade * (round(end * room) - len(drawn))
        yield KEEP, f"{name:<{column}} {drawn:<{room}} {value}", ""
    yield from _keys(bars.keys, marks, width)


def _keys(keys: Sequence[Key], marks: Sequence[str], width: int) -> Iterator[Row]:
    """The legend, a line per shade: sizes and changes.

    If that is too wide, without the sizes in the earlier bars, then without the change.
    """
    rows = [["  " * key.is_finer + readable(key.name), *map(readable, (*key.values, key.change))]
            for key in keys]  # fmt: skip
    columns = list(zip(*rows, strict=True))
    while len(columns) > 2 and sum(2 + max(map(len, column)) for column in columns) > width:
        del columns[1 if len(columns) > 3 else -1]
    widths = [max(map(len, column)) for column in columns]
    for mark, name, *sizes in zip(marks, *columns, strict=True):
        cells = (f"{size:>{wide}}" for size, wide in zip(sizes, widths[1:], strict=True))
        line = "  ".join((f"{mark} {name:<{widths[0]}}", *cells)).rstrip()
        yield from _wrapped(LEGEND, line, "", width, 4)
