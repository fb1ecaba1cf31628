"""Retained bytes as an icicle: the live heap on top, keepers below, then what a keeper retains."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gomem.analysis.profiles.call_tree import FRAMES, MIN_WIDTH, CallTree
from gomem.analysis.retention.paths import step_of
from gomem.inputs.schema import build
from gomem.units import format_bytes, format_count

if TYPE_CHECKING:
    from gomem.analysis.retention.keepers import Retention

WHOLE = "live heap"
MAX_DEPTH = 16
MAX_FRAMES = 600  # a page with more is slow, and most of them would be hairlines
_EMPTY = ("low", "high", "before", "change", "change_low", "change_high")


def icicle_of(retention: Retention) -> CallTree:
    """Return the frames of a figure: each as wide as its retained bytes, the widest first."""
    frames = _Frames(max(retention.live_bytes, 1))
    frames.add(WHOLE, -1, 0, 0.0, retention.live_bytes)
    start = 0.0
    for row in retention.keepers.itertuples():
        width = row.bytes / frames.whole
        if width < MIN_WIDTH:
            break
        place = frames.add(row.name, 0, 1, start, row.bytes)
        if row.node >= 0:
            _below(frames, retention, row.node, place, start)
        start += width
    return CallTree("retained", "bytes", build(frames.columns(), FRAMES), is_difference=False)


class _Frames:
    """Rows of `FRAMES` under construction."""

    def __init__(self, whole: int) -> None:
        self.whole = whole
        self.rows: list[tuple[str, int, int, float, float, float, float]] = []

    def add(
        self, name: str, parent: int, depth: int, start: float, value: int, *, own: int = 0
    ) -> int:
        """Add a frame; returns its row."""
        self.rows.append((name, parent, depth, start, value / self.whole, float(value), float(own)))
        return len(self.rows) - 1

    def columns(self) -> dict[str, Any]:
        names = ("name", "parent", "depth", "start", "width", "value", "own")
        columns = dict(zip(names, map(list, zip(*self.rows, strict=True)), strict=True))
        nothing = np.full(len(self.rows), np.nan)
        return columns | dict.fromkeys(_EMPTY, nothing) | {"hidden": np.zeros(len(self.rows))}


def _below(frames: _Frames, retention: Retention, node: int, parent: int, start: float) -> None:
    """Add what a keeper retains: wide nodes as frames, the others grouped by size."""
    tree = retention.tree
    left = [(node, parent, 2, start)]
    while left and len(frames.rows) < MAX_FRAMES:
        node, parent, depth, start = left.pop(0)
        below = tree.below(node)
        wide = tree.retained_bytes[below] >= MIN_WIDTH * frames.whole
        for child in below[wide].tolist():
            value = int(tree.retained_bytes[child])
            own = int(tree.graph.size[child]) if child < tree.graph.objects else 0
            place = frames.add(step_of(tree, child), parent, depth, start, value, own=own)
            if depth < MAX_DEPTH:
                left.append((child, place, depth + 1, start))
            start += value / frames.whole
        narrow = below[~wide]
        sizes, group = np.unique(tree.retained_bytes[narrow], return_inverse=True)
        counts = np.bincount(group, minlength=len(sizes))
        for place in np.argsort(-(sizes * counts), kind="stable").tolist():
            value = int(sizes[place] * counts[place])
            if value < MIN_WIDTH * frames.whole:
                break
            name = f"{format_count(int(counts[place]))} × {format_bytes(int(sizes[place]))}"
            frames.add(name, parent, depth, start, value, own=value)
            start += value / frames.whole
