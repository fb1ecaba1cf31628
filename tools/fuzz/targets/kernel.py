"""The kernel's files: smaps and its like, pmap, status, statm, limits, control groups, environ."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from gomem.inputs.cgroup.parse import looks_like_cgroup, parse_cgroup
from gomem.inputs.environ.parse import looks_like_environ, parse_environ
from gomem.inputs.limits.parse import looks_like_limits, parse_limits
from gomem.inputs.processes.parse import looks_like_processes, parse_processes
from gomem.inputs.smaps.parse import (
    _entries_one_by_one,
    _uniform,
    kind_of_mappings,
    parse_smaps,
)
from gomem.inputs.smaps.pmap import looks_like_pmap, parse_pmap
from gomem.inputs.status.parse import looks_like_statm, looks_like_status, parse_statm, parse_status
from tools.fuzz import mutations, seeds
from tools.fuzz.second_readers import (
    ADDRESSES,
    KIB,
    LIMIT,
    MAPPING,
    NUMBER,
    found_in,
    is_within,
    lines_of,
)
from tools.fuzz.target import SOURCE, Target, parsed, wanted

if TYPE_CHECKING:
    from gomem.inputs.smaps.parse import Mappings

STATUS_KIB = 1 << 10
ENTRY = b"VmFlags:"


def check_smaps(data: bytes) -> None:
    """Headers in their order, the sum of Rss, and both ways to read a file that has one shape."""
    if kind_of_mappings(data) is None:
        return
    mappings, damage = parsed(parse_smaps, data)
    headers = [line for line in lines_of(data) if ADDRESSES.match(line)]
    starts = [int(line.partition(b"-")[0], 16) for line in headers]
    if all(first < second for first, second in pairwise(starts)):
        pairs = [(int(line[1], 16), int(line[2], 16)) for line in found_in(MAPPING, data)]
        rows = zip(mappings.start.tolist(), mappings.end.tolist(), strict=True)
        wanted(is_within(pairs, rows), "a mapping is lost", pairs)
        _sums_hold(data, mappings, has_damage=bool(damage))
    _both_ways(data, mappings)


def _sums_hold(data: bytes, mappings: Mappings, *, has_damage: bool) -> None:
    for name in (b"Rss", b"Size", b"Swap"):
        # A header whose line end is lost has the field behind it.
        begin = re.compile(rb"(?:" + MAPPING.pattern + rb"?)?(?<!\w)(?=" + name + rb":\s*\d)")
        found = [(line, begin.match(line)) for line in lines_of(data)]
        lines = [line[match.end() :] for line, match in found if match]
        known = [match for line in lines if (match := KIB.fullmatch(line))]
        total = sum(int(match[2]) << 10 for match in known)
        column = mappings.fields.get(name.decode())
        mine = 0 if column is None else int(column.filled(0).sum(dtype=object))
        wanted(mine >= total, f"the sum of {name.decode()} is short", mine, total)
        if len(known) == len(lines) and not has_damage:
            wanted(mine == total, f"the sum of {name.decode()}", mine, total)
        wanted(has_damage or len(known) == len(lines) or mine > total, "a size is lost", name)


def _both_ways(data: bytes, mappings: Mappings) -> None:
    data = b"\n".join(lines_of(data))
    if not data.endswith(b"\n") or _uniform(data) is None:
        return
    fast = _uniform(data)
    slow, damage = _entries_one_by_one(data.split(b"\n")[:-1], SOURCE)
    assert fast is not None
    wanted(not damage, "damage where all entries have one shape", damage[:1])
    for column in ("start", "end", "offset", "inode", "line"):
        same = np.array_equal(getattr(fast, column), getattr(slow, column))
        wanted(same, "the two ways to read smaps differ", column)
    for column in ("perms", "device", "path", "flags"):
        wanted(getattr(fast, column) == getattr(slow, column), "the two ways differ", column)
    wanted(fast.fields.keys() == slow.fields.keys(), "the two ways differ", "fields")
    for name, values in fast.fields.items():
        wanted(np.ma.allequal(values, slow.fields[name]), "the two ways differ", name)
    wanted(len(mappings.start) <= len(fast.start), "more mappings than headers")


def check_pmap(data: bytes) -> None:
    """Columns of one length, and no size below nothing."""
    if not looks_like_pmap(data):
        return
    mappings, _ = parsed(parse_pmap, data)
    lengths = {len(mappings.start), len(mappings.end), len(mappings.perms), len(mappings.path)}
    wanted(len(lengths) == 1, "columns of several lengths", lengths)
    for name, values in mappings.fields.items():
        wanted(len(values) == len(mappings.start), "a field of another length", name)
        wanted(bool((values.filled(0) >= 0).all()), "a size below nothing", name)


def check_status(data: bytes) -> None:
    """The first size of each field counts; a line of another form is damage."""
    if not looks_like_status(data):
        return
    status, damage = parsed(parse_status, data)
    first: dict[str, int] = {}
    for line in data.splitlines():
        name = line.partition(b":")[0].decode("ascii", "replace")
        match = KIB.fullmatch(line)
        if name.startswith("Vm") and match:
            first.setdefault(name, int(match[2]) * STATUS_KIB)
    for name, size in first.items():
        same = status.sizes.get(name) == size
        wanted(same or bool(damage), "a size", name, size, status.sizes.get(name))
    lines = [line for line in data.splitlines() if line.strip()]
    foreign = [line for line in lines if b":" not in line and b"=" not in line]
    wanted(len(damage) >= len(foreign), "a foreign line is no damage", foreign)


def check_statm(data: bytes) -> None:
    """Seven numbers of pages, as Python reads them."""
    if looks_like_statm(data):
        pages, _ = parsed(parse_statm, data)
        wanted(pages == [int(number) for number in data.split()], "pages", pages)


def check_limits(data: bytes) -> None:
    """A row for each line of the kernel's form, damage for each other."""
    if not looks_like_limits(data):
        return
    limits, damage = parsed(parse_limits, data)
    mine = [(limit.name.rstrip().encode(), limit.soft, limit.hard) for limit in limits]
    rows = [
        (match[1].rstrip(), *(_limit(match[number]) for number in (2, 3)))
        for match in found_in(LIMIT, data.replace(b"\r", b"\n"))
    ]
    wanted(is_within(rows, mine), "a limit is lost", rows, mine)
    wanted(len(mine) + len(damage) >= len(data.splitlines()) - 1, "a line is lost", mine)


