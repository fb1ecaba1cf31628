"""The tables of a report: each answer as cells that people read, the exact number behind each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gomem.analysis.memory.rss_vs_heap import MEANING, PARTS
from gomem.units import (
    format_bytes,
    format_count,
    format_fraction,
    format_seconds,
    format_value,
    is_unknown,
)
from gomem.views.document import Cell, Table
from gomem.views.figures.figure import minus
from gomem.views.figures.flame_graph import known_name
from gomem.views.figures.look import part_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pandas as pd

    from gomem.analysis.collector.gc_cost import GcSummary
    from gomem.analysis.memory.rss_vs_heap import Ledger
    from gomem.analysis.profiles.allocations import AllocationSites
    from gomem.capture.capture import Capture
    from gomem.causes.finding import Evidence, Finding
    from gomem.errors import Damage

FEW_MOMENTS = 6  # so many stand side by side on a page or in a terminal
DAMAGE_PLACES = 50  # of each file that a report names; its JSON has all of them
WORD = 24  # characters: evidence that is longer is a sentence
SITES, DAMAGE = "sites", "damage"
NOTHING = Cell("–")
_OVER_MOMENTS = "Resident memory by part over the moments"


def bytes_cell(size: float | None, note: str = "") -> Cell:
    """Bytes, rounded, with all their digits behind."""
    if size is None or is_unknown(size):
        return NOTHING
    return Cell(minus(format_bytes(size)), minus(f"{_grouped(int(size))} B"), note)


def seconds_cell(seconds: float | None) -> Cell:
    """Seconds, rounded, with all their digits behind."""
    if seconds is None or is_unknown(seconds):
        return NOTHING
    return Cell(format_seconds(seconds), f"{seconds:g} s")


def fraction_cell(fraction: float | None) -> Cell:
    """A fraction as per cent."""
    if fraction is None or is_unknown(fraction):
        return NOTHING
    return Cell(minus(format_fraction(fraction)))


def count_cell(count: int | None) -> Cell:
    """A count."""
    return NOTHING if count is None or is_unknown(count) else Cell(format_count(count))


def evidence_table(finding: Finding) -> Table:
    """What proves a finding; words read from the left, numbers from the right."""
    words = any(isinstance(one.value, str) and len(one.value) > WORD for one in finding.evidence)
    return Table(
        f"Evidence for {finding.code}",
        ("artefact", "field", "value"),
        "<<<" if words else "<<>",
        tuple(
            (Cell(one.artefact, code=True), Cell(one.field, code=True), _evidence_value(one))
            for one in finding.evidence
        ),
    )


def _evidence_value(evidence: Evidence) -> Cell:
    """Rounded by its unit, with all digits of bytes, rates and seconds behind."""
    value, unit = evidence.value, evidence.unit
    if isinstance(value, str):
        return Cell(value)
    if unit == "B":
        return bytes_cell(value)
    if unit == "s":
        return seconds_cell(value)
    exact = minus(f"{value:.0f} B/s") if unit == "B/s" else ""
    return Cell(minus(format_value(value, unit)), exact)


def ledger_table(ledger: Ledger, moment: str, before: Ledger | None = None) -> Table:
    """Where the resident bytes of one moment are, part by part.

    Args:
        ledger: The answer.
        moment: Its moment, for the caption.
        before: The baseline's, for a column of its own.
    """
    rows = [_ledger_row(row, ledger.rss_bytes) for row in ledger.parts.to_dict("records")]
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


def _ledger_row(row: dict[str, Any], rss_bytes: int | None) -> list[Cell]:
    part, size = row["part"], int(row["bytes"])
    return [
        Cell(part_name(part), note=MEANING[part]),
        bytes_cell(size),
        fraction_cell(size / rss_bytes if rss_bytes else None),
        bytes_cell(row["claimed_bytes"]),
        Cell(row["source"], note="" if row["confidence"] == "counted" else row["confidence"]),
    ]


def sides_table(ledger: Ledger, moment: str) -> Table:
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


def checks_table(ledger: Ledger, moment: str) -> Table:
    """The kernel's other totals beside RSS."""
    return Table(
        f"The kernel's other totals, {moment}",
        ("total", "bytes", "difference"),
        "<>>",
        tuple(
            (Cell(row["total"]), bytes_cell(row["bytes"]), bytes_cell(row["difference_bytes"]))
            for row in ledger.checks.to_dict("records")
        ),
    )


