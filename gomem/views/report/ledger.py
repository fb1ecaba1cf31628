"""RSS by part: the ledger of the moment shown first, then the others."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gomem.analysis.memory.groups import FILES_SUM, HEAP, NAMES, UNTOUCHED
from gomem.diagnosis.part_words import bound_of, is_at_most, most_of
from gomem.inputs.schema import rows_of
from gomem.text import MomentName, Text, text
from gomem.units import format_bytes, format_seconds, is_unknown
from gomem.views.document import Block, Cell, Figure, Folded, Notes, Section, Table
from gomem.views.figures.groups import plot_groups
from gomem.views.figures.waterfall import plot_rss_vs_heap
from gomem.views.report.shown import first_of, of_moments, with_tables
from gomem.views.tables import BLANK, Column, Row, noted, size, table, words
from gomem.views.values import bytes_cell, fraction_cell
from gomem.views.words import GROUPS, PARTS, part_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from gomem.analysis.memory.ledger import Ledger
    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.facts.moment import MomentFacts

WATERFALLS = 8  # moments; each is about 25 kB of SVG
SHORT_SECONDS = 1.0  # the ledger itself warns about a longer skew
SMALL = 0.01  # of RSS, or of the longest bar: smaller groups are combined
OTHERS = "others, each under 1 %"
WHOSE = "The filled part of a bar is in RSS; the hollow part is reserved by Go, not in RSS."
FILES_TOO = "program text too: only smaps separates it"
RETAINED = "retained by Go"  # in RSS or not
UNEXPLAINED = "heap_unexplained"  # without MemStats, the whole Go heap
NOT_DIVIDED = "no MemStats to break it down"
NO_RSS = "Memory retained by Go, by owner, at {}; RSS is unknown"
SIDES = (
    words("where", "where"),
    size(RETAINED, "claimed_bytes"),
    size("in RSS", "resident_bytes"),
    size("difference", "difference_bytes"),
)
SOURCE = noted("source", lambda row: (row.get("source", ""), row.get("sure", "")))
TOTALS = (words("total", "total"), size("bytes", "bytes"), size("difference", "difference_bytes"))


def ledger_section(diagnosis: Diagnosis) -> Section | None:
    """Figure and tables of each moment with a ledger; None if there is none."""
    known = {facts.name: facts for facts in diagnosis.moments if _has_rows(facts)}
    if not known:
        return None
    first = first_of(known, diagnosis)
    shown_each = with_tables(list(known), diagnosis) | {first}
    ranked = sorted(known, key=lambda name: name != first)
    blocks = {
        name: _blocks(diagnosis, facts, place, is_drawn=ranked.index(name) < WATERFALLS)
        for place, (name, facts) in enumerate(known.items(), start=1)
        if name in shown_each
    }
    sizes = {
        name: "" if facts.rss_bytes is None else f": RSS {format_bytes(facts.rss_bytes)}"
        for name, facts in known.items()
    }
    shown = (of_moments(blocks, first, sizes),)
    gist = text("{}{}", MomentName(first), sizes[first])
    what = "RSS" if any(facts.rss_bytes is not None for facts in known.values()) else "memory"
    return Section("ledger", f"Where {what} goes", shown, gist=gist)


def _has_rows(facts: MomentFacts) -> bool:
    """Whether RSS or memory of Go is known; a cgroup's files alone have neither."""
    if facts.ledger is None:
        return False
    return facts.rss_bytes is not None or (facts.groups is not None and len(facts.groups.rows) > 0)


def _blocks(
    diagnosis: Diagnosis, facts: MomentFacts, place: int, *, is_drawn: bool
) -> tuple[Block, ...]:
    ledger, moment = facts.ledger, MomentName(facts.name)
    assert ledger is not None
    name, before = diagnosis.baseline_moment(facts.name), None
    if name is not None and diagnosis.baseline is not None:
        before = diagnosis.baseline.by_moment[name]
    groups: list[Block] = [groups_table(facts, moment, before)]
    exact: list[Block] = [parts_table(ledger, moment, diagnosis.baseline_ledger(facts.name))]
    if is_drawn:
        whose = {"groups": facts.groups, "rss_bytes": facts.rss_bytes, "name": f"groups-{place}",
                 "moment": moment}  # fmt: skip
        groups.insert(0, Figure(WHOSE, plot_groups, lambda: whose))
        numbers = {"ledger": ledger, "name": f"ledger-{place}", "moment": moment}
        caption = "The parts add up to RSS: each bar begins where the one above it ends."
        if (moments := len(diagnosis.ledgers)) > WATERFALLS:
            caption += f" Only {WATERFALLS} of {moments} snapshots are drawn; the tables have all."
        exact.insert(0, Figure(caption, plot_rss_vs_heap, lambda: numbers))
    if ledger.has("heap_objects") and ledger.rss_bytes is not None:
        exact.append(table(text("Go's sizes and the kernel's at {}", moment), SIDES, ledger.sides))
    if len(ledger.checks):
        exact.append(table(text("The kernel's other totals at {}", moment), TOTALS, ledger.checks))
    notes, apart = [*ledger.notes], facts.skew.seconds
    if apart is not None and apart < SHORT_SECONDS:
        notes.append(f"MemStats and /proc were read {format_seconds(apart)} apart")
    lazy = ledger.part("heap_released_resident") if ledger.has("heap_released_resident") else 0
    if facts.memstats is not None and lazy >= SMALL * (facts.rss_bytes or 0) > 0:
        notes.append(f"free Go heap: {format_bytes(lazy)} was released but is still in RSS")
    if ledger.next_file and not diagnosis.capture.system:
        notes.append(f"{_why_collect(facts)}, collect {ledger.next_file}")
    folded = Folded("Part by part, to the byte", tuple(exact))
    return (*groups, *([Notes(tuple(notes))] if notes else []), folded)


