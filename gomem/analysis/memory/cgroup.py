"""How full is a process's cgroup, and how much of its memory can the kernel not reclaim?

The kernel kills a process in a cgroup when `memory.current` reaches `memory.max` and nothing can be
reclaimed. The page cache of files can be reclaimed. Without swap, the kernel cannot reclaim
anonymous memory, shared memory, sockets and most of its own memory. Source: the kernel's
cgroup-v2.rst.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from gomem.inputs.cgroup.parse import USED
from gomem.inputs.processes.oom import OOM
from gomem.inputs.schema import Column, build_rows
from gomem.text import Words

if TYPE_CHECKING:
    from collections.abc import Mapping

CGROUP_COUNTERS = (
    Column("counter", "str", "", "Of memory.stat; `rest` is what no counter names.", Words),
    Column("bytes", "int64", "B", "Charged; below 0 where counters run ahead of the total."),
    Column(
        "reclaimable",
        "boolean",
        "",
        "Whether the kernel can reclaim it at the limit; missing if memory.stat does not say.",
    ),
    Column(
        "of_limit_fraction", "float64", "fraction", "Share of the limit; missing without a limit."
    ),
)
ANON = ("anon", "total_rss", "rss")  # the last if a file is truncated before its totals
FILE = ("file", "total_cache", "cache")
DIRTY = ("file_dirty", "total_dirty", "dirty")
SHMEM = ("shmem", "total_shmem")
INACTIVE_FILE = ("inactive_file", "total_inactive_file")
# The charge in disjoint counters of memory.stat: v2 name, v1 names, whether reclaimable.
_COUNTERS = (
    (ANON, False),
    (FILE, True),
    (SHMEM, False),  # part of `file`, and subtracted from it here
    (("kernel", "memory.kmem.usage_in_bytes"), False),
    (("slab_reclaimable",), True),  # part of `kernel`, and subtracted from it here
    (("sock",), False),
)
ANONYMOUS, SHARED, CACHE, KERNEL = (
    "anonymous memory",
    "shared memory and files in tmpfs",
    "page cache",
    "kernel memory",
)
LAZY_FREE = "anon, given back"  # smaps LazyFree: no counter of memory.stat has it separately
# Of cgroup v2, and of v1, where memory.stat has the lowest limit above the cgroup, too.
PEAKS = ("memory.peak", "memory.max_usage_in_bytes")
HARD_LIMITS = ("memory.max", "hierarchical_memory_limit", "memory.limit_in_bytes")
HIGH_LIMITS = ("memory.high", "memory.soft_limit_in_bytes")
FULL = 0.01  # of the limit: no more is left in a cgroup at its limit
_NO_LIMIT = 1 << 60  # v1 has its largest number for no limit


@dataclass(frozen=True)
class CgroupUse:
    """How full a cgroup is, and of what.

    Attributes:
        limit_bytes: `memory.max`; None if there is none, or if no file has it.
        limit_is_known: Whether a file has the limit, or says that there is none.
        high_bytes: `memory.high`, above which the kernel throttles; None if there is none.
        current_bytes: All memory charged to the cgroup.
        peak_bytes: The highest usage so far; None if the kernel does not record it.
        working_set_bytes: `current` minus inactive file pages, by which Kubernetes evicts; None
            without memory.stat's `inactive_file`.
        unreclaimable_bytes: What the kernel cannot take back when the limit is reached; at most
            this if not `is_counted`, or if `unknown_bytes` is above 0.
        unknown_bytes: The part of it of which no counter says whether it is reclaimable.
        is_counted: Whether memory.stat has both anonymous memory and page cache, or the first
            is the whole charge.
        counters: See `CGROUP_COUNTERS`; adds up to `current`, with `rest` for what no counter
            names.
        killer: The largest counter among those that cannot be reclaimed.
        oom_kills: Processes of the cgroup that the OOM killer ended; None if unknown.
        current_name: The file with `current_bytes`.
    """

    limit_bytes: int | None
    limit_is_known: bool
    high_bytes: int | None
    current_bytes: int
    peak_bytes: int | None
    working_set_bytes: int | None
    unreclaimable_bytes: int
    unknown_bytes: int
    is_counted: bool
    counters: pd.DataFrame
    killer: str
    oom_kills: int | None
    current_name: str = USED[0]

    @property
    def headroom_bytes(self) -> int | None:
        """Bytes that can still be charged before the kernel must reclaim; None without a limit."""
        return None if self.limit_bytes is None else self.limit_bytes - self.current_bytes

    @property
    def is_full(self) -> bool:
        """Whether the usage is at the limit, to 1 %, so that the kernel reclaims."""
        limit = self.limit_bytes
        return limit is not None and self.current_bytes >= (1 - FULL) * limit

    @property
    def unreclaimable_headroom_bytes(self) -> int | None:
        """Bytes until reclaiming no longer helps and the kernel kills; None without a limit."""
        return None if self.limit_bytes is None else self.limit_bytes - self.unreclaimable_bytes


def cgroup_use(values: Mapping[str, int | None], lazy_free_bytes: int = 0) -> CgroupUse | None:
    """Return the use of a cgroup at one snapshot; None if `memory.current` is unknown.

    Values are bytes by file name (`memory.current`) and by field of `memory.stat` and
    `memory.events`; names of cgroup v1 are used if those of v2 are missing. A limit of `max`
    becomes None. The kernel counts resident memory released with MADV_FREE as anonymous, and
    reclaims it at the limit.
    """
    current = first_known(values, *USED)
    if current is None:
        return None
    limit = hard_limit(values)
    # Older kernels do not count shmem: there, all of the cache is taken as reclaimable.
    anonymous = first_known(values, *ANON)
    has_both = anonymous is not None and first_known(values, *FILE) is not None
    is_counted = has_both or (anonymous or 0) >= current
    counters = _counters(values, current, limit, lazy_free_bytes, is_counted=is_counted)
    held = counters[~counters["reclaimable"].fillna(value=False).astype(bool)]
    is_unknown = held["reclaimable"].isna()
    surely = held if is_unknown.all() or not is_counted else held[~is_unknown]
    inactive = first_known(values, *INACTIVE_FILE)
    return CgroupUse(
        limit_bytes=limit,
        limit_is_known=any(name in values for name in HARD_LIMITS),
        high_bytes=_limit(values, *HIGH_LIMITS),
        current_bytes=current,
        current_name=next(name for name in USED if values.get(name) is not None),
        peak_bytes=first_known(values, *PEAKS),
        working_set_bytes=None if inactive is None else max(0, current - inactive),
        unreclaimable_bytes=int(held["bytes"].sum()),
        unknown_bytes=max(0, int(held.loc[is_unknown, "bytes"].sum())),
        is_counted=is_counted,
        counters=counters,
        killer=str(surely.loc[surely["bytes"].idxmax(), "counter"]),
        oom_kills=first_known(values, "oom_kill"),
    )


@dataclass(frozen=True)
class PageCache:
    """The page cache of a cgroup."""

    bytes: int  # page cache, without shared memory, which has no file to be written to
    of_bytes: int  # the cgroup's use
    # whether the kernel has the number, or it is the sum of anonymous memory and the cache
    is_exact: bool
    may_have_shmem: bool = False  # whether no counter has shared memory and tmpfs apart
    dirty_bytes: int = 0  # the part that the kernel must write to disk first; 0 if unknown


def page_cache(values: Mapping[str, int | None]) -> PageCache | None:
    """Return the page cache of a cgroup at one snapshot; None if unknown."""
    if first_known(values, *FILE) is None:
        return None
    cache, used = parts_of(values)[CACHE], used_bytes(values)
    dirty = min(first_known(values, *DIRTY) or 0, cache)
    may_have_shmem = first_known(values, *SHMEM) is None
    is_exact = first_known(values, *USED) is not None
    return PageCache(min(cache, used), used, is_exact, may_have_shmem, dirty)


def parts_of(values: Mapping[str, int | None]) -> dict[str, int]:
    """Return the disjoint parts of a cgroup's usage that memory.stat counts; 0 if unknown."""
    shared = first_known(values, *SHMEM) or 0
    return {
        ANONYMOUS: first_known(values, *ANON) or 0,
        SHARED: shared,
        CACHE: max(0, (first_known(values, *FILE) or 0) - shared),
        KERNEL: kernel_bytes(values),
    }


