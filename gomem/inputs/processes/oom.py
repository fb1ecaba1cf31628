"""What the kernel logs when it kills a process because memory ran out.

Printed by    mm/oom_kill.c and mem_cgroup_print_oom_meminfo, in the kernel's log (dmesg, journald).
Quirks        The task table counts pages; its columns differ by kernel. Without the header, ten
              numbers are those of Linux 6.8 and later, which divides RSS, if the parts add up.
              `Killed process` counts in kB, and splits RSS into two parts, from 4.8 on into three.
              Before 4.20 `Task in A killed as a result of limit of B` names the cgroup, later
              `oom-kill:constraint=…,oom_memcg=B,…`. Without either, the machine was out of memory.
              `memory: usage 65536kB, limit 65536kB, failcnt 7` is always about a cgroup, never
              about the machine.
              The cgroup's counters are one per line, and before 5.3 all on one line, as `rss:12KB`.
              People and terminals wrap the line of the killed process onto further lines.
              dmesg -T prints times in the machine's zone without naming it; UTC is assumed.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import chain, product
from typing import TYPE_CHECKING, TypeAlias

from gomem.errors import Damage, excerpt
from gomem.inputs.cgroup.parse import NO_LIMIT_V1
from gomem.inputs.processes.row import ProcessRow, ProcessTable, Rounded
from gomem.sources.times import parse_date, parse_time
from gomem.units import KIB

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

# A name can have parentheses and blanks of its own, as systemd's `(sd-pam)` has: `((sd-pam))`.
NAMED = re.compile(
    rb"Killed process (?P<pid>\d{1,10}),?(?: UID:? ?\d+,)? \((?P<name>[^\n]{0,64}?)\)(?!\))"
)
KILLED = re.compile(
    NAMED.pattern + rb",?(?: UID:? ?\d+,)?"
    rb"\s{1,99}(?:total-vm|vsz):(?P<vm>\d{1,15})kB,\s{1,99}anon-rss:(?P<anon>\d{1,15})kB"
    rb"(?:,\s{1,99}file-rss:(?P<file>\d{1,15})kB"
    rb"(?:,\s{1,99}shmem-rss:(?P<shmem>\d{1,15})kB)?)?"
)
# What older kernels print above that line, which a text can end before.
CHOSEN = re.compile(
    rb"(?:Memory cgroup o|O)ut of memory: Kill process (?P<pid>\d{1,10}),? "
    rb"\((?P<name>[^\n]{0,64}?)\) score"
)
MAX_WRAPPED = 3  # further lines that the line of a killed process is wrapped onto
TASKS = re.compile(rb"\[ *pid *\] +(uid +tgid +total_vm +rss\b.*)")
TASK = re.compile(rb"\[ *(\d{1,10})\] +(\d+ +\d+ +\d+ +\d+ +[^\n]*\S)\s*")
CHARGED = re.compile(rb"memory: usage (\d{1,19})kB, limit (\d{1,19})kB")
COUNTER = re.compile(rb"(?:^[ \t]*|[\]:] ?)([a-z][a-z_0-9]{2,40}) (\d{1,19})\s*")
INLINE = re.compile(rb"Memory cgroup stats for (\S+?): ((?:[a-z_]+:\d+KB ?)+)")
STATS = re.compile(rb"Memory cgroup stats for (\S+?):\s*")
# The smallest limit of the cgroup and those above it, in the statistics of cgroup v1.
HIERARCHICAL = re.compile(rb"\bhierarchical_memory_limit (\d{1,19})\b")
CGROUP_KILL = re.compile(rb"oom_memcg=|killed as a result of limit of|Memory cgroup out of memory")
MACHINE, GROUP = "machine", "cgroup"
DATED = re.compile(rb"\[[A-Z][a-z]{2} ([A-Z][a-z]{2} +\d{1,2} \d\d:\d\d:\d\d \d{4})\]")
ISO = re.compile(rb"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d))")
KERNEL_KILL = re.compile(rb"invoked oom-killer|oom-kill:constraint=|" + KILLED.pattern)
WORDS = (b"oom-kill", b"Killed process")  # every match of `KERNEL_KILL` contains one of them
USUAL_PAGE = 4 * KIB
MIN_ROWS = 2  # of the task table without its header
# The first columns in every kernel's table, further numeric ones, and the name.
BY_SHAPE = re.compile(rb"(\d+) +(\d+) +(\d+) +(\d+)(?: +-?\d+)* +([A-Za-z(/].*)")
FIRST_COLUMNS = (b"uid", b"tgid", b"total_vm", b"rss", b"name")
DIVIDED_COLUMNS = (  # since Linux 6.8
    b"uid tgid total_vm rss rss_anon rss_file rss_shmem pgtables_bytes swapents oom_score_adj name"
).split()
# A row of the table without its end, or without its beginning.
CUT_ROW = re.compile(
    rb"[^\n\[]*(?:\[[^\n\[\]]*\][^\n\[]*)?\[ *\d{1,10}\](?: +-?\d{1,19}){1,10}\s*"
    rb"|\d{1,10}(?: +-?\d{1,19}){6,9} +[A-Za-z(/]\S*\s*"
)
OOM = "OOM killer"
INVOKED = re.compile(rb"(\S{1,64}) invoked oom-killer")
# In the stack below it: which memory was full when a page was requested.
GROUP_FULL = re.compile(rb"mem_cgroup_out_of_memory|\btry_charge|" + CGROUP_KILL.pattern)
MACHINE_FULL = re.compile(rb"\b__alloc_pages")
CUT = "the line of a killed process is cut: its RSS is missing"
CUT_TABLE = "a row of the OOM killer's table is cut: its process is not counted"
CUT_BEHIND = "the line of a killed process is cut: RSS is its anonymous memory, and more"

# A killed process, its cgroup's numbers, and what was full.
_Kill: TypeAlias = "tuple[ProcessRow, dict[str, int | None], str]"


def looks_like_oom(data: bytes) -> bool:
    """Whether it has the kernel's lines on a killed process, or a table of candidate tasks."""
    head = data[: 1 << 20]
    is_near = any(word in head for word in WORDS)
    if (is_near and KERNEL_KILL.search(head)) or _has_tasks(head):
        return True
    rows = sum(map(_is_own_group, TASK.finditer(head))) if b"] " in head else 0
    return rows >= MIN_ROWS or _has_cgroup(head)


