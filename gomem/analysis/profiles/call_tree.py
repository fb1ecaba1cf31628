"""Which calls lead to what a profile counts? A tree of stacks, for one or two profiles.

A frame is a function reached through one chain of calls. A frame has a value of its own, and a
total that includes its callees. For two profiles, the tree has every frame of either profile, as
wide as in the profile where it is larger. So a frame that disappeared keeps its place and stays
visible.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gomem.inputs.pprof.sampling import sampling_of
from gomem.inputs.schema import Column, build
from gomem.statistics.sampling import UNSEEN_SIGHTINGS, FloatArray, Sampling, interval
from gomem.text import Function

if TYPE_CHECKING:
    import pandas as pd

    from gomem.inputs.pprof.table import Profile

FRAMES = (
    Column("name", "str", "", "The function; `all` for the whole profile.", Function),
    Column("parent", "int64", "", "Row of the caller; -1 for the whole profile."),
    Column("depth", "int64", "count", "Callers above it."),
    Column("start", "float64", "fraction", "Where it begins, of the whole width."),
    Column("width", "float64", "fraction", "How wide it is, of the whole width."),
    Column("value", "float64", "", "Cumulative value; of the later profile, if there are two."),
    Column("low", "float64", "", "Lower end of its 95 % interval; missing if unknown."),
    Column("high", "float64", "", "Upper end of the same."),
    Column("own", "float64", "", "Flat value."),
    Column("before", "float64", "", "Cumulative value in the earlier profile."),
    Column("change", "float64", "", "Later less earlier."),
    Column("change_low", "float64", "", "Lower end of the change's 95 % interval."),
    Column("change_high", "float64", "", "Upper end of the same."),
    Column("hidden", "float64", "", "Of calls below that are too narrow to be frames."),
)
WHOLE = "all"
MIN_WIDTH = 0.001  # of the whole: narrower frames are less than about a pixel
MAX_DEPTH = 128  # the maximum that Go writes
MAX_FRAMES = 3000  # the widest; a page with more is slow, and most of them would be hairlines
IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class CallTree:
    """The frames of a profile, or of a profile and its base."""

    sample_type: str  # the sample type of the values
    unit: str  # its unit, as the profile declares it
    # rows as in `FRAMES`: a caller before its callees, the widest callee first
    frames: pd.DataFrame
    is_difference: bool  # whether there is a base profile
    note: str = ""  # why there are no intervals; empty if there are


def call_tree(
    profile: Profile,
    sample_type: str | None = None,
    base: Profile | None = None,
    *,
    least_width: float = MIN_WIDTH,
    most_depth: int = MAX_DEPTH,
) -> CallTree:
    """Merge the stacks of a profile of any kind, and of a base if given, into a tree.

    Frames narrower than `least_width`, a share of the whole, are left out; the share is doubled
    until at most `MAX_FRAMES` frames remain. Frames deeper than `most_depth` are left out, too.
    Raises ValueError if a profile does not have the sample type.
    """
    chosen = profile.sample_type(sample_type)
    sides = [
        _side(given, chosen.type) for given in ([profile] if base is None else [profile, base])
    ]
    stacks = _together(sides)
    weight = np.concatenate([np.abs(side.value) for side in sides])
    tree = _bounded(stacks, weight, least_width, most_depth)
    cumulated = _Cumulated(tree, sides)
    columns = cumulated.values() | flame_layout(tree.parent, tree.depth, cumulated.width())
    order = columns.pop("order").astype(np.int64)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    columns["parent"] = np.where(tree.parent < 0, -1, rank[np.maximum(tree.parent, 0)])
    names = np.array([*stacks.names, WHOLE], dtype=object)[tree.node]
    ordered = {name: values[order] for name, values in columns.items()}
    frames = build({"name": names[order], **ordered}, FRAMES)
    note = next((side.sampling for side in sides if isinstance(side.sampling, str)), "")
    return CallTree(chosen.type, chosen.unit, frames, base is not None, note)


@dataclass(frozen=True)
class _Side:
    """One profile: each sample's functions, innermost first, and its value."""

    names: list[str]
    frame: IntArray
    offsets: IntArray
    value: FloatArray
    sampling: Sampling | str
    rate: float


