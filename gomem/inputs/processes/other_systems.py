"""top of macOS and FreeBSD, and Windows out of memory: what gomem only reports.

macOS         PhysMem: 15G used (2100M wired, 3120M compressor), 812M unused.
              4411  api  12.1 00:31.02 18  0  42  2556M  0B  1890M  4411  1  sleeping …
              (MEM, PURG and CMPRS of top.1; MEM is the physical footprint: dirty and compressed)
FreeBSD       Mem: 1021M Active, 3312M Inact, 211M Laundry, 2811M Wired, 412M Buf, 512M Free
              ARC: 1501M Total, … (usr.bin/top/machine.c: ZFS' cache, part of Wired)
Windows       errno=1455, `The paging file is too small for this operation to complete`
              (ERROR_COMMITMENT_LIMIT of winerror.h: all of RAM and paging file is promised)
"""

from __future__ import annotations

import re

from gomem.inputs.resemblance import TAKE_HEAP_PROFILE, Resemblance
from gomem.text import Program, Quoted, joined, text

NAMED = 3  # processes
_SIZE = rb"\d{1,9}(?:\.\d{1,2})?[BKMGT]"
_PHYSICAL = re.compile(
    rb"^[ \t>]*PhysMem: (" + _SIZE + rb") used \(([^()\n]{1,120})\), (" + _SIZE + rb") unused",
    re.MULTILINE,
)
_MAC_ROW = re.compile(
    rb"^[ \t>]*\d{1,7}[*+-]? +(?P<name>\S[^\n]{0,40}?) +\d{1,4}\.\d"
    rb" +\d{1,4}:\d\d[:.]\d\d(?:[:.]\d\d)?"
    rb" +\d[\d/]{0,8}[+-]? +\d[\d/]{0,8}[+-]? +\d{1,7}[+-]? +(?P<size>" + _SIZE + rb")[+-]? +"
    + _SIZE + rb"[+-]? +(?P<compressed>" + _SIZE + rb")[+-]?(?= |$)", re.MULTILINE,
)  # fmt: skip
_BSD_MEMORY = re.compile(
    rb"^[ \t>]*Mem: (" + _SIZE + rb" Active, [^\n]{8,120}? Free)[ \t]*\r?$", re.MULTILINE
)
_ARC = re.compile(rb"^[ \t>]*ARC: (" + _SIZE + rb") Total", re.MULTILINE)
_PAGING_FILE = re.compile(
    rb"\berrno ?= ?1455\b|paging file is too small for this operation", re.IGNORECASE
)
_ASK_MACOS = (
    "MEM is the physical footprint, dirty and compressed memory, no RSS; vmmap -summary PID has it "
    f"by region, of a Go program a heap profile says more: {TAKE_HEAP_PROFILE}"
)
_ASK_MACHINE = "it says nothing of one process: {} has the largest"
AT_COMMIT_LIMIT = (
    "Windows could commit no more memory (error 1455, the paging file is too small): all processes "
    "together had committed what RAM and paging file hold"
)
ASK_WINDOWS = (
    "commit counts what is reserved for use, resident or not; Get-Process | sort PM -Descending | "
    "select -First 9 Name,PM,WS has the processes that committed most"
)


def top_of_macos(head: bytes, _: str) -> Resemblance | None:
    """Describe rows of macOS' top, or else its head."""
    rows = list(_MAC_ROW.finditer(head))
    if rows:
        said = (
            text(
                "{} has {}, {} of it compressed",
                Program(row["name"].decode("utf-8", "replace")),
                *(Quoted(row[part].decode("ascii")) for part in ("size", "compressed")),
            )
            for row in rows[:NAMED]
        )
        what = text("macOS' top: {}", joined(", ", said))
        return Resemblance(what, _ASK_MACOS, is_evidence=True)
    machine = _PHYSICAL.search(head)
    if machine is None:
        return None
    used, parts, unused = (Quoted(part.decode("utf-8", "replace")) for part in machine.groups())
    words = "the head of macOS' top: {} used ({}), {} unused; used counts file caches, too"
    ask = _ASK_MACHINE.format("top -l 1 -o mem -n 9")
    return Resemblance(text(words, used, parts, unused), ask, is_evidence=True)


def top_of_freebsd(head: bytes, _: str) -> Resemblance | None:
    """Describe the head of FreeBSD's top."""
    machine = _BSD_MEMORY.search(head)
    if machine is None:
        return None
    arc = _ARC.search(head)
    cache = (
        text("; ZFS' cache (ARC) has {} of Wired", Quoted(arc[1].decode("ascii"))) if arc else ""
    )
    words = "the head of FreeBSD's top: {}{}"
    what = text(words, Quoted(machine[1].decode("utf-8", "replace")), cache)
    return Resemblance(what, _ASK_MACHINE.format("top -b -o res 9"), is_evidence=True)


def lines_of_freebsd(data: bytes) -> set[int]:
    """Return the lines, from 1, of the head of FreeBSD's top about memory."""
    found = [form.search(data) for form in (_BSD_MEMORY, _ARC)]
    starts = [head.start(1) for head in found if head is not None and found[0] is not None]
    return {data.count(b"\n", 0, start) + 1 for start in starts}


def commit_of_windows(head: bytes, _: str) -> Resemblance | None:
    """Describe Windows' message that nothing more can be committed."""
    if _PAGING_FILE.search(head) is None:
        return None
    return Resemblance(AT_COMMIT_LIMIT, ASK_WINDOWS, is_evidence=True)
