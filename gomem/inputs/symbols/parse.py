"""An executable's symbols: what `go tool nm` prints, or the executable's own symbol table.

Printed by    `go tool nm -size FILE`: address, size, letter and name, one symbol per line. Without
              -size there are no sizes, so the range of a symbol is unknown.
Quirks        A name can contain blanks. An undefined symbol has no address.
              `runtime.data` and `runtime.bss` have the address of the first variable, and no size.
              In a release build, a struct that the linker lays out has no symbol of its own.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from gomem.errors import Damage, FormatError, excerpt
from gomem.inputs.elf import ELF, Elf

if TYPE_CHECKING:
    from numpy.typing import NDArray

LINE = re.compile(rb" *([0-9a-f]{1,16}) +(?:(\d{1,18}) +)?([A-Za-z?_]) (\S[^\n]*)")
UNDEFINED = re.compile(rb" +(?:\d+ +)?U \S[^\n]*")
FIRST_LINES = 5  # of which each must be a symbol's, for a text to be one of symbols
MAX_DAMAGED = 20  # lines that are named one by one
MAX_SYMBOL_BYTES = 1 << 30
OBJECT_TYPE, FUNCTION_TYPE = 1, 2  # of an ELF symbol, in the lower half of its info
UNDEFINED_SECTION = 0
LETTERS = {OBJECT_TYPE: "D", FUNCTION_TYPE: "T"}


@dataclass(frozen=True, slots=True)
class SymbolColumns:
    """Symbols in the artefact's order."""

    address: NDArray[np.uint64] = field(default_factory=lambda: np.zeros(0, np.uint64))
    size: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    letter: list[str] = field(default_factory=list)
    name: list[str] = field(default_factory=list)


def looks_like_symbols(data: bytes) -> bool:
    """Whether it is what `go tool nm` prints."""
    lines = data[: 1 << 14].splitlines()[:FIRST_LINES]
    known = [line for line in lines if LINE.fullmatch(line) or UNDEFINED.fullmatch(line)]
    return bool(lines) and len(known) == len(lines)


def parse_symbols(data: bytes, *, source: str) -> tuple[SymbolColumns, list[Damage]]:
    """Parse the text of `go tool nm`, or an ELF executable; FormatError where it has no symbols."""
    if data.startswith(ELF):
        return _of_elf(data, source), []
    address, size, letter, name = [], [], [], []
    damage: list[Damage] = []
    for number, line in enumerate(data.splitlines(), start=1):
        found = LINE.fullmatch(line)
        if found is not None:
            address.append(int(found[1], 16))
            size.append(int(found[2] or 0))
            letter.append(found[3].decode())
            name.append(found[4].decode("utf-8", "replace"))
        elif line.strip() and UNDEFINED.fullmatch(line) is None and len(damage) < MAX_DAMAGED:
            what = "not a line of go tool nm -size; wanted address, size, letter, name"
            damage.append(Damage(source, f"line {number}", what, excerpt(line)))
    if not name:
        what = "no symbol; wanted what go tool nm -size prints"
        raise FormatError(source, "", what)
    return SymbolColumns(
        np.array(address, np.uint64), np.array(size, np.int64), letter, name
    ), damage


def _of_elf(data: bytes, source: str) -> SymbolColumns:
    what = "an executable without a symbol table; build it without -ldflags=-s"
    try:
        elf = Elf.of(lambda offset, length: data[offset : offset + length])
        table = None if elf is None else elf.section(b".symtab")
        names = None if elf is None else elf.section(b".strtab")
    except (struct.error, IndexError):
        elf = table = names = None
    if elf is None or table is None or names is None:
        raise FormatError(source, "", what)
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
    found = [_text(texts, start) for start in rows["name"].tolist()]
    letters = [LETTERS.get(kind, "?") for kind in (rows["info"] & 0xF).tolist()]
    size = np.minimum(rows["size"].astype(np.uint64), np.uint64(1 << 62)).astype(np.int64)
    return SymbolColumns(rows["address"].astype(np.uint64), size, letters, found)


def _text(texts: bytes, start: int) -> str:
    stop = texts.find(0, start)
    return texts[start : stop if stop >= 0 else len(texts)].decode("utf-8", "replace")
