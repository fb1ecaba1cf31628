"""Which root retains the heap, and through which of its parts, according to a reference profile?

cloudwego/goref follows the references of a process from its globals, its goroutines' variables and
its finalizers. goref writes what a root retains as stacks, with the root outermost and the object
innermost. Each object counts once, for the first root that reaches the object. Nothing is sampled.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gomem.inputs.pprof.calls.graph import stacks_of

if TYPE_CHECKING:
    from gomem.inputs.pprof.table import Profile

IN_USE = "inuse_space"
MOSTLY = 0.5  # of a root's bytes: a part with more of it is followed


@dataclass(frozen=True)
class Root:
    """A root, and the memory that it retains."""

    name: str
    held_bytes: int
    through: tuple[str, ...]  # the path down its parts, as long as one has most of the bytes


def roots(profile: Profile) -> list[Root]:
    """Return the roots of a profile of references, the largest first."""
    by_root: dict[str, list[tuple[tuple[str, ...], int]]] = {}
    for frames, value in stacks_of(profile.nodes(), profile.values(IN_USE)):
        if frames and value:
            by_root.setdefault(frames[-1], []).append((frames[::-1], value))
    found = [
        Root(name, sum(value for _, value in paths), _through(paths))
        for name, paths in by_root.items()
    ]
    return sorted(found, key=lambda root: (-root.held_bytes, root.name))


def _through(paths: list[tuple[tuple[str, ...], int]]) -> tuple[str, ...]:
    """Follow the part with most bytes down from a root, as long as there is one."""
    whole = sum(value for _, value in paths)
    through: list[str] = []
    while True:
        depth = len(through) + 1
        sums: dict[str, int] = {}
        for path, value in paths:
            if len(path) > depth:
                sums[path[depth]] = sums.get(path[depth], 0) + value
        part = max(sums, key=lambda name: sums[name], default="")
        if not part or sums[part] <= MOSTLY * whole:
            return tuple(through)
        through.append(part)
        paths = [pair for pair in paths if len(pair[0]) > depth and pair[0][depth] == part]