def _has_cgroup(head: bytes) -> bool:
    """Whether it has a cgroup's charge, or its counters below their heading or behind it."""
    if b"memory: usage" in head and CHARGED.search(head):
        return True
    stats = STATS.search(head) if b"Memory cgroup stats for" in head else None
    return stats is not None and bool(INLINE.search(head) or COUNTER.search(head, stats.end()))


def no_sizes(data: bytes) -> str:
    """Describe kernel lines that contain neither the killed process nor a size."""
    said, asked = "the OOM killer's lines without a process or its size", INVOKED.search(data)
    if asked is not None:
        said = f"{said}: {excerpt(asked[1])} asked for memory"
        where = "its cgroup had reached its limit" if GROUP_FULL.search(data) else ""
        where = where or ("the machine had none left" if MACHINE_FULL.search(data) else "")
        said = f"{said} as {where}" if where else said
    return f"{said}; dmesg -T | grep -i 'killed process' has both"


def _is_own_group(task: re.Match[bytes]) -> bool:
    """Whether a process's number is also its thread group: then it is a row without its header."""
    row = BY_SHAPE.fullmatch(task[2].strip())
    return row is not None and row[2] == task[1]


def _has_tasks(head: bytes) -> bool:
    table = TASKS.search(head) if b"total_vm" in head else None
    return table is not None and bool(TASK.search(head, table.end()))


def parse_oom(data: bytes, *, source: str) -> tuple[ProcessTable, list[Damage]]:
    """Parse tasks and killed process of each kill, and the cgroup's numbers of the largest kill.

    A line that is cut after the name of the killed process is damage, but counts as a kill.
    """
    rows: list[ProcessRow] = []
    damage: list[Damage] = []
    cgroup: dict[str, int | None] = {}
    names: Sequence[bytes] = ()
    where, in_stats = MACHINE, False
    kills: list[_Kill] = []
    for number, line in _lines(data):
        if b"invoked oom-killer" in line:
            names, in_stats, cgroup, where = (), False, {}, MACHINE
        charged = _charged(line)
        cgroup |= charged
        where = GROUP if charged or CGROUP_KILL.search(line) else where
        if table := TASKS.search(line):
            names, in_stats = table[1].split(), False
        elif (task := TASK.search(line)) and (row := _task(task, names, number)):
            rows.append(row)
        else:
            damage += _cut_rows(line, number, source) if rows or names else []
        if found := INLINE.search(line):
            cgroup |= dict(_inline(found[2]))
            where = GROUP
        elif STATS.search(line):
            in_stats, where = True, GROUP
        elif in_stats and (counter := COUNTER.search(line)):
            cgroup[counter[1].decode("ascii")] = int(counter[2])
        if killed := NAMED.search(line):
            names = ()
            row = _killed(killed, line, number, cgroup, where)
            rows.append(row)
            kills.append((row, dict(cgroup), where))
            what = CUT if row.rss is None else CUT_BEHIND
            is_cut = row.file_bytes is None
            damage += [Damage(source, f"line {number}", what, excerpt(line))] * is_cut
    rows += _chosen(data, rows) if kills else ()
    return ProcessTable(_in_one_page_size(rows), _reported(kills, cgroup, where)), damage


