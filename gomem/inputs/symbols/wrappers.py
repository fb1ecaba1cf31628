"""Which functions did the compiler make to call another, as for `go f(x)`, and which is that?

Written by    cmd/compile and cmd/link, since Go 1.18. Of `go f(x)` the goroutine begins with a
              function of the compiler's, `main.start.gowrap1`, or up to Go 1.21 `main.start.func1`.
Described in  the runtime's symtab.go (`moduledata`, `funcdata`), tracestack.go (`WrapInfo`),
              symtabinl.go (`inlinedCall`) and internal/abi's symtab.go.
Quirks        Where f is inlined into it, no frame of a stack names f. WrapInfo names f, unless f is
              a variable's or an interface's: then the inline tree does, if f was inlined.
              Funcdata count from `go:func.*`, of which moduledata has the address: in a place that
              differs between releases, so it is the word from which every WrapInfo is a function.
              The number that marks wrappers differs, too: it is that of functions with a WrapInfo.
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
NONE = 0xFFFFFFFF  # a funcdata that a function lacks
PCDATA_COUNT = 28  # where a record has the number of its first tables
MAX_KINDS = 64  # of pcdata and of funcdata: a record that claims more is none
FUNCTIONS_WORD, TEXT_WORD = 16, 22  # of moduledata: the list of functions, where the text begins
WORDS = 64  # of moduledata that are looked at
TEXT_IN_HEADER = 2  # which number of the table's header says where the text begins, up to Go 1.25
OWN = ("runtime.", "internal/runtime/")


@dataclass(frozen=True, slots=True)
class Wrappers:
    """Of each function, in the table's order."""

    is_wrapper: NDArray[np.bool_]
    wraps: list[str]  # the function that a wrapper was made for; empty for others and if not known


def moduledata_of(elf: Elf, data: bytes, table: Table) -> tuple[int, ...]:
    """The first words of the runtime's moduledata; none if it is not found."""
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
    """Where the text begins; 0 if neither says so, and where entries are addresses."""
    if not table.form.is_relative:
        return 0
    return moduledata[TEXT_WORD] if moduledata else table.header[TEXT_IN_HEADER]


def wrappers_of(
    elf: Elf, table: Table, moduledata: tuple[int, ...], functions: Functions
) -> Wrappers | None:
    """The wrappers among functions; None if the executable does not say which they are."""
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
    """One kind of funcdata of each function, as an offset; -1 for those without."""
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
    """From where funcdata count, and which function each WrapInfo names; 0 if that is not found."""
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
    """The name of the first call of each inline tree, which is not within another."""
    if not len(tree):
        return []
    at = tree + table.form.name_in_call
    stored = elf.memory(base, int(at.max()) + 4)
    try:
        return table.names(numbers_in(stored, at, table.order))
    except Overlapping:
        return [""] * len(tree)


def function_values(elf: Elf, table: Table, entry: AddressArray) -> tuple[AddressArray, IntArray]:
    """Words outside the text that hold a function's entry, by address, and the function's row.

    It is to these that function values point. The entries are addresses, too. Up to Go 1.17 the
    table itself has such words, and none is looked for.
    """
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
