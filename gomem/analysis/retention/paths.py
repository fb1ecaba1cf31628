"""Describe the path from a keeper to the object where its retained memory fans out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gomem.units import format_bytes, format_count

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gomem.analysis.retention.dominators import Dominated

MAIN_SHARE = 0.5  # of a node's retained bytes: the path continues only to a child with more
MAX_STEPS = 12
MAX_CHAIN = 10_000  # equal steps that are followed
MAX_FANS = 3  # sizes that are named where a path fans out


def path_of(tree: Dominated, tops: NDArray[np.int64]) -> tuple[str, ...]:
    """Describe the steps below a keeper; for bytes that several share, below the largest node."""
    graph = tree.graph
    node = int(tops[np.argmax(tree.retained_bytes[tops])])
    steps, repeats = [step_of(tree, node)], [1]
    starter = graph.nodes[node - graph.objects].started_by if node >= graph.objects else ""
    if starter:
        steps.append(f"started by {starter}")
        repeats.append(1)
    while len(steps) <= MAX_STEPS and repeats[-1] < MAX_CHAIN:
        below = tree.below(node)
        if not len(below):
            break
        largest = int(below[0])
        kept = int(tree.retained_bytes[node]) - (graph.size[node] if node < graph.objects else 0)
        if int(tree.retained_bytes[largest]) < MAIN_SHARE * kept:
            steps.append(_fan(tree, below))
            repeats.append(1)
            break
        step = step_of(tree, largest)
        if step == steps[-1]:
            repeats[-1] += 1
        else:
            steps.append(step)
            repeats.append(1)
        node = largest
    said = [_repeated(step, times) for step, times in zip(steps, repeats, strict=True)]
    return tuple(said[:MAX_STEPS])


def _repeated(step: str, times: int) -> str:
    """Describe a repeated step, as in a list whose elements point at the next."""
    if times == 1:
        return step
    many = f"{format_count(times)} or more" if times == MAX_CHAIN else format_count(times)
    return f"chain of {many}, each an {step}"


def step_of(tree: Dominated, node: int) -> str:
    """Name a node: a keeper by its name, a frame by its function, an object by its size."""
    graph = tree.graph
    if node >= graph.objects:
        said = graph.nodes[node - graph.objects]
        if said.is_keeper:
            return said.name
        _, function = said.name.partition("\n")[::2]
        return f"frame of {function}" if function else f"structure at {said.name}"
    code = graph.functions.get(int(tree.code[node]), "")
    size = format_bytes(int(graph.size[node]))
    return f"function value {code}" if code else f"object of {size}"


def _fan(tree: Dominated, below: NDArray[np.int64]) -> str:
    """Describe the nodes below the last step, if there are several: their number and sizes."""
    graph = tree.graph
    objects = below[below < graph.objects]
    if not len(objects):
        return f"{format_count(len(below))} parts"
    sizes, counts = np.unique(graph.size[objects], return_counts=True)
    order = np.argsort(-(sizes * counts), kind="stable")[:MAX_FANS]
    said = [f"{format_count(int(counts[n]))} of {format_bytes(int(sizes[n]))}" for n in order]
    more = "" if len(sizes) <= MAX_FANS else ", …"
    return f"{format_count(len(objects))} objects: {', '.join(said)}{more}"
