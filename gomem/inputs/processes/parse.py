"""Pasted tables of processes and containers, with the memory of each.

Printed by    ps and top of procps (pidstat, htop and smem have the same columns), docker stats and
              podman stats, kubectl top pod; monit, see `monit`; the kernel's OOM killer, see `oom`.
Quirks        ps counts in KiB. So does top, up to a certain width; then it writes `76.7m` or
              `1.2g`, so a large RSS is known only to 0.1 GiB.
              docker stats, crictl stats and kubectl top count a container, not a process: the
              cgroup's charge minus inactive page cache (before Docker 17.06: the whole charge).
              That is not RSS.
              MiB of docker are 2^20. MB of podman, and of Docker before 1.13, are 10^6.
              A container without a name in kubectl top is the pod's own cgroup, which contains the
              others; kubectl adds it to them in the pod's size.
              top translates the headings USER, TIME+ and COMMAND, and writes `1,8g` then.
              A repeated header begins another reading, and so does a repeated process.
              busybox's top shows RSS (among `VSZRW RSS (SHR) DIRTY`) only in its memory view.
              Rows of ps aux, ps -F, top (also FreeBSD's) and kubectl top need no header, nor do
              those of `ps -o LIST`. The header of docker stats can lack its newline.
              smem has the command in the middle. People add remarks after a row: `// this one`.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from gomem.errors import Damage, FormatError, excerpt
from gomem.inputs.markdown import FENCE, without_tags
from gomem.inputs.processes.bare_pairs import looks_like_pairs, parse_pairs
from gomem.inputs.processes.beside import Beside, is_beside
from gomem.inputs.processes.containers import (
    CRICTL_STATS,
    DOCKER_STATS,
    KUBECTL_TOP,
    OLD_DOCKER,
    of_container,
    of_crictl,
    of_pod,
)
from gomem.inputs.processes.dates import (
    before_prompt,
    clock_of,
    seconds_elapsed,
    time_of,
    time_of_day,
)
from gomem.inputs.processes.docker_json import rows_of_json
from gomem.inputs.processes.headless import (
    COMMANDS,
    FULL_NAMES,
    HEADLESS,
    MASKED,
    SIZES_OF_TOP,
    in_english,
    is_row_of_top,
)
from gomem.inputs.processes.in_a_loop import rows_of_a_loop
from gomem.inputs.processes.metrics_api import rows_of_metrics_api
from gomem.inputs.processes.monit import rows_of_monit
from gomem.inputs.processes.oom import looks_like_oom, no_sizes, parse_oom
from gomem.inputs.processes.row import ProcessRow, ProcessTable, rounded_size, with_whole_name
from gomem.inputs.separators import time_in
from gomem.inputs.unwrap import PROMPT, SHELL_SAYS
from gomem.units import KIB

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import datetime

HEAD_BYTES = 1 << 16
HEAD_LINES = 40  # lines searched for the header
# The columns requested by a command above the rows: `ps -eo rss,comm | grep api` prints no header.
ASKED = re.compile(
    rb"(?:.{0,200}[\s$#%])?ps +(?:-?\w+ +){0,20}-?\w*o +['\"]?(?P<names>[a-z%]+(?:,[a-z%]+)+)\b.*"
)
ASKED_FULL = re.compile(rb"(?:.{0,200}[\s$#%])?ps +(?:-?\w+ +){0,20}-\w{0,8}F\w{0,8}\b.*")
# A header of docker stats that lost its newline.
GLUED = re.compile(rb"(.*MEM USAGE */ *LIMIT.*?(?:PIDS|BLOCK I/O))([0-9a-f]{12} .*)")
DOCKER = re.compile(rb"(?:(?:CONTAINER(?: ID)?|ID|NAME)\b.*)?MEM USAGE */ *LIMIT.*")
CRICTL = re.compile(rb"CONTAINER +(?P<named>NAME +)?CPU % +MEM +DISK +INODES.*")
KUBECTL = re.compile(rb"(?:(?P<above>NAMESPACE|POD) +)?NAME +CPU\(cores\) +MEMORY\(bytes\) *")
DATE = re.compile(
    rb"[A-Z][a-z]{2} [A-Z][a-z]{2} {1,2}\d{1,2} \d\d:\d\d:\d\d (?:[AP]M )?[A-Z]{2,5} \d{4} +"
)
TOP_WITHIN = 16  # bytes, some of a quote mark, at the beginning of top's first line
TOP_HEAD = re.compile(
    rb"top - \d.*|Tasks: .*|Threads: .*|%?Cpu\S*: ?.*|[KMG]iB (?:Mem|Swap) ?:.*|(?:Mem|Swap): .*"
)
AGAIN = re.compile(rb"(?:sudo )?(?:kubectl|oc|docker|podman|crictl|ps|top) .{1,200}")  # a command
REMARK = re.compile(rb"(?<!\s)\s++(?://|<-|<=|#|\xe2\x86\x90|\*+$).*")  # added after a row by hand
WORDS = (b"RSS", b"RSZ", b"RES", b"MEM USAGE", b"MEMORY(bytes)", b"INODES")  # in headers
RESIDENT, MAPPED = (b"RSS", b"RSZ", b"RES", b"RESMEM"), (b"VSZ", b"VIRT", b"VIRTMEM")
POD_ROW = re.compile(rb"(?:\S+ +)?[a-z0-9][\w.-]+ +\d+m +\d+[KMGT]i *")
# Columns of ps -o with numbers and short words: a header without a command has only these.
PS_COLUMNS = frozenset(
    b"PID PPID TID USER UID RSS RSZ VSZ SZ SIZE %CPU %MEM CPU NI PRI STAT S TTY TT NLWP "
    b"ELAPSED TIME".split()
)
COMMENT = re.compile(rb"\s*#").match
_COUNT = re.compile(rb"\d{1,10}")  # a PID, or threads
DECIMAL_COMMA = re.compile(rb"(?<=\d),(?=\d{1,3}[kmgtKMGT]$)")
TOP, PS = "top", "ps"


class _Form(NamedTuple):
    """A table: the tool that printed it, and the parser of its rows."""

    tool: str
    row: Callable[[bytes], ProcessRow | None]


def looks_like_processes(data: bytes, name: str = "") -> bool:
    """Whether a table of processes or the OOM killer's output begins near the start."""
    head = data[:HEAD_BYTES]
    is_table = _has_table(data) or looks_like_oom(data)
    return is_table or bool(_blocks(head)) or looks_like_pairs(head, name)