def _limit(word: bytes) -> int | None:
    return None if word == b"unlimited" else int(word)


def check_cgroup(data: bytes) -> None:
    """The last number of each field, of a memory.stat whose lines are all whole."""
    if not looks_like_cgroup(data, "memory.stat"):
        return

    def parse(data: bytes, *, source: str) -> Any:
        return parse_cgroup(data, source=f"{source}/memory.stat")

    file, damage = parsed(parse, data)
    whole = data[: data.rfind(b"\n") + 1]
    for match in found_in(NUMBER, whole):
        wanted(match[1].decode() in file.values, "a field is lost", match[0])
    last = {match[1].decode(): int(match[2]) for match in found_in(NUMBER, whole)}
    for name, number in last.items() if not damage and b"\t" not in data else ():
        others = data.count(name.encode())
        wanted(others > 1 or file.values[name] == number, "a number", name, number)


def check_environ(data: bytes) -> None:
    """The runtime's variables as they stand between zero bytes."""
    if not looks_like_environ(data, "environ"):
        return
    variables, _ = parsed(parse_environ, data)
    first = data.split(b"\0")
    for name in ("GOGC", "GOMEMLIMIT"):
        said = [item for item in first if item.startswith(f"{name}=".encode())]
        if len(said) == 1 and b"\n" not in data:
            value = said[0].partition(b"=")[2]
            if value.isalnum():
                wanted(variables.get(name) == value.decode(), "a variable", name, variables)


def check_processes(data: bytes) -> None:
    """Tables of processes, and the OOM killer's lines: read without a failure."""
    if looks_like_processes(data):
        parsed(parse_processes, data)


TARGETS = (
    Target(
        "smaps",
        seeds.all_of(
            seeds.lines("captures/*/*/smaps", "doors/*/smaps.gz", "malformed/smaps/*"),
            seeds.lines("captures/*/*/smaps_rollup", "maps/*.txt"),
        ),
        check_smaps,
        mutations.text,
    ),
    Target(
        "pmap",
        seeds.lines("malformed/pmap/*", "pasted/kernel/*pmap*"),
        check_pmap,
        mutations.text,
    ),
    Target("status", seeds.lines("captures/*/*/status", "malformed/status/*"), check_status,
           mutations.text),
    Target("statm", seeds.lines("captures/*/*/statm"), check_statm, mutations.text),
    Target("limits", seeds.lines("**/limits"), check_limits, mutations.text),
    Target("cgroup", seeds.lines("**/memory.stat", "**/memory.failcnt"), check_cgroup,
           mutations.text),
    Target("environ", seeds.whole("environ/environ", "environ/env.txt"), check_environ,
           mutations.text),
    Target(
        "processes",
        seeds.lines("pasted/kernel/*.txt", "malformed/processes/*", "pasted/forms/*.txt"),
        check_processes,
        mutations.text,
    ),
)  # fmt: skip
