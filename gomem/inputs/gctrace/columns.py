"""Converts the parsed pieces of a gctrace log to columns in base units, and to damage."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from gomem.errors import Damage, excerpt
from gomem.inputs.gctrace.grammar import GRAMMARS, INTEGER_KINDS, SIZE_BYTES, releases

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gomem.inputs.gctrace.grammar import Field, Grammar, Release
    from gomem.inputs.gctrace.unwrap import Unwrapped

Columns = dict[str, np.ndarray]

NO_SIZE_FROM = {"MB": 1 << 40, "KiB": 1 << 50, "B": 1 << 60}
"""Values from here on are not sizes: no goal (GOGC=off), or a negative difference, unsigned."""

NO_DURATION_FROM_MS = 1e9
"""The runtime prints a negative duration as a huge one; no pause lasts 11 days."""


@dataclass(frozen=True)
class GcTraceColumns:
    """A log's events in the log's order, one array per field; an event's arrays have equal length.

    Names and units are those of `gomem.inputs.gctrace.table`. Values that the release does not
    print are masked (integers), NaN (floats) or NaT (times).
    """

    cycles: Columns  # one row per collection
    scavenges: Columns  # one row per `scav` or `scvg` line
    pacer: Columns  # one row per `pacer` line
    others: dict[str, int]  # the number of lines of each other kind
    # First and last release whose runtime prints these forms; None if no release prints all of
    # them.
    go_releases: tuple[Release, Release] | None


@dataclass(frozen=True)
class _Lines:
    """Lines of one form: their line numbers from 0, and an array for each field."""

    grammar: Grammar
    numbers: np.ndarray
    columns: Sequence[np.ndarray]


@dataclass
class Broken:
    """A line of the runtime that cannot be parsed."""

    line: int  # line number, from 0
    text: bytes  # from where the runtime's text begins
    length: int  # bytes of the whole line
    has_loose_pieces: bool = False  # whether later lines contain pieces that may belong to it


@dataclass
class Readings:
    """Collects what is parsed from a piece of a log."""

    lines_done: int = 0  # number of lines fully processed
    others: Counter[str] = field(default_factory=Counter)  # counts of other runtime lines
    _lines: list[_Lines] = field(default_factory=list)
    _single: dict[Grammar, list[tuple[int, tuple[bytes, ...]]]] = field(default_factory=dict)
    broken: list[Broken] = field(default_factory=list)  # runtime lines that cannot be parsed
    # Lines in which the author says that lines are left out.
    gaps: list[int] = field(default_factory=list)

    def add(self, grammar: Grammar, lines: np.ndarray, columns: Sequence[np.ndarray]) -> None:
        """Add lines of one form, as arrays."""
        self._lines.append(_Lines(grammar, lines, columns))

    def add_one(self, grammar: Grammar, line: int, numbers: tuple[bytes, ...]) -> None:
        """Add one line, with its numbers as printed."""
        self._single.setdefault(grammar, []).append((line, numbers))

    def lines(self, event: str) -> list[_Lines]:
        """Return all lines of an event, by form."""
        found = [lines for lines in self._lines if lines.grammar.event == event]
        for grammar, rows in self._single.items():
            if grammar.event == event:
                columns = zip(*(numbers for _, numbers in rows), strict=True)
                arrays = list(map(_numbers, columns, grammar.fields))
                found.append(_Lines(grammar, np.array([line for line, _ in rows]), arrays))
        return found

    @property
    def grammars(self) -> list[Grammar]:
        """The forms found so far."""
        met = {lines.grammar for lines in self._lines if len(lines.numbers)} | set(self._single)
        return [grammar for grammar in GRAMMARS if grammar in met]


@dataclass
class LogSoFar:
    """State of the pieces parsed so far, which the next piece of the log needs."""

    source: str  # name of the log in reports of damage
    run: int = 1  # process, from 1, of the last collection
    number: int | None = None  # the last collection's number; None before the first
    at_seconds: float = 0.0  # its start time
    announced: bool = False  # whether a `GC forced` still awaits its collection
    broken: int = 0  # broken lines since the last collection
    gap: bool = False  # whether the text says since then that lines are left out
    grammars: set[Grammar] = field(default_factory=set)  # forms found

    def go_on(self, cycles: Columns, announced: bool, readings: Readings) -> None:
        """Update the state at the end of a piece."""
        self.announced = announced
        broken = [lost.line for lost in readings.broken]
        if not len(cycles["line"]):
            self.broken += len(broken)
            self.gap = self.gap or bool(readings.gaps)
            return
        self.run, self.number = int(cycles["run"][-1]), int(cycles["number"].data[-1])
        self.at_seconds = float(cycles["at_seconds"][-1])
        self.broken = sum(line > cycles["line"][-1] for line in broken)
        self.gap = any(line > cycles["line"][-1] for line in readings.gaps)


def lay_out(
    readings: Readings, unwrapped: Unwrapped, so_far: LogSoFar
) -> tuple[GcTraceColumns, list[Damage]]:
    """Build columns in the log's order, with run numbers; return them and the damage."""
    source = so_far.source
    cycles = _gather(readings.lines("gc"))
    scavenges = _gather(readings.lines("scav") + readings.lines("scvg"))
    pacer = _gather(readings.lines("pacer"))
    cycles["run"] = _runs(cycles, so_far)
    cycles["periodic"], announced = _periodic(cycles, readings.lines("gc-forced"), so_far)
    for events in (scavenges, pacer):
        _place(events, cycles, so_far)
    damage = _broken_lines(readings, unwrapped, source)
    damage += _impossible_durations(cycles, unwrapped, source)
    damage += _missing_cycles(cycles, readings, unwrapped, so_far)
    so_far.go_on(cycles, announced, readings)
    so_far.grammars |= set(readings.grammars)
    for events in (cycles, scavenges, pacer):
        events["time"] = unwrapped.times_of(events["line"])
        events["line"] = unwrapped.numbers[events["line"]]
    others = _others(readings, (cycles, scavenges, pacer))
    forms = [grammar for grammar in GRAMMARS if grammar in so_far.grammars]
    return GcTraceColumns(cycles, scavenges, pacer, others, releases(forms)), damage


