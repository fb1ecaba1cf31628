"""What keeps the heap alive? What would be garbage without a variable, or a function's goroutines?

The answer includes garbage that was not yet collected when the dump was taken.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from gomem.analysis.retention.allocated import allocated_by
from gomem.analysis.retention.cleanups import cleanup_closures
from gomem.analysis.retention.dominators import Dominated, dominated
from gomem.analysis.retention.graph import (
    CLEANUP,
    FINALIZER,
    GOROUTINE,
    OTHER,
    graph_of,
    reachable,
)
from gomem.analysis.retention.paths import path_of
from gomem.inputs.answer import Answer
from gomem.inputs.schema import Column, build, build_rows
from gomem.text import Function, Words

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from gomem.analysis.retention.graph import Node
    from gomem.inputs.heapdump.table import HeapDump

    IntArray = NDArray[np.int64]

KEEPERS = (
    Column("kind", "str", "", "global, goroutine, finalizer, cleanup or other.", Words),
    Column(
        "name",
        "str",
        "",
        "A variable, the function of goroutines, or who shares the bytes.",
        Function,
    ),
    Column("count", "int64", "count", "Goroutines of the function, finalizers, cleanups; else 1."),
    Column("bytes", "int64", "B", "What would become garbage without it."),
    Column("objects", "int64", "count", "Objects of these bytes."),
    Column("node", "int64", "", "Its node in the tree of dominators; -1 for shared bytes."),
)
ARRAYS = (
    Column("object", "int64", "", "Row of the object."),
    Column("bytes", "int64", "B", "Its size."),
    Column("keeper", "str", "", "What keeps it; empty if nothing does.", Function),
    Column("pointers", "int64", "count", "Pointers into it, from objects and from outside."),
    Column("lowest", "Int64", "B", "From its beginning to the lowest place pointed at."),
    Column("only_inside", "bool", "", "Whether none points at its beginning: a part keeps it all."),
    Column("by", "str", "", "Where most pointers into it lie, in words.", Function),
)
LARGE_BYTES = 1 << 15  # larger objects have a span of their own: Go's large objects
MAX_ARRAYS = 20
MAX_SHARERS = 30  # the largest keepers: memory shared by others is reported as shared by several
MAX_NAMED = 3  # sharers that are named
SEVERAL = "several keepers"
PREFIX = {FINALIZER: "finalizer ", CLEANUP: "cleanup ", GOROUTINE: "goroutines of "}


class NotWhole(ValueError):  # noqa: N818 - the message says what to do
    """Raised if a dump lacks its roots, so that what keeps its objects alive is unknown."""


@dataclass(frozen=True, repr=False)
class Retention(Answer):
    """What keeps the heap of one dump alive.

    Attributes:
        keepers: A row per keeper, largest first; see `KEEPERS`. Their bytes, including bytes that
            several keepers share, add up to `live_bytes`.
        live_bytes: Bytes of reachable objects.
        unreachable_bytes: Bytes of unreachable objects; from Go 1.22 on, with free slots at the end
            of spans, which the dump lists as objects.
        tree: The dominators.
        dump: The dump.
        tops: For each keeper, its nodes directly below the tree's root.
    """

    keepers: pd.DataFrame
    live_bytes: int
    live_objects: int
    unreachable_bytes: int
    unreachable_objects: int
    tree: Dominated
    dump: HeapDump
    tops: tuple[IntArray, ...]

    @cached_property
    def arrays(self) -> pd.DataFrame:
        """The largest objects, and what points into them; see `ARRAYS`."""
        return _arrays(self)

    @cached_property
    def allocated(self) -> pd.DataFrame:
        """The sites that allocated what each keeper retains; see `allocated.ALLOCATED`."""
        return allocated_by(self.dump, self.keeper_of_object, self.keepers)

    @cached_property
    def cleanups(self) -> int | None:
        """The number of cleanups of runtime.AddCleanup; None if functions have no names."""
        functions = self.tree.graph.functions
        return len(cleanup_closures(self.dump, functions)) if functions else None

    @cached_property
    def keeper_of_object(self) -> IntArray:
        """The row in `keepers` of the keeper of each object; -1 if no keeper has the object."""
        row_of = np.full(self.tree.graph.root + 1, -1)
        for row, nodes in enumerate(self.tops):
            row_of[nodes] = row
        top = self.tree.top[: self.tree.graph.objects]
        return np.where(top >= 0, row_of[top], -1)

    def path(self, keeper: int) -> tuple[str, ...]:
        """Return the path from a keeper to where its retained memory fans out, in words."""
        return path_of(self.tree, self.tops[keeper])

    def named(self, name: str) -> list[int]:
        """Return the rows of keepers with a name such as `main.cache`, or `cache` for short."""
        names = self.keepers["name"]
        exact = np.flatnonzero(names == name)
        if len(exact):
            return exact.tolist()
        return np.flatnonzero(names.str.endswith(f".{name}")).tolist()


def retention_of(dump: HeapDump, symbols: pd.DataFrame | None = None) -> Retention:
    """Analyse a heap dump; without the executable's symbols, variables have no names.

    Raises NotWhole if the dump is truncated, and WrongSymbols if the symbols belong to another
    program.
    """
    if not dump.is_whole or not len(dump.segments):
        what = "the dump is not whole, and its roots come last: nothing says what keeps its objects"
        raise NotWhole(f"{what}; take another dump")
    tree = dominated(graph_of(dump, symbols), dump.columns.objects.first_word)
    rows, tops = _keepers(tree)
    keepers = build_rows(rows, KEEPERS)
    live = int(tree.retained_bytes[tree.graph.root])
    live_objects = int(tree.retained_objects[tree.graph.root])
    total = int(tree.graph.size.sum())
    gone = tree.graph.objects - live_objects
    return Retention(keepers, live, live_objects, total - live, gone, tree, dump, tops)


def _keepers(tree: Dominated) -> tuple[list[tuple[Any, ...]], tuple[IntArray, ...]]:
    """Build a row per keeper and per set of keepers that share bytes, the largest first."""
    graph = tree.graph
    found: list[tuple[int, tuple[Any, ...], IntArray]] = []
    top = tree.below(graph.root)
    for node in top[top >= graph.objects].tolist():
        said: Node = graph.nodes[node - graph.objects]
        size, number = int(tree.retained_bytes[node]), int(tree.retained_objects[node])
        if number:
            row = (said.kind, said.name, said.count, size, number, node)
            found.append((size, row, np.array([node])))
    for name, nodes in _shared(tree, top).items():
        size, number = (
            int(tree.retained_bytes[nodes].sum()),
            int(tree.retained_objects[nodes].sum()),
        )
        if number:
            found.append((size, (OTHER, name, 1, size, number, -1), nodes))
    found.sort(key=lambda keeper: (-keeper[0], keeper[1][1]))
    return [row for _, row, _ in found], tuple(nodes for _, _, nodes in found)


def _shared(tree: Dominated, top: IntArray) -> dict[str, IntArray]:
    """Return the nodes that several keepers share, by the names of these keepers."""
    graph = tree.graph
    is_keeper = np.zeros(graph.root + 1, np.bool_)
    keepers = [n + graph.objects for n, node in enumerate(graph.nodes) if node.is_keeper]
    is_keeper[keepers] = True
    shared = top[~is_keeper[top]]
    if not len(shared):
        return {}
    above, below = tree.top[tree.source], tree.top[tree.target]
    crossing = (above >= 0) & (below >= 0) & (above != below) & (tree.source != graph.root)
    width = graph.root + 1
    pairs = np.unique(above[crossing] * width + below[crossing])
    above, below = pairs // width, pairs % width
    points_at = np.bincount(above, tree.retained_bytes[below], width)
    sharers = [node for node in keepers if points_at[node]]
    largest = sorted(sharers, key=lambda node: -points_at[node])[:MAX_SHARERS]
    # One bit per keeper, and one for all others. Keepers are roots: none leads into another.
    kept = ~is_keeper[below]
    above, below = above[kept], below[kept]
    nodes = np.unique(np.concatenate([above, below, shared]))
    ends = np.searchsorted(nodes, above), np.searchsorted(nodes, below)
    others = sorted(set(sharers).difference(largest))
    bits = np.zeros(len(nodes), np.int64)
    for bit, begin in [*((bit, [node]) for bit, node in enumerate(largest)), (MAX_SHARERS, others)]:
        first = np.searchsorted(nodes, begin).tolist()
        bits[reachable(len(nodes), first, *ends)] |= 1 << bit
    of_shared = bits[np.searchsorted(nodes, shared)]
    names: dict[str, list[IntArray]] = {}
    for value in np.unique(of_shared).tolist():
        names.setdefault(_sharers(tree, value, largest), []).append(shared[of_shared == value])
    return {name: np.concatenate(parts) for name, parts in names.items()}


def _sharers(tree: Dominated, bits: int, largest: list[int]) -> str:
    if bits >> MAX_SHARERS or bits.bit_count() > MAX_NAMED or not bits:
        return SEVERAL
    nodes = [node for place, node in enumerate(largest) if bits >> place & 1]
    said = [tree.graph.nodes[node - tree.graph.objects] for node in nodes]
    return " and ".join(sorted(f"{PREFIX.get(node.kind, '')}{node.name}" for node in said))


def _arrays(retention: Retention) -> pd.DataFrame:
    dump, graph = retention.dump, retention.tree.graph
    size = graph.size
    rows = np.flatnonzero(size >= LARGE_BYTES)
    rows = rows[np.argsort(-size[rows], kind="stable")][:MAX_ARRAYS]
    pointers, roots = dump.pointers, dump.roots[dump.roots["declared"]]
    inner = pointers[pointers["target"].isin(rows)]
    outer = roots[roots["target"].isin(rows)]
    target = np.concatenate([_int(inner["target"]), _int(outer["target"])])
    inside = np.concatenate([_int(inner["inside"]), _int(outer["inside"])])
    names = retention.keepers["name"]
    keeper = retention.keeper_of_object
    found: dict[str, list[Any]] = {column.name: [] for column in ARRAYS}
    for row in rows.tolist():
        places = inside[target == row]
        by = [f"an object of {size[of]} B" for of in inner.loc[inner["target"] == row, "object"]]
        by += outer.loc[outer["target"] == row, "kind"].tolist()
        found["object"].append(row)
        found["bytes"].append(int(size[row]))
        found["keeper"].append(names[keeper[row]] if keeper[row] >= 0 else "")
        found["pointers"].append(len(places))
        found["lowest"].append(int(places.min()) if len(places) else None)
        found["only_inside"].append(bool(len(places)) and int(places.min()) > 0)
        found["by"].append(max(by, key=by.count) if by else "")
    return build(found, ARRAYS)


def _int(column: pd.Series) -> IntArray:
    return column.to_numpy(np.int64)
