"""Build the graph of a heap dump: pointers between objects, and roots that keep objects alive.

All roots with the same name are one node: a variable, the goroutines that began with one function,
the finalizers or cleanups of one function, the runtime's own variables. The runtime's structure for
a goroutine belongs to that goroutine, and the runtime's processors belong to the runtime, although
other objects point at them, too. A function that the runtime will call later, such as a timer's, is
a separate keeper.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from gomem.analysis.retention.begun import begun_with, started_by, wrappers_in
from gomem.analysis.retention.cleanups import cleanups
from gomem.analysis.retention.processors import merely_points_at, processors_in
from gomem.analysis.retention.stacks import stack_words
from gomem.analysis.retention.variables import (
    code_names,
    load_bias,
    places_of,
    value_names,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd
    from numpy.typing import NDArray

    from gomem.inputs.heapdump.table import HeapDump

    IntArray = NDArray[np.int64]

GLOBAL, GOROUTINE, FINALIZER, CLEANUP, OTHER = (
    "global", "goroutine", "finalizer", "cleanup", "other",
)  # fmt: skip
RUNTIME = "the Go runtime"
RUNTIME_PACKAGE = "runtime."
NAMELESS = "0x"  # prefix of variables that are named by address


@dataclass(frozen=True, slots=True)
class Node:
    """A node above the objects: a keeper, or a part of one."""

    kind: str
    name: str
    count: int = 1  # number of goroutines, finalizers or cleanups; else 1
    is_keeper: bool = True
    started_by: str = ""  # for goroutines, if functions have names


@dataclass(repr=False)
class Graph:
    """A graph of which nodes 0 to n - 1 are the n objects of a dump, in the dump's order.

    `nodes` follow, and the root is last.
    """

    objects: int
    size: IntArray
    nodes: list[Node] = field(default_factory=list)
    by_name: dict[tuple[str, str], int] = field(default_factory=dict)
    edges: list[tuple[IntArray, IntArray]] = field(default_factory=list)
    functions: dict[int, str] = field(default_factory=dict)  # by code address
    processors: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))  # rows of the P's

    @property
    def root(self) -> int:
        """The node above all keepers."""
        return self.objects + len(self.nodes)

    def node(
        self, kind: str, name: str, *, count: int = 1, is_keeper: bool = True, started_by: str = ""
    ) -> int:
        """Return the node of a name; a new name gets a new node."""
        key = (kind if is_keeper else f"part of {kind}", name)
        if key not in self.by_name:
            self.by_name[key] = self.objects + len(self.nodes)
            self.nodes.append(Node(kind, name, count, is_keeper, started_by))
        return self.by_name[key]

    def counted(self, kind: str, names: list[str]) -> IntArray:
        """Return the node for each name; a new node has the number of times its name occurs."""
        counts = Counter(names)
        return np.array([self.node(kind, name, count=counts[name]) for name in names], np.int64)

    def link(self, source: IntArray, target: IntArray) -> None:
        """Add edges from `source` to `target`, except where the target is -1, no node."""
        is_there = target >= 0
        self.edges.append((source[is_there], target[is_there]))

    def links(self) -> tuple[IntArray, IntArray]:
        """Return all edges, including those from the root to the keepers."""
        keepers = [n + self.objects for n, node in enumerate(self.nodes) if node.is_keeper]
        self.edges.append((np.full(len(keepers), self.root), np.array(keepers, np.int64)))
        source, target = (np.concatenate(side) for side in zip(*self.edges, strict=True))
        self.edges.pop()
        return source, target


def graph_of(dump: HeapDump, symbols: pd.DataFrame | None = None) -> Graph:
    """Build the graph of a dump; without the executable's symbols, addresses name variables."""
    bias = 0 if symbols is None else load_bias(dump, symbols)
    objects = dump.columns.objects
    graph = Graph(len(objects.address), objects.size, functions=code_names(symbols, bias))
    _link_objects(graph, dump)
    _link_variables(graph, dump, symbols, bias)
    _name_the_runtime(graph)
    _link_goroutines(graph, dump, wrappers_in(symbols, bias))
    _link_finalizers(graph, dump)
    _link_cleanups(graph, dump, value_names(symbols, bias))
    _link_others(graph, dump)
    _set_apart_called_later(graph, dump)
    return graph


def _targets(frame: pd.DataFrame) -> IntArray:
    return frame["target"].fillna(-1).to_numpy(np.int64)