def _numbers(column: Sequence[bytes], part: Field) -> np.ndarray:
    """Convert printed numbers; integers that do not fit become the largest, which is not a size."""
    if part.kind not in INTEGER_KINDS:
        return np.array([float(number) for number in column])
    largest = np.iinfo(np.int64).max
    return np.array([min(int(number), largest) for number in column], np.int64)


def _gather(groups: Sequence[_Lines]) -> Columns:
    """Merge an event's lines of all forms into columns of base units, in the log's order."""
    lines = np.concatenate([np.empty(0, np.int64), *(group.numbers for group in groups)])
    order = np.argsort(lines, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    columns: Columns = {"line": lines[order], "event": np.empty(len(lines), object)}
    start = 0
    for group in groups:
        rows = place[start : start + len(group.numbers)]
        columns["event"][rows] = group.grammar.event
        for part, values in zip(group.grammar.fields, group.columns, strict=True):
            if part.name != "_":
                _put(columns, part, values, rows)
        for name, flag in group.grammar.flags:
            if name not in columns:
                columns[name] = np.full(len(lines), False if isinstance(flag, bool) else None)
            columns[name][rows] = flag
        start += len(rows)
    return columns


def _put(columns: Columns, part: Field, values: np.ndarray, rows: np.ndarray) -> None:
    """Set a column's values, in base units, in some of its rows."""
    total = len(columns["line"])
    if part.kind in SIZE_BYTES or part.kind in {"n", "i"}:
        if part.name not in columns:
            columns[part.name] = _all_masked(total)
        column, unit = columns[part.name], SIZE_BYTES.get(part.kind, 1)
        no_size_from = NO_SIZE_FROM.get(part.kind, np.iinfo(np.int64).max)
        unknown: Any = False
        if len(values) and values.max() >= no_size_from:
            unknown = values >= no_size_from
            values = np.where(unknown, 0, values)
        np.ma.getdata(column)[rows] = values if unit == 1 else values * unit
        np.ma.getmaskarray(column)[rows] = unknown  # the mask itself, see _all_masked
        return
    if part.name not in columns:
        columns[part.name] = np.full(total, np.nan)
    if part.kind == "ms":
        # Via whole nanoseconds: so the result is the float nearest to the printed number.
        whole = values * 1e6
        np.rint(whole, out=whole)
        whole /= 1e9
        if len(values) and values.max() >= NO_DURATION_FROM_MS:
            whole[values >= NO_DURATION_FROM_MS] = np.inf
        values = whole
    elif part.kind == "%":
        values = values / 100
    columns[part.name][rows] = values


def _all_masked(length: int) -> np.ma.MaskedArray:
    return np.ma.array(np.zeros(length, np.int64), mask=np.ones(length, bool))


def _runs(cycles: Columns, so_far: LogSoFar) -> np.ndarray:
    """Return the process of each collection, from 1; a new one if its number or time goes back."""
    if not len(cycles["line"]):
        return np.empty(0, np.int64)
    number, at = cycles["number"].data, cycles["at_seconds"]
    restarts = (np.diff(number) <= 0) | (np.diff(at) < 0)
    is_first = so_far.number is not None and (
        bool(number[0] <= so_far.number) or bool(at[0] < so_far.at_seconds)
    )
    return so_far.run + np.cumsum(np.concatenate(([is_first], restarts)))


def _periodic(
    cycles: Columns, announced: Sequence[_Lines], so_far: LogSoFar
) -> tuple[np.ndarray, bool]:
    """Mark collections that `GC forced` announced; also return whether one is still to come."""
    # It announces the next collection, unless that one was forced by the program.
    numbers = [np.array([-1])] if so_far.announced else []
    numbers += [lines.numbers for lines in announced]
    periodic = np.zeros(len(cycles["line"]), bool)
    following = np.searchsorted(cycles["line"], np.concatenate([np.empty(0, np.int64), *numbers]))
    periodic[following[following < len(periodic)]] = True
    waits = bool((following == len(periodic)).any())
    return (periodic & ~cycles["forced"] if len(periodic) else periodic), waits


def _place(events: Columns, cycles: Columns, so_far: LogSoFar) -> None:
    """Set the run of each line, and the last collection printed before it."""
    before = np.searchsorted(cycles["line"], events["line"])
    runs = np.concatenate(([so_far.run], cycles["run"]))
    if so_far.number is None and len(cycles["run"]):
        runs[0] = cycles["run"][0]
    cycle_numbers = cycles["number"].data if len(cycles["line"]) else np.empty(0, np.int64)
    numbers = np.concatenate(([so_far.number or 0], cycle_numbers))
    events["run"] = runs[before]
    none = (before == 0) & (so_far.number is None)
    events["after_cycle"] = np.ma.array(numbers[before], mask=none)


def _others(readings: Readings, events: Sequence[Columns]) -> dict[str, int]:
    """Count lines that are not events, by kind; the remaining lines are the program's."""
    counted = {event: readings.lines(event) for event in ("gc-forced", "scan")}
    others = {event: sum(len(lines.numbers) for lines in of) for event, of in counted.items()}
    others |= readings.others
    read = sum(len(columns["line"]) for columns in events) + sum(others.values())
    others["broken"] = len(readings.broken)
    # Two events can share a line, so the count is inexact in a log that lost newlines.
    others["program"] = max(0, readings.lines_done - read - len(readings.broken))
    return {kind: lines for kind, lines in others.items() if lines}


def _broken_lines(readings: Readings, unwrapped: Unwrapped, source: str) -> list[Damage]:
    """Return damage for runtime lines that cannot be parsed."""
    what = "a line of the collector's that is torn, or of no known release"
    placed = ((unwrapped.place_of(lost.line), lost.text) for lost in readings.broken)
    return [Damage(source, place, what, excerpt(text)) for place, text in placed]


def _impossible_durations(cycles: Columns, unwrapped: Unwrapped, source: str) -> list[Damage]:
    """Set impossible durations to unknown; return them as damage."""
    damage = []
    for name, values in cycles.items():
        if values.dtype.kind == "f" and np.isinf(values).any():
            for line in cycles["line"][np.isinf(values)]:
                what = f"{name} is more than {NO_DURATION_FROM_MS / 1000:.0f} s; left unknown"
                damage.append(Damage(source, unwrapped.place_of(int(line)), what))
            values[np.isinf(values)] = np.nan
    return damage


def _missing_cycles(
    cycles: Columns, readings: Readings, unwrapped: Unwrapped, so_far: LogSoFar
) -> list[Damage]:
    """Return damage for skipped collection numbers that nothing explains."""
    # Broken lines can explain them, and so can a note that lines are left out. A log can begin
    # late, so nothing is missing before the first collection of its first run.
    if not len(cycles["line"]):
        return []
    number, line, run = cycles["number"].data, cycles["line"], cycles["run"]
    earlier = number[0] - 1 if so_far.number is None else so_far.number
    previous = np.concatenate(([earlier], number[:-1]))
    previous[np.diff(run, prepend=so_far.run) > 0] = 0
    broken, gaps = np.sort([lost.line for lost in readings.broken]), np.sort(readings.gaps)
    damage = []
    for row in np.flatnonzero(number - previous > 1):
        first, last = int(previous[row]) + 1, int(number[row]) - 1
        since = line[row - 1] if row else -1
        noted = int(np.diff(np.searchsorted(broken, [since, line[row]], side="right"))[0])
        noted += 0 if row else so_far.broken
        is_left_out = bool(np.diff(np.searchsorted(gaps, [since, line[row]]))[0])
        is_left_out = is_left_out or (not row and so_far.gap)
        if noted < last - first + 1 and not is_left_out:
            which = f"collection {first}" if first == last else f"collections {first} to {last}"
            what = f"{which} of run {run[row]} not found before this line"
            damage.append(Damage(so_far.source, unwrapped.place_of(int(line[row])), what))
    return damage
