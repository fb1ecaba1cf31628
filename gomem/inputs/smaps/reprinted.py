"""Sizes of address space, as other programs print them. They are not RSS: gomem only shows them.

maps          `c000000000 - c001725000  size= 23700 … rw-p`, rows of /proc/PID/maps reformatted by a
              script, with spaces around the dash
vmmap         `Physical footprint:  369.0M`, on macOS; its tools `heap` and `sample` print
              this line too. People also write `phys_footprint` = 5.5G, beside vmmap's columns
              RESIDENT and SWAPPED OUT
WinDbg        `!address -summary`, by kind: `<unknown>  82  0`28cd5000 ( 652.832 MB)  88.54%`
"""

from __future__ import annotations

import re

from gomem.inputs.resemblance import TAKE_HEAP_PROFILE, Resemblance
from gomem.text import Bytes, Count, Quoted, Text, joined, text
from gomem.units import ADDRESS_SPACE_BYTES

MIN_ROWS = 3
SHOWN = 5  # kinds of address space shown
_ROW = re.compile(
    rb"^\s{0,16}([0-9a-f]{6,16}) {1,8}- {1,8}([0-9a-f]{6,16})\s[^\n]{0,80}?\s([-r][-w][-x][ps])\s",
    re.MULTILINE,
)
# Where the runtime reserves its heap on 64-bit machines (malloc.go): 0xc0 << 32, then upwards.
GO_HEAP = range(0xC000000000, 0xC000000000 + (512 << 30))
_ASK_SMAPS = "sizes of maps are no RSS; /proc/PID/smaps has both: cat /proc/PID/smaps > smaps"
_FOOTPRINT = re.compile(
    rb"^Physical footprint: {1,20}(\d[\d.]{0,10}[KMGT]?)\s{1,4}"
    rb"(?:Physical footprint \(peak\): {1,20}(\d[\d.]{0,10}[KMGT]?))?",
    re.MULTILINE,
)
_SIZE = rb"(\d[\d.]{0,10} ?[KMGT]i?B?)\b"
_SAID = re.compile(  # in a list or a sentence
    rb"\b(?:phys_footprint|physical footprint)\b[`*_\"' ]{0,6}(?:[:=]|is|of|(?:sits |is )?at)"
    rb"[`*_\"' ]{0,6}" + _SIZE + rb"(?:[^\n\d]{0,20}\bpeak\b[`*_:=\"' ]{1,6}" + _SIZE + rb")?",
    re.IGNORECASE,
)
_PARTS = re.compile(
    rb"\b(RESIDENT|SWAPPED[ _]OUT)\b[^\n=:\d]{0,20}[:=][^\n\d]{0,12}" + _SIZE, re.IGNORECASE
)
_ASK_MACOS = (
    "it is dirty and compressed memory, no RSS; of a Go program a heap profile says more: "
    f"{TAKE_HEAP_PROFILE}"
)
_ASK_IDLE = (
    "what is swapped out is memory that nothing touches, such as idle heap that Go has not "
    "returned: HeapIdle less HeapReleased in MemStats, which debug.FreeOSMemory() returns"
)
_SUMMARY = re.compile(rb"^--- Usage Summary -[^\n]{0,120}$", re.MULTILINE)
_KIND = re.compile(
    rb"^(<unknown>|[A-Z]\w{1,20}) +\d{1,9} +[0-9a-f`]{1,20} \( *(\d[\d.]{0,12} [kMGT]?B)\)",
    re.MULTILINE,
)
FREE = b"Free"
_ASK_WINDOWS = (
    f"a heap profile says what Go retains: {TAKE_HEAP_PROFILE}; "
    "VMMap says which of <unknown> is in the working set"
)


def reprinted_maps(head: bytes, _: str) -> Resemblance | None:
    """Describe reformatted rows of maps: the address space, and the Go heap's share."""
    rows = [(int(start, 16), int(stop, 16)) for start, stop, _ in _ROW.findall(head)]
    rows = [(start, stop) for start, stop in rows if 0 < stop - start <= ADDRESS_SPACE_BYTES]
    if len(rows) < MIN_ROWS:
        return None
    whole = sum(stop - start for start, stop in rows)
    heap = sum(stop - start for start, stop in rows if start in GO_HEAP)
    at = text(", {} of it where Go has its heap (from c000000000)", Bytes(heap)) * bool(heap)
    words = "rows of /proc/PID/maps in another layout: {} of {} of address space{}"
    what = text(words, Count(len(rows), "mapping"), Bytes(whole), at)
    return Resemblance(what, _ASK_SMAPS, is_evidence=True)


def footprint_of_macos(head: bytes, _: str) -> Resemblance | None:
    """Describe a process's memory as printed by macOS' vmmap, heap and sample."""
    printed, said = _FOOTPRINT.search(head), _SAID.search(head)
    found = printed or said
    if found is None:
        return None
    size, peak = (Quoted((part or b"").decode("ascii")) for part in found.groups())
    most = text(", at most {}", peak) if found[2] else ""
    words = "what a tool of macOS says of a process: a physical footprint of {}{}{}"
    sizes = [] if printed else [*reversed(_PARTS.findall(head))]  # the first of each counts
    parts = {name.lower()[:1]: size for name, size in sizes}
    what = text(words, size, most, _parts_words(parts))
    way_out = f"{_ASK_MACOS}; {_ASK_IDLE}" if b"s" in parts else _ASK_MACOS
    return Resemblance(what, way_out, is_evidence=True)


def _parts_words(parts: dict[bytes, bytes]) -> Text:
    """Say how much is resident, and how much is swapped out, of the sizes by first letter."""
    words = {b"r": "{} resident", b"s": "{} compressed or swapped out"}
    known = [(words[key], parts[key]) for key in words if key in parts]
    said = joined(", ", (text(word, Quoted(size.decode("ascii"))) for word, size in known))
    return text(" ({})", said) if said else Text()


def summary_of_windbg(head: bytes, _: str) -> Resemblance | None:
    """Describe a Windows process according to WinDbg's `!address -summary`."""
    begun = _SUMMARY.search(head)
    kinds = [] if begun is None else _KIND.findall(head, begun.end())
    used = [(name.decode("ascii"), size.decode("ascii")) for name, size in kinds if name != FREE]
    if not used:
        return None
    shown = joined(", ", (text("{} {}", Quoted(name), size) for name, size in used[:SHOWN]))
    words = (
        "WinDbg's summary of a process's address space by kind ({}); "
        "Go's heap is among <unknown> (VirtualAlloc), C's is Heap"
    )
    return Resemblance(text(words, shown), _ASK_WINDOWS, is_evidence=True)
