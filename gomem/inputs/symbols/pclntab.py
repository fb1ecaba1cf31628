"""Go's function table, `.gopclntab`: the name of each function of an executable.

Written by    cmd/link, even if symbols are stripped: the runtime's tracebacks need it.
Described in  the runtime's symtab.go (`pcHeader`, `_func`) and in debug/gosym.
Forms         The magic number distinguishes Go 1.2 to 1.15, 1.16 and 1.17, 1.18 and 1.19, and 1.20
              and later. Since 1.18 entries are relative to the start of the text.
Place         A section of its own. Most position-independent executables have another name for it.
              If cgo's linker wrote no section for it, the table is found by its first bytes.
Quirks        It has no sizes. Functions in assembly have no `.abi0` after their names. Up to 1.20
              type arguments are `[...]`. C functions are not in it.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gomem.errors import Damage
from gomem.inputs.symbols.columns import Overlapping, texts_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from gomem.inputs.elf import Elf

    AddressArray = NDArray[np.uint64]
    IntArray = NDArray[np.int64]

SECTIONS = (b".gopclntab", b".data.rel.ro.gopclntab")
WHERE = ".gopclntab"
HEAD_BYTES = 8  # of the header, before its numbers
INSTRUCTION_BYTES = (1, 2, 4)
MAX_TABLE_BYTES = 1 << 30
MAX_CANDIDATES = 64  # positions that look like the start of a table


@dataclass(frozen=True, slots=True)
class Form:
    """Differences between releases."""

    numbers: int  # in the header; the first is the number of functions
    names: int = 0  # index of the offset of the names; 0 for the start of the table
    records: int = 0  # index of the offset of the function records
    # whether entries are relative to the start of the text, in four bytes
    is_relative: bool = False
    record_bytes: int = 0  # size of a record without its own tables; 0 if these are not read
    name_in_call: int = 0  # offset of the name in a call of an inline tree


FORMS = {
    0xFFFFFFFB: Form(1),
    0xFFFFFFFA: Form(7, 2, 6),
    0xFFFFFFF0: Form(8, 3, 7, is_relative=True, record_bytes=40, name_in_call=12),
    0xFFFFFFF1: Form(8, 3, 7, is_relative=True, record_bytes=44, name_in_call=4),
}


@dataclass(frozen=True, slots=True)
class Functions:
    """The functions in a table that have a name, in order of their entries."""

    entry: AddressArray  # as stored in the table
    record: IntArray  # position of its record
    name: list[str]


@dataclass(frozen=True, slots=True)
class Table:
    """The table in the file, and its function records."""

    data: bytes
    address: int  # in memory
    order: str
    width: int  # bytes of a pointer
    form: Form
    header: tuple[int, ...]

    @property
    def is_whole(self) -> bool:
        """Whether it has as many functions as its header says."""
        return len(self.functions()[0]) == self.header[0]

    @property
    def names_at(self) -> int:
        """Start of the names."""
        return self.header[self.form.names] if self.form.names else 0

    @property
    def records_at(self) -> int:
        """Start of the function records; since Go 1.16 also of the function list."""
        return self.header[self.form.records] if self.form.records else 0

    def functions(self) -> tuple[AddressArray, IntArray]:
        """Return each function's entry as stored in the table, and the position of its record.

        Entries ascend, so the list ends at the first one that does not.
        """
        size = 4 if self.form.is_relative else self.width
        at = self.records_at or HEAD_BYTES + self.width
        count = min(self.header[0], max(len(self.data) - at, 0) // (2 * size))
        if not count:
            return np.zeros(0, np.uint64), np.zeros(0, np.int64)
        stored = np.frombuffer(self.data, f"{self.order}u{size}", 2 * count, at)
        pairs = stored.astype(np.uint64).reshape(-1, 2)
        wrong = np.flatnonzero(pairs[1:, 0] <= pairs[:-1, 0])
        pairs = pairs[: int(wrong[0]) + 1 if len(wrong) else count]
        record = np.minimum(pairs[:, 1], np.uint64(MAX_TABLE_BYTES)).astype(np.int64)
        return pairs[:, 0], record + self.records_at

    def numbers_at(self, place: IntArray) -> IntArray:
        """Return the four-byte numbers at some positions; -1 outside the table."""
        return numbers_in(self.data, place, self.order)

    def bytes_at(self, place: IntArray) -> IntArray:
        """Return the bytes at some positions, which must be inside the table."""
        return np.frombuffer(self.data, np.uint8)[place].astype(np.int64)

    def names(self, offset: IntArray) -> list[str]:
        """Return names by offset from `names_at`; empty if invalid. Raises Overlapping."""
        begin = np.where(offset >= 0, offset + self.names_at, -1)
        if self.form.names:  # since Go 1.16 names are stored contiguously
            inside = (offset > 0) & (begin < len(self.data))
            begin[inside & (self.bytes_at(np.where(inside, begin - 1, 0)) != 0)] = -1
        return texts_at(self.data, begin)


def numbers_in(data: bytes, place: IntArray, order: str) -> IntArray:
    """Return the four-byte numbers at some positions; -1 outside the data."""
    if len(data) < 4:
        return np.full(len(place), -1)
    every = np.ndarray(len(data) - 3, f"{order}u4", data, strides=(1,))
    inside = (place >= 0) & (place < len(every))
    return np.where(inside, every[np.where(inside, place, 0)].astype(np.int64), -1)


def table_of(elf: Elf, data: bytes) -> Table | None:
    """Return the function table of an executable; None if there is none in a known format."""
    named = _sections(elf)
    found = (_table(elf, data, *place) for place in named or _alike(elf, data))
    # Without a section name, the table must be complete.
    whole = (table for table in found if table and (named or table.is_whole))
    return next(whole, None)


def functions_of(table: Table, source: str) -> tuple[Functions, list[Damage]]:
    """Return the functions with their names; those without a name are damage."""
    entry, record = table.functions()
    offset = table.numbers_at(record + (4 if table.form.is_relative else table.width))
    try:
        names = table.names(offset)
    except Overlapping:
        names = [""] * len(entry)
    kept = np.array([bool(name) for name in names], np.bool_)
    missing = table.header[0] - int(np.count_nonzero(kept))
    damage = []
    if missing:
        what = f"{missing} of {table.header[0]} functions have no name; the file may be cut"
        damage.append(Damage(source, WHERE, what))
    return Functions(entry[kept], record[kept], [name for name in names if name]), damage


def _sections(elf: Elf) -> list[tuple[int, int, int]]:
    """Return address, offset and size of sections named like the table."""
    try:
        found = [section for name in SECTIONS if (section := elf.section(name)) is not None]
    except (struct.error, IndexError):  # the section headers are cut off
        return []
    return [(section.address, section.offset, section.size) for section in found]


def _alike(elf: Elf, data: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield address, offset and size of positions in loaded segments that begin like the table."""
    left = MAX_CANDIDATES
    for address, offset, stored in elf.segments():
        for number in FORMS:
            begin = struct.pack(f"{elf.order}I", number) + b"\0\0"
            at = data.find(begin, offset, offset + stored)
            while at >= 0 and left:
                yield address + at - offset, at, offset + stored - at
                left -= 1
                at = data.find(begin, at + 1, offset + stored)


def _table(elf: Elf, data: bytes, address: int, offset: int, size: int) -> Table | None:
    """Return the table at a position; None if it is not one."""
    stored = data[offset : offset + min(size, MAX_TABLE_BYTES)]
    width = 8 if elf.wide else 4
    if len(stored) < HEAD_BYTES or stored[6] not in INSTRUCTION_BYTES or stored[7] != width:
        return None
    form = FORMS.get(struct.unpack_from(f"{elf.order}I", stored)[0])
    if form is None or len(stored) < HEAD_BYTES + form.numbers * width:
        return None
    letter = "Q" if elf.wide else "I"
    header = struct.unpack_from(f"{elf.order}{form.numbers}{letter}", stored, HEAD_BYTES)
    table = Table(stored, address, elf.order, width, form, header)
    if form.names and not 0 < table.names_at < table.records_at < len(stored):
        return None
    return table if len(table.functions()[0]) else None
