"""The lines of the collector, the scavenger and the pacer in every release, as one table.

Printed by    gcMarkTermination and dumpScanStats (mgc.go), printScavTrace (mgcscavenge.go),
              the old scavenger (mheap.go), the pacer (mgcpacer.go, mgc.go before 1.17), the sweeper
              (mgcsweep.go) and the forced-collection helper (proc.go) of Go's runtime.
Notation      A grammar is the line itself, with a field in place of each number: `{name:kind}`.
              Fields become columns of that name; `_` is parsed and dropped. The runtime writes a
              line in pieces, and another writer's text can appear only between two of them. Pieces
              are separated before and after each number, and where the grammar has a `¦`.
Kinds         n count; i signed count; B, MB and KiB sizes, the latter two rounded down by the
              runtime; s seconds with three decimals; ms milliseconds; % whole percent; x a float
              as the runtime prints it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, cached_property

from gomem.units import KIB, MIB

Release = tuple[int, int]

OLDEST: Release = (1, 5)
# the newest release checked; a grammar up to it also holds for later releases
NEWEST: Release = (1, 27)

KINDS = {
    "n": rb"[0-9]{1,18}",
    "i": rb"[+-]?[0-9]{1,18}",
    "B": rb"[0-9]{1,20}",
    "MB": rb"[0-9]{1,18}",
    "KiB": rb"[0-9]{1,18}",
    "s": rb"[0-9]{1,12}\.[0-9]{3}",
    "ms": rb"[0-9]{1,18}(?:\.[0-9]{1,9})?",
    "%": rb"[0-9]{1,18}",
    "x": rb"(?:[+-]?(?:[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?|Inf)|NaN)",
}
INTEGER_KINDS = frozenset({"n", "i", "B", "MB", "KiB", "%"})
SIZE_BYTES = {"B": 1, "MB": MIB, "KiB": KIB}

NUMBER_BYTES = b"0123456789."
_FIELD = re.compile(r"\{(\w+):(n|i|B|MB|KiB|s|ms|%|x)\}")
_SEPARATORS = b"@%+/>,s"


@dataclass(frozen=True)
class Field:
    """A number in a line: the column that it becomes, and its printed form."""

    name: str
    kind: str


@dataclass(frozen=True)
class Grammar:
    """One form of one type of line."""

    event: str  # `gc`, `scav`, `scvg`, `pacer`, or a type of line that is only counted
    text: str  # the line in the notation above, without its newline
    since: Release  # first release that prints it
    until: Release  # last release that prints it
    flags: tuple[tuple[str, bool | str], ...] = ()  # columns with a fixed value in this form

    @cached_property
    def parts(self) -> tuple[bytes | Field, ...]:
        """The literals (as the runtime writes them) and fields, in order."""
        parts: list[bytes | Field] = []
        end = 0
        for match in _FIELD.finditer(self.text):
            parts += _literals(self.text[end : match.start()])
            parts.append(Field(match[1], match[2]))
            end = match.end()
        return (*parts, *_literals(self.text[end:]))

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """The line's fields, in order."""
        return tuple(part for part in self.parts if isinstance(part, Field))

    @cached_property
    def literals(self) -> tuple[bytes, ...]:
        """The text between the fields, in order."""
        return tuple(part for part in self.parts if isinstance(part, bytes))

    @cached_property
    def pattern(self) -> re.Pattern[bytes]:
        """Pattern for the line without its newline; one group per field."""
        return re.compile(self._regex(b"(", b")"))

    @cached_property
    def line_regex(self) -> str:
        """Pattern for the line with its newline, in the syntax that RE2 and Python share."""
        return "^" + self._regex(b"", b"").decode() + "\r?\n$"

    @cached_property
    def marked(self) -> bytes:
        """The line with its numbers replaced by the marker: the key of the form."""
        marks = {"s": b"0.0"}
        return b"".join(
            marks.get(part.kind, b"0") if isinstance(part, Field) else part for part in self.parts
        )

    @cached_property
    def is_columnar(self) -> bool:
        """Whether all lines of the form are equal when marked: signs and exponents prevent that."""
        return not any(field.kind in {"x", "i", "B"} for field in self.fields)

    @property
    def is_only_counted(self) -> bool:
        """Whether all of its numbers are dropped."""
        return all(field.name == "_" for field in self.fields)

    @cached_property
    def separators(self) -> bytes:
        """Characters of the line to replace by CSV separators, so that each number is a column."""
        for separators in (_SEPARATORS, _SEPARATORS + b" "):
            if all(cell.count(b"0") <= 1 for cell in self._cells(separators)):
                return separators
        raise ValueError(f"numbers of this line cannot be told apart: {self.text}")

    @cached_property
    def csv_columns(self) -> tuple[Field | None, ...]:
        """The field of each CSV column; None for an empty column."""
        fields = iter(self.fields)
        return tuple(next(fields) if cell else None for cell in self._cells(self.separators))

    def to_csv(self, lines: bytes) -> bytes:
        """Convert lines of this form to a CSV of their numbers."""
        table, unwanted = _csv_translation(self.separators)
        return lines.translate(table, unwanted)

    def _cells(self, separators: bytes) -> list[bytes]:
        line = b"".join(b"0" if isinstance(part, Field) else part for part in self.parts)
        table, unwanted = _csv_translation(separators)
        return line.translate(table, unwanted).split(b",")

    def _regex(self, before: bytes, after: bytes) -> bytes:
        return b"".join(
            before + KINDS[part.kind] + after if isinstance(part, Field) else re.escape(part)
            for part in self.parts
        )


