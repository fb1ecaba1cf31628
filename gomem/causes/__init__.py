"""The known causes; this is the only list."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gomem.causes.cause import Cause

# In order of defining module; of equally severe and large findings, the earlier comes first.
_ORDER = """
    untouched_now_resident released_but_resident idle_heap_kept finalizer_backlog heap_growth
    emptied_map allocation_spike gc_pressure memory_limit_thrash forced_gc long_pauses heap_headroom
    thread_growth native_memory anonymous_mapping file_mapping huge_pages heap_fragmentation
    goroutine_leak stack_growth profiling_memory limit_risk data_skew data_damaged data_missing
    data_thin
"""
CAUSES: tuple[Cause, ...] = tuple(
    import_module(f"gomem.causes.{name}").CAUSE for name in _ORDER.split()
)
