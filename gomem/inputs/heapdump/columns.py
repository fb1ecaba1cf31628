"""The records of a heap dump as columns: arrays and lists of equal length, without objects."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
AddressArray = NDArray[np.uint64]

# The 24 numbers of the MemStats record, in the runtime's order.
MEMSTATS = (
    *("Alloc", "TotalAlloc", "Sys", "Lookups", "Mallocs", "Frees", "HeapAlloc", "HeapSys"),
    *("HeapIdle", "HeapInuse", "HeapReleased", "HeapObjects", "StackInuse", "StackSys"),
    *("MSpanInuse", "MSpanSys", "MCacheInuse", "MCacheSys", "BuckHashSys", "GCSys", "OtherSys"),
    *("NextGC", "LastGC", "PauseTotalNs"),
)
PAUSES = 256  # length of the ring PauseNs, which follows; then NumGC


@dataclass(frozen=True, slots=True)
class Machine:
    """The parameters record: machine and heap range, which determine how memory is parsed."""

    big_endian: bool = False
    pointer_bytes: int = 8
    arena_start: int = 0  # the lowest address of the heap
    arena_end: int = 1 << 47  # end of the heap (exclusive)
    architecture: str = ""
    go_version: str = ""
    processors: int = 0


@dataclass(frozen=True, slots=True)
class Objects:
    """Objects in the dump's order, and the pointers in them."""

    address: AddressArray
    size: IntArray
    first_word: AddressArray  # if it is a code address, which identifies a closure; else 0
    source: IntArray  # for each non-nil pointer, the row of the object that contains it
    offset: IntArray  # of the pointer in the object, in bytes
    target: AddressArray


@dataclass(frozen=True, slots=True)
class Slots:
    """Words of goroutine frames, or of the segments data and bss."""

    owner: IntArray  # row of the frame or segment
    offset: IntArray  # bytes from the start of the frame or segment
    target: AddressArray
    declared: NDArray[np.bool_]  # whether the dump lists the word as a pointer


@dataclass(frozen=True)
class HeapDumpColumns:
    """All records of a dump: objects with their pointers; other records as one list per field."""

    machine: Machine
    objects: Objects
    frame_slots: Slots
    segment_slots: Slots
    # The other records by their name in `records.RECORDS`: one list per field.
    lists: dict[str, dict[str, list[Any]]] = field(default_factory=dict)
    is_whole: bool = True  # whether the end record was reached


class Pieces:
    """Collects arrays window by window, and joins them at the end."""

    def __init__(self, *dtypes: type[np.generic]) -> None:
        self.dtypes = dtypes
        self.columns: list[list[NDArray[Any]]] = [[] for _ in dtypes]

    def add(self, *arrays: NDArray[Any]) -> None:
        """Add a piece to each column."""
        for pieces, array, dtype in zip(self.columns, arrays, self.dtypes, strict=True):
            pieces.append(array.astype(dtype, copy=False))

    def joined(self) -> list[Any]:
        """Return the columns, and drop the pieces."""
        found = []
        for pieces, dtype in zip(self.columns, self.dtypes, strict=True):
            found.append(np.concatenate(pieces) if pieces else np.zeros(0, dtype))
            pieces.clear()
        return found
