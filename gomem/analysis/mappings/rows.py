"""Rows of mappings: which are adjacent, which are anonymous, and how to cut one in two.

A mapping can hold two kinds, because the kernel merges neighbours with the same permissions. The
size of each part is then known to the byte, but smaps does not say which part is resident. So every
cut says to which part the resident pages are assigned.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from gomem.units import KIB, MIB

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]
    Places = NDArray[np.intp]

ARENA = 64 * MIB  # on 64-bit Linux
ARENA_32_BIT = 4 * MIB
CHUNK = 4 * MIB  # growth step of the heap since Go 1.17
MMAP_AREA_AMD64 = 1 << 46  # arenas are below, position-independent programs and mmap above
MMAP_AREA_ARM64 = 1 << 47
USER_SPACE_AMD64 = 1 << 47
USER_SPACE_32_BIT = 1 << 32
KERNEL_HALF = 1 << 63
SMALLEST_PAGE = 4 * KIB
FLAGS = frozenset({"THPeligible", "ProtectionKey"})


class Cut(NamedTuple):
    """A position at which one mapping is cut in two."""

    position: int  # index of the mapping, in address order
    at: int  # the address of the cut, inside the mapping
    # Bytes of each counter assigned to the lower part, if available; None for as many as fit.
    lower_resident: int | None = None


@dataclass(slots=True)
class MappingRows:
    """The mappings of one snapshot as arrays, with the kind and the rule assigned to each.

    There is an array per field, in address order. A process has some thirty mappings, for which a
    DataFrame is a hundred times slower.
    """

    start: NDArray[np.uint64]  # address of the first byte
    end: NDArray[np.uint64]  # address after the last byte
    perms: NDArray[np.object_]  # permissions as the kernel prints them
    inode: NDArray[np.int64]  # 0 if there is no file
    path: NDArray[np.object_]  # file or name; empty if there is none
    flags: NDArray[np.object_]  # VmFlags; empty if the kernel does not print them
    resident: NDArray[np.int64]  # Rss in bytes; 0 if unknown
    kind: NDArray[np.object_]  # the kind, once a rule has assigned it; empty before
    rule: NDArray[np.object_]  # the rule that assigned it

    @classmethod
    def of(cls, mappings: pd.DataFrame | MappingRows) -> MappingRows:
        """Build rows from a table of mappings in address order, with or without kinds."""
        if isinstance(mappings, MappingRows):
            return mappings
        none_yet = np.full(len(mappings), "", dtype=object)
        return cls(
            mappings["start"].to_numpy(np.uint64),
            mappings["end"].to_numpy(np.uint64),
            mappings["perms"].to_numpy(object),
            mappings["inode"].to_numpy(np.int64),
            mappings["path"].to_numpy(object),
            mappings["VmFlags"].to_numpy(object, na_value=""),
            mappings["Rss"].to_numpy(np.int64, na_value=0),
            *(
                mappings[name].to_numpy(object) if name in mappings else none_yet.copy()
                for name in ("kind", "rule")
            ),
        )

    def __len__(self) -> int:
        return len(self.start)

    @property
    def size(self) -> NDArray[np.int64]:
        """The size in bytes of each mapping's address space."""
        return (self.end - self.start).astype(np.int64)

    @property
    def in_use(self) -> Mask:
        """Mask of the rows that are not merely reserved address space."""
        return self.perms != "---p"

    @property
    def unknown(self) -> Mask:
        """Mask of the rows that have no kind yet."""
        return self.kind == ""

    @property
    def unnamed(self) -> Mask:
        """Mask of the rows without name and file."""
        return (self.path == "") & (self.inode == 0)

    @property
    def anonymous(self) -> Mask:
        """Mask of private memory that has no name, no file, and no kind yet."""
        perms = self.perms
        private = (perms == "rw-p") | (perms == "---p") | (perms == "rwxp")
        return self.unnamed & self.unknown & private

    def among(self, places: Places) -> Mask:
        """Return the mask of the rows at these positions."""
        mask = np.zeros(len(self), dtype=bool)
        mask[places] = True
        return mask

    def assign(self, where: Mask, kind: str, rule: str) -> None:
        """Assign kind and rule to the rows of a mask that have no kind yet."""
        rows = where & self.unknown
        self.kind[rows] = kind
        self.rule[rows] = rule

    def cut(self, where: Cut) -> MappingRows:
        """Return the rows, with one mapping cut in two as `where` says."""
        position, at, lower_resident = where
        lower, upper = at - int(self.start[position]), int(self.end[position]) - at
        twice = np.insert(np.arange(len(self)), position, position)
        parts = MappingRows(*(getattr(self, field.name)[twice] for field in fields(self)))
        parts.end[position] = parts.start[position + 1] = at
        total = int(self.resident[position])
        wanted = lower if lower_resident is None else lower_resident
        below = _lower_share(total, min(wanted, lower), upper)
        parts.resident[position], parts.resident[position + 1] = below, total - below
        return parts