def _link_objects(graph: Graph, dump: HeapDump) -> None:
    """Link objects, except pointers to goroutines, goroutines to threads, and processors."""
    found = dump.columns.objects
    target, inside = dump.find(found.target)
    graph.processors = processors_in(found, target, inside)
    goroutines, _ = dump.find(dump.goroutines["address"].to_numpy())
    threads, _ = dump.find(np.array(dump.columns.lists["threads"]["address"], np.uint64))
    is_goroutine = np.zeros(graph.objects + 1, np.bool_)
    is_goroutine[goroutines] = True
    is_thread = np.zeros(graph.objects + 1, np.bool_)
    is_thread[threads] = True
    is_goroutine[-1] = is_thread[-1] = False  # for pointers to outside the objects
    kept = (target >= 0) & ~is_goroutine[target]
    kept &= ~(is_goroutine[found.source] & is_thread[target])
    kept &= ~merely_points_at(graph.processors, found, target, inside)
    graph.link(found.source[kept], target[kept])


def _link_variables(graph: Graph, dump: HeapDump, symbols: pd.DataFrame | None, bias: int) -> None:
    places = places_of(dump, symbols, bias)
    source, into = places.inner
    is_pointed_at = _reached(len(places.name), [n for n, name in enumerate(places.name) if name],
                             source, into)  # fmt: skip
    nodes = np.zeros(len(places.name), np.int64)
    for piece, (name, address) in enumerate(zip(places.name, places.address.tolist(), strict=True)):
        if not name and is_pointed_at[piece]:
            nodes[piece] = graph.node(GLOBAL, f"{address:#x}", is_keeper=False)
        elif name.startswith(RUNTIME_PACKAGE):
            nodes[piece] = graph.node(OTHER, RUNTIME)
        else:
            nodes[piece] = graph.node(GLOBAL, name or f"{address:#x}")
    graph.link(nodes[source], nodes[into])
    roots = dump.roots[dump.roots["kind"].isin(["data", "bss"])]
    graph.link(nodes[places.piece], _targets(roots))


def _name_the_runtime(graph: Graph) -> None:
    """Assign unnamed variables that lead to a processor to the runtime."""
    nameless = [
        node
        for (kind, name), node in graph.by_name.items()
        if kind == GLOBAL and name.startswith(NAMELESS)
    ]
    if not nameless or not len(graph.processors):
        return
    source, target = (np.concatenate(side) for side in zip(*graph.edges, strict=True))
    leads = reachable(graph.root, graph.processors.tolist(), target, source)
    is_runtime = np.zeros(graph.root + 1, np.bool_)
    is_runtime[[node for node in nameless if leads[node]]] = True
    if is_runtime.any():
        runtime = graph.node(OTHER, RUNTIME)
        graph.edges = [(np.where(is_runtime[s], runtime, s), t) for s, t in graph.edges]


def _reached(count: int, begin: Iterable[int], source: IntArray, into: IntArray) -> list[bool]:
    """Return which pieces are reachable from the given ones."""
    following: dict[int, list[int]] = {}
    for first, second in zip(source.tolist(), into.tolist(), strict=True):
        following.setdefault(first, []).append(second)
    reached, left = [False] * count, list(begin)
    while left:
        for piece in following.get(left.pop(), ()):
            if not reached[piece]:
                reached[piece] = True
                left.append(piece)
    return reached


def _link_goroutines(graph: Graph, dump: HeapDump, wrappers: dict[int, str]) -> None:
    """Link each goroutine's structure and what its frames hold; each function is a node."""
    goroutines, frames = dump.goroutines, dump.frames
    functions, called = begun_with(dump, wrappers)
    counts, starters = Counter(functions), started_by(dump, functions, graph.functions)
    keepers = []
    for function, is_system in zip(functions, goroutines["is_system"], strict=True):
        if is_system:
            keepers.append(graph.node(OTHER, RUNTIME))
        else:
            starter = starters.get(function, "")
            node = graph.node(GOROUTINE, function, count=counts[function], started_by=starter)
            keepers.append(node)
    keeper = np.array(keepers, np.int64)
    structure, _ = dump.find(goroutines["address"].to_numpy())
    graph.link(keeper, structure)
    parts = [
        graph.node(GOROUTINE, f"{graph.nodes[of - graph.objects].name}\n{name}", is_keeper=False)
        for of, name in zip(keeper[frames["goroutine"]].tolist(), called, strict=True)
    ]
    part = np.array(parts, np.int64)
    graph.link(keeper[frames["goroutine"]], part)
    words = stack_words(dump)
    graph.link(part[words["owner"].to_numpy()], _targets(words))
    of = {address: number for number, address in enumerate(goroutines["address"].tolist())}
    defers = dump.columns.lists["defers"]
    begun = [of.get(address, -1) for address in defers["goroutine"]]
    for name in ("address", "closure"):
        target, _ = dump.find(np.array(defers[name], np.uint64))
        owner = np.array(begun, np.int64)
        graph.link(keeper[owner[owner >= 0]], target[owner >= 0])