def moments_table(
    ledgers: Mapping[str, Ledger], times: Mapping[str, Any], skews: Mapping[str, float | None]
) -> Table:
    """The parts of some moments beside one another; parts that are nowhere are left out.

    Args:
        ledgers: Ledger by moment, in order; not more than `FEW_MOMENTS` fit side by side.
        times: When each moment was, `NaT` where that is unknown.
        skews: Seconds between the two sides of each moment's ledger, as far as known.
    """
    lines = _moment_lines(ledgers, times, skews)
    across = tuple((Cell(label), *cells) for label, cells in lines)
    return Table(_OVER_MOMENTS, ("", *ledgers), "<" + ">" * len(ledgers), across)


def all_moments_table(
    ledgers: Mapping[str, Ledger], times: Mapping[str, Any], skews: Mapping[str, float | None]
) -> Table:
    """The same of any number of moments, below one another."""
    labels, cells = zip(*_moment_lines(ledgers, times, skews), strict=True)
    down = tuple((Cell(name), *row) for name, *row in zip(ledgers, *cells, strict=True))
    return Table(_OVER_MOMENTS, ("moment", *labels), "<" + ">" * len(labels), down)


def few_moments(ledgers: Mapping[str, Ledger]) -> list[str]:
    """As many moments as fit side by side: first, last, the largest RSS, and some in between."""
    names = list(ledgers)
    if len(names) <= FEW_MOMENTS:
        return names
    largest = max(range(len(names)), key=lambda place: ledgers[names[place]].rss_bytes or 0)
    last = len(names) - 1
    chosen = {place * last // (FEW_MOMENTS - 1) for place in range(FEW_MOMENTS)}
    if largest not in chosen:
        chosen.remove(min(chosen - {0, last}, key=lambda place: abs(place - largest)))
    return [names[place] for place in sorted(chosen | {largest})]


def _moment_lines(
    ledgers: Mapping[str, Ledger], times: Mapping[str, Any], skews: Mapping[str, float | None]
) -> list[tuple[str, list[Cell]]]:
    """Label, and a cell for each moment."""
    parts = [part for part in PARTS if any(one.part(part) for one in ledgers.values())]
    lines = [("RSS", [bytes_cell(one.rss_bytes) for one in ledgers.values()])]
    lines += [
        (
            part_name(part),
            [bytes_cell(one.part(part) if one.has(part) else None) for one in ledgers.values()],
        )
        for part in parts
    ]
    if any(not is_unknown(times[name]) for name in ledgers):
        lines.append(("taken", [_clock_cell(times[name]) for name in ledgers]))
    if any(skews[name] is not None for name in ledgers):
        lines.append(("skew", [seconds_cell(skews[name]) for name in ledgers]))
    return lines


def time_cell(time: Any) -> Cell:
    """A time in UTC, to the second."""
    if is_unknown(time):
        return NOTHING
    return Cell(f"{time:%Y-%m-%d %H:%M:%S} UTC", time.isoformat())


def _clock_cell(time: Any) -> Cell:
    """A time on two lines, for a narrow column."""
    if is_unknown(time):
        return NOTHING
    return Cell(f"{time:%H:%M:%S}", time.isoformat(), f"{time:%Y-%m-%d} UTC")


def kinds_table(kinds: pd.DataFrame, moment: str) -> Table:
    """Mappings of one moment by kind; what the kernel does not print has no column."""
    shown = {
        "mapped": "size_bytes", "resident": "rss_bytes", "Pss": "pss_bytes",
        "shared": "shared_bytes", "swapped": "swap_bytes",
    }  # fmt: skip
    known = {head: name for head, name in shown.items() if kinds[name].notna().any()}
    rows = tuple(
        (
            Cell(row["kind"]),
            count_cell(row["vmas"]),
            *(bytes_cell(row[name]) for name in known.values()),
        )
        for row in kinds.to_dict("records")
    )
    columns = ("kind", "mappings", *known)
    return Table(f"Mappings by kind, {moment}", columns, "<" + ">" * (len(columns) - 1), rows)


def sites_table(sites: AllocationSites, moment: str) -> Table:
    """Who allocates, with what sampling leaves open."""
    cell = bytes_cell if sites.unit == "bytes" else count_cell
    rows = tuple(
        (
            Cell(known_name(row["function"]), code=True),
            cell(row["flat"]),
            _between(row["flat_low"], row["flat_high"], sites.unit),
            fraction_cell(row["flat_fraction"]),
            cell(row["cum"]),
            _between(row["cum_low"], row["cum_high"], sites.unit),
        )
        for row in sites.top.to_dict("records")
    )
    columns = ("function", "flat", "95 % interval", "of total", "with callees", "95 % interval")
    total = format_bytes(sites.total) if sites.unit == "bytes" else format_count(sites.total)
    caption = f"{sites.sample_type}, {moment}: {total} in all"
    return Table(caption, columns, "<>>>>>", rows, name=SITES)


def reasons_table(reasons: pd.DataFrame, moment: str) -> Table:
    """Allocation lines, with what the compiler says of each."""
    rows = tuple(
        (
            Cell(known_name(f"{row['function']} {_base(row['file'])}:{row['line']}"), code=True),
            bytes_cell(row["flat"]),
            _between(row["flat_low"], row["flat_high"], "bytes"),
            Cell(row["why"]) if row["why"] else NOTHING,
        )
        for row in reasons.to_dict("records")
    )
    caption = f"alloc_space by line, {moment}, and why it is not on the stack"
    return Table(caption, ("line", "flat", "95 % interval", "the compiler"), "<>><", rows)


def _base(path: str) -> str:
    """A source file without its folders, which are those of whoever built the program."""
    return path.rpartition("/")[2]


def _between(low: Any, high: Any, unit: str) -> Cell:
    if is_unknown(low) or is_unknown(high):
        return NOTHING
    if unit != "bytes":
        return Cell(f"{format_count(low)} to {format_count(high)}")
    exact = f"{_grouped(int(low))} to {_grouped(int(high))} B"
    return Cell(f"{format_bytes(low)} to {format_bytes(high)}", exact)


def gc_costs_table(gc: GcSummary) -> Table:
    """What the collector cost, and what made it work."""
    mib = "to 1 MiB, rounded down"
    rate = gc.allocation_rate
    between = ""
    if rate.low is not None and rate.high is not None:
        between = f"{format_bytes(rate.low)}/s to {format_bytes(rate.high)}/s with rounding"
    per_second = NOTHING if rate.value is None else Cell(f"{format_bytes(rate.value)}/s")
    rows = (
        (Cell("collections"), count_cell(gc.cycles), Cell(_why(gc))),
        (Cell("watched for"), seconds_cell(gc.seconds), Cell("first collection to last")),
        (
            Cell("GC CPU"),
            fraction_cell(gc.gc_cpu_fraction),
            Cell("of what GOMAXPROCS allowed; idle marking left out, stops from their request"),
        ),
        (
            Cell("of it, marking"),
            fraction_cell(gc.marking_cpu_fraction),
            Cell("by assists and background workers"),
        ),
        (
            Cell("assists"),
            fraction_cell(gc.assist_fraction),
            Cell("of marking, done by allocating goroutines"),
        ),
        (Cell("allocation rate"), per_second, Cell(between)),
        (Cell("longest single stop"), seconds_cell(gc.longest_stop_seconds), Cell("")),
        (Cell("live heap, first"), bytes_cell(gc.heap_live_first_bytes), Cell(mib)),
        (Cell("live heap, last"), bytes_cell(gc.heap_live_last_bytes), Cell(mib)),
        (Cell("largest heap"), bytes_cell(gc.heap_peak_bytes), Cell(mib)),
        (Cell("last goal"), bytes_cell(gc.heap_goal_bytes), Cell(mib)),
    )
    return Table("Costs of collection", ("", "value", "what it is"), "<><", rows)


def _why(gc: GcSummary) -> str:
    runs = f", in {gc.runs} runs of the program" if gc.runs > 1 else ""
    return f"{gc.forced} forced, {gc.periodic} periodic{runs}"


def damage_table(capture: Capture) -> Table:
    """What could not be read; of a file with very many places the first, and how many more."""
    by_source: dict[str, list[Damage]] = {}
    for one in capture.damaged:
        by_source.setdefault(one.source, []).append(one)
    rows = tuple(row for source, places in by_source.items() for row in _damage(source, places))
    columns = ("file", "place", "what was found")
    return Table("What could not be read", columns, "<<<", rows, name=DAMAGE)


def _damage(source: str, places: list[Damage]) -> Iterator[tuple[Cell, ...]]:
    for one in places[:DAMAGE_PLACES]:
        where = Cell(one.where or "whole file")
        yield Cell(source, code=True), where, Cell(one.what, note=one.text)
    more = len(places) - DAMAGE_PLACES
    if more > 0:
        words = f"{format_count(more)} more places; the report as JSON has all of them"
        yield Cell(source, code=True), Cell("and"), Cell(words)


def inputs_table(capture: Capture) -> Table:
    """The files, and the digests by which they can be known again."""
    rows = tuple(
        (
            Cell(row["path"], code=True),
            Cell(row["kind"] or "not readable"),
            bytes_cell(row["bytes"]),
            Cell(row["sha256"], code=True),
        )
        for row in capture.artefacts.to_dict("records")
    )
    return Table("Files read", ("file", "kind", "size", "SHA-256"), "<<><", rows)


def _grouped(value: float) -> str:
    return f"{value:,}".replace(",", "\u202f")
