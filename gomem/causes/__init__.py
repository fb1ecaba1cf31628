"""The known causes. A cause is registered here and nowhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.causes import (
    allocation_spike,
    anonymous_mapping,
    data_damaged,
    data_missing,
    data_skew,
    data_thin,
    file_mapping,
    finalizer_backlog,
    forced_gc,
    gc_pressure,
    goroutine_leak,
    heap_fragmentation,
    heap_growth,
    heap_headroom,
    huge_pages,
    idle_heap_kept,
    limit_risk,
    long_pauses,
    memory_limit_thrash,
    native_memory,
    released_but_resident,
    stack_growth,
    thread_growth,
    untouched_now_resident,
)

if TYPE_CHECKING:
    from gomem.causes.cause import Cause

# Of findings that are equally severe and equally large, the earlier cause comes first.
CAUSES: tuple[Cause, ...] = (
    untouched_now_resident.CAUSE,
    released_but_resident.CAUSE,
    idle_heap_kept.CAUSE,
    finalizer_backlog.CAUSE,
    heap_growth.CAUSE,
    allocation_spike.CAUSE,
    gc_pressure.CAUSE,
    memory_limit_thrash.CAUSE,
    forced_gc.CAUSE,
    long_pauses.CAUSE,
    heap_headroom.CAUSE,
    thread_growth.CAUSE,
    native_memory.CAUSE,
    anonymous_mapping.CAUSE,
    file_mapping.CAUSE,
    huge_pages.CAUSE,
    heap_fragmentation.CAUSE,
    goroutine_leak.CAUSE,
    stack_growth.CAUSE,
    limit_risk.CAUSE,
    data_skew.CAUSE,
    data_damaged.CAUSE,
    data_missing.CAUSE,
    data_thin.CAUSE,
)