def _blocks(data: bytes) -> tuple[ProcessRow, ...]:
    """Return processes or containers that are no rows of a table."""
    blocks = rows_of_monit(data) or rows_of_json(data, DOCKER_STATS) or rows_of_metrics_api(data)
    return blocks or rows_of_a_loop(data)


def parse_processes(data: bytes, *, source: str) -> tuple[ProcessTable, list[Damage]]:
    """Parse the output of one of these tools, or the kernel's log around an OOM kill.

    A table ends with a blank line: what follows is prose, until the next header. Raises FormatError
    if there is no process.
    """
    damage: list[Damage] = []
    if not _has_table(data) and looks_like_oom(data):
        table, damage = parse_oom(data, source=source)
    elif blocks := _blocks(data):
        table = ProcessTable(blocks)
    elif not _has_table(data) and looks_like_pairs(data, source):
        pairs, damage = parse_pairs(data, source)
        table = ProcessTable(pairs)
    else:
        table, damage = _parse_tables(data, source)
    if not table.rows and not table.cgroup:
        lacks = "no process in it; wanted ps, top, docker stats …"
        raise FormatError(source, "", no_sizes(data) if looks_like_oom(data) else lacks)
    return table, damage


def lines_of_processes(data: bytes) -> set[int]:
    """Return the lines, from 1, of process tables in a text of another kind, including headers.

    A header without a row below it does not count.
    """
    try:
        table, _ = _parse_tables(data, "")
    except FormatError:
        return set()
    rows = {row.line for row in table.rows}
    lines = data.split(b"\n")
    heads = {number - 1 for number in rows if number > 1 and _form_of(_bare(lines[number - 2]))}
    return rows | heads


def _bare(line: bytes) -> bytes:
    """Remove tags around words, and a comment mark, a shell prompt or a date before output."""
    line = DATE.sub(b"", without_tags(line).strip(), count=1)
    return line[2:].lstrip() if line.startswith((b"# ", b"$ ")) else line