@dataclass(frozen=True)
class _Stacks:
    """The samples of all sides, concatenated, with a common numbering of functions."""

    names: list[str]
    frame: IntArray
    offsets: IntArray


def _side(profile: Profile, sample_type: str) -> _Side:
    nodes = profile.nodes("functions")
    columns = profile.columns
    per_entry = np.diff(nodes.frame_offsets)[columns.stack]
    entry = np.repeat(np.arange(len(columns.stack)), per_entry)
    before = np.concatenate(([0], np.cumsum(per_entry)))
    within = np.arange(len(entry)) - before[:-1][entry]
    frame = nodes.node_of_frame[nodes.frame_offsets[columns.stack[entry]] + within]
    value = profile.values(sample_type).astype(np.float64)
    sampling = sampling_of(profile, sample_type)
    return _Side(
        nodes.names,
        frame.astype(np.int64),
        before[columns.stack_offsets],
        value,
        sampling,
        float(columns.period),
    )


def _together(sides: list[_Side]) -> _Stacks:
    numbers: dict[str, int] = {}
    frames, offsets, start = [], [np.zeros(1, np.int64)], 0
    for side in sides:
        own = np.array([numbers.setdefault(name, len(numbers)) for name in side.names], np.int64)
        frames.append(own[side.frame] if len(side.frame) else side.frame)
        offsets.append(side.offsets[1:] + start)
        start += len(side.frame)
    return _Stacks(list(numbers), np.concatenate(frames), np.concatenate(offsets))


@dataclass(frozen=True)
class _Tree:
    """Frames by number, callers before their callees; number 0 is the whole profile."""

    node: IntArray  # function of each frame; the last name is that of the whole
    parent: IntArray  # caller of each frame
    depth: IntArray  # number of callers above each frame
    of_sample: IntArray  # the frame at which each sample ends, or the last one that is wide enough
    is_cut: NDArray[np.bool_]  # whether the sample's stack continues below that

    def summed(self, own: FloatArray) -> FloatArray:
        """Sum values over each frame and everything below it."""
        total = own.copy()
        for depth in range(int(self.depth.max()), 0, -1):
            at = np.flatnonzero(self.depth == depth)
            np.add.at(total, self.parent[at], total[at])
        return total


def _bounded(stacks: _Stacks, weight: FloatArray, least: float, most_depth: int) -> _Tree:
    """Return the frames that are wide enough, with a higher minimum if there are too many."""
    tree = _grow(stacks, weight, least, most_depth)
    while len(tree.node) > MAX_FRAMES:
        least = 2 * max(least, 1 / (2 * len(tree.node)))
        tree = _grow(stacks, weight, least, most_depth)
    return tree