def _why_collect(facts: MomentFacts) -> str:
    """What another file is for: RSS, its owners, or their sizes, which so far are bounds."""
    if facts.rss_bytes is None:
        return "to see RSS"
    sizes = {} if facts.groups is None else facts.groups.sizes
    are_bounds = any(is_at_most(facts, group) for group in sizes)
    return "for exact sizes instead of upper bounds" if are_bounds else "to break down RSS"


def _told(key: str) -> Callable[[Row], Cell]:
    """Return a function for a cell of bytes; blank for rows without this field."""
    return lambda row: bytes_cell(row[key]) if key in row else BLANK


def _bounded(row: Row) -> Cell:
    """A row's size, with its bound if it is not exact."""
    cell = _told("bytes")(row)
    return replace(cell, text=f"{row['bound']}{cell.text}") if row.get("bound") else cell


def _sizes(caption: Text, named: tuple[str, str], rows: list[Row], total: Row,
           *more: Column) -> Table:  # fmt: skip
    """A table of sizes (`bytes`, `claimed`, and the baseline's `old`), and RSS if known."""
    rss = total["bytes"]

    def share(row: Row) -> Cell:
        size = row.get("bytes", BLANK)
        known = not is_unknown(size) and rss
        if size is BLANK or row.get("bound"):  # upper bounds add up to more than RSS
            return BLANK
        return fraction_cell(size / rss if known else None)

    columns = (
        noted(named[0], lambda row: (row["name"], row.get("note", ""))),
        Column(named[1], _bounded),
        *((Column("baseline", _told("old")),) if "old" in total else ()),
        Column("share", share),
        Column(RETAINED, _told("claimed")),
        *more,
    )
    whole = (tuple(column.cell(total) for column in columns),)
    return table(caption, columns, rows, () if rss is None else whole)


def groups_table(facts: MomentFacts, moment: str, before: MomentFacts | None = None) -> Table:
    """RSS of a moment by owner; the baseline has a separate column."""
    groups, rss_bytes = facts.groups, facts.rss_bytes
    old = None if before is None else before.groups
    assert groups is not None
    each = [
        row | {"old": None if old is None else old.bytes_of(row["group"])}
        for row in rows_of(groups.rows)
    ]
    each = [row for row in each if not _is_nothing(row)]
    few = [row for row in each if _is_small(row, rss_bytes)]
    few = few if len(few) > 1 else []
    rows: list[Row] = []
    for row in (row for row in each if row not in few):
        note = GROUPS[row["group"]] if row["name"] != FILES_SUM else FILES_TOO
        known: Row = {"note": note, "claimed": row["claimed_bytes"]}
        if rss_bytes is not None and (bound := bound_of(facts, row["group"])):
            known |= {"bytes": most_of(facts, row["group"]), "bound": bound}
        rows.append(row | known)
        rows += [
            {"name": f"· {claim['name']}", "note": GROUPS[claim["group"]],
             "claimed": claim["claimed_bytes"]}
            for claim in rows_of(groups.claims_within(row["group"]))
        ]  # fmt: skip
    if few:
        there = [f"{row['name']} {format_bytes(row['bytes'])}" for row in few if row["bytes"]]
        sums = {
            key: _sum_of(few, of)
            for key, of in (("bytes", "bytes"), ("old", "old"), ("claimed", "claimed_bytes"))
        }
        rows.append({"name": OTHERS, "note": ", ".join(there), **sums})
    total: Row = {"name": "RSS", "bytes": rss_bytes}
    if before is not None:
        total["old"] = before.rss_bytes
    caption = text("RSS by owner at {}" if rss_bytes is not None else NO_RSS, moment)
    return _sizes(caption, ("owner", "RSS"), rows, total)


def _sum_of(rows: list[Row], key: str) -> int | None:
    """The sum of the known sizes; None if none is known."""
    known = [int(row[key]) for row in rows if not is_unknown(row[key])]
    return sum(known) if known else None


def _is_small(row: Row, rss_bytes: int | None) -> bool:
    """Whether a group is small on every side, including reserved memory."""
    if not rss_bytes or is_unknown(row["bytes"]):
        return False
    sizes = (row["bytes"], row["claimed_bytes"], row["old"])
    return all(is_unknown(size) or size < SMALL * rss_bytes for size in sizes)


def _is_nothing(row: Row) -> bool:
    """Whether a group has nothing on any side: whether anything is left over, RSS says."""
    return all(
        size == 0 for key in ("bytes", "claimed_bytes", "old") if not is_unknown(size := row[key])
    )


def parts_table(ledger: Ledger, moment: str, before: Ledger | None = None) -> Table:
    """RSS of a moment by part, with the baseline if given."""
    rows: list[Row] = []
    for row in rows_of(ledger.parts):
        part, claimed = row["part"], row["claimed_bytes"]
        old = before.part(part) if before is not None and before.has(part) else None
        if row["bytes"] or old or (not is_unknown(claimed) and claimed):  # not 0
            name, means = part_name(part), PARTS[part]
            if part == UNEXPLAINED and not ledger.has("heap_objects"):
                name, means = NAMES[HEAP], NOT_DIVIDED
            named = {"name": name, "note": means, "old": old, "claimed": claimed}
            sure = "" if row["confidence"] == "counted" else row["confidence"]
            rows.append(row | named | {"sure": sure})
    total: Row = {"name": "RSS", "bytes": ledger.rss_bytes}
    if before is not None:
        total["old"] = before.rss_bytes
    caption = text("RSS by part at {}", moment)
    rows.sort(key=lambda row: row["part"] == UNTOUCHED)  # what is subtracted comes last
    return _sizes(caption, ("part", "bytes"), rows, total, SOURCE)
