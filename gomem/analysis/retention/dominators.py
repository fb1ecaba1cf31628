"""What would become unreachable without a node? Dominators, and the bytes that a node retains."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from gomem.analysis.retention.graph import Graph, reachable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    IntArray = NDArray[np.int64]

MIN_LEAVES = 0.02  # of the edges: with fewer leaves, another round is not worth it


@dataclass(frozen=True, repr=False)
class Dominated:
    """A dominator tree: each reachable node is below its immediate dominator."""

    graph: Graph
    source: IntArray  # the edges of the graph
    target: IntArray
    by: IntArray  # the immediate dominator of each node; -1 if unreachable
    retained_bytes: IntArray  # for each node, its own bytes and those of all nodes below
    retained_objects: IntArray
    code: NDArray[np.uint64]  # the first word of each object, which can be the code of a function
    top: IntArray  # for each node, its ancestor directly below the root; -1 if unreachable

    @property
    def is_live(self) -> NDArray[np.bool_]:
        """A mask of the objects that are reachable."""
        return self.by[: self.graph.objects] >= 0

    def below(self, node: int) -> IntArray:
        """Return the nodes directly below a node, the one that retains most first."""
        by_parent, parents = self._by_parent
        first, last = np.searchsorted(parents, [node, node + 1])
        found = by_parent[first:last]
        return found[np.argsort(-self.retained_bytes[found], kind="stable")]

    @cached_property
    def _by_parent(self) -> tuple[IntArray, IntArray]:
        """Reachable nodes sorted by parent, and their parents."""
        child = np.flatnonzero(self.by >= 0)
        child = child[child != self.graph.root]
        child = child[np.argsort(self.by[child], kind="stable")]
        return child, self.by[child]


def dominated(graph: Graph, code: NDArray[np.uint64]) -> Dominated:
    """Find the dominators of a graph's nodes from its root."""
    source, target = graph.links()
    count = graph.root + 1
    by = _dominators(count, graph.root, source, target)
    size = np.zeros(count)
    size[: graph.objects] = graph.size
    number = np.zeros(count)
    number[: graph.objects] = 1
    sizes, numbers = (_subtree_sums(by, graph.root, values) for values in (size, number))
    return Dominated(graph, source, target, by, sizes, numbers, code, _tops(by, graph.root))


def _subtree_sums(by: IntArray, root: int, values: NDArray[np.float64]) -> IntArray:
    """Sum values over each node of a tree and all nodes below it.

    The sum over fewer than n levels below becomes a sum over fewer than 2 n, by adding those of the
    nodes n levels below. So a list of a million nodes takes twenty rounds. Bytes are exact up to
    2⁵³.
    """
    sums = values.copy()
    above = by.copy()  # the ancestor that many levels up; -1 beyond the root
    above[root] = -1
    nodes = np.flatnonzero(above >= 0)
    while len(nodes):
        into = above[nodes]
        sums += np.bincount(into, sums[nodes], len(by))
        above[nodes] = above[into]
        nodes = nodes[above[nodes] >= 0]
    return sums.astype(np.int64)


def _tops(by: IntArray, root: int) -> IntArray:
    """Return each node's ancestor directly below the root; -1 for the root and unreachable."""
    nodes = np.flatnonzero(by >= 0)
    nodes = nodes[nodes != root]
    top = np.full(len(by), -1)
    top[nodes] = np.where(by[nodes] == root, nodes, by[nodes])
    while True:
        further = top[top[nodes]]
        if np.array_equal(further, top[nodes]):
            return top
        top[nodes] = further


def _dominators(count: int, root: int, source: IntArray, target: IntArray) -> IntArray:
    import rustworkx

    # Most objects are leaves with a single pointer to them, whose source therefore dominates them.
    # They are removed first, and then nodes that become leaves.
    is_inner = reachable(count, [root], source, target)
    kept = is_inner[source]
    source, target = source[kept], target[kept]
    by = np.full(count, -1)
    while True:
        has_pointers = np.zeros(count, np.bool_)
        has_pointers[source] = True
        is_leaf = (np.bincount(target, minlength=count) == 1) & ~has_pointers
        to_leaf = is_leaf[target]
        if np.count_nonzero(to_leaf) <= MIN_LEAVES * len(target):
            break
        by[target[to_leaf]] = source[to_leaf]
        is_inner[target[to_leaf]] = False
        source, target = source[~to_leaf], target[~to_leaf]
    inner = np.flatnonzero(is_inner)
    place = np.zeros(count, np.int64)
    place[inner] = np.arange(len(inner))
    source, target = place[source], place[target]
    tree: rustworkx.PyDiGraph[None, None] = rustworkx.PyDiGraph()
    tree.add_nodes_from([None] * len(inner))
    tree.extend_from_edge_list(list(zip(source.tolist(), target.tolist(), strict=True)))
    found = rustworkx.immediate_dominators(tree, int(place[root]))
    nodes = np.fromiter(found.keys(), np.int64, len(found))
    above = np.fromiter(found.values(), np.int64, len(found))
    by[inner[nodes]] = inner[above]
    return by
