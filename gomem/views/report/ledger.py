"""Where the resident bytes are: the ledger of the moment shown first, then the others'."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gomem.units import format_bytes, format_seconds
from gomem.views.document import Block, Cell, Figure, Folded, Notes, Section, Table
from gomem.views.figures.waterfall import plot_rss_vs_heap
from gomem.views.report.shown import heading_of, in_order, other_moments
from gomem.views.share import named
from gomem.views.values import bytes_cell, fraction_cell
from gomem.views.words import PARTS, part_name

if TYPE_CHECKING:
    from gomem.analysis.memory.rss_vs_heap import Ledger
    from gomem.causes.answers import MomentFacts
    from gomem.diagnosis.diagnosis import Diagnosis

WATERFALLS = 8  # moments; each is some 25 kB of SVG
SHORT_SECONDS = 1.0  # the ledger itself warns about a longer skew


def ledger_section(diagnosis: Diagnosis) -> Section | None:
    """Figure and tables of each moment with a ledger; None if there is none."""
    known = {facts.name: facts for facts in diagnosis.moments if facts.ledger is not None}
    names = in_order(known, diagnosis)
    if not names:
        return None
    places = {name: place for place, name in enumerate(known, start=1)}
    each = [
        _blocks(diagnosis, known[name], places[name], drawn=rank < WATERFALLS)
        for rank, name in enumerate(names)
    ]
    others = [
        Folded(f"{named(name)}{_size(known[name])}", blocks)
        for name, blocks in zip(names[1:], each[1:], strict=True)
    ]
    heading = heading_of("Where the resident bytes are", names[0], diagnosis)
    return Section("ledger", heading, (*each[0], *other_moments(others)))


def _size(facts: MomentFacts) -> str:
    return "" if facts.rss_bytes is None else f": RSS {format_bytes(facts.rss_bytes)}"


def _blocks(
    diagnosis: Diagnosis, facts: MomentFacts, place: int, *, drawn: bool
) -> tuple[Block, ...]:
    ledger, moment = facts.ledger, named(facts.name)
    assert ledger is not None
    blocks: list[Block] = []
    if drawn:
        numbers = {"ledger": ledger, "name": f"ledger-{place}", "moment": moment}
        caption = _caption(len(diagnosis.ledgers))
        blocks.append(Figure(caption, plot_rss_vs_heap, lambda: numbers))
    blocks.append(parts_table(ledger, moment, diagnosis.baseline_ledger(facts.name)))
    if ledger.has("heap_objects") and ledger.rss_bytes is not None:
        blocks.append(_sides_table(ledger, moment))
    if len(ledger.checks):
        blocks.append(_totals_table(ledger, moment))
    notes = [*ledger.notes, *_skew_note(facts.skew.seconds)]
    if ledger.next_file:
        notes.append(f"the next file to collect: {ledger.next_file}")
    return (*blocks, *([Notes(tuple(notes))] if notes else []))


def _caption(moments: int) -> str:
    caption = "From heap objects down to RSS; each bar begins where the one above it ends."
    if moments > WATERFALLS:
        caption += f" Drawn for {WATERFALLS} of {moments} moments; the tables are of all."
    return caption


def _skew_note(seconds: float | None) -> list[str]:
    if seconds is None or seconds >= SHORT_SECONDS:
        return []
    return [f"MemStats and the kernel's files were taken {format_seconds(seconds)} apart"]


def parts_table(ledger: Ledger, moment: str, before: Ledger | None = None) -> Table:
    """Where the resident bytes of a moment are, part by part.

    Args:
        ledger: The answer.
        moment: Its moment, for the caption.
        before: The baseline's ledger, for a column of its own.
    """
    rows = [_part_row(row, ledger.rss_bytes) for row in ledger.parts.to_dict("records")]
    rss = ledger.rss_bytes
    blank = Cell("")
    total = [Cell("RSS"), bytes_cell(rss), fraction_cell(1.0 if rss else None), blank, blank]
    columns, sides = ["part", "bytes", "of RSS", "Go claims", "source"], "<>>><"
    if before is not None:
        columns.insert(2, "baseline")
        sides = "<>>>><"
        for part, cells in zip(ledger.parts["part"], rows, strict=True):
            cells.insert(2, bytes_cell(before.part(part) if before.has(part) else None))
        total.insert(2, bytes_cell(before.rss_bytes))
    return Table(
        f"Resident memory by part, {moment}",
        tuple(columns),
        sides,
        tuple(map(tuple, rows)),
        (tuple(total),) if rss is not None else (),
    )


def _part_row(row: dict[str, Any], rss_bytes: int | None) -> list[Cell]:
    part, size = row["part"], int(row["bytes"])
    return [
        Cell(part_name(part), note=PARTS[part]),
        bytes_cell(size),
        fraction_cell(size / rss_bytes if rss_bytes else None),
        bytes_cell(row["claimed_bytes"]),
        Cell(row["source"], note="" if row["confidence"] == "counted" else row["confidence"]),
    ]


def _sides_table(ledger: Ledger, moment: str) -> Table:
    """What the runtime claims beside what the kernel sees."""
    rows = tuple(
        (
            Cell(row["where"]),
            bytes_cell(row["claimed_bytes"]),
            bytes_cell(row["resident_bytes"]),
            bytes_cell(row["difference_bytes"]),
        )
        for row in ledger.sides.to_dict("records")
    )
    columns = ("where", "the runtime claims", "the kernel sees", "difference")
    return Table(f"Both sides, {moment}", columns, "<>>>", rows)


def _totals_table(ledger: Ledger, moment: str) -> Table:
    """The kernel's other totals beside RSS."""
    rows = tuple(
        (Cell(row["total"]), bytes_cell(row["bytes"]), bytes_cell(row["difference_bytes"]))
        for row in ledger.checks.to_dict("records")
    )
    columns = ("total", "bytes", "difference")
    return Table(f"The kernel's other totals, {moment}", columns, "<>>", rows)
