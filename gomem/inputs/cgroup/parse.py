"""A cgroup's memory files, version 1 or 2: a single number, or one number per line.

Printed by    mm/memcontrol.c of the kernel, as /sys/fs/cgroup/<group>/memory.*.
Described in  the kernel's admin-guide/cgroup-v2.rst and admin-guide/cgroup-v1/memory.rst.
Quirks        A single-number file has only the number, so only its name identifies it.
              Version 2 writes `max` for no limit; version 1 writes its largest number of whole
              pages.
              memory.stat is in bytes, except for the counts of faults, scans and the like.
              Version 1's plain fields cover the group alone; total_* also include the groups below.
              The charge lags behind the process, because the kernel batches it per CPU.
              memory.pressure and memory.numa_stat have `name key=number …`. The averages of
              pressure are left out, because its total, in microseconds, has the same information.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from gomem.errors import Damage, excerpt

NO_LIMIT_V1 = (2**63 - 1) // 65536 * 65536  # rounded to pages of up to 64 KiB
UNLIMITED = b"max"
MAX_COUNT = 2**63  # the kernel's counters hold less

_SINGLE = (
    *("current", "max", "high", "low", "min", "peak"),
    *("swap.current", "swap.max", "swap.high", "swap.peak", "zswap.current", "zswap.max"),
    *("usage_in_bytes", "limit_in_bytes", "max_usage_in_bytes", "soft_limit_in_bytes", "failcnt"),
    *(f"{kind}.usage_in_bytes" for kind in ("kmem", "kmem.tcp", "memsw")),
    *(f"{kind}.limit_in_bytes" for kind in ("kmem", "kmem.tcp", "memsw")),
    *(f"{kind}.max_usage_in_bytes" for kind in ("kmem", "kmem.tcp", "memsw")),
    *(f"{kind}.failcnt" for kind in ("kmem", "kmem.tcp", "memsw")),
    *("oom.group", "swappiness", "use_hierarchy", "move_charge_at_immigrate"),
)
_VERSION_1_NUMBERS = frozenset(name for name in _SINGLE if name.endswith("_in_bytes"))
_OWN_NAMES = ("stat", "events", "oom_control")  # these fields get no file name prefix
_TABLES = (*_OWN_NAMES, "events.local", "swap.events", "numa_stat", "pressure")
USED = ("memory.current", "memory.usage_in_bytes")  # the whole charge, of v2 and of v1
_NAMES = "|".join(re.escape(name) for name in sorted((*_SINGLE, *_TABLES), key=len, reverse=True))
NAME = re.compile(rf"memory\.({_NAMES})(?![\w])")
SINGLE_FILE = re.compile("|".join(re.escape(name) for name in _SINGLE).encode("ascii"))
ELIDED = re.compile(rb"(?:\.{3,}|\[\.{3}\]|\xe2\x80\xa6)")
NUMBER = re.compile(rb"(?:\d{1,20}|max)\s*")
LINE = re.compile(rb"([a-z][a-z0-9_]*) (\d{1,20}|max)")
PAIRS = re.compile(rb"([a-z][a-z0-9_]*)(=\d{1,20})?((?: \w+=[\d.]{1,20})+)")
# Fields that identify a file whose name is unknown.
KNOWN_BY = {"oom_kill_disable": "memory.oom_control", "low": "memory.events"}
# Fields that identify a piece of memory.stat: no other file has several of them.
STAT_FIELDS = frozenset(
    b"kernel_stack pagetables sock shmem file_mapped file_dirty file_writeback anon_thp "
    b"inactive_anon active_anon inactive_file active_file unevictable slab_reclaimable "
    b"slab_unreclaimable pgfault pgmajfault".split()
)
MIN_STAT_FIELDS = 5
# Version 1's totals, which include the groups below; no other file has them, so they are recognised
# anywhere.
_TOTALS = (
    rb"cache rss rss_huge mapped_file swap inactive_anon active_anon inactive_file active_file "
    rb"unevictable"
)
IN_PROSE = re.compile(
    rb"(?<![\w.-])(total_(?:" + _TOTALS.replace(b" ", b"|") + rb"))"
    rb"[\"'`*]*(?:\s*[:=]\s*|[ \t]+)[\"'`*]*(\d{1,19})(?![\w.%])"
)
# Docker's API has the charge and the limit next to memory.stat, under its own names.
MEMORY_STATS = re.compile(rb'"memory_stats"\s{0,9}:\s{0,9}\{')
_IN_JSON = re.compile(rb'"([a-z][a-z0-9_]{1,40})"\s{0,9}:\s{0,9}(\d{1,19})(?![\d.])')
_BY_DOCKER = {
    "usage": "memory.usage_in_bytes",
    "max_usage": "memory.max_usage_in_bytes",
    "limit": "memory.limit_in_bytes",
    "failcnt": "memory.failcnt",
}
FIRST_FIELDS = (b"anon ", b"cache ", b"low ", b"oom_kill_disable ")


@dataclass(frozen=True, slots=True)
class CgroupFile:
    """One memory file of a cgroup."""

    file: str  # such as `memory.stat`; if the name is unknown, inferred from the fields
    # By field; prefixed with the file name if another file has the same field. A file with a single
    # number has the file name as its key. None means no limit.
    values: dict[str, int | None]

    @property
    def kind(self) -> str:
        """The slot in a moment that this file fills."""
        return self.file


def file_of(name: str) -> str | None:
    """Return the cgroup file name in a path's last part, such as `memory.stat`; None if none."""
    found = NAME.search(PurePosixPath(name).name)
    return found[0] if found else None


