"""The ledger over the moments: all if they are few, else a selection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.diagnosis.part_words import bound_of, groups_of, most_of
from gomem.facts.moment import MomentFacts, seconds_of
from gomem.inputs.schema import rows_of
from gomem.text import Bytes, MomentName, text
from gomem.units import format_bytes, is_unknown
from gomem.views.document import Block, Cell, Figure, Folded, Notes, Section, Table
from gomem.views.figures.groups_over_moments import on_a_clock, plot_groups_over_moments
from gomem.views.values import NOTHING, bytes_cell, narrow_time_cell, seconds_cell
from gomem.views.words import PARTS, first_few, how_many, part_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from gomem.analysis.memory.account import Account
    from gomem.analysis.memory.bounds import Interval
    from gomem.analysis.memory.ledger import Ledger
    from gomem.diagnosis.diagnosis import Diagnosis

SIDE_BY_SIDE = 6  # moments, on a page or in a terminal
WIDTH = 100  # characters of a terminal for the names of owners and moments
MIN_CELL = 8  # characters of a size
BETWEEN = 2  # spaces between two columns
MAX_NAMED = 6  # moments in a sentence
CAPTION = "RSS by owner over time"
IN_ORDER = "The snapshots are in order, not to scale in time. "
COLUMNS = "The line on each column is RSS. The hollow part above it is reserved by Go, not in RSS."
PARTS_CAPTION = "RSS by part over time"
TIME, APART = "time", "from MemStats to /proc"
CLOCKS = {TIME, APART}  # rows without sizes
NO_RSS = "RSS over time is unknown: no snapshot has smaps"

_Lines = list[tuple[str, list[Cell]]]


def moments_section(diagnosis: Diagnosis) -> Section | None:
    """A figure of columns, and a table; None for a single moment."""
    known = [facts for facts in diagnosis.moments if facts.ledger is not None]
    if len(known) < 2:
        return None
    moments = {
        MomentName(facts.name): (facts.groups, facts.rss_bytes)
        for facts in known
        if facts.groups is not None
    }
    seconds = seconds_of([facts for facts in known if facts.groups is not None])
    clock = None if seconds is None else seconds.tolist()
    caption = COLUMNS if on_a_clock(clock) else f"{IN_ORDER}{COLUMNS}"
    drawn = {"moments": moments, "seconds": clock}
    figure = Figure(caption, plot_groups_over_moments, lambda: drawn)
    groups = diagnosis.facts.groups_side_by_side
    account = diagnosis.facts.account
    of_rss = account if account is not None and account.quantity == "rss" else None
    blocks = (figure, *_tables(known, groups, of_rss))
    return Section("moments", "Over time", blocks, gist=_gist(known))


def _gist(known: Sequence[MomentFacts]) -> str:
    """RSS at the first and the last moment, and its peak."""
    sizes = [
        (moment.rss_bytes, MomentName(moment.name))
        for moment in known
        if moment.rss_bytes is not None
    ]
    if not sizes:
        return how_many(len(known), "snapshot")
    (first, _), (last, _), highest = sizes[0], sizes[-1], max(sizes)
    said = text("RSS {} → {}", Bytes(first), Bytes(last))
    if highest[0] > max(first, last):
        said += text(", peak {} at {}", Bytes(highest[0]), highest[1])
    return said


def _tables(
    known: Sequence[MomentFacts], groups: pd.DataFrame, account: Account | None
) -> list[Block]:
    """As many moments as fit side by side, and the others folded."""
    every = _lines(known, groups, account)
    few = few_moments(
        [facts.rss_bytes for facts in known], _most([facts.name for facts in known], every)
    )
    lines = _saying([(label, [cells[place] for place in few]) for label, cells in every])
    columns = ("", *(MomentName(known[place].name) for place in few))
    rows = tuple((Cell(label), *cells) for label, cells in lines)
    blocks: list[Block] = [Table(CAPTION, columns, "<" + ">" * len(few), rows)]
    others = [MomentName(facts.name) for place, facts in enumerate(known) if place not in few]
    if not any(label not in CLOCKS for label, _ in lines):
        blocks, others = [Notes((NO_RSS,))], []
    if others:
        do = "does" if len(others) == 1 else "do"
        left_out = f"{len(others)} of {len(known)} snapshots {do} not fit into the table: "
        blocks.append(Notes((left_out + first_few(others, MAX_NAMED),)))
        blocks.append(Folded(f"all {len(known)} snapshots", (_down(known, every),)))
    parts = parts_lines([facts.ledger for facts in known if facts.ledger is not None])
    return [*blocks, Folded("Part by part, to the byte", (_down(known, parts, PARTS_CAPTION),))]


def _saying(lines: _Lines) -> _Lines:
    """The rows with a value other than 0 for at least one moment."""
    says_nothing = (NOTHING, bytes_cell(0))
    return [line for line in lines if any(cell not in says_nothing for cell in line[1])]


def _most(names: Sequence[str], lines: _Lines) -> int:
    """How many moments fit side by side, at least two."""
    room = WIDTH - max(len(label) for label, _ in lines)
    each = max(MIN_CELL, *map(len, names)) + BETWEEN
    return min(SIDE_BY_SIDE, max(2, room // each))


def few_moments(rss_bytes: Sequence[int | None], most: int = SIDE_BY_SIDE) -> list[int]:
    """Indices of as many moments as fit: first, last, largest RSS, and some in between."""
    if len(rss_bytes) <= most:
        return list(range(len(rss_bytes)))
    largest = max(range(len(rss_bytes)), key=lambda place: rss_bytes[place] or 0)
    last = len(rss_bytes) - 1
    chosen = {place * last // (most - 1) for place in range(most)}
    if largest not in chosen and chosen - {0, last}:
        chosen.remove(min(chosen - {0, last}, key=lambda place: abs(place - largest)))
        chosen.add(largest)
    return sorted(chosen)


def _down(known: Sequence[MomentFacts], lines: _Lines, caption: str = CAPTION) -> Table:
    """A table with a row per moment, for any number of moments."""
    labels, cells = zip(*(_saying(lines) or lines), strict=True)
    rows = zip(known, *cells, strict=True)
    down = tuple((Cell(MomentName(facts.name)), *row) for facts, *row in rows)
    return Table(caption, ("snapshot", *labels), "<" + ">" * len(labels), down)


def _lines(known: Sequence[MomentFacts], groups: pd.DataFrame, account: Account | None) -> _Lines:
    """RSS and its groups: label, and a cell per moment."""
    lines: _Lines = [("RSS", [bytes_cell(facts.rss_bytes) for facts in known])]
    for row in rows_of(groups):
        label = f"· {row['name']}" if row["within"] else row["name"]
        inside = groups_of(row["group"], row["name"])
        cells = [
            _cell(facts, row["group"], row[str(place)], _likely(account, facts, inside))
            for place, facts in enumerate(known)
        ]
        lines.append((label, cells))
    if sum(not is_unknown(facts.time) for facts in known) > 1:  # else names say as much
        lines.append((TIME, [narrow_time_cell(facts.time) for facts in known]))
    if any(facts.skew.seconds is not None for facts in known):
        lines.append((APART, [seconds_cell(facts.skew.seconds) for facts in known]))
    return lines


def _likely(account: Account | None, facts: MomentFacts, groups: frozenset[str]) -> Interval | None:
    """The likely size in RSS of a snapshot's groups; None if the account has none."""
    snapshot = None if account is None else account.of(facts.name)
    if snapshot is None or not groups:
        return None
    return snapshot.likely.together(groups)


def _cell(facts: MomentFacts, group: str, size: int, likely: Interval | None) -> Cell:
    """The size of a group, its bound, or what the account estimates."""
    if is_unknown(size) and likely is not None and not likely.is_wide:
        return Cell(f"≈ {format_bytes(round(likely.middle))}")
    if is_unknown(size) or facts.rss_bytes is None or not (bound := bound_of(facts, group)):
        return bytes_cell(size)
    return Cell(f"{bound}{format_bytes(most_of(facts, group))}")


def parts_lines(ledgers: Sequence[Ledger]) -> list[tuple[str, list[Cell]]]:
    """RSS and its parts: label, and a cell per ledger; parts without memory are left out."""
    parts = [part for part in PARTS if any(ledger.part(part) for ledger in ledgers)]
    lines = [("RSS", [bytes_cell(ledger.rss_bytes) for ledger in ledgers])]
    for part in parts:
        sizes = (ledger.part(part) if ledger.has(part) else None for ledger in ledgers)
        lines.append((part_name(part), list(map(bytes_cell, sizes))))
    return lines
