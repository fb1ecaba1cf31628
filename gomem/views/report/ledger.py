"""Where the resident bytes are: the ledger of the moment shown first, then the others'."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gomem.inputs.schema import rows_of
from gomem.text import MomentName, text
from gomem.units import format_bytes, format_seconds, is_unknown
from gomem.views.document import Block, Cell, Figure, Folded, Notes, Section, Table
from gomem.views.figures.groups import plot_groups
from gomem.views.figures.waterfall import plot_rss_vs_heap
from gomem.views.report.shown import first_of, of_moments
from gomem.views.values import bytes_cell, fraction_cell
from gomem.views.words import GROUPS, PARTS, part_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gomem.analysis.memory.groups import MemoryGroups
    from gomem.analysis.memory.ledger import Ledger
    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.facts.moment import MomentFacts

WATERFALLS = 8  # moments; each is some 25 kB of SVG
SHORT_SECONDS = 1.0  # the ledger itself warns about a longer skew


SMALL = 0.01  # of RSS, or of the longest bar: several smaller groups are one
OTHERS = "others, each under 1 %"
WHOSE = "Filled: resident. Hollow: what Go claims besides, and the kernel has never had to give."


def ledger_section(diagnosis: Diagnosis) -> Section | None:
    """Figure and tables of each moment with a ledger; None if there is none."""
    known = {facts.name: facts for facts in diagnosis.moments if facts.ledger is not None}
    if not known:
        return None
    first = first_of(known, diagnosis)
    ranked = sorted(known, key=lambda name: name != first)
    blocks = {
        name: _blocks(diagnosis, facts, place, drawn=ranked.index(name) < WATERFALLS)
        for place, (name, facts) in enumerate(known.items(), start=1)
    }
    sizes = {name: _size(facts) for name, facts in known.items()}
    return Section(
        "ledger",
        "Where the resident bytes are",
        (of_moments(blocks, first, sizes),),
        gist=text("{}{}", MomentName(first), sizes[first]),
    )


def _size(facts: MomentFacts) -> str:
    return "" if facts.rss_bytes is None else f": RSS {format_bytes(facts.rss_bytes)}"


def _blocks(
    diagnosis: Diagnosis, facts: MomentFacts, place: int, *, drawn: bool
) -> tuple[Block, ...]:
    ledger, moment = facts.ledger, MomentName(facts.name)
    assert ledger is not None
    blocks: list[Block] = []
    groups: list[Block] = [groups_table(facts, moment, _before(diagnosis, facts.name))]
    if drawn:
        whose = {
            "groups": facts.groups, "rss_bytes": facts.rss_bytes, "name": f"groups-{place}",
            "moment": moment,
        }  # fmt: skip
        groups.insert(0, Figure(WHOSE, plot_groups, lambda: whose))
        numbers = {"ledger": ledger, "name": f"ledger-{place}", "moment": moment}
        caption = _caption(len(diagnosis.ledgers))
        blocks.append(Figure(caption, plot_rss_vs_heap, lambda: numbers))
    blocks.append(parts_table(ledger, moment, diagnosis.baseline_ledger(facts.name)))
    if ledger.has("heap_objects") and ledger.rss_bytes is not None:
        blocks.append(_sides_table(ledger, moment))
    if len(ledger.checks):
        blocks.append(_totals_table(ledger, moment))
    exact = Folded("Part by part, to the byte", tuple(blocks))
    notes = [*ledger.notes, *_skew_note(facts.skew.seconds)]
    if ledger.next_file:
        notes.append(f"the next file to collect: {ledger.next_file}")
    return (*groups, *([Notes(tuple(notes))] if notes else []), exact)


def _before(diagnosis: Diagnosis, moment: str) -> MomentFacts | None:
    name = diagnosis.baseline_moment(moment)
    if name is None or diagnosis.baseline is None:
        return None
    return diagnosis.baseline.by_moment[name]


def groups_table(facts: MomentFacts, moment: str, before: MomentFacts | None = None) -> Table:
    """Whose the resident memory of a moment is; the baseline's in a column of its own."""
    groups, rss_bytes = facts.groups, facts.rss_bytes
    old = None if before is None else before.groups
    assert groups is not None
    rows: list[tuple[Cell, ...]] = []
    told = rows_of(groups.rows)
    few = [row for row in told if _is_small(row, rss_bytes, old)]
    if len(few) == 1:
        few = []
    together = {row["group"] for row in few}
    for row in (row for row in told if row["group"] not in together):
        rows.append(_group_row(row, rss_bytes, old))
        claims = rows_of(groups.claims_within(row["group"]))
        rows += [_claim_row(one, old) for one in claims]
    if few:
        rows.append(_small_row(few, rss_bytes, old))
    total = [Cell("RSS"), bytes_cell(rss_bytes), fraction_cell(1.0 if rss_bytes else None), _BLANK]
    columns, sides = ["whose", "resident", "of RSS", "Go claims"], "<>>>"
    if before is not None:
        columns.insert(2, "baseline")
        total.insert(2, bytes_cell(before.rss_bytes))
        sides = "<>>>>"
    return Table(
        text("Resident memory by whose it is, {}", moment),
        tuple(columns),
        sides,
        tuple(rows),
        (tuple(total),) if rss_bytes is not None else (),
    )


