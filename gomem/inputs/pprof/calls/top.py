"""The rows of `top`: which nodes have something, how much, and in which order they stand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from gomem.inputs.pprof.calls.nodes import Nodes

IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class Top:
    """Nodes that are not 0, one array a field, in pprof's order."""

    node: IntArray  # which of the profile's nodes each row is
    function: list[str]  # the node's name, as pprof prints it
    flat: IntArray  # of samples whose innermost frame it is, in the profile's unit
    cum: IntArray  # of samples in whose stack it is, each counted once


def top_of(
    nodes: Nodes, flat: IntArray, cum: IntArray, *, by_cum: bool = False, n: int | None = None
) -> Top:
    """Find who has the most by flat, or by cum; at most n rows."""
    node = _in_order(nodes, flat, cum, by_cum=by_cum)[:n]
    return Top(node, [nodes.names[one] for one in node.tolist()], flat[node], cum[node])


def _in_order(nodes: Nodes, flat: IntArray, cum: IntArray, *, by_cum: bool) -> IntArray:
    """The nodes that are not 0: by magnitude, then name, then the other magnitude."""
    there = np.flatnonzero((flat != 0) | (cum != 0))
    names = np.array(nodes.names, dtype=object)[there]
    rank = np.unique(names, return_inverse=True)[1] if len(there) else there
    first, second = (cum, flat) if by_cum else (flat, cum)
    return there[np.lexsort((-np.abs(second[there]), rank, -np.abs(first[there])))]
