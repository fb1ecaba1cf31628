"""Callers, callees and single stacks of a profile, as `go tool pprof` counts them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gomem.inputs.pprof.calls.filters import matches

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from gomem.inputs.pprof.calls.nodes import Nodes

RELATIONS = ("caller", "self", "callee")
MAX_STACKS = 5_000  # the largest; for callers that match stacks one by one


@dataclass(frozen=True)
class Edges:
    """Calls between nodes, as columns; `caller` and `callee` are row numbers of the nodes."""

    caller: NDArray[np.int64]
    callee: NDArray[np.int64]
    weight: NDArray[np.int64]
    inlined: NDArray[np.bool_]


@dataclass(frozen=True)
class Frames:
    """Frames of some samples, innermost first: sample, node, and whether the call was inlined."""

    sample: NDArray[np.int64]
    node: NDArray[np.int32]
    inlined: NDArray[np.bool_]


def frames_of(nodes: Nodes, first: int, last: int) -> Frames:
    """Return the frames of the samples `first` to `last` (exclusive)."""
    columns = nodes.columns
    offsets = columns.stack_offsets[first : last + 1]
    stack = columns.stack[offsets[0] : offsets[-1]]
    counts = np.diff(nodes.frame_offsets)[stack]
    entry = np.repeat(np.arange(len(stack)), counts)
    inner = np.arange(len(entry)) - np.repeat(np.cumsum(counts) - counts, counts)
    sample = np.repeat(np.arange(first, last), np.diff(offsets))[entry]
    frame = nodes.frame_offsets[stack[entry]] + inner
    return Frames(sample, nodes.node_of_frame[frame], inner < counts[entry] - 1)


def stacks_of(
    nodes: Nodes, weights: NDArray[np.int64], most: int | None = None
) -> Iterator[tuple[tuple[str, ...], int]]:
    """Yield the function names, innermost first, and the weight of each sample that has frames.

    With `most`, only that many of the largest samples, in the profile's order.
    """
    frames, names = frames_of(nodes, 0, len(nodes.columns.value)), nodes.names
    begins = np.flatnonzero(np.diff(frames.sample, prepend=-1))
    ends = np.append(begins, len(frames.sample))[1:]
    value = weights[frames.sample[begins]]
    if most is not None and most < len(begins):
        kept = np.sort(np.argsort(-np.abs(value), kind="stable")[:most])
        begins, ends, value = begins[kept], ends[kept], value[kept]
    for begin, end, weight in zip(begins.tolist(), ends.tolist(), value.tolist(), strict=True):
        yield tuple(names[row] for row in frames.node[begin:end].tolist()), weight


def edges_of(nodes: Nodes, weights: NDArray[np.int64]) -> Edges:
    """Return all calls, each counted once per sample; a self-call makes no edge."""
    count = max(len(nodes), 1)
    parts = [_edges_of_run(nodes, weights, *run) for run in nodes.runs()]
    keys = np.concatenate([np.zeros(0, np.int64), *(part[0] for part in parts)])
    distinct, inverse = np.unique(keys, return_inverse=True)
    weight = np.zeros(len(distinct), np.int64)
    np.add.at(weight, inverse, np.concatenate([weight[:0], *(part[1] for part in parts)]))
    inlined = np.ones(len(distinct), np.bool_)
    np.logical_and.at(inlined, inverse, np.concatenate([inlined[:0], *(part[2] for part in parts)]))
    return Edges(distinct // count, distinct % count, weight, inlined)


def _edges_of_run(
    nodes: Nodes, weights: NDArray[np.int64], first: int, last: int
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return the calls in a run of samples: caller * nodes + callee, weight, whether inlined."""
    count = max(len(nodes), 1)
    frames = frames_of(nodes, first, last)
    callee, caller = frames.node[:-1].astype(np.int64), frames.node[1:].astype(np.int64)
    call = (frames.sample[1:] == frames.sample[:-1]) & (caller != callee)
    call &= weights[frames.sample[:-1]] != 0 if len(call) else call
    # If a call recurs in a stack, the outermost counts, as it comes first from the root.
    place = np.flatnonzero(call)[::-1]
    key = caller[place] * count + callee[place]
    sample = frames.sample[place]
    order = np.lexsort((key, sample))
    key, sample, place = key[order], sample[order], place[order]
    once = np.ones(len(key), np.bool_)
    once[1:] = (key[1:] != key[:-1]) | (sample[1:] != sample[:-1])
    return key[once], weights[sample[once]], frames.inlined[place[once]]


def tree_of(
    nodes: Nodes,
    weights: NDArray[np.int64],
    rows: NDArray[np.int64],
    total: int,
    pattern: str | None = None,
) -> dict[str, Any]:
    """Return some nodes, in order, with callers above and callees below: columns of `frames.TREE`.

    `weights` has a number per sample; the nodes' fractions are of `total`. With a pattern, only
    nodes whose name matches. Raises ValueError if RE2 rejects the pattern.
    """
    names = nodes.names
    if pattern is not None and len(rows):
        rows = rows[matches([names[row] for row in rows.tolist()], pattern)]
    flat, cum, edges = nodes.flat(weights), nodes.cum(weights), edges_of(nodes, weights)
    place = np.full(len(nodes), -1, np.int64)
    place[rows] = np.arange(len(rows))
    none = np.zeros(len(rows), np.bool_)
    about = np.concatenate([edges.callee, rows, edges.caller])
    other = np.concatenate([edges.caller, rows, edges.callee])
    weight = np.concatenate([edges.weight, cum[rows], edges.weight])
    relation = np.repeat(np.arange(3), [len(edges.caller), len(rows), len(edges.caller)])
    inlined = np.concatenate([edges.inlined, none, edges.inlined])
    kept = np.flatnonzero(place[about] >= 0)
    rank = np.unique(np.array(names, dtype=object), return_inverse=True)[1]
    sorting = (rank[other[kept]], -np.abs(weight[kept]), relation[kept], place[about[kept]])
    kept = kept[np.lexsort(sorting)]
    of_itself = relation[kept] == RELATIONS.index("self")
    whole = np.where(of_itself, total, cum[about[kept]]).astype(np.float64)
    return {
        "function": [names[row] for row in about[kept].tolist()],
        "relation": [RELATIONS[number] for number in relation[kept].tolist()],
        "other": [names[row] for row in other[kept].tolist()],
        "flat": np.ma.masked_array(flat[about[kept]], ~of_itself),
        "cum": weight[kept],
        "cum_fraction": weight[kept] / np.where(whole == 0, np.nan, whole),
        "inlined": inlined[kept],
    }
