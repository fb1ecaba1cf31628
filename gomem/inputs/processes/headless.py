"""Rows of process tables that are recognised without their header; the columns of ps and top.

People paste a row alone, and leave out user or PID: `<pid>`, `xxx`, `****`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gomem.inputs.processes.row import rounded_size

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

COMMANDS = (b"COMMAND", b"CMD", b"ARGS", b"COMM", b"UCMD", b"Command")
SIZES_OF_TOP = (b"VIRT", b"RES", b"SHR")

# A row of ps aux: user, pid, %cpu, %mem, vsz, rss, tty, state, start, time, command.
MASKED = re.compile(rb"<[\w ]{1,16}>|[xX*]{1,10}|\?{1,10}")  # a PID or user that somebody left out
AUX = re.compile(
    rb"(?:[\w.+-]{1,32}|" + MASKED.pattern + rb") +(?:\d{1,10}|" + MASKED.pattern + rb")"
    rb" +\d{1,5}(?:\.\d)? +\d{1,3}(?:\.\d)? +\d{1,15} +\d{1,15} +(?:\?\??|-|"
    rb"pts/\d+|tty\S{1,8}|s\d{3}|console) +[DIRSTtWXZU-][\w<+]{0,5} +\S{1,8} +\d[\d:.-]{2,12} +\S.*"
)
AUX_NAMES = b"USER PID %CPU %MEM VSZ RSS TTY STAT START TIME COMMAND".split()
_TOP_SIZE = rb" +\d{1,12}(?:[.,]\d{1,3})?[kmgtKMGT]?"
TOP_NAMES = b"PID USER PR NI VIRT RES SHR S %CPU %MEM TIME+ COMMAND".split()
# Columns that a top can lack, and what the cells of others are, by which a row is told to lack one.
NICE = (b"PR", b"NI")
KINDS_OF_TOP = {
    b"PR": re.compile(rb"-?\d{1,3}|rt|RT"),
    b"NI": re.compile(rb"-?\d{1,3}|-"),
    b"S": re.compile(rb"[A-Za-z?][\w<+]{0,4}"),
    b"%CPU": re.compile(rb"\d{1,6}(?:[.,]\d{1,3})?%?|-"),
}


def _top_without(*lacking: bytes) -> tuple[re.Pattern[bytes], list[bytes]]:
    """Return the row of a top without some columns, by its three sizes before its state."""
    nice = b"".join(
        rb" +(?:%b)" % KINDS_OF_TOP[name].pattern for name in NICE if name not in lacking
    )
    row = re.compile(
        rb"(?:\d{1,10}|" + MASKED.pattern + rb") +\S{1,32}" + nice + 3 * _TOP_SIZE
        + rb" +[DIRSTtXZ] +\d{1,5}(?:[.,]\d)? +\d{1,3}(?:[.,]\d)? +\d+:\d\d(?:[.:]\d\d)? +\S.*"
    )  # fmt: skip
    return row, [name for name in TOP_NAMES if name not in lacking]


TOP_ROWS = (_top_without(), _top_without(b"NI"), _top_without(*NICE))
# The same without SHR, and with the state after the times, a common setup of procps' top.
SET_ROW = re.compile(
    rb"\d{1,10} +\S{1,32} +(?:-?\d{1,3}|rt) +-?\d{1,3}" + 2 * _TOP_SIZE + rb" +"
    rb"\d{1,5}(?:[.,]\d)? +\d{1,3}(?:[.,]\d)? +\d{1,9}:\d\d(?:[.:]\d\d)? +[DIRSTtXZ] +\S.*"
)
SET_NAMES = b"PID USER PR NI VIRT RES %CPU %MEM TIME+ S COMMAND".split()
BSD_ROW = re.compile(
    rb"\d{1,10} +\S{1,32} +\d{1,5} +-?\d{1,3} +-?\d{1,3}" + 2 * _TOP_SIZE + rb" +[A-Za-z]\S{0,9}"
    rb" +\d{1,4} +\d+:\d\d +\d{1,5}\.\d\d% +\S.*"
)
# A row of ps -eo pid,lwp,cls,rtprio,stat,vsz,rss,comm.
CLASS_ROW = re.compile(
    rb"\d{1,10} +\d{1,10} +(?:TS|FF|RR|B|IDL|DLN) +(?:-|\d{1,3}) +[DIRSTtWXZ][\w<+]{0,5} +\d{1,15}"
    rb" +\d{1,15} +\S.*"
)
CLASS_NAMES = b"PID LWP CLS RTPRIO STAT VSZ RSS COMMAND".split()
# A row of ps -F: the only other common form with RSS that ps prints.
FULL_ROW = re.compile(
    rb"[\w.+-]{1,32} +\d{1,10} +\d{1,10} +\d{1,3} +\d{1,15} +\d{1,15} +\d{1,5} +"
    rb"(?:\d\d:\d\d|[A-Z][a-z]{2} ?\d\d|\d{4}) +(?:\?\??|pts/\d+|tty\S{1,8}|console)"
    rb" +\d[\d:-]{3,12} +\S.*"
)
FULL_NAMES = b"UID PID PPID C SZ RSS PSR STIME TTY TIME CMD".split()
BSD_NAMES = b"PID USERNAME THR PRI NICE VIRT RES STATE C TIME WCPU COMMAND".split()
HEADLESS = (
    (AUX, AUX_NAMES), *TOP_ROWS, (SET_ROW, SET_NAMES), (BSD_ROW, BSD_NAMES),
    (CLASS_ROW, CLASS_NAMES), (FULL_ROW, FULL_NAMES),
)  # fmt: skip


def is_row_of_top(cells: Mapping[bytes, bytes]) -> bool:
    """Whether cells are what top prints in their columns; not if the row lacks one of them."""
    kinds = KINDS_OF_TOP.items()
    is_of_kinds = all(kind.fullmatch(cells[name]) for name, kind in kinds if name in cells)
    if not is_of_kinds or not cells.keys().isdisjoint(NICE):
        return is_of_kinds
    read = (rounded_size(cells.get(name, b"")) for name in SIZES_OF_TOP)
    sizes = [size.bytes for size in read if size is not None]
    return len(sizes) < len(SIZES_OF_TOP) or max(sizes) == sizes[0]  # VIRT


def in_english(names: Sequence[bytes]) -> Sequence[bytes]:
    """Return the columns of procps' top, which translates the command's name, in English."""
    is_top = len(names) > len(SIZES_OF_TOP) and names[0] == b"PID"
    at = names.index(b"VIRT") if is_top and b"VIRT" in names else 0
    is_whole = tuple(names[at : at + len(SIZES_OF_TOP)]) == SIZES_OF_TOP
    if not is_whole or not set(COMMANDS).isdisjoint(names) or b"%CPU" not in names[at:-1]:
        return names
    return [*names[:-1], b"COMMAND"]
