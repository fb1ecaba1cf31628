"""An executable's symbols: the output of `go tool nm`, or from the executable itself.

Printed by    `go tool nm -size FILE`: address, size, letter and name, one symbol per line. Without
              -size there are no sizes, so the range of a symbol is unknown.
Quirks        A name can contain spaces. An undefined symbol has no address.
              `runtime.data` and `runtime.bss` have the address of the first variable, and no size.
              In a release build, a struct that the linker lays out has no symbol of its own.
"""

from __future__ import annotations

import re

import numpy as np

from gomem.errors import Damage, FormatError, excerpt
from gomem.inputs.elf import ELF
from gomem.inputs.symbols.columns import SymbolColumns
from gomem.inputs.symbols.executable import symbols_of_elf

LINE = re.compile(rb" *([0-9a-f]{1,16}) +(?:(\d{1,18}) +)?([A-Za-z?_]) (\S[^\n]*)")
UNDEFINED = re.compile(rb" +(?:\d+ +)?U \S[^\n]*")
FIRST_LINES = 5  # each must be a symbol for the text to be recognised
MAX_DAMAGED = 20  # lines reported one by one


def looks_like_symbols(data: bytes) -> bool:
    """Whether it is the output of `go tool nm`."""
    lines = data[: 1 << 14].splitlines()[:FIRST_LINES]
    known = [line for line in lines if LINE.fullmatch(line) or UNDEFINED.fullmatch(line)]
    return bool(lines) and len(known) == len(lines)


def parse_symbols(data: bytes, *, source: str) -> tuple[SymbolColumns, list[Damage]]:
    """Parse the output of `go tool nm`, or an ELF executable; FormatError if it has no symbols."""
    if data.startswith(ELF):
        return symbols_of_elf(data, source)
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