def _link_finalizers(graph: Graph, dump: HeapDump) -> None:
    """Link finalizers to their function and the object's targets; queued ones to the object too."""
    finalizers = dump.finalizers
    if not len(finalizers):
        return
    codes = finalizers["code"].tolist()
    names = [graph.functions.get(code, f"{code:#x}") for code in codes]
    nodes = graph.counted(FINALIZER, names)
    closure, _ = dump.find(finalizers["closure"].to_numpy())
    graph.link(nodes, closure)
    target, queued = _targets(finalizers), finalizers["queued"].to_numpy()
    graph.link(nodes[queued], target[queued])
    source, into = graph.edges[0]
    order = np.argsort(target, kind="stable")
    first = np.searchsorted(target[order], source, side="left")
    last = np.searchsorted(target[order], source, side="right")
    of_object = np.flatnonzero(last > first)
    for row in of_object.tolist():
        of = nodes[order[first[row] : last[row]]]
        graph.link(of, np.full(len(of), into[row]))


def _link_cleanups(graph: Graph, dump: HeapDump, values: dict[int, str]) -> None:
    """Link AddCleanup's closures to the cleanup's argument, up to Go 1.25."""
    found = cleanups(dump, graph.functions, values)
    graph.link(graph.counted(CLEANUP, list(found.values())), np.array(list(found), np.int64))


def _link_others(graph: Graph, dump: HeapDump) -> None:
    """Link values of panics, and other roots in the dump."""
    rows = dump.roots[dump.roots["kind"].isin(["panic", "other"])]
    if not len(rows):
        return
    descriptions = dump.columns.lists["other_roots"]["description"]
    named = [
        "a panic" if kind == "panic" else descriptions[owner] or "a root without a name"
        for kind, owner in zip(rows["kind"], rows["owner"], strict=True)
    ]
    nodes = np.array([graph.node(OTHER, name) for name in named], np.int64)
    graph.link(nodes, _targets(rows))


def _set_apart_called_later(graph: Graph, dump: HeapDump) -> None:
    """Make separate keepers of functions that only the runtime points at, such as timers'."""
    runtime = graph.by_name.get((OTHER, RUNTIME))
    if runtime is None:
        return
    source, target = graph.links()
    others = [n + graph.objects for n, node in enumerate(graph.nodes) if node.is_keeper]
    others.remove(runtime)
    of_others = reachable(graph.root + 1, others, source, target)
    of_runtime = reachable(graph.root + 1, [runtime], source, target) & ~of_others
    code = dump.columns.objects.first_word
    called = np.flatnonzero((code > 0) & of_runtime[: graph.objects])
    names = {row: graph.functions.get(int(code[row]), "") for row in called.tolist()}
    own = {
        row: name for row, name in names.items() if name and not name.startswith(RUNTIME_PACKAGE)
    }
    if not own:
        return
    is_own = np.zeros(graph.root + 1, np.bool_)
    is_own[list(own)] = True
    graph.edges = [
        (start[kept], into[kept])
        for start, into in graph.edges
        for kept in (~(is_own[into] & of_runtime[start]),)
    ]
    nodes = graph.counted(OTHER, [f"timer {name}" for name in own.values()])
    graph.link(nodes, np.array(list(own), np.int64))


def reachable(
    count: int, begin: list[int], source: IntArray, target: IntArray
) -> NDArray[np.bool_]:
    """Return the nodes that are reachable from `begin`, including `begin`."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order

    # An additional node points at all start nodes.
    source = np.concatenate([source, np.full(len(begin), count)])
    target = np.concatenate([target, np.array(begin, np.int64)])
    ones = np.ones(len(source), np.int8)
    matrix = csr_array((ones, (source, target)), shape=(count + 1, count + 1))
    order = breadth_first_order(matrix, count, return_predecessors=False)
    found = np.zeros(count + 1, np.bool_)
    found[order] = True
    return found[:count]
