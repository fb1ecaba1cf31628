"""Describe every keeper: what it retains, by which path, and which sites allocated that memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gomem.analysis.retention.keepers import Retention


@dataclass(frozen=True, slots=True)
class Site:
    """A site that allocated part of what a keeper retains.

    Attributes:
        function: The function that allocated, below the runtime's own.
        low: Lower end of the 95 % interval of the site's bytes.
        high: Upper end of the interval.
    """

    function: str
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Keeper:
    """A root that keeps part of the heap alive.

    Attributes:
        kind: global, goroutine, finalizer, cleanup or other.
        name: A variable, a function of goroutines, or the keepers that share the bytes.
        count: Number of goroutines, finalizers or cleanups; 1 for other kinds.
        bytes: Bytes that would become garbage without the keeper.
        objects: Number of objects that would become garbage.
        path: The path from the keeper to where its retained memory fans out, in words.
        allocated_by: The sites that allocated it, by the profile's samples; the largest part first.
    """

    kind: str
    name: str
    count: int
    bytes: int
    objects: int
    path: tuple[str, ...]
    allocated_by: tuple[Site, ...]


def described(retention: Retention) -> tuple[Keeper, ...]:
    """Return all keepers, the largest first."""
    sites: dict[int, list[Site]] = {}
    for row in retention.allocated.itertuples():
        sites.setdefault(row.keeper, []).append(Site(row.function, row.low, row.high))
    return tuple(
        Keeper(
            row.kind, row.name, row.count, row.bytes, row.objects,
            retention.path(number), tuple(sites.get(number, ())),
        )
        for number, row in enumerate(retention.keepers.itertuples(index=False))
    )  # fmt: skip