def used_bytes(values: Mapping[str, int | None]) -> int:
    """Return a cgroup's usage, or the sum of the parts that memory.stat counts."""
    current = first_known(values, *USED)
    return sum(parts_of(values).values()) if current is None else current


def kernel_bytes(values: Mapping[str, int | None]) -> int:
    """Return the kernel's memory of a cgroup: slabs, thread stacks, page tables, socket buffers.

    The source is the counter `kernel` (since Linux 5.18), else the sum of the known parts.
    """
    whole = first_known(values, "kernel")
    if whole is not None:
        return whole
    slab = first_known(values, "slab")
    parts = (first_known(values, "slab_reclaimable"), first_known(values, "slab_unreclaimable"))
    named = (*((slab,) if slab is not None else parts), first_known(values, "kernel_stack"))
    return sum(size or 0 for size in (*named, first_known(values, "pagetables")))


def cgroup_values(rows: pd.DataFrame) -> dict[str, int | None]:
    """Return the numbers of a snapshot's cgroup by name, None for no limit.

    They are of its files, unless only an OOM report has the usage. memory.stat then counts what the
    usage is of, if the report does not, and if it does not state another limit.
    """
    is_report = rows["file"] == OOM
    files, report = _by_name(rows[~is_report]), _by_name(rows[is_report])
    if not report or _has_use(files) or (files and not _has_use(report)):
        return files
    limits = {hard_limit(files), hard_limit(report)} - {None}
    is_of_both = first_known(report, *ANON) is None and len(limits) <= 1
    return files | report if is_of_both else report