_BLANK = Cell("")


def _is_small(row: dict[str, Any], rss_bytes: int | None, before: MemoryGroups | None) -> bool:
    """Whether a group is a small part of RSS on every side, claims among them."""
    if not rss_bytes or is_unknown(row["bytes"]):
        return False
    old = None if before is None else before.bytes_of(row["group"])
    sizes: tuple[Any, ...] = (row["bytes"], row["claimed_bytes"], old)
    return all(is_unknown(size) or size < SMALL * rss_bytes for size in sizes)


def _small_row(
    few: Sequence[dict[str, Any]], rss_bytes: int | None, before: MemoryGroups | None
) -> tuple[Cell, ...]:
    """Small groups together, and which they are."""
    there = [row for row in few if row["bytes"]]
    names = ", ".join(f"{row['name']} {format_bytes(row['bytes'])}" for row in there)
    size = sum(int(row["bytes"]) for row in few)
    claimed = sum(int(row["claimed_bytes"]) for row in few if not is_unknown(row["claimed_bytes"]))
    share = None if not rss_bytes else size / rss_bytes
    name = Cell(OTHERS, note=names)
    cells = [name, bytes_cell(size), fraction_cell(share), bytes_cell(claimed)]
    if before is not None:
        cells.insert(2, bytes_cell(sum(before.bytes_of(row["group"]) or 0 for row in few)))
    return tuple(cells)


def _group_row(
    row: dict[str, Any], rss_bytes: int | None, before: MemoryGroups | None
) -> tuple[Cell, ...]:
    size = row["bytes"]
    share = None if is_unknown(size) or not rss_bytes else int(size) / rss_bytes
    name = Cell(row["name"], note=GROUPS[row["group"]])
    cells = [name, bytes_cell(size), fraction_cell(share), bytes_cell(row["claimed_bytes"])]
    if before is not None:
        cells.insert(2, bytes_cell(before.bytes_of(row["group"])))
    return tuple(cells)


def _claim_row(row: dict[str, Any], before: MemoryGroups | None) -> tuple[Cell, ...]:
    """What the runtime claims of the Go heap: nothing says how much of it is resident."""
    blanks = [_BLANK] * (2 if before is None else 3)
    name = Cell(f"\u00b7 {row['name']}", note=GROUPS[row["group"]])
    return (name, *blanks, bytes_cell(row["claimed_bytes"]))


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
    """Where the resident bytes of a moment are, part by part; the baseline's beside them."""
    told = [row for row in rows_of(ledger.parts) if _says_something(row, before)]
    rows = [_part_row(row, ledger.rss_bytes) for row in told]
    rss = ledger.rss_bytes
    blank = Cell("")
    total = [Cell("RSS"), bytes_cell(rss), fraction_cell(1.0 if rss else None), blank, blank]
    columns, sides = ["part", "bytes", "of RSS", "Go claims", "source"], "<>>><"
    if before is not None:
        columns.insert(2, "baseline")
        sides = "<>>>><"
        for row, cells in zip(told, rows, strict=True):
            part = row["part"]
            cells.insert(2, bytes_cell(before.part(part) if before.has(part) else None))
        total.insert(2, bytes_cell(before.rss_bytes))
    return Table(
        text("Resident memory by part, {}", moment),
        tuple(columns),
        sides,
        tuple(map(tuple, rows)),
        (tuple(total),) if rss is not None else (),
    )


def _says_something(row: dict[str, Any], before: Ledger | None) -> bool:
    """Whether a part is anything but 0 everywhere."""
    claimed = row["claimed_bytes"]
    old = before.part(row["part"]) if before is not None and before.has(row["part"]) else 0
    return bool(row["bytes"] or old or (not is_unknown(claimed) and claimed))


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
        for row in rows_of(ledger.sides)
    )
    columns = ("where", "the runtime claims", "the kernel sees", "difference")
    return Table(text("Both sides, {}", moment), columns, "<>>>", rows)


def _totals_table(ledger: Ledger, moment: str) -> Table:
    """The kernel's other totals beside RSS."""
    rows = tuple(
        (Cell(row["total"]), bytes_cell(row["bytes"]), bytes_cell(row["difference_bytes"]))
        for row in rows_of(ledger.checks)
    )
    columns = ("total", "bytes", "difference")
    return Table(text("The kernel's other totals, {}", moment), columns, "<>>", rows)
