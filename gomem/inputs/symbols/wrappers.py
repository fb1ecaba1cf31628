"""Which functions are compiler-generated wrappers, such as for `go f(x)`, and what do they call?

Written by    cmd/compile and cmd/link, since Go 1.18. With `go f(x)` the goroutine begins in a
              wrapper, `main.start.gowrap1`, or up to Go 1.21 `main.start.func1`.
Described in  the runtime's symtab.go (`moduledata`, `funcdata`), tracestack.go (`WrapInfo`),
              symtabinl.go (`inlinedCall`) and internal/abi's symtab.go.
Quirks        If f is inlined into the wrapper, no stack frame names f. WrapInfo names f, unless f
              is the value of a variable or interface. In that case the inline tree names f, if f
              was inlined.
              Funcdata are relative to `go:func.*`, whose address is in moduledata. Its offset there
              differs between releases, so it is found as the word for which every WrapInfo is a
              function. The number that marks wrappers differs, too: it is the one that the
              functions with a WrapInfo have.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gomem.inputs.symbols.columns import Overlapping
from gomem.inputs.symbols.pclntab import MAX_CANDIDATES, numbers_in

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gomem.inputs.elf import Elf
    from gomem.inputs.symbols.pclntab import AddressArray, Functions, IntArray, Table

INLINE_TREE, WRAP_INFO = 3, 7  # kinds of funcdata
NONE = 0xFFFFFFFF  # the function lacks this funcdata
PCDATA_COUNT = 28  # offset in a record of the number of its pcdata tables
MAX_KINDS = 64  # of pcdata and of funcdata; a record with more is invalid
FUNCTIONS_WORD, TEXT_WORD = 16, 22  # moduledata words: function list, start of the text
WORDS = 64  # of moduledata that are examined
TEXT_IN_HEADER = 2  # index in the table's header of the start of the text, up to Go 1.25
OWN = ("runtime.", "internal/runtime/")


@dataclass(frozen=True, slots=True)
class Wrappers:
    """For each function, in the table's order: whether it is a wrapper, and of what."""

    is_wrapper: NDArray[np.bool_]
    wraps: list[str]  # the function that a wrapper calls; empty for others and if unknown


def moduledata_of(elf: Elf, data: bytes, table: Table) -> tuple[int, ...]:
    """Return the first words of the runtime's moduledata; empty if it is not found."""
    letter = "Q" if elf.wide else "I"
    begin = struct.pack(f"{elf.order}{letter}", table.address)
    functions = table.address + table.records_at
    at = data.find(begin)
    for _ in range(MAX_CANDIDATES):
        stored = data[at : at + WORDS * table.width] if at >= 0 else b""
        if len(stored) < WORDS * table.width:
            break
        words = struct.unpack(f"{elf.order}{WORDS}{letter}", stored)
        if words[1] == table.address + table.names_at and words[FUNCTIONS_WORD] == functions:
            return words
        at = data.find(begin, at + 1)
    return ()


def text_start(table: Table, moduledata: tuple[int, ...]) -> int:
    """Return the start of the text; 0 if it is unknown, or if entries are addresses."""
    if not table.form.is_relative:
        return 0
    return moduledata[TEXT_WORD] if moduledata else table.header[TEXT_IN_HEADER]


def wrappers_of(
    elf: Elf, table: Table, moduledata: tuple[int, ...], functions: Functions
) -> Wrappers | None:
    """Return the wrappers among functions; None if the executable does not mark them."""
    record = functions.record
    wraps = [""] * len(record)
    info = _funcdata(table, record, WRAP_INFO)
    with_info = np.flatnonzero(info >= 0)
    base, wrapped = _base(elf, table, moduledata, info[with_info], functions.entry)
    if not base:
        return None
    kind = table.bytes_at(record + table.form.record_bytes - 4)
    is_wrapper = np.isin(kind, np.unique(kind[with_info]))
    for row, of in zip(with_info.tolist(), wrapped.tolist(), strict=True):
        wraps[row] = functions.name[of]
    tree = np.where(is_wrapper, _funcdata(table, record, INLINE_TREE), -1)
    rows = np.flatnonzero((tree >= 0) & (info < 0))
    for row, name in zip(rows.tolist(), _inlined(elf, table, base, tree[rows]), strict=True):
        wraps[row] = "" if name.startswith(OWN) else name
    return Wrappers(is_wrapper, wraps)


def _funcdata(table: Table, record: IntArray, kind: int) -> IntArray:
    """Return one kind of funcdata of each function, as an offset; -1 if it has none."""
    size = table.form.record_bytes
    if not size:
        return np.full(len(record), -1)
    pcdata = table.numbers_at(record + PCDATA_COUNT)
    counts = table.numbers_at(record + size - 4)
    funcdata = counts & 0xFF if table.order == ">" else counts >> 24
    has = (counts >= 0) & (pcdata >= 0) & (pcdata <= MAX_KINDS)
    has &= (funcdata > kind) & (funcdata <= MAX_KINDS)
    found = table.numbers_at(np.where(has, record + size + 4 * (pcdata + kind), -1))
    return np.where(found == NONE, -1, found)


def _base(
    elf: Elf, table: Table, moduledata: tuple[int, ...], info: IntArray, entry: AddressArray
) -> tuple[int, IntArray]:
    """Return the funcdata base (0 if not found), and the function that each WrapInfo names."""
    nothing = np.zeros(0, np.int64)
    if not len(info):
        return 0, nothing
    for address in sorted({word for word in moduledata[TEXT_WORD + 1 :] if word}):
        stored = elf.memory(address, int(info.max()) + 4)
        value = numbers_in(stored, info, table.order).astype(np.uint64)
        place = np.minimum(np.searchsorted(entry, value), len(entry) - 1)
        if len(stored) and bool(((entry[place] == value) & (value > 0)).all()):
            return address, place
    return 0, nothing


def _inlined(elf: Elf, table: Table, base: int, tree: IntArray) -> list[str]:
    """Return the name of the outermost call in each inline tree."""
    if not len(tree):
        return []
    at = tree + table.form.name_in_call
    stored = elf.memory(base, int(at.max()) + 4)
    try:
        return table.names(numbers_in(stored, at, table.order))
    except Overlapping:
        return [""] * len(tree)


def function_values(elf: Elf, table: Table, entry: AddressArray) -> tuple[AddressArray, IntArray]:
    """Return the words outside the text that hold a function entry: addresses, function rows."""
    if not table.form.is_relative:
        return np.zeros(0, np.uint64), np.zeros(0, np.int64)
    found: list[tuple[AddressArray, IntArray]] = []
    for address, offset, stored in elf.segments():
        if not len(entry) or address <= int(entry[0]) < address + stored:
            continue
        data = elf.read(offset, stored // table.width * table.width)
        words = np.frombuffer(data, f"{elf.order}u{table.width}", len(data) // table.width)
        place = np.flatnonzero((words >= entry[0]) & (words <= entry[-1]))
        row = np.minimum(np.searchsorted(entry, words[place]), len(entry) - 1)
        is_entry = entry[row] == words[place]
        start = np.uint64(address) + np.uint64(table.width) * place[is_entry].astype(np.uint64)
        found.append((start, row[is_entry]))
    if not found:
        return np.zeros(0, np.uint64), np.zeros(0, np.int64)
    starts, rows = zip(*found, strict=True)
    return np.concatenate(starts), np.concatenate(rows)
