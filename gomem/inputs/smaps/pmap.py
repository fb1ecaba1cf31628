"""The output of pmap: one line per mapping, with fewer columns than smaps.

Printed by    procps (pmap.c) and busybox: pmap PID, pmap -x PID, pmap -X PID, pmap -d PID.
Quirks        Sizes are in KiB. Dirty is the sum of smaps' Shared_Dirty and Private_Dirty. -X has
              the kernel's own names as column headers, and a column with the offset.
              Files, memfds and System V segments are printed without their directory. [ anon ] also
              stands for mappings that the kernel names, such as [vdso]; only [ stack ] is separate.
              A mode looks like `rw-s-`: the fourth character is s for shared, - for private.
              On newer kernels, procps 3.3 prints each line of -x twice, the second time with zeros.
              A mapping with size 0 is skipped.
              The last line has the sums. If it is missing, or if it has more than the lines above
              add up to, the output was truncated.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from gomem.errors import Damage, excerpt
from gomem.inputs.smaps.parse import PLAIN_FIELDS, Mappings, masked_fields
from gomem.units import ADDRESS_SPACE_BYTES, KIB

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROW = re.compile(rb" *([0-9a-f]{8,16}) +(.*)")
SIZE = re.compile(rb"(\d{1,15})K?")
HEXADECIMAL, INODE = re.compile(rb"[0-9a-f]{1,16}"), re.compile(rb"\d{1,19}")
FILE_COLUMNS = {b"Offset", b"Device", b"Inode"}  # that -X prints
MODE = re.compile(rb"([r-][w-][x-])([sp-])[R-]?")
HEADER = re.compile(rb" *Address +(?:Kbytes|Perm)\b.*")
PLAIN = re.compile(rb" *[0-9a-f]{8,16} +\d+K +[r-][w-][x-]\S{1,2}(?: .*)?")
NO_HEAD = re.compile(rb" *[0-9a-f]{8,16} +\d+ +(?:\d+|-) +(?:\d+|-) +[r-][w-][x-][sp-][R-](?: .*)?")
TOTAL = re.compile(rb" *(?:total|mapped:)[ :]+(?:kB +)?(\d[\dK -]*)(?: .*)?")
TOTAL_OF_ALL = re.compile(rb" {16,}(\d[\d ]*) KB *")
RULE = re.compile(rb" *[-=]+(?: +[-=]+)* *")
PROCESS = re.compile(rb" *\d{1,10}: .*")
NAMED = re.compile(rb" *\[ *+([^\]]*[^\] ]) *\] *")
# pmap omits the directory in the kernel's own names: it is restored.
FOLDERS = {"memfd:": "/", "SYSV": "/", "zero (deleted)": "/dev/"}
ANONYMOUS = "anon"
# The kernel's names of columns that -x names differently; -X uses the kernel's.
KERNEL_NAMES = {b"Kbytes": b"Size", b"RSS": b"Rss", b"PSS": b"Pss", b"SHR": b"Shared"}
HEAD_LINES = 8  # lines searched for the header, which can follow a prompt or prose
AS_PRINTED = (b"Address", b"Perm", b"Mode", b"Offset", b"Device", b"Inode", b"Mapping")
USUAL_X = (b"Address", b"Kbytes", b"RSS", b"Dirty", b"Mode", b"Mapping")
USUAL = (b"Address", b"Kbytes", b"Mode", b"Mapping")
CUT = "{}; mappings are missing, and sums are too small"


@dataclass(slots=True)
class PmapEntry:
    """One mapping."""

    start: int
    line: int
    perms: str = "---p"
    path: str = ""
    offset: int = 0
    device: str = ""
    inode: int = 0
    fields: dict[bytes, int] = field(default_factory=dict)  # bytes, by the kernel's name

    @property
    def size(self) -> int:
        """Address space in bytes; 0 if missing."""
        return self.fields.get(b"Size", 0)


def looks_like_pmap(data: bytes) -> bool:
    """Whether the content is a pmap table: it has the header, or two lines of its form."""
    lines = data[:4096].split(b"\n")
    head = [line.rstrip() for line in lines if line.strip()][:HEAD_LINES]
    are_rows = [bool(PLAIN.fullmatch(row) or NO_HEAD.fullmatch(row)) for row in head]
    return any(map(HEADER.fullmatch, head)) or any(map(all, pairwise(are_rows)))


def parse_pmap(data: bytes, *, source: str) -> tuple[Mappings, list[Damage]]:
    """Parse pmap's table; return the mappings with a size, and lines of another form as damage."""
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n")
    entries: list[PmapEntry] = []
    damage: list[Damage] = []
    names: Sequence[bytes] = ()
    totals: list[int] | None = None
    lines = data.rstrip().split(b"\n")
    for number, raw in enumerate(lines, start=1):
        line = raw.rstrip()
        if not line or RULE.fullmatch(line) or PROCESS.fullmatch(line):
            continue
        if HEADER.fullmatch(line):
            names = line.split()
        elif found := TOTAL.fullmatch(line) or TOTAL_OF_ALL.fullmatch(line):
            totals = [int(size) for size in re.findall(rb"\d+", found[1])]
            break
        elif (entry := _entry(line, names or _usual(line), number)) is not None:
            entries += [entry] if entry.size else []
        elif number == len(lines) and (entry := _entry_of_cut(line, names, number)) is not None:
            entries.append(entry)
            what = "the last row is cut; what it still says is read"
            damage.append(Damage(source, f"line {number}", what, excerpt(line)))
        elif names or entries:  # text before the table is a prompt or prose
            what = "not a line of pmap; wanted an address, sizes, a mode and a mapping"
            damage.append(Damage(source, f"line {number}", what, excerpt(line)))
    return _mappings(entries), [*damage, *_cut(entries, totals, source)]