def _reported(
    kills: Sequence[_Kill], cgroup: dict[str, int | None], where: str
) -> dict[str, int | None]:
    """Return the numbers of the cgroup of the largest process killed; else those read last."""
    if kills:
        _, cgroup, where = max(reversed(kills), key=lambda kill: _rss(kill[0]))
        cgroup["oom_kill"] = len(kills)
    elif "memory.current" in cgroup:
        # as memory.events counts: the limit was reached, and nothing could be freed
        cgroup["oom"] = 1
    return cgroup if where == GROUP else {}


def _chosen(data: bytes, rows: Sequence[ProcessRow]) -> Iterator[ProcessRow]:
    """Yield the killed processes whose own lines are missing, without sizes."""
    known = {row.pid for row in rows if row.killed_in}
    for found in CHOSEN.finditer(data):
        if int(found["pid"]) not in known:
            number = data.count(b"\n", 0, found.start()) + 1
            where = GROUP if CGROUP_KILL.search(found[0]) else MACHINE
            yield _killed(found, b"", number, {}, where)


def _lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield lines with their number; that of a killed process with those it is wrapped onto."""
    lines = data.split(b"\n")
    place = 0
    while place < len(lines):
        line, taken = lines[place], 1
        if b"Killed process" in line:
            line, taken = _unwrapped(lines[place : place + 1 + MAX_WRAPPED])
        yield place + 1, line
        place += taken


def _unwrapped(lines: Sequence[bytes]) -> tuple[bytes, int]:
    """Return the first line with as many of the next as add sizes to it, and their number."""
    best, taken, known = lines[0], 1, _sizes_in(lines[0])
    for stop in range(2, len(lines) + 1):
        further = [line.strip() for line in lines[1:stop]]
        if any(NAMED.search(line) for line in further) or not all(further):
            break
        # between words, or within one, as terminals do
        for between in product((b" ", b""), repeat=len(further)):
            whole = lines[0].rstrip() + b"".join(chain(*zip(between, further, strict=True)))
            if _sizes_in(whole) > known:
                best, taken, known = whole, stop, _sizes_in(whole)
    return best, taken


def _sizes_in(line: bytes) -> int:
    """Return how many sizes of the killed process a line has."""
    killed = KILLED.search(line)
    names = ("vm", "anon", "file", "shmem")
    return 0 if killed is None else sum(killed[name] is not None for name in names)


def _charged(line: bytes) -> dict[str, int | None]:
    """Return a cgroup's charge and limit, if the line has them."""
    found = CHARGED.search(line)
    if found is None:
        of_stats = HIERARCHICAL.search(line)
        least = None if of_stats is None else int(of_stats[1])
        return {} if least is None or least >= NO_LIMIT_V1 else {"memory.max": least}
    limit = int(found[2])
    most = None if limit * KIB >= NO_LIMIT_V1 else limit * KIB
    return {"memory.current": int(found[1]) * KIB, "memory.max": most}


def _inline(text: bytes) -> Iterator[tuple[str, int]]:
    for word in text.split():
        name, _, size = word.partition(b":")
        yield name.decode("ascii"), int(size.removesuffix(b"KB")) * KIB


def _cut_rows(line: bytes, number: int, source: str) -> list[Damage]:
    """Return the damage of a line that is a part of a row; none of another line."""
    is_cut = CUT_ROW.fullmatch(line) is not None
    return [Damage(source, f"line {number}", CUT_TABLE, excerpt(line))] if is_cut else []