def looks_like_cgroup(data: bytes, name: str = "") -> bool:
    """Whether it is a cgroup file: a table is known by its fields, a number needs its file name."""
    first = data.split(b"\n", 1)[0].strip()
    if data.startswith(FIRST_FIELDS) and LINE.fullmatch(first):
        return True
    file = file_of(name)
    if file is None:
        return _is_of_stat(data)
    if file.removeprefix("memory.") in _SINGLE:
        return NUMBER.fullmatch(data) is not None
    return LINE.fullmatch(first) is not None or PAIRS.fullmatch(first) is not None


def has_totals(data: bytes) -> bool:
    """Whether any text contains a total of version 1's memory.stat."""
    return b"total_" in data and IN_PROSE.search(data[: 1 << 16]) is not None


def has_memory_stats(data: bytes) -> bool:
    """Whether a text contains the `memory_stats` of Docker's API."""
    return b'"memory_stats"' in data and bool(of_memory_stats(data).values)


def of_memory_stats(data: bytes) -> CgroupFile:
    """Parse `memory_stats` of Docker's API; fields get the kernel's names."""
    begun = MEMORY_STATS.search(data[: 1 << 16])
    if begun is None:
        return CgroupFile("memory.stat", {})
    depth, stop = 1, len(data)
    for mark in re.finditer(rb"[{}]", data[begun.end() : begun.end() + (1 << 14)]):
        depth += 1 if mark[0] == b"{" else -1
        if not depth:
            stop = begun.end() + mark.end()
            break
    found = _IN_JSON.findall(data[begun.end() : stop])
    values = ((name.decode("ascii"), number_of(size)) for name, size in found)
    return CgroupFile("memory.stat", {_BY_DOCKER.get(name, name): size for name, size in values})


def totals_in_prose(data: bytes) -> CgroupFile:
    """Return the last value of each version 1 total in a text."""
    found = ((name.decode("ascii"), number_of(size)) for name, size in IN_PROSE.findall(data))
    return CgroupFile("memory.stat", dict(found))


def _is_of_stat(data: bytes) -> bool:
    """Whether a text is part of a memory.stat without its first field."""
    head = data[: 1 << 12].lstrip()
    if LINE.fullmatch(head.split(b"\n", 1)[0].strip()) is None:
        return False
    lines = [line.strip() for line in head.split(b"\n")[:-1] if line.strip()]
    fields = [found[1] for line in lines if (found := LINE.fullmatch(line))]
    return len(fields) == len(lines) and len(STAT_FIELDS.intersection(fields)) >= MIN_STAT_FIELDS


def parse_cgroup(data: bytes, *, source: str) -> tuple[CgroupFile, list[Damage]]:
    """Parse one file; lines other than `name number` become damage."""
    file = file_of(source)
    if file is not None and NUMBER.fullmatch(data):
        return CgroupFile(file, {file: number_of(data.strip())}), []
    values: dict[str, int | None] = {}
    damage: list[Damage] = []
    lines = data.split(b"\n")
    for number, line in enumerate(lines, start=1):
        if ELIDED.fullmatch(line.strip()):
            continue  # lines were left out here
        fields = fields_of(line.strip())
        is_whole = number < len(lines)  # the kernel ends every line
        if fields and is_whole:
            values |= fields
        elif line.strip():
            what = "not a line of a control group's file; wanted `name number`"
            if fields:
                what = "the last line has no end, so its number may be cut; copy the file again"
            damage.append(Damage(source, f"line {number}", what, excerpt(line)))
    if file is None:
        file = next((file for field, file in KNOWN_BY.items() if field in values), "memory.stat")
    return CgroupFile(file, named_as(file.removeprefix("memory."), values)), damage


def named_as(short: str, values: dict[str, int | None]) -> dict[str, int | None]:
    """Return the fields of a table by the names that tell the cgroup's files apart.

    A script can print files of version 1 with a single number among the lines of memory.stat.
    """
    before = "" if short in _OWN_NAMES else f"{short}."
    return {
        f"memory.{name}" if not before and name in _VERSION_1_NUMBERS else f"{before}{name}": value
        for name, value in values.items()
    }


def fields_of(line: bytes) -> dict[str, int | None]:
    """Parse the numbers of one line; empty if the line has neither form."""
    if match := LINE.fullmatch(line):
        return {match[1].decode("ascii"): number_of(match[2])}
    pairs = PAIRS.fullmatch(line)
    if pairs is None:
        return {}
    name = pairs[1].decode("ascii")
    found = {} if pairs[2] is None else {name: int(pairs[2][1:])}
    for pair in pairs[3].split():
        key, _, number = pair.partition(b"=")
        if number.isdigit():
            found[f"{name}.{key.decode('ascii', 'replace')}"] = int(number)
    return dict(found) if all(value < MAX_COUNT for value in found.values()) else {}


def number_of(text: bytes) -> int | None:
    """Return a number of the kernel's; None for no limit."""
    return None if text == UNLIMITED or int(text) >= NO_LIMIT_V1 else int(text)
