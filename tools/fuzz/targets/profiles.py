"""Profiles: protobuf, heap and counts in text, what pprof printed, folded stacks."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from google.protobuf.message import DecodeError

from gomem.errors import FormatError
from gomem.inputs.pprof.columns import ValueType
from gomem.inputs.pprof.count_text import looks_like_count_text, parse_count_text
from gomem.inputs.pprof.folded import parse_folded
from gomem.inputs.pprof.heap_text import looks_like_heap_text, parse_heap_text
from gomem.inputs.pprof.parse import parse_pprof, starts_like_pprof
from gomem.inputs.pprof.printed.parse import looks_like_printed, parse_printed
from tests import pprof_messages as pb
from tools.fuzz import mutations, seeds
from tools.fuzz.second_readers import (
    COUNTED,
    FOLDED,
    RECORD,
    Profile,
    faults_of,
    found_in,
    is_within,
    lines_of,
)
from tools.fuzz.target import Target, parsed, wanted

if TYPE_CHECKING:
    from gomem.errors import Damage
    from gomem.inputs.pprof.columns import PprofColumns

WORD = 1 << 64
SAMPLES = ValueType("samples", "count")
# Why a profile is refused that protobuf reads: two in one file, and fields that it passes over.
STRICTER = ("a second profile in one file", "which no profile has there", "wanted another")
MAX_SCALED, MAX_COUNT = 2**50, 2**63
ROUNDING = 1e-9


def check_pprof(data: bytes) -> None:
    """What protobuf's own decoder reads: samples, stacks, labels, sums; what it does not, is no."""
    starts_like_pprof(data)
    second = Profile()
    try:
        second.ParseFromString(data)
        fault = faults_of(second)
    except DecodeError:
        fault = "no protobuf message"
    try:
        columns, damage = parsed(parse_pprof, data)
    except FormatError as refused:
        known = fault or any(why in str(refused) for why in STRICTER)
        wanted(bool(known), "a whole profile is refused", str(refused))
        raise
    wanted(not fault, "a profile that is none is read", fault)
    _same(columns, second, damage)


def _same(columns: PprofColumns, second: Any, damage: list[Damage]) -> None:
    texts = [text.decode("utf-8", "backslashreplace") for text in second.string_table]
    wanted(columns.strings == texts, "strings", columns.strings[:9], texts[:9])
    types = [(texts[kind.type], texts[kind.unit]) for kind in second.sample_type]
    wanted([(kind.type, kind.unit) for kind in columns.sample_types] == types, "types", types)
    values = [list(sample.value) for sample in second.sample]
    wanted(columns.value.tolist() == values, "values", columns.value.tolist()[:3], values[:3])
    ids = columns.locations.id.tolist()
    stack = [ids[row] % WORD for row in columns.stack.tolist()]
    named = [place for sample in second.sample for place in sample.location_id]
    wanted(stack == named, "stacks", stack[:9], named[:9])
    ends = [len(sample.location_id) for sample in second.sample]
    lengths = columns.stack_offsets.tolist()
    found = [after - before for before, after in pairwise(lengths)]
    wanted(found == ends, "lengths of stacks", found[:9], ends[:9])
    _same_places(columns, second, damage)
    header = (columns.time_nanos, columns.duration_nanos, columns.period)
    wanted(header == (second.time, second.duration, second.period), "header", header)
    wanted(columns.comments == tuple(texts[text] for text in second.comment), "comments")


def _same_places(columns: PprofColumns, second: Any, damage: list[Damage]) -> None:
    places = columns.locations
    addresses = [row.address for row in second.location]
    wanted(places.address.tolist() == addresses, "addresses", addresses[:9])
    lines = [(line.line, line.column) for row in second.location for line in row.line]
    mine = list(zip(places.line_number.tolist(), places.line_column.tolist(), strict=True))
    wanted(mine == lines, "lines", mine[:9], lines[:9])
    known = {row.id: number for number, row in enumerate(second.function)}
    functions = [known.get(line.function_id, -1) for row in second.location for line in row.line]
    wanted(places.line_function.tolist() == functions, "functions", functions[:9])
    wanted(-1 not in functions or bool(damage), "a function that is missing is no damage")
    labels = [
        (number, label.key, label.str, label.num, label.num_unit)
        for number, row in enumerate(second.sample)
        for label in row.label
    ]
    own = columns.labels
    texts = zip(own.sample.tolist(), own.key.tolist(), own.text.tolist(), own.number.tolist(),
                own.unit.tolist(), strict=True)  # fmt: skip
    wanted(list(texts) == labels, "labels", labels[:5])


