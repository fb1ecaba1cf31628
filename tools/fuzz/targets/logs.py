"""Logs and what tools print: gctrace, a program's figures, stacks, benchmarks, load, escapes."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from gomem.inputs.escapes.parse import looks_like_escapes, parse_escapes
from gomem.inputs.gctrace.mixed_lines import has_own_line
from gomem.inputs.gctrace.parse import parse_pieces
from gomem.inputs.gobench.parse import looks_like_gobench, parse_gobench
from gomem.inputs.goroutines.delve import looks_like_dump, parse_dump
from gomem.inputs.loadtest.parse import looks_like_loadtest, parse_loadtest
from gomem.inputs.runtime_lines.parse import looks_like_runtime_lines, parse_runtime_lines
from tools.fuzz import mutations, seeds
from tools.fuzz.second_readers import BENCHMARK, COLLECTION, GOROUTINE, found_in, is_within
from tools.fuzz.target import SOURCE, Target, parsed, wanted

if TYPE_CHECKING:
    from gomem.errors import Damage

DELVE = b"Goroutine "  # what Delve lists beside a dump is read as a list
NANOSECOND = 1e-9
PIECES_EVERY = 8  # executions of the log's reader, for one in pieces


def _log(data: bytes, *places: int) -> tuple[list[tuple[Any, ...]], list[Damage]]:
    """Collections and damage of a log that is read in pieces."""
    ends = [0, *sorted(places), len(data)]
    pieces = [data[begin:end] for begin, end in pairwise(ends)]
    rows: list[tuple[Any, ...]] = []
    damage: list[Damage] = []
    for columns, found in parse_pieces(pieces, source=SOURCE):
        cycles = columns.cycles
        if len(cycles.get("line", ())):
            names = ("line", "run", "number", "heap_goal_bytes", "heap_live_bytes")
            rows += zip(*(cycles[name].tolist() for name in names if name in cycles), strict=True)
        damage += found
    return rows, damage


def check_gctrace(data: bytes) -> None:
    """Each line that stands alone is a collection; in pieces the log is the same."""
    if not has_own_line(data):
        return

    def parse(data: bytes, *, source: str) -> Any:
        del source
        return _log(data)

    rows, damage = parsed(parse, data)
    alone = [int(match[1]) for match in found_in(COLLECTION, data)]
    if not data.lstrip().startswith((b"{", b"[", b"<")) and b"\r" not in data:
        wanted(is_within(alone, [row[2] for row in rows]), "a collection is lost", alone, rows)
    digest = sum(data[:64]) + len(data)
    if digest % PIECES_EVERY == 0 and data:
        places = (digest * 7 % len(data), digest * 31 % len(data))
        again, told = _log(data, *places)
        # Whether a torn line is one that a paste has cut, the lines around it say.
        if not any("torn" in fault.what for fault in (*told, *damage)):
            wanted(again == rows, "in pieces it is another log", places)
            wanted(sorted(map(str, told)) == sorted(map(str, damage)), "other damage", places)


def check_runtime_lines(data: bytes) -> None:
    """A program's own lines: read without a failure."""
    if looks_like_runtime_lines(data):
        parsed(parse_runtime_lines, data)


def check_goroutines(data: bytes) -> None:
    """As many goroutines as there are headers of the runtime's form, or damage."""
    if not looks_like_dump(data):
        return
    dumped, damage = parsed(parse_dump, data)
    found = dumped.goroutines
    headers = 0 if DELVE in data else len(found_in(GOROUTINE, data))
    wanted(bool(damage) or found.total() >= headers, "goroutines", found.total(), headers)
    wanted(min(found.values(), default=1) > 0, "a count of none")


def check_gobench(data: bytes) -> None:
    """Each result line of go test's form is a number of ns/op."""
    if not looks_like_gobench(data):
        return
    bench, _ = parsed(parse_gobench, data)
    measured = bench.measurements
    times = [
        (runs, value)
        for runs, value, unit in zip(
            measured.iterations.tolist(), measured.printed_value.tolist(),
            measured.printed_unit, strict=True,
        )
        if unit == "ns/op"
    ]  # fmt: skip
    lines = [(int(match[1]), float(match[2])) for match in found_in(BENCHMARK, data)]
    wanted(is_within(lines, times), "a result is lost", lines, times)
    for value, printed, unit in zip(
        measured.value.tolist(), measured.printed_value.tolist(), measured.printed_unit, strict=True
    ):
        if unit == "ns/op" and abs(printed) < 1e300:
            wanted(
                abs(value - printed * NANOSECOND) <= abs(value) * 1e-12, "a unit", value, printed
            )


def check_loadtest(data: bytes) -> None:
    """A load generator's report: read without a failure."""
    if looks_like_loadtest(data):
        parsed(parse_loadtest, data)


def check_escapes(data: bytes) -> None:
    """Verdicts: of each place and variable one."""
    if looks_like_escapes(data):
        verdicts, _ = parsed(parse_escapes, data)
        wanted(all(verdict.file for verdict in verdicts), "a verdict without a file")


TARGETS = (
    Target(
        "gctrace",
        seeds.lines(
            "gctrace/plain-*.log", "gctrace/all-*.log", "gctrace/noisy-*.log.gz",
            "malformed/gctrace/*.log", "captures/*/gctrace.log",
        ),
        check_gctrace,
        mutations.text,
    ),
    Target("runtime_lines", seeds.lines("pasted/runtime-lines/*.log"), check_runtime_lines,
           mutations.text),
    Target(
        "goroutines",
        seeds.lines("pasted/goroutines/*.txt", "doors/*/goroutine-2.txt.gz", "doors/*/quit.txt.gz",
                    "pasted/forms/delve*.txt"),
        check_goroutines,
        mutations.text,
    ),
    Target("gobench", seeds.lines("**/bench*.txt", "benchstat/**/*.txt", "pasted/forms/bench*"),
           check_gobench, mutations.text),
    Target("loadtest", seeds.lines("loadtest/*"), check_loadtest, mutations.text),
    Target("escapes", seeds.behind(b"escapes to heap", "escapes/*.txt"), check_escapes,
           mutations.text),
)  # fmt: skip
