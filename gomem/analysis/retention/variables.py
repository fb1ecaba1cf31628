"""Which of the program's variables does a word of data or bss belong to?

A symbol covers the bytes from its address up to address + size. Some words have no symbol, or only
a symbol made by the linker. Such words belong to a struct that was allocated at build time, such as
the target of `var visitors = &tracker{…}`. The struct belongs to the variable that points at it.

A build with different linker flags has the same functions at the same addresses, but its data is
shifted by some bytes, because the build information, which includes the flags, comes first. So data
and bss are aligned with those of the dump.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gomem.inputs.symbols.executable import FUNCTION_VALUE

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from gomem.inputs.heapdump.table import HeapDump

    IntArray = NDArray[np.int64]
    AddressArray = NDArray[np.uint64]

# Names that the compiler and the linker give to things without a name in the program.
MADE_UP = re.compile(r"\.\.stmp_|\.statictmp_|\.\.autotmp|\.\.inittask$|^(?:go|type)[:.]")
DATA_LETTERS = frozenset("DdBb")
CODE_LETTERS = frozenset("Tt")
LIMITS = ("runtime.data", "runtime.edata", "runtime.bss", "runtime.ebss")
MIN_SHARED = 0.9  # of the functions in both: with fewer, the symbols are another build's

UNNAMED = (
    "Without the executable, variables are named by their address, and timers are the Go "
    "runtime's: add it, or the output of `go tool nm -size PROGRAM`"
)
STRIPPED = (
    "The executable is stripped, so variables are named by their address: give the same build "
    "without `-ldflags=-s`"
)
OTHER_BUILD = (
    "The symbols are of another build, whose data are not as large as the dump's, so variables are "
    "named by their address"
)


@dataclass(frozen=True)
class Places:
    """The division of data and bss into variables and unnamed structures."""

    piece: IntArray  # for each word of the dump's segment roots, its piece
    name: list[str]  # name of each piece; empty for a structure without a symbol
    address: AddressArray  # address of each piece's first byte
    inner: tuple[IntArray, IntArray]  # which piece points into which unnamed one


class WrongSymbols(ValueError):  # noqa: N818 - the message is for whoever chose the file
    """Raised if symbols do not belong to the program that wrote the dump."""


def load_bias(dump: HeapDump, symbols: pd.DataFrame) -> int:
    """Return the distance in bytes from the addresses in the symbols to those in the dump.

    The distance is 0 unless the program is position-independent. Raises WrongSymbols if the
    functions do not match the dump.
    """
    code = symbols[symbols["letter"].isin(CODE_LETTERS)].drop_duplicates("name")
    frames = dump.frames.drop_duplicates("function")
    both = frames.merge(code, left_on="function", right_on="name")
    if not len(frames):
        return 0
    moved = (both["entry"] - both["address"]).to_numpy().view(np.int64)
    values, counts = np.unique(moved, return_counts=True)
    found = int(counts.max(initial=0))
    # Assembly functions can lack symbols, so a few functions of the stacks are not found.
    if found < MIN_SHARED * len(both) or 2 * len(both) < len(frames):
        what = f"{found} of {len(frames)} functions of the dump's stacks are where the symbols say"
        raise WrongSymbols(f"{what}; wanted the symbols of the executable that wrote the dump")
    return int(values[counts.argmax()])


def places_of(dump: HeapDump, symbols: pd.DataFrame | None, bias: int = 0) -> Places:
    """Return the variable of each word of data and bss that is a pointer.

    Without symbols of variables, each word counts as a variable, named by address and segment.
    """
    roots = dump.roots[dump.roots["kind"].isin(["data", "bss"])]
    segments = dump.segments
    owner = roots["owner"].to_numpy()
    word = segments["address"].to_numpy()[owner] + roots["offset"].to_numpy().astype(np.uint64)
    if symbols is None or nameless_by(dump, symbols):
        said = zip(word.tolist(), roots["kind"], strict=True)
        names = [f"{address:#x} in {segment}" for address, segment in said]
        none = np.zeros(0, np.int64)
        return Places(np.arange(len(word)), names, word, (none, none))
    start, size, name = _named(dump, symbols, bias)
    target = roots["address"].to_numpy()
    covering = _covering(start, size, target)
    edges = [start, start + size.astype(np.uint64), segments["address"].to_numpy()]
    pointed = target[_within(segments, target) & (covering < 0)]
    bounds = np.unique(np.concatenate([*edges, pointed]))
    at = np.searchsorted(bounds, word, side="right") - 1
    used, piece = np.unique(at, return_inverse=True)
    by = _covering(start, size, bounds[used])
    names = [name[row] if row >= 0 else "" for row in by.tolist()]
    # Pointers between pieces count only if the target has no name: a variable is itself a root.
    into = np.searchsorted(bounds, target, side="right") - 1
    place = np.minimum(np.searchsorted(used, into), len(used) - 1) if len(used) else into
    is_inner = _within(segments, target) & (covering < 0)
    is_inner &= used[place] == into if len(used) else False
    chosen = np.flatnonzero(is_inner)
    return Places(piece, names, bounds[used], (piece[chosen], place[chosen]))


def code_names(symbols: pd.DataFrame | None, bias: int) -> dict[int, str]:
    """Return the names of functions by entry address."""
    if symbols is None:
        return {}
    code = symbols[symbols["letter"].isin(CODE_LETTERS)]
    return _by_address(code, code["name"], bias)


def value_names(symbols: pd.DataFrame | None, bias: int) -> dict[int, str]:
    """Return the names of functions by the address to which a function value points."""
    if symbols is None:
        return {}
    rows = symbols[symbols["name"].str.endswith(FUNCTION_VALUE)]
    return _by_address(rows, rows["name"].str.removesuffix(FUNCTION_VALUE), bias)


def _by_address(rows: pd.DataFrame, names: pd.Series, bias: int) -> dict[int, str]:
    return {at + bias: name for at, name in zip(rows["address"].tolist(), names, strict=True)}


def nameless_by(dump: HeapDump, symbols: pd.DataFrame | None) -> str:
    """Return why variables have no names, and what to do; empty if variables have names.

    A stripped executable has no symbols. The symbols of another build do not match if its data or
    bss has another size than the dump's.
    """
    if symbols is None:
        return UNNAMED
    if not symbols["letter"].isin(DATA_LETTERS).any():
        return STRIPPED
    is_same = all(end - start == size for start, end, _, size in _limits(dump, symbols))
    return "" if is_same else OTHER_BUILD


def _named(
    dump: HeapDump, symbols: pd.DataFrame, bias: int
) -> tuple[AddressArray, IntArray, list[str]]:
    """Return the variables named in the program, by address in the dump."""
    made_up = symbols["name"].str.contains(MADE_UP)
    rows = symbols[symbols["letter"].isin(DATA_LETTERS) & (symbols["size"] > 0) & ~made_up]
    rows = rows.sort_values("address").drop_duplicates("address")
    linked = rows["address"].to_numpy()
    address = linked + np.int64(bias).astype(np.uint64)
    for start, end, moved_to, _ in _limits(dump, symbols):
        inside = (linked >= np.uint64(start)) & (linked < np.uint64(end))
        address[inside] = linked[inside] - np.uint64(start) + np.uint64(moved_to)
    return address, rows["size"].to_numpy(), rows["name"].tolist()


def _limits(dump: HeapDump, symbols: pd.DataFrame) -> list[tuple[int, int, int, int]]:
    """Return, for data and bss, start and end by the symbols, start and size by the dump."""
    limits = symbols[symbols["name"].isin(LIMITS)].drop_duplicates("name")
    known = dict(zip(limits["name"], limits["address"].tolist(), strict=True))
    return [
        (known[f"runtime.{name}"], known[f"runtime.e{name}"], address, size)
        for name, address, size in dump.segments.itertuples(index=False)
        if f"runtime.{name}" in known and f"runtime.e{name}" in known
    ]


def _covering(start: AddressArray, size: IntArray, address: AddressArray) -> IntArray:
    """Return the rows of the symbols that cover addresses; -1 if none does."""
    if not len(start):
        return np.full(len(address), -1)
    row = np.searchsorted(start, address, side="right") - 1
    inside = address - start[np.maximum(row, 0)] < size[np.maximum(row, 0)].astype(np.uint64)
    return np.where((row >= 0) & inside, row, -1)


def _within(segments: pd.DataFrame, address: AddressArray) -> NDArray[np.bool_]:
    """Return whether addresses are in data or bss."""
    inside = np.zeros(len(address), np.bool_)
    for start, size in zip(segments["address"].tolist(), segments["size"].tolist(), strict=True):
        inside |= (address >= np.uint64(start)) & (address < np.uint64(start + size))
    return inside