def _literals(text: str) -> list[bytes]:
    return [piece.encode() for piece in text.split("¦") if piece]


@cache
def _csv_translation(separators: bytes) -> tuple[bytes, bytes]:
    table = bytes.maketrans(separators, b"," * len(separators))
    kept = set(NUMBER_BYTES + separators + b"\n")
    return table, bytes(byte for byte in range(256) if byte not in kept)


_GC = "gc {number:n} @{at_seconds:s}s {gc_cpu_since_start_fraction:%}%"
_LEAKS = "¦ (checking for goroutine leaks)"
_MARKED = "+{mark_seconds:ms}+{mark_termination_seconds:ms} ms clock, "
_CLOCK = "¦: {sweep_termination_seconds:ms}" + _MARKED
_SCAN = "+{scan_seconds:ms}+{write_barrier_seconds:ms}"
_CLOCK_1_5 = "¦: {sweep_termination_seconds:ms}" + _SCAN + _MARKED
_CPU_MARK = "+{cpu_assist_seconds:ms}/{cpu_background_seconds:ms}/{cpu_idle_seconds:ms}"
_CPU_END = "+{cpu_mark_termination_seconds:ms} ms cpu, "
_CPU = "{cpu_sweep_termination_seconds:ms}" + _CPU_MARK + _CPU_END
# The third number is a constant 0, which the release prints for its write-barrier phase.
_CPU_1_5 = "{cpu_sweep_termination_seconds:ms}+{cpu_scan_seconds:ms}+{_:ms}" + _CPU_MARK + _CPU_END
_HEAP = (
    "{heap_at_start_bytes:MB}->{heap_at_mark_end_bytes:MB}->{heap_live_bytes:MB} MB, "
    "{heap_goal_bytes:MB} MB goal, "
)
_SCANNED = "{stacks_bytes:MB} MB stacks, {globals_bytes:MB} MB globals, "
_PROCESSORS = "{gomaxprocs:n} P"
_FORCED = "¦ (forced)"


def _gc(text: str, since: Release, until: Release, *, leaks: bool = False) -> list[Grammar]:
    return [
        Grammar("gc", text + tail, since, until, (("forced", bool(tail)), ("leak_check", leaks)))
        for tail in ("", _FORCED)
    ]


_GC_LINES = [
    *_gc(_GC + _CLOCK_1_5 + _CPU_1_5 + _HEAP + _PROCESSORS, (1, 5), (1, 5)),
    *_gc(_GC + _CLOCK + _CPU + _HEAP + _PROCESSORS, (1, 6), (1, 17)),
    *_gc(_GC + _CLOCK + _CPU + _HEAP + _SCANNED + _PROCESSORS, (1, 18), NEWEST),
    *_gc(
        _GC + _LEAKS + _CLOCK + _CPU + _HEAP + _SCANNED + _PROCESSORS, (1, 26), NEWEST, leaks=True
    ),
]

_WORK = "{released_bytes:KiB} KiB work, {released_total_bytes:KiB} KiB total, "
_WORK_1_21 = (
    "{released_background_bytes:KiB} KiB work (bg), {released_eager_bytes:KiB} KiB work (eager), "
    "{released_total_bytes:KiB} KiB now, "
)
_UTILISATION = "{utilisation_fraction:%}% util"
_RESET = "¦ [controller reset]"


def _scav(text: str, since: Release, until: Release, reset_since: Release) -> list[Grammar]:
    tails = (("", since), (_FORCED, since), (_RESET, max(since, reset_since)))
    flags = (
        (("forced", tail == _FORCED), ("controller_reset", tail == _RESET)) for tail, _ in tails
    )
    return [
        Grammar("scav", text + tail, begin, until, said)
        for (tail, begin), said in zip(tails, flags, strict=True)
    ]


# The form without a generation is printed by 1.14, 1.19 and 1.20. A grammar has only one range, so
# it includes the releases in between, unless the tail is that of 1.19 or later.
_SCAV_LINES = [
    *_scav("scav " + _WORK + _UTILISATION, (1, 14), (1, 20), (1, 19)),
    *_scav("scav {generation:n} " + _WORK + _UTILISATION, (1, 15), (1, 18), (1, 18)),
    *_scav("scav " + _WORK_1_21 + _UTILISATION, (1, 21), NEWEST, (1, 21)),
]