def _parse_tables(data: bytes, source: str) -> tuple[ProcessTable, list[Damage]]:
    rows, damage = list[ProcessRow](), list[Damage]()
    form = asked = None
    wanted, beside, raw, is_commented = "", Beside(), data.split(b"\n"), False
    reading, seen, end = -1, set[tuple[int | None, str]](), data.rstrip().count(b"\n") + 1
    for number, line, at, of_day in _lines(data):
        if begun := _form_of(line):
            form, asked, reading, seen = begun, None, reading + 1, set()
            wanted, is_commented = "the columns of its header", bool(COMMENT(raw[number - 1]))
            beside.begin()
            continue
        if not line:
            form = None if rows and rows[-1].reading == reading else form
            continue
        asked = _form_asked(line) or asked
        if form is None and (headless := _headless(line, asked)) is not None:
            form, reading, seen = headless, reading + 1, set()
            wanted = "columns as in the rows above"
        if FENCE.fullmatch(line) or (form is not None and _is_command(line)):
            form = None
        row = _row_of(form, line)
        if row is not None:
            who = row.pid, "" if row.pid is not None else row.name
            if any(who) and who in seen:
                reading, seen = reading + 1, set()
            seen.add(who)
            beside.begin(row, line)
            is_dated = row.time or row.time_of_day  # by a column
            dated = row if is_dated else replace(row, time=at, time_of_day=of_day)
            rows.append(replace(dated, reading=reading, line=number))
        elif AGAIN.fullmatch(line):
            form = None
        elif form is not None and not (
            (COMMENT(raw[number - 1]) and not is_commented)  # a remark
            or (rows and (is_beside(line) or beside.has(line, is_last=number == end)))
        ):
            what = f"not a line of {form.tool}; wanted {wanted}"
            damage.append(Damage(source, f"line {number}", what, excerpt(line)))
    rows_alone = [fault for fault in damage if not fault.is_excerpt]  # each row counts for itself
    return ProcessTable(with_whole_name(rows)), rows_alone


def _lines(data: bytes) -> Iterator[tuple[int, bytes, datetime | None, str]]:
    """Yield lines with their number and the last time above; not top's head, dates, errors.

    The last part is the time of day if the time has no date, else empty.
    """
    at, of_day = None, ""
    for number, raw in enumerate(data.split(b"\n"), start=1):
        clock, line = before_prompt(_bare(raw))
        at, of_day = (None, clock) if clock else (at, of_day)
        if printed := time_in(line):
            at = time_of(printed)
            of_day = time_of_day(printed) if at is None else ""
        elif (begin := line.find(b"top - ", 0, TOP_WITHIN)) >= 0:
            at, of_day = None, time_of_day(line[begin:])
        elif b"LIMIT" in line and (glued := GLUED.fullmatch(line)):
            yield from ((number, part, at, of_day) for part in glued.groups())
        elif not (TOP_HEAD.fullmatch(line) or SHELL_SAYS.fullmatch(line)):
            yield number, line, at, of_day


def _row_of(form: _Form | None, line: bytes) -> ProcessRow | None:
    """The row of a line, also of one with a remark after it, or of a top with fewer columns."""
    if form is None:
        return None
    row = form.row(line) or form.row(REMARK.sub(b"", line))
    fewer = _form_of_row(line) if row is None and form.tool == TOP else None
    return row if fewer is None else fewer.row(line)


def _is_command(line: bytes) -> bool:
    """Whether the line is a shell prompt with the next command, which ends a table."""
    return PROMPT.fullmatch(line) is not None and not line.startswith(b"#")


def _has_table(data: bytes) -> bool:
    head = data[: 1 << 14]
    lines = [_bare(line) for line in head.split(b"\n")[:HEAD_LINES]]
    if any(word in head for word in WORDS) and any(map(_form_of, lines)):
        return True
    for line, below in pairwise(lines):
        asked = _form_asked(line)
        if asked is not None and asked.row(below) is not None:
            return True
    return any(_form_of_row(line) is not None for line in lines)


def _form_of_row(line: bytes) -> _Form | None:
    """Return the table that a row without a header belongs to; None if it is not a row."""
    if not line[:1].isalnum() and line[:1] not in b"<*?":
        return None
    names = next((names for row, names in HEADLESS if row.fullmatch(line)), None)
    if names is not None:
        return _by_columns(names)
    if POD_ROW.fullmatch(line) is None:
        return None
    above = len(line.split()) > 3
    return _Form(KUBECTL_TOP, lambda row: of_pod(row, above=above))