def which(values: NDArray[np.object_], test: Callable[[str], object]) -> Mask:
    """Return the mask of texts that pass a test."""
    return np.fromiter((bool(test(value)) for value in values), dtype=bool, count=len(values))


def below_each(values: NDArray[Any], first: object) -> NDArray[Any]:
    """Return the value of the next lower mapping for each mapping; `first` for the lowest."""
    lower = np.full_like(values, first)
    lower[1:] = values[:-1]
    return lower


def is_32_bit(rows: MappingRows) -> bool:
    """Return whether all of a process's memory is below 4 GiB, as with GOARCH=386 and arm."""
    return 0 < _user_end(rows) <= USER_SPACE_32_BIT


def mmap_area(rows: MappingRows) -> int:
    """Return the lowest possible address of the area for mmap; arm64 has one more address bit."""
    if is_32_bit(rows):
        return USER_SPACE_32_BIT
    return MMAP_AREA_ARM64 if _user_end(rows) > USER_SPACE_AMD64 else MMAP_AREA_AMD64


def _user_end(rows: MappingRows) -> int:
    """Return the end of the mappings outside the kernel's half; 0 if there are none."""
    return int(rows.end[rows.end < KERNEL_HALF].max(initial=0))


def runs(rows: MappingRows, where: Mask) -> list[Places]:
    """Return groups of adjacent mappings as arrays of indices, the lowest addresses first."""
    places = np.flatnonzero(where)
    if not len(places):
        return []
    apart = rows.start[places[1:]] != rows.end[places[:-1]]
    return np.split(places, np.flatnonzero(apart) + 1)


def cut(frame: pd.DataFrame, where: Cut) -> pd.DataFrame:
    """Return a frame with one mapping cut into two rows whose sizes add up.

    The rows are in address order.
    """
    position, at, lower_resident = where
    rows = np.insert(np.arange(len(frame)), position, position)
    columns = {name: frame[name].array.take(rows) for name in frame.columns}
    lower_bytes = at - int(columns["start"][position])
    upper_bytes = int(columns["end"][position]) - at
    columns["end"][position] = columns["start"][position + 1] = np.uint64(at)
    wanted = lower_bytes if lower_resident is None else lower_resident
    for name, sizes in columns.items():
        counts = frame[name].dtype == "Int64" and not name.endswith("PageSize")
        if not counts or name in FLAGS or pd.isna(sizes[position]):
            continue  # not inside the mapping
        total = int(sizes[position])
        share = lower_bytes if name == "Size" else min(wanted, lower_bytes)
        sizes[position] = _lower_share(total, share, upper_bytes)
        sizes[position + 1] = total - int(sizes[position])
    return pd.DataFrame(columns, index=pd.RangeIndex(len(rows)), copy=False)


def _lower_share(total: int, share: int, upper_bytes: int) -> int:
    """Return the lower part's share of a counter, plus what the upper part cannot hold."""
    return max(min(share, total), total - upper_bytes)