def _grow(stacks: _Stacks, weight: FloatArray, least: float, most_depth: int) -> _Tree:
    """Find the frames level by level, from the outermost calls inwards."""
    lengths = np.diff(stacks.offsets)
    at = np.zeros(len(lengths), np.int64)
    threshold = least * weight.sum()
    node, parent, depths = [np.array([len(stacks.names)])], [np.array([-1])], [np.array([0])]
    is_cut = np.zeros(len(lengths), np.bool_)
    frames = 1
    active = np.flatnonzero((lengths > 0) & (weight > 0))
    for depth in range(1, most_depth + 1):
        key = at[active] * len(stacks.names) + stacks.frame[stacks.offsets[active + 1] - depth]
        distinct, number = np.unique(key, return_inverse=True)
        heavy = np.bincount(number, weight[active], len(distinct)) >= threshold
        new = np.where(heavy, frames + np.cumsum(heavy) - 1, -1)
        goes_on = new[number] >= 0
        is_cut[active[~goes_on]] = True
        active, reached = active[goes_on], new[number][goes_on]
        at[active] = reached
        node.append(distinct[heavy] % len(stacks.names))
        parent.append(distinct[heavy] // len(stacks.names))
        depths.append(np.full(int(heavy.sum()), depth))
        frames += int(heavy.sum())
        active = active[lengths[active] > depth]
        if not len(active):
            break
    is_cut[active] = True
    return _Tree(np.concatenate(node), np.concatenate(parent), np.concatenate(depths), at, is_cut)


@dataclass(frozen=True)
class _Cumulated:
    """The values of a tree's frames."""

    tree: _Tree
    sides: list[_Side]

    def width(self) -> FloatArray:
        """Return frame widths: the larger of both sides, plus everything below."""
        own = np.maximum.reduce([self._by_frame(number, absolute=True) for number in self._numbers])
        return self.tree.summed(own)

    def values(self) -> dict[str, FloatArray]:
        """Return value, interval, own and hidden value; for two sides their change."""
        own, hidden = self._by_frame(0, cut=False), self._by_frame(0, cut=True)
        value = self.tree.summed(own + hidden)
        low, high = self._interval(0, value)
        columns = {"value": value, "low": low, "high": high, "own": own, "hidden": hidden}
        if len(self.sides) == 1:
            return columns
        before = self.tree.summed(self._by_frame(1))
        before_low, before_high = self._interval(1, before)
        low, high = self._with_unseen(0, value, low, high)
        before_low, before_high = self._with_unseen(1, before, before_low, before_high)
        change = value - before
        return columns | {
            "before": before,
            "change": change,
            "change_low": change - np.hypot(value - low, before_high - before),
            "change_high": change + np.hypot(high - value, before - before_low),
        }

    @property
    def _numbers(self) -> range:
        return range(len(self.sides))

    def _samples(self, number: int) -> slice:
        first = sum(len(side.value) for side in self.sides[:number])
        return slice(first, first + len(self.sides[number].value))

    def _by_frame(
        self,
        number: int,
        part: FloatArray | None = None,
        *,
        cut: bool | None = None,
        absolute: bool = False,
    ) -> FloatArray:
        """Sum a side's samples by the frame they end at; `cut` selects stacks that continue."""
        samples = self._samples(number)
        weight = self.sides[number].value if part is None else part
        weight = np.abs(weight) if absolute else weight
        if cut is not None:
            weight = np.where(self.tree.is_cut[samples] == cut, weight, 0.0)
        at = self.tree.of_sample[samples]
        return np.bincount(at, weight, len(self.tree.node)).astype(np.float64)

    def _interval(self, number: int, value: FloatArray) -> tuple[FloatArray, FloatArray]:
        sampling = self.sides[number].sampling
        if isinstance(sampling, str):
            unknown = np.full(len(value), np.nan)
            return unknown, unknown
        of_frames = sampling.mapped(lambda part: self.tree.summed(self._by_frame(number, part)))
        return interval(value, of_frames)

    def _with_unseen(
        self, number: int, value: FloatArray, low: FloatArray, high: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Set bounds of absent frames: 0, and as much as sampling can miss."""
        absent = (value == 0) & (not isinstance(self.sides[number].sampling, str))
        unseen = UNSEEN_SIGHTINGS * self.sides[number].rate
        return np.where(absent, 0.0, low), np.where(absent, unseen, high)


def flame_layout(parent: IntArray, depth: IntArray, width: FloatArray) -> dict[str, FloatArray]:
    """Place each frame below its caller, the widest callee first.

    The caller of frame 0, the whole, is -1. Callees together are at most as wide as their caller.
    `start` and `width` are fractions of the whole; `order` lists the frames' numbers, each caller
    before its callees.
    """
    calls: list[list[int]] = [[] for _ in width]
    for frame in np.argsort(-width, kind="stable").tolist():
        if parent[frame] >= 0:
            calls[parent[frame]].append(frame)
    start = np.zeros(len(width))
    order: list[int] = []
    waiting = [0]
    while waiting:
        frame = waiting.pop()
        order.append(frame)
        place = start[frame]
        for call in calls[frame]:
            start[call] = place
            place += width[call]
        waiting += reversed(calls[frame])
    whole = width[0] or 1.0
    return {
        "start": start / whole,
        "width": width / whole,
        "depth": depth.astype(np.float64),
        "order": np.array(order, np.float64),
    }