def check_heap_text(data: bytes) -> None:
    """Each record of the runtime's form, scaled as the runtime scales it."""
    if not looks_like_heap_text(data):
        return
    heap, damage = parsed(parse_heap_text, data)
    body = data.partition(b"# runtime.MemStats")[0]
    if any(mark in body for mark in (b"MAPPED_LIBRARIES", b"Memory map", b"\r")):
        return
    rate = heap.columns.period
    told = {fault.where for fault in damage}
    rows = []
    for number, line in enumerate(lines_of(body), start=1):
        if record := RECORD.fullmatch(line):
            count, size, of_all, bytes_of_all = map(int, record.groups())
            scaled = _scaled(of_all, bytes_of_all, rate)
            largest = max(*_scaled(count, size, rate), *scaled)
            # What does not fit is told; the reader's bound is at most twice the scaled value.
            if f"line {number}" not in told or 2 * largest < MAX_COUNT:
                rows.append(scaled)
    mine = iter(heap.columns.value[:, :2].tolist())
    for row in rows if all(max(row) < MAX_SCALED for row in rows) else ():
        is_there = any(all(map(_is_near, theirs, row)) for theirs in mine)
        wanted(is_there, "a record is lost", row, rows[:3])


def _scaled(count: int, size: int, rate: int) -> list[int]:
    if not count or not size or rate <= 1:
        return [count, size] if rate <= 1 else [0, 0]
    scale = -1 / math.expm1(-(size / count) / rate)
    return [int(count * scale), int(size * scale)]


def _is_near(ours: int, theirs: int) -> bool:
    return abs(ours - theirs) <= 1 + ROUNDING * abs(theirs)


def check_count_text(data: bytes) -> None:
    """The counts of records of the runtime's form."""
    if not looks_like_count_text(data):
        return
    counted, _ = parsed(parse_count_text, data)
    rows = [int(line[1]) for line in found_in(COUNTED, data)]
    mine = counted.columns.value[:, 0].tolist()
    wanted(is_within(rows, mine), "a record is lost", rows[:9], mine[:9])


def check_printed(data: bytes) -> None:
    """What pprof printed: read without a failure."""
    if looks_like_printed(data):
        printed, _ = parsed(parse_printed, data)
        rows = printed.columns
        wanted(len(rows.value) == len(rows.stack_offsets) - 1, "values without a stack")


def check_folded(data: bytes) -> None:
    """The numbers of lines of the usual form, and their sum."""

    def parse(data: bytes, *, source: str) -> Any:
        return parse_folded(data, source=source, sample_type=SAMPLES)

    columns, _ = parsed(parse, data)
    rows = [int(line[1]) for line in found_in(FOLDED, data)]
    mine = columns.value[:, 0].tolist()
    wanted(is_within(rows, mine), "a stack is lost", rows[:9], mine[:9])


def _made() -> list[bytes]:
    """Profiles written by hand, of few bytes: each has a feature of the encoding."""
    labelled = pb.message(2, pb.packed(1, 1, 2), pb.packed(2, 5), pb.message(3, pb.field(1, 1),
                          pb.field(3, 64), pb.field(4, 2)))  # fmt: skip
    unpacked = pb.message(2, pb.field(1, 1), pb.field(1, 2), pb.field(2, 7))
    mapping = pb.message(3, pb.field(1, 1), pb.field(2, 4096), pb.field(3, 8192), pb.field(5, 5))
    mapped = pb.message(4, pb.field(1, 1), pb.field(2, 1), pb.field(3, 4100),
                        pb.message(4, pb.field(1, 1), pb.field(2, 3)))  # fmt: skip
    two_types = pb.INUSE_SPACE + pb.message(1, pb.field(1, 6), pb.field(2, 2))
    two = pb.message(2, pb.packed(1, 1), pb.packed(2, 3, -4))
    head = pb.field(9, 1700000000000000000) + pb.field(10, 10**9) + pb.field(12, 524288)
    period = pb.message(11, pb.field(1, 6), pb.field(2, 2))
    return [
        pb.profile(pb.sample(1, 2, value=5), pb.sample(2, value=-3)),
        pb.profile(labelled, unpacked) + head + period,
        pb.profile(pb.sample(1, value=5), locations=mapping + mapped),
        pb.profile(two, sample_types=two_types) + pb.packed(13, 3, 4) + pb.field(14, 1),
        pb.profile(*[pb.sample(*[1, 2] * deep, value=deep) for deep in range(9)]),
    ]


TARGETS = (
    Target(
        "pprof",
        seeds.all_of(
            _made, seeds.whole("profiles/*/*.pb.gz", "captures/*/*/heap.pb.gz", most=4096)
        ),
        check_pprof,
        mutations.protobuf,
    ),
    Target(
        "heap_text",
        seeds.lines(
            "doors/*/heap.txt.gz", "profiles/*/heap-*.txt", "pasted/memstats-in-words/heap*"
        ),
        check_heap_text,
        mutations.text,
    ),
    Target(
        "count_text",
        seeds.lines("doors/*/goroutine-1.txt.gz", "pasted/goroutines/*counts*"),
        check_count_text,
        mutations.text,
    ),
    Target("printed", seeds.lines("pasted/pprof-tables/*.txt", "golden/pprof/*/*/*.txt"),
           check_printed, mutations.text),
    Target("folded", lambda: [b"main.main;main.work 120\nmain.main;net/http.(*conn).serve 7\n",
                              b"# folded\nmain.main 1\n\nmain.(*report).wait -3\n"],
           check_folded, mutations.text),
)  # fmt: skip
