"""Which mappings of a process grew, shrank, appeared or disappeared between two snapshots?

Within a process, a mapping is identified by its address. Two mappings of one kind with overlapping
addresses are the same, even if the kernel has split or merged them. Two processes have different
addresses, so mappings are then matched by kind and file only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gomem.inputs.schema import Column, build
from gomem.text import Mapped, Words

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import NDArray

    Places = NDArray[np.intp]

_SIDES = ("before", "after")
STATES = ("new", "gone", "grew", "shrank", "same")
MAPPING_CHANGES = (
    Column("kind", "str", "", "What the mapping is.", Words),
    Column("path", "str", "", "The file or the name that it has; else empty.", Mapped),
    Column("start", "UInt64", "address", "Where it begins; missing between two processes."),
    Column("end", "UInt64", "address", "Where it ends; missing between two processes."),
    Column("state", "str", "", "One of `STATES`, by its bytes in RSS.", Words),
    Column("before_vmas", "int64", "count", "Mappings before."),
    Column("after_vmas", "int64", "count", "Mappings after."),
    Column("before_size_bytes", "int64", "B", "Address space before."),
    Column("after_size_bytes", "int64", "B", "Address space after."),
    Column("before_rss_bytes", "int64", "B", "Resident before."),
    Column("after_rss_bytes", "int64", "B", "Resident after."),
    Column("change_bytes", "int64", "B", "Resident after less before."),
)


def match_mappings(
    before: pd.DataFrame, after: pd.DataFrame, *, same_process: bool | None = None
) -> pd.DataFrame:
    """Compare the classified mappings of two snapshots, the largest change of RSS first.

    A row per matched mapping; see `MAPPING_CHANGES`. A missing mapping counts as 0. If
    `same_process` is None, `is_one_process` decides.
    """
    is_same = is_one_process(before, after) if same_process is None else same_process
    kinds, paths, start, end = (
        np.concatenate([frame[name].to_numpy(dtype) for frame in (before, after)])
        for name, dtype in (("kind", object), ("path", object), ("start", "u8"), ("end", "u8"))
    )
    named = ["" if path.startswith("[anon:") else path for path in paths]
    places = list(zip(kinds, named, start.tolist(), end.tolist(), strict=True))
    order = np.array(sorted(range(len(places)), key=lambda row: places[row][:3]), np.intp)
    extent, firsts = _extents([places[row] for row in order], by_place=is_same)
    columns: dict[str, Any] = {"kind": kinds[order][firsts]}
    columns["path"] = np.array(named, object)[order][firsts]
    if is_same:
        columns["start"] = start[order][firsts]
        columns["end"] = np.zeros(len(firsts), dtype=np.uint64)
        np.maximum.at(columns["end"], extent, end[order])
    columns |= _summed(before, after, order, extent, len(firsts))
    change = columns["after_rss_bytes"] - columns["before_rss_bytes"]
    columns["change_bytes"] = change
    told = [columns["after_vmas"] == 0, columns["before_vmas"] == 0, change < 0, change > 0]
    columns["state"] = np.select(told, ["gone", "new", "shrank", "grew"], "same").astype(object)
    largest_first = np.argsort(-np.abs(change), kind="stable")
    ordered = {name: values[largest_first] for name, values in columns.items()}
    return build(ordered, MAPPING_CHANGES)


def is_one_process(before: pd.DataFrame, after: pd.DataFrame) -> bool:
    """Return whether two lists of mappings are of one process.

    The kernel places the stack at random when a program starts, and the stack's end never moves. If
    one of the lists has no stack, the vdso decides.
    """
    for name, edge in (("[stack]", "end"), ("[vdso]", "start")):
        places = [
            {place for path, place in zip(frame["path"], frame[edge], strict=True) if path == name}
            for frame in (before, after)
        ]
        if all(places):
            return places[0] == places[1]
    return False


def _extents(
    places: Sequence[tuple[str, str, int, int]], *, by_place: bool
) -> tuple[Places, list[int]]:
    """Number each group of mappings with one kind and file from 0, and return its first row.

    Overlapping mappings are one group; separate ones are two if `by_place`. `places` are kind,
    file, start and end, in this order.
    """
    numbers, firsts = np.zeros(len(places), dtype=np.intp), list[int]()
    last, reached = ("", ""), 0
    for row, (kind, path, start, end) in enumerate(places):
        if not firsts or last != (kind, path) or (by_place and start >= reached):
            firsts.append(row)
            last, reached = (kind, path), end
        numbers[row], reached = len(firsts) - 1, max(reached, end)
    return numbers, firsts


def _summed(
    before: pd.DataFrame, after: pd.DataFrame, order: Places, extent: Places, count: int
) -> dict[str, NDArray[np.int64]]:
    """Sum mappings, address space and resident bytes by number, before and after."""
    sums = {}
    for side, mine in zip(_SIDES, (order < len(before), order >= len(before)), strict=True):
        frame, skipped = (before, 0) if side == "before" else (after, len(before))
        rows, theirs = order[mine] - skipped, extent[mine]
        sums[f"{side}_vmas"] = np.bincount(theirs, minlength=count).astype(np.int64)
        for name in ("Size", "Rss"):
            total = np.zeros(count, dtype=np.int64)
            np.add.at(total, theirs, frame[name].to_numpy(np.int64, na_value=0)[rows])
            sums[f"{side}_{name.lower()}_bytes"] = total
    return sums
