"""Go's table of functions, `.gopclntab`: what each function of an executable is called.

Written by    cmd/link, also where symbols are stripped: the runtime's tracebacks need it.
Described in  the runtime's symtab.go (`pcHeader`, `_func`) and in debug/gosym.
Forms         By the number it begins with: Go 1.2 to 1.15, 1.16 and 1.17, 1.18 and 1.19, and
              since 1.20. Since 1.18 entries count from where the text begins.
Place         A section of its own, of another name in most position-independent executables, of
              none where cgo's linker wrote one: then it is found by how it begins.
Quirks        It has no sizes. Functions in assembly have no `.abi0` behind their names. Up to 1.20
              type arguments are `[...]`. C's functions are not in it.
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
MAX_CANDIDATES = 64  # places that begin like a table


@dataclass(frozen=True, slots=True)
class Form:
    """What differs between releases."""

    numbers: int  # of the header; the first counts the functions
    names: int = 0  # which of them says where names begin; 0 for the table's beginning
    records: int = 0  # the same, of functions' records
    is_relative: bool = False  # whether entries count from where the text begins, in four bytes
    record_bytes: int = 0  # of a record, before its own tables; 0 where these are not read
    name_in_call: int = 0  # where the name is in a call of an inline tree


FORMS = {
    0xFFFFFFFB: Form(1),
    0xFFFFFFFA: Form(7, 2, 6),
    0xFFFFFFF0: Form(8, 3, 7, is_relative=True, record_bytes=40, name_in_call=12),
    0xFFFFFFF1: Form(8, 3, 7, is_relative=True, record_bytes=44, name_in_call=4),
}


@dataclass(frozen=True, slots=True)
class Functions:
    """The functions of a table that have a name, in its order, which is that of entries."""

    entry: AddressArray  # as the table has it
    record: IntArray  # where its record lies
    name: list[str]


@dataclass(frozen=True, slots=True)
class Table:
    """The table as it lies in the file, and its functions' records."""

    data: bytes
    address: int  # in memory
    order: str
    width: int  # bytes of a pointer
    form: Form
    header: tuple[int, ...]

    @property
    def is_whole(self) -> bool:
        """Whether it has as many functions as it says."""
        return len(self.functions()[0]) == self.header[0]

    @property
    def names_at(self) -> int:
        """Where names begin."""
        return self.header[self.form.names] if self.form.names else 0

    @property
    def records_at(self) -> int:
        """Where functions' records begin, and since Go 1.16 the list of functions."""
        return self.header[self.form.records] if self.form.records else 0

    def functions(self) -> tuple[AddressArray, IntArray]:
        """The entry of each function as the table has it, and where its record lies.

        As many as there are: entries ascend, so one that does not is none.
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
        """The numbers of four bytes at some places; -1 outside the table."""
        return numbers_in(self.data, place, self.order)

    def bytes_at(self, place: IntArray) -> IntArray:
        """The bytes at some places, which must be inside the table."""
        return np.frombuffer(self.data, np.uint8)[place].astype(np.int64)

    def names(self, offset: IntArray) -> list[str]:
        """Names by where they begin behind `names_at`; empty where that is none. Overlapping."""
        begin = np.where(offset >= 0, offset + self.names_at, -1)
        if self.form.names:  # since Go 1.16 names have a place of their own, one behind the other
            inside = (offset > 0) & (begin < len(self.data))
            begin[inside & (self.bytes_at(np.where(inside, begin - 1, 0)) != 0)] = -1
        return texts_at(self.data, begin)


def numbers_in(data: bytes, place: IntArray, order: str) -> IntArray:
    """Numbers of four bytes at some places of a text; -1 outside it."""
    if len(data) < 4:
        return np.full(len(place), -1)
    every = np.ndarray(len(data) - 3, f"{order}u4", data, strides=(1,))
    inside = (place >= 0) & (place < len(every))
    return np.where(inside, every[np.where(inside, place, 0)].astype(np.int64), -1)


def table_of(elf: Elf, data: bytes) -> Table | None:
    """The table of an executable; None if it has none that is known."""
    named = _sections(elf)
    found = (_table(elf, data, *place) for place in named or _alike(elf, data))
    # What has no name of a section has to be whole.
    whole = (table for table in found if table and (named or table.is_whole))
    return next(whole, None)


def functions_of(table: Table, source: str) -> tuple[Functions, list[Damage]]:
    """The functions with their names; those without a name are damage."""
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
    """Address, offset and bytes of the sections that are named for the table."""
    try:
        found = [section for name in SECTIONS if (section := elf.section(name)) is not None]
    except (struct.error, IndexError):  # the sections' headers are cut off
        return []
    return [(section.address, section.offset, section.size) for section in found]


def _alike(elf: Elf, data: bytes) -> Iterator[tuple[int, int, int]]:
    """The same of places in loaded segments that begin as the table does."""
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
    """The table at a place; None if that is none."""
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