def _mappings(entries: Sequence[PmapEntry]) -> Mappings:
    """Return mappings as smaps has them; fields that pmap does not print are masked."""
    return Mappings(
        np.array([entry.start for entry in entries], np.uint64),
        np.array([entry.start + entry.size for entry in entries], np.uint64),
        [entry.perms for entry in entries],
        np.array([entry.offset for entry in entries], np.uint64),
        [entry.device for entry in entries],
        np.array([entry.inode for entry in entries], np.uint64),
        [entry.path for entry in entries],
        masked_fields([entry.fields for entry in entries]),
        [""] * len(entries),
        np.array([entry.line for entry in entries], np.int64),
    )


def _usual(line: bytes) -> Sequence[bytes]:
    """Return the columns of a table without a header."""
    return USUAL if PLAIN.fullmatch(line) else USUAL_X


def _entry(line: bytes, names: Sequence[bytes], number: int) -> PmapEntry | None:
    """Parse a mapping; None if the line does not have the columns."""
    row = ROW.fullmatch(line)
    if row is None:
        return None
    words = line.split(None, len(names) - 1)
    if len(words) < len(names) - 1:  # the last column, the mapping, can be empty
        return None
    cells = dict(zip(names, words, strict=False))
    mode = MODE.fullmatch(cells.get(b"Mode", cells.get(b"Perm", b"")))
    sizes = _sizes(cells)
    if mode is None or sizes is None or int(row[1], 16) + sizes.get(b"Size", 0) >= 1 << 64:
        return None
    entry = PmapEntry(int(row[1], 16), number, fields=sizes)
    entry.perms = (mode[1] + (b"s" if mode[2] == b"s" else b"p")).decode("ascii")
    entry.path = _path(cells.get(b"Mapping", b""))
    return entry if not cells.keys() >= FILE_COLUMNS or _takes_file(entry, cells) else None


def _takes_file(entry: PmapEntry, cells: Mapping[bytes, bytes]) -> bool:
    """Put in the mapping's file, of which -X prints the place; False where it is none."""
    offset, device, inode = (cells[name] for name in (b"Offset", b"Device", b"Inode"))
    if not HEXADECIMAL.fullmatch(offset) or not INODE.fullmatch(inode):
        return False
    entry.offset, entry.inode = int(offset, 16), int(inode)
    entry.device = device.decode("ascii", "replace")
    return True


def _entry_of_cut(line: bytes, names: Sequence[bytes], number: int) -> PmapEntry | None:
    """Parse a last line with missing columns, without its last number, which can be cut."""
    words = line.split()
    told = [name for name in names[: len(words) - 1] if name != b"Mapping"]
    if {b"Rss", b"RSS"}.isdisjoint(told) or b"Perm" not in told:
        return None
    entry = _entry(b" ".join(words[: len(told)]), told, number)
    return entry if entry is not None and entry.size else None


def _sizes(cells: Mapping[bytes, bytes]) -> dict[bytes, int] | None:
    """Return bytes by the kernel's name; None if a cell is not a number. A dash is unknown."""
    sizes = {}
    for name, cell in cells.items():
        if name in AS_PRINTED or cell == b"-":
            continue
        number = SIZE.fullmatch(cell)
        if number is None or int(number[1]) * KIB > ADDRESS_SPACE_BYTES:
            return None
        factor = 1 if name in PLAIN_FIELDS else KIB
        sizes[KERNEL_NAMES.get(name, name)] = int(number[1]) * factor
    return sizes


def _path(cell: bytes) -> str:
    """Return the mapping's name as the kernel prints it, if pmap shows it; empty if anonymous."""
    if named := NAMED.fullmatch(cell):
        word = named[1].decode("utf-8", "backslashreplace")
        return "" if word == ANONYMOUS else f"[{word}]"
    name = cell.decode("utf-8", "backslashreplace").strip()
    folder = next((above for word, above in FOLDERS.items() if name.startswith(word)), "")
    return f"{folder}{name}"


def _cut(entries: Sequence[PmapEntry], totals: Sequence[int] | None, source: str) -> list[Damage]:
    """Return damage if mappings are missing: the totals differ, or their line is missing."""
    if not entries:
        return []
    last = f"line {entries[-1].line}"
    if totals is None:
        return [Damage(source, last, CUT.format("pmap's line of totals is not there"))]
    mapped = sum(entry.size for entry in entries)
    if totals and totals[0] * KIB > mapped:
        return [Damage(source, last, CUT.format("the mappings are less than pmap's total"))]
    return []