def _has_use(values: Mapping[str, int | None]) -> bool:
    return first_known(values, *USED) is not None


def _by_name(rows: pd.DataFrame) -> dict[str, int | None]:
    sizes = [None if pd.isna(size) else int(size) for size in rows["value"]]
    return dict(zip(rows["name"], sizes, strict=True))


def first_known(values: Mapping[str, int | None], *names: str) -> int | None:
    """Return the number of the first of several names that has one; None if none has."""
    known = (values.get(name) for name in names)
    return next((int(value) for value in known if value is not None), None)


def hard_limit(values: Mapping[str, int | None]) -> int | None:
    """Return the limit of a cgroup at which the kernel kills; None if there is none, or unknown."""
    return _limit(values, *HARD_LIMITS)


def _limit(values: Mapping[str, int | None], *names: str) -> int | None:
    limit = first_known(values, *names)
    return None if limit is None or limit >= _NO_LIMIT else limit


def _counters(
    values: Mapping[str, int | None],
    current: int,
    limit: int | None,
    lazy_free_bytes: int,
    *,
    is_counted: bool,
) -> pd.DataFrame:
    """Return the counters that memory.stat has; those it does not have are part of the rest."""
    named = {names[0]: first_known(values, *names) for names, _ in _COUNTERS}
    size = {name: counted or 0 for name, counted in named.items()}
    size["file"] = max(0, size["file"] - size["shmem"])
    size["kernel"] = max(0, size["kernel"] - size["slab_reclaimable"])
    lazy = min(lazy_free_bytes, size["anon"])
    size["anon"] -= lazy
    rows: list[tuple[str, int, bool | None]] = [
        (names[0], size[names[0]], reclaimable)
        for names, reclaimable in _COUNTERS
        if named[names[0]] is not None
    ]
    if not is_counted and named["shmem"] is None:  # part of `file` can be tmpfs
        rows = [(name, bytes_of, None if name == "file" else of) for name, bytes_of, of in rows]
    if lazy:
        rows.append((LAZY_FREE, lazy, True))
    # Of cgroup v1, no counter says how much of the kernel's memory is reclaimable slab.
    is_v1 = named["slab_reclaimable"] is None and values.get(USED[0]) is None
    if is_v1:
        rows = [(name, bytes_of, None if name == "kernel" else of) for name, bytes_of, of in rows]
    # Counters are kept per CPU and lag; the rest of the charge is taken as unreclaimable.
    rest = current - lazy - sum(size.values())
    rows.append(("rest", rest, False if is_counted and not is_v1 else None))
    shares = [(*row, row[1] / limit if limit else np.nan) for row in rows]
    return build_rows(shares, CGROUP_COUNTERS)
