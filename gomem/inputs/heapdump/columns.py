"""The records of a heap dump as columns: arrays and lists of equal length, no objects."""

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
PAUSES = 256  # numbers of the ring PauseNs, which follow; then NumGC


@dataclass(frozen=True, slots=True)
class Machine:
    """The parameters record: what the process ran on, which says how memory is read."""

    big_endian: bool = False
    pointer_bytes: int = 8
    arena_start: int = 0  # the lowest address of the heap
    arena_end: int = 1 << 47  # the address behind its highest
    architecture: str = ""
    go_version: str = ""
    processors: int = 0


@dataclass(frozen=True, slots=True)
class Objects:
    """Objects in the dump's order, and the pointers in them."""

    address: AddressArray
    size: IntArray
    first_word: AddressArray  # of a closure, its code; 0 where it is no address of code
    source: IntArray  # of each pointer that is not nil, the object that it lies in
    offset: IntArray  # bytes from the object's beginning
    target: AddressArray


@dataclass(frozen=True, slots=True)
class Slots:
    """Words of goroutine frames, or of the segments data and bss."""

    owner: IntArray  # row of the frame or segment
    offset: IntArray  # bytes from its beginning
    target: AddressArray
    declared: NDArray[np.bool_]  # whether the dump names the word as a pointer


@dataclass(frozen=True)
class HeapDumpColumns:
    """All records of a dump: objects with their pointers, and the others a list per field."""

    machine: Machine
    objects: Objects
    frame_slots: Slots
    segment_slots: Slots
    # The other records by their name in `records.RECORDS`: a list per field.
    lists: dict[str, dict[str, list[Any]]] = field(default_factory=dict)
    is_whole: bool = True  # whether the end record was reached


class Pieces:
    """Arrays that are found a window at a time, joined when all are there."""

    def __init__(self, *dtypes: type[np.generic]) -> None:
        self.dtypes = dtypes
        self.columns: list[list[NDArray[Any]]] = [[] for _ in dtypes]

    def add(self, *arrays: NDArray[Any]) -> None:
        """Take a piece of each column."""
        for pieces, array, dtype in zip(self.columns, arrays, self.dtypes, strict=True):
            pieces.append(array.astype(dtype, copy=False))

    def joined(self) -> list[Any]:
        """The columns; the pieces are let go."""
        found = []
        for pieces, dtype in zip(self.columns, self.dtypes, strict=True):
            found.append(np.concatenate(pieces) if pieces else np.zeros(0, dtype))
            pieces.clear()
        return found