_SCVG_RELEASED = ": {released_bytes:MB} MB released"
_SCVG_RELEASED_KB = ": {released_bytes:KiB} KB released"  # betas of 1.13
_SCVG_HEAP = (
    ": inuse: {heap_inuse_bytes:MB}, idle: {heap_idle_bytes:MB}, sys: {heap_sys_bytes:MB}, "
    "released: {released_total_bytes:MB}, consumed: {consumed_bytes:MB} (MB)"
)


def _scvg(begin: str, since: Release, until: Release, *, forced: bool) -> list[Grammar]:
    return [
        Grammar("scvg", begin + text, since, until, (("forced", forced),))
        for text in (_SCVG_RELEASED, _SCVG_HEAP)
    ]


_SCVG_LINES = [
    *_scvg("scvg{generation:n}", OLDEST, (1, 12), forced=False),
    *_scvg("scvg-{_:n}", OLDEST, (1, 12), forced=True),
    *_scvg("scvg", (1, 13), (1, 13), forced=False),
    *_scvg("forced scvg", (1, 13), (1, 13), forced=True),
    Grammar("scvg", "scvg" + _SCVG_RELEASED_KB, (1, 13), (1, 13), (("forced", False),)),
    Grammar("scvg", "forced scvg" + _SCVG_RELEASED_KB, (1, 13), (1, 13), (("forced", True),)),
]

_ASSIST = (
    "pacer: assist ratio={assist_ratio:x} (scan {scan_bytes:MB} MB in {heap_at_start_bytes:MB}->"
    "{heap_goal_bytes:MB} MB)¦ workers={dedicated_workers:n}+"
)
_GOAL = (
    "pacer: H_m_prev={H_m_prev:B} h_t={h_t:x} H_T={H_T:B} h_a={h_a:x} H_a={H_a:B} h_g={h_g:x} "
    "H_g={H_g:B} u_a={u_a:x} u_g={u_g:x} W_a={W_a:B} goalΔ={goalΔ:x} "
    "actualΔ={actualΔ:x} u_a/u_g={u_a_over_u_g:x}"
)
_SWEEP = "pacer: sweep done at heap size {heap_live_bytes:MB}MB; allocated {allocated_bytes:MB}MB "
_SWEPT = "; swept {swept_pages:n} pages"
_SWEPT_RATE = _SWEPT + " at {pages_per_byte:x} pages/byte"
_CYCLE = (
    "pacer: {cpu_fraction:%}% CPU ({cpu_goal_fraction:%} exp.) for ¦{heap_work_bytes:B}"
    "+{stack_work_bytes:B}+{globals_work_bytes:B} B work ({expected_work_bytes:B} B exp.) ¦in "
    "{trigger_bytes:B} B -> {heap_live_bytes:B} B (∆goal {goal_miss_bytes:i}, "
    "cons/mark {cons_mark_ratio:x})"
)


def _pacer(kind: str, text: str, since: Release, until: Release, *, reset: bool = False) -> Grammar:
    return Grammar("pacer", text, since, until, (("kind", kind), ("controller_reset", reset)))


_PACER_LINES = [
    _pacer("assist", _ASSIST + "{fractional_workers:x}", OLDEST, NEWEST),
    _pacer("goal", _GOAL, OLDEST, (1, 17)),
    _pacer("sweep", _SWEEP + "of spans" + _SWEPT, (1, 6), (1, 7)),
    _pacer("sweep", _SWEEP + "of spans" + _SWEPT_RATE, (1, 8), (1, 8)),
    _pacer("sweep", _SWEEP + "during sweep" + _SWEPT_RATE, (1, 9), NEWEST),
    _pacer("cycle", _CYCLE, (1, 18), NEWEST),
    _pacer("cycle", _CYCLE + "¦[controller reset]", (1, 18), (1, 19), reset=True),
]

# gctrace=2: scan statistics per size class. Counted, not kept.
_OBJECTS = "{_:n}+{_:n}+{_:n}={_:n} objs, {_:n}+{_:n}={_:n} spans"
_SCAN_LINES = [
    Grammar("scan", begin + text, since, NEWEST)
    for begin in ("scan: total ", "scan: class L ", "scan: class {_:n}B ")
    for text, since in (("{_:n} objs", (1, 25)), (_OBJECTS, (1, 26)))
]

GRAMMARS: tuple[Grammar, ...] = (
    *(*_GC_LINES, *_SCAV_LINES, *_SCVG_LINES, *_PACER_LINES, *_SCAN_LINES),
    Grammar("gc-forced", "GC forced", OLDEST, NEWEST),
)


def releases(grammars: list[Grammar]) -> tuple[Release, Release] | None:
    """Return the first and last release that print all of these forms; None if no release does."""
    since = max((grammar.since for grammar in grammars), default=OLDEST)
    until = min((grammar.until for grammar in grammars), default=NEWEST)
    return (since, until) if since <= until else None
