"""The symbols of an ELF executable: its symbol table, and Go's own table of functions.

A stripped executable has only the second: functions, no variables.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import numpy as np

from gomem.errors import Damage, FormatError
from gomem.inputs.elf import Elf
from gomem.inputs.symbols.columns import Overlapping, SymbolColumns, texts_at
from gomem.inputs.symbols.pclntab import functions_of, table_of
from gomem.inputs.symbols.wrappers import (
    function_values,
    moduledata_of,
    text_start,
    wrappers_of,
)

if TYPE_CHECKING:
    from gomem.inputs.symbols.pclntab import Table

MAX_SYMBOL_BYTES = 1 << 30
OBJECT_TYPE, FUNCTION_TYPE = 1, 2  # of an ELF symbol, in the low four bits of st_info
UNDEFINED_SECTION = 0
LETTERS = {OBJECT_TYPE: "D", FUNCTION_TYPE: "T"}
TEXT_BEGINS = "runtime.text"  # the symbol at the start of Go's functions
FUNCTION_VALUE = "·f"  # suffix of a function's name: the word that contains its entry address
NO_SYMBOLS = (
    "an executable without a symbol table, and without Go's list of functions (.gopclntab); "
    "wanted it as Go built it, stripped or not"
)


def symbols_of_elf(data: bytes, source: str) -> tuple[SymbolColumns, list[Damage]]:
    """Return an executable's symbols, with the targets of wrappers; FormatError if it has none.

    Functions missing in the symbol table come after it, and then the words that function values
    point to.
    """
    elf = Elf.of(lambda offset, length: data[offset : offset + length])
    if elf is None:
        raise FormatError(source, "", NO_SYMBOLS)
    damage: list[Damage] = []
    try:
        symbols = _symbol_table(elf, data)
    except (struct.error, IndexError):
        symbols = SymbolColumns()
    except Overlapping:
        symbols = SymbolColumns()
        damage.append(Damage(source, ".symtab", "names lie in one another; no symbol is read"))
    try:
        table = table_of(elf, data)
        if table is not None:
            symbols, found = _with_functions(elf, data, table, symbols, source)
            damage += found
    except struct.error:  # the segment headers are cut off
        pass
    if not symbols.name:
        raise FormatError(source, "", NO_SYMBOLS)
    return symbols, damage


def _symbol_table(elf: Elf, data: bytes) -> SymbolColumns:
    """Return the functions and variables in the symbol table; empty if stripped."""
    table, names = elf.section(b".symtab"), elf.section(b".strtab")
    if table is None or names is None:
        return SymbolColumns()
    order = elf.order
    wide = [("name", f"{order}u4"), ("info", "u1"), ("other", "u1"), ("section", f"{order}u2"),
            ("address", f"{order}u8"), ("size", f"{order}u8")]  # fmt: skip
    narrow = [wide[0], ("address", f"{order}u4"), ("size", f"{order}u4"), *wide[1:4]]
    form = np.dtype(wide if elf.wide else narrow)
    stored = data[table.offset : table.offset + min(table.size, MAX_SYMBOL_BYTES)]
    rows = np.frombuffer(stored[: len(stored) // form.itemsize * form.itemsize], form)
    kind = rows["info"] & 0xF
    rows = rows[(rows["section"] != UNDEFINED_SECTION) & (kind <= FUNCTION_TYPE)]
    texts = data[names.offset : names.offset + min(names.size, MAX_SYMBOL_BYTES)]
    letters = [LETTERS.get(kind, "?") for kind in (rows["info"] & 0xF).tolist()]
    size = np.minimum(rows["size"].astype(np.uint64), np.uint64(1 << 62)).astype(np.int64)
    address = rows["address"].astype(np.uint64)
    return SymbolColumns(address, size, letters, texts_at(texts, rows["name"].astype(np.int64)))


def _with_functions(
    elf: Elf, data: bytes, table: Table, symbols: SymbolColumns, source: str
) -> tuple[SymbolColumns, list[Damage]]:
    """Add the data from Go's function table to the symbols."""
    functions, damage = functions_of(table, source)
    moduledata = moduledata_of(elf, data, table)
    wrappers = wrappers_of(elf, table, moduledata, functions)
    start = text_start(table, moduledata)
    if not start and TEXT_BEGINS in symbols.name and table.form.is_relative:
        start = int(symbols.address[symbols.name.index(TEXT_BEGINS)])
    entry, names = functions.entry + np.uint64(start), functions.name
    row_of = {address: row for row, address in enumerate(entry.tolist())}
    known = [
        row_of.get(address) if letter == LETTERS[FUNCTION_TYPE] else None
        for address, letter in zip(symbols.address.tolist(), symbols.letter, strict=True)
    ]
    new = sorted(set(row_of.values()).difference(known))
    values, of = function_values(elf, table, entry)
    held = [names[row] + FUNCTION_VALUE for row in of.tolist()]
    rows = [*known, *new, *[None] * len(values)]
    is_wrapper: list[bool | None] = [None] * len(names)
    wraps: list[str | None] = [None] * len(names)
    if wrappers is not None:
        is_wrapper, wraps = wrappers.is_wrapper.tolist(), [*wrappers.wraps]
    letters = [LETTERS[FUNCTION_TYPE]] * len(new)
    sizes = [np.zeros(len(new), np.int64), np.full(len(values), table.width)]
    return SymbolColumns(
        np.concatenate([symbols.address, entry[new], values]),
        np.concatenate([symbols.size, *sizes]),
        [*symbols.letter, *letters, *["R"] * len(values)],
        [*symbols.name, *(names[row] for row in new), *held],
        [None if row is None else is_wrapper[row] for row in rows],
        [None if row is None else wraps[row] for row in rows],
    ), damage
