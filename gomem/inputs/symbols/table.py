"""An executable's symbols as rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gomem.errors import printable
from gomem.inputs.elf import ELF
from gomem.inputs.schema import Column, Frames, build
from gomem.inputs.symbols.parse import looks_like_symbols, parse_symbols
from gomem.inputs.unwrap import read_plain
from gomem.inputs.wrong_file import reads
from gomem.text import Function, Words

if TYPE_CHECKING:
    import pandas as pd

    from gomem.sources.artefact import Source

SYMBOLS = (
    Column("address", "uint64", "address", "First address, as the executable was linked."),
    Column("size", "int64", "B", "Size; 0 where none is said."),
    Column(
        "letter",
        "str",
        "",
        "T text, R read-only data, D data, B bss; small if not exported.",
        Words,
    ),
    Column("name", "str", "", "Its name, with the package's path.", Function),
    Column(
        "is_wrapper", "boolean", "",
        "Whether the compiler made it to call another function; only of an executable's functions.",
    ),
    Column(
        "wraps", "str", "", "That function; empty for others, missing if not known.", Function
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Symbols(Frames):
    """An executable's `symbols`, a row each."""

    symbols: pd.DataFrame


@reads("symbols, as go tool nm -size prints them", "symbols")
def read_symbols(source: Source) -> Symbols:
    """Read the output of `go tool nm -size`, or an ELF executable itself.

    A stripped executable has only functions, from Go's own table: no sizes, and no variables.
    Raises FormatError if it has no symbols at all.
    """
    if source.data.startswith(ELF):
        columns, damage = parse_symbols(source.data, source=source.name)
        damaged = (*source.damage, *damage)
    else:
        columns, damaged, _ = read_plain(source, looks_like_symbols, parse_symbols)
    name = [printable(name) for name in columns.name]
    said = {"address": columns.address, "size": columns.size, "letter": columns.letter}
    if columns.wraps:
        said |= {"is_wrapper": columns.is_wrapper, "wraps": columns.wraps}
    return Symbols(build(said | {"name": name}, SYMBOLS), damaged=damaged)