def _task(task: re.Match[bytes], names: Sequence[bytes], number: int) -> ProcessRow | None:
    """Parse a task row with 4 KiB pages; by its shape if the header is missing or cut."""
    cells: Sequence[bytes] = task[2].split(None, len(names) - 1)
    if names[-1:] != [b"name"]:
        names, cells = _by_shape(task)
    if len(cells) < len(names):
        return None
    of = dict(zip(names, cells, strict=True))

    def pages(name: bytes) -> int | None:
        cell = of.get(name, b"")
        return int(cell) * USUAL_PAGE if cell.isdigit() and len(cell) < 14 else None

    rss = pages(b"rss")
    return ProcessRow(
        OOM,
        of[b"name"].decode("utf-8", "backslashreplace"),
        pid=int(task[1]),
        rss=None if rss is None else Rounded(rss, USUAL_PAGE),
        mapped_bytes=pages(b"total_vm"),
        anon_bytes=pages(b"rss_anon"),
        file_bytes=pages(b"rss_file"),
        shmem_bytes=pages(b"rss_shmem"),
        swap_bytes=pages(b"swapents"),
        line=number,
    )


def _by_shape(task: re.Match[bytes]) -> tuple[Sequence[bytes], Sequence[bytes]]:
    """Return the columns and cells of a row without its header; no cells if it is not one."""
    by_shape = BY_SHAPE.fullmatch(task[2])
    if by_shape is None or not _is_own_group(task):
        return FIRST_COLUMNS, ()
    cells = task[2].split(None, len(DIVIDED_COLUMNS) - 1)
    *numbers, _ = cells
    are_numbers = all(cell.lstrip(b"-").isdigit() for cell in numbers)
    if len(cells) == len(DIVIDED_COLUMNS) and are_numbers:
        rss, *parts = map(int, numbers[3:7])
        if rss == sum(parts):
            return DIVIDED_COLUMNS, cells
    return FIRST_COLUMNS, by_shape.groups()


def _killed(
    named: re.Match[bytes], line: bytes, number: int, cgroup: dict[str, int | None], where: str
) -> ProcessRow:
    """Return the killed process; without sizes if its line is cut after the name."""
    killed = KILLED.search(line)
    name = (killed or named)["name"].decode("utf-8", "backslashreplace")
    pid = int(named["pid"])
    row = ProcessRow(OOM, name, pid=pid, killed_in=where, time=_time(line), line=number)
    if killed is None:
        return row
    anon, file, shmem = (int(killed[word] or 0) * KIB for word in ("anon", "file", "shmem"))
    return replace(
        row,
        rss=Rounded(anon + file + shmem, KIB),
        mapped_bytes=int(killed["vm"]) * KIB,
        anon_bytes=anon,
        file_bytes=file if killed["file"] is not None else None,
        shmem_bytes=shmem if killed["shmem"] is not None else None,
        limit_bytes=cgroup.get("memory.max"),
    )


def _rss(row: ProcessRow) -> int:
    return 0 if row.rss is None else row.rss.bytes


def _time(line: bytes) -> datetime | None:
    """Return when the line was written; None if it has no time or no year."""
    if dated := DATED.search(line):
        return parse_date(dated[1].decode("ascii"))
    iso = ISO.search(line)
    return None if iso is None else parse_time(iso[1].decode("ascii").replace(",", "."))


def _in_one_page_size(rows: Sequence[ProcessRow]) -> tuple[ProcessRow, ...]:
    """Correct the tasks' page size by the killed process, whose RSS is also printed in kB."""
    killed = {row.pid: row.rss.bytes for row in rows if row.killed_in and row.rss is not None}
    ratios = [
        round(killed[row.pid] / row.rss.bytes)
        for row in rows
        if not row.killed_in and row.pid in killed and row.rss is not None and row.rss.bytes
    ]
    if not ratios or ratios[0] not in (4, 16):
        return tuple(rows)
    return tuple(row if row.killed_in else _in_pages_of(row, ratios[0]) for row in rows)


def _in_pages_of(row: ProcessRow, times: int) -> ProcessRow:
    def larger(size: int | None) -> int | None:
        return None if size is None else size * times

    return replace(
        row,
        rss=None if row.rss is None else Rounded(row.rss.bytes * times, USUAL_PAGE * times),
        mapped_bytes=larger(row.mapped_bytes),
        anon_bytes=larger(row.anon_bytes),
        file_bytes=larger(row.file_bytes),
        shmem_bytes=larger(row.shmem_bytes),
        swap_bytes=larger(row.swap_bytes),
    )
