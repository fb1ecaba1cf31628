"""Rows of mappings: which touch each other, which are anonymous, and how one is cut in two.

A mapping can hold two kinds: the kernel merges neighbours with the same permissions. The size of
each part is then known to the byte, but smaps does not say which part is resident, so every cut
states whose pages it takes to be the resident ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from gomem.units import KIB, MIB

if TYPE_CHECKING:
    from collections.abc import Iterator

ARENA = 64 * MIB  # on 64-bit Linux
ARENA_32_BIT = 4 * MIB
CHUNK = 4 * MIB  # what the heap grows by since Go 1.17
MMAP_AREA_AMD64 = 1 << 46  # arenas lie below, position-independent programs and mmap above
MMAP_AREA_ARM64 = 1 << 47
USER_SPACE_AMD64 = 1 << 47
USER_SPACE_32_BIT = 1 << 32
KERNEL_HALF = 1 << 63
SMALLEST_PAGE = 4 * KIB
FLAGS = frozenset({"THPeligible", "ProtectionKey"})


class Cut(NamedTuple):
    """Where one mapping is really two.

    Attributes:
        position: Which, in the order of addresses.
        at: The address, between its start and its end.
        lower_resident: Bytes of each counter that the lower part is taken to have, where there are
            so many; None for all that fit.
    """

    position: int
    at: int
    lower_resident: int | None = None


def assign(frame: pd.DataFrame, where: pd.Series, kind: str, rule: str) -> None:
    """Kind and rule for the rows of a mask that have none yet."""
    rows = (where & (frame["kind"] == "")).to_numpy(dtype=bool)
    if rows.any():
        frame.loc[rows, "kind"] = kind
        frame.loc[rows, "rule"] = rule


def anonymous(frame: pd.DataFrame) -> pd.Series:
    """Rows of private memory, without name, file or, so far, kind."""
    return (
        (frame["path"] == "")
        & (frame["inode"] == 0)
        & frame["perms"].isin(["rw-p", "---p", "rwxp"])
        & (frame["kind"] == "")
    )


def is_32_bit(frame: pd.DataFrame) -> bool:
    """Whether a process lies entirely below 4 GiB, as with GOARCH=386 and arm."""
    user = frame.loc[frame["end"] < KERNEL_HALF, "end"]
    return bool(len(user)) and int(user.max()) <= USER_SPACE_32_BIT


def mmap_area(frame: pd.DataFrame) -> int:
    """The lowest address that a process's mmap area can have; arm64 has one more address bit."""
    if is_32_bit(frame):
        return USER_SPACE_32_BIT
    user = frame.loc[frame["end"] < KERNEL_HALF, "end"]
    wide = len(user) and int(user.max()) > USER_SPACE_AMD64
    return MMAP_AREA_ARM64 if wide else MMAP_AREA_AMD64


def runs(frame: pd.DataFrame, where: pd.Series) -> Iterator[pd.DataFrame]:
    """Mappings that touch one another, as groups, lowest first."""
    rows = frame[where]
    breaks = rows["start"] != rows["end"].shift(1)
    for _, run in rows.groupby(breaks.cumsum()):
        yield run


def size_of(rows: pd.DataFrame) -> int:
    """Address space of rows in bytes."""
    return int((rows["end"] - rows["start"]).sum())


def cut(frame: pd.DataFrame, where: Cut) -> pd.DataFrame:
    """Cut one mapping in two; every size of its parts adds up to the whole's.

    Args:
        frame: Mappings in the order of their addresses, with a plain index.
        where: Which mapping, and at which address.

    Returns:
        The mappings, with two rows instead of the one.
    """
    position, at, lower_resident = where
    rows = np.insert(np.arange(len(frame)), position, position)
    columns = {name: frame[name].array.take(rows) for name in frame.columns}
    lower_bytes = at - int(columns["start"][position])
    upper_bytes = int(columns["end"][position]) - at
    columns["end"][position] = columns["start"][position + 1] = np.uint64(at)
    wanted = lower_bytes if lower_resident is None else lower_resident
    for name in _counters(frame):
        sizes = columns[name]
        if pd.isna(sizes[position]):
            continue
        total = int(sizes[position])
        share = lower_bytes if name == "Size" else min(wanted, lower_bytes)
        sizes[position] = max(min(share, total), total - upper_bytes)
        sizes[position + 1] = total - int(sizes[position])
    return pd.DataFrame(columns, index=pd.RangeIndex(len(rows)), copy=False)


def _counters(frame: pd.DataFrame) -> list[str]:
    """Columns that count bytes of a mapping: neither page sizes nor flags."""
    return [
        name
        for name in frame.columns
        if frame[name].dtype == "Int64" and not name.endswith("PageSize") and name not in FLAGS
    ]