def _form_of(line: bytes) -> _Form | None:
    """Return the table that a header belongs to; None if it is not a header."""
    if DOCKER.fullmatch(line):
        has_id = line.startswith((b"CONTAINER ID", b"ID"))
        named = has_id and b" NAME" in line
        is_old = not has_id and line.startswith(b"CONTAINER") and b"PIDS" not in line
        tool = OLD_DOCKER if is_old else DOCKER_STATS
        oldest = b"USAGE/LIMIT" in line  # before 1.9, in units of 1024, too
        return _Form(tool, lambda row: of_container(row, tool, named=named, is_sure=oldest))
    if CRICTL.fullmatch(line):
        return _Form(CRICTL_STATS, of_crictl)
    if pods := KUBECTL.fullmatch(line):
        return _Form(KUBECTL_TOP, lambda row: of_pod(row, above=pods["above"] is not None))
    names = in_english(line.replace(b"^", b" ").split())  # busybox marks the sort column with `^`
    if not _one_of(RESIDENT, names):
        return None
    is_of_ps = bool(names[1:]) and PS_COLUMNS.issuperset(names[:-1])
    if _one_of(COMMANDS, names):
        return _by_columns(names) if b"PID" in names or is_of_ps else None
    return _by_columns(names) if is_of_ps and names[-1] in PS_COLUMNS else None


def is_head_of_table(line: bytes) -> bool:
    """Whether a line is the header of a table."""
    return any(word in line for word in WORDS) and _form_of(_bare(line)) is not None


def asks_for_columns(line: bytes) -> bool:
    """Whether a command says which columns a table of processes has, which then needs no header."""
    return _form_asked(line) is not None


def _form_asked(line: bytes) -> _Form | None:
    """Return the table of a ps command with RSS, and a command as its last column; else None."""
    if b"ps " in line and ASKED_FULL.fullmatch(line):
        return _by_columns(FULL_NAMES)
    found = ASKED.fullmatch(line) if b"ps " in line else None
    names = [] if found is None else found["names"].upper().split(b",")
    is_read = names[-1:] and names[-1] in COMMANDS and _one_of(RESIDENT, names)
    return _by_columns(names) if is_read and PS_COLUMNS.issuperset(names[:-1]) else None


def _headless(line: bytes, asked: _Form | None) -> _Form | None:
    """Return the table of a row without a header: by the command above it, else by its shape."""
    is_asked = asked is not None and asked.row(line) is not None
    return asked if is_asked else _form_of_row(line)


def _one_of(wanted: Sequence[bytes], names: Sequence[bytes]) -> bytes | None:
    return next((name for name in wanted if name in names), None)


def _by_columns(names: Sequence[bytes]) -> _Form:
    """Return a table with these columns; only the command (or else the last) contains spaces."""
    resident = _one_of(RESIDENT, names)
    tool = "pidstat" if b"minflt/s" in names else "smem" if b"PSS" in names else PS
    tool = "talosctl processes" if resident == b"RESMEM" else tool
    tool = TOP if resident == b"RES" or b"VSZRW" in names else tool
    return _Form(tool, lambda line: _of_process(line, names, tool))


def _of_process(line: bytes, names: Sequence[bytes], tool: str) -> ProcessRow | None:
    command = next((place for place, name in enumerate(names) if name in COMMANDS), len(names) - 1)
    line = re.sub(rb"(?<=\d) (?=[KMGT]?B )", b"", line) if b"RESMEM" in names else line  # 9 MB
    words = line.split(None, command)
    behind = len(names) - 1 - command  # columns
    words[command:] = words[command].rsplit(None, behind) if words[command:] else []
    if len(words) < len(names):
        return None
    cells = dict(zip(names, words, strict=True))
    resident, mapped = _one_of(RESIDENT, names), _one_of(MAPPED, names)
    assert resident is not None
    cells |= {name: DECIMAL_COMMA.sub(rb".", cells[name]) for name in SIZES_OF_TOP if name in cells}
    if tool == TOP and not is_row_of_top(cells):
        return None  # it lacks a column
    size = rounded_size(cells[resident], bare=KIB)
    pid = cells.get(b"PID", b"")
    pid = b"" if MASKED.fullmatch(pid) else pid
    if size is None or not _COUNT.fullmatch(pid or b"0"):
        return None
    virtual = None if mapped is None else rounded_size(cells[mapped], bare=KIB)
    shared = rounded_size(cells[b"SHR"], bare=KIB) if b"SHR" in cells else None
    time, of_day = (None, "") if names[0] in PS_COLUMNS else clock_of(words[0])
    return ProcessRow(
        tool,
        words[command].decode("utf-8", "backslashreplace") if names[command] in COMMANDS else "",
        pid=int(pid) if pid else None,
        rss=size,
        mapped_bytes=None if virtual is None else virtual.bytes,
        shared_bytes=None if shared is None else shared.bytes,
        threads=int(cells[b"NLWP"]) if _COUNT.fullmatch(cells.get(b"NLWP", b"")) else None,
        age_seconds=seconds_elapsed(cells.get(b"ELAPSED", b"")),
        time=time,
        time_of_day=of_day,
    )
