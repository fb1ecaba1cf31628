"""What does the log show of the program and its collector, as they are?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gomem.analysis.collector.steps import CPU_PARTS, ROUNDING_BYTES

if TYPE_CHECKING:
    from gomem.analysis.what_if.watched import Watched

OFF = -1  # GOGC=off, in tables and JSON


@dataclass(frozen=True)
class Present:
    """What the log shows; None where it does not tell.

    Attributes:
        gogc: GOGC in per cent; -1 is off; None if it is not known.
        memory_limit_bytes: GOMEMLIMIT; infinite for none.
        live_bytes: Median of what collections marked.
        allocation_bytes_per_second: What the program allocates.
        mark_cpu_seconds_per_cycle: CPU of a collection, without idle marking.
        cycles_per_second: Collections a second.
        gc_cpu_cores: Their CPU a second.
        peak_heap_bytes: The highest heap at the end of marking.
        gomaxprocs: GOMAXPROCS.
        seconds: The time that was looked at.
        cycles: The collections in it.
    """

    gogc: int | None
    memory_limit_bytes: float | None
    live_bytes: float | None = None
    allocation_bytes_per_second: float | None = None
    mark_cpu_seconds_per_cycle: float | None = None
    cycles_per_second: float | None = None
    gc_cpu_cores: float | None = None
    peak_heap_bytes: float | None = None
    gomaxprocs: float | None = None
    seconds: float | None = None
    cycles: int = 0

    @property
    def limit_bytes(self) -> float:
        """GOMEMLIMIT, taken for none where nothing says."""
        return math.inf if self.memory_limit_bytes is None else self.memory_limit_bytes


def present_of(part: Watched, gogc: float | None, limit: float | None) -> Present:
    """What the collections that were looked at show, and the settings that they were made with."""
    percent = None if gogc is None else OFF if math.isinf(gogc) else round(100 * gogc)
    if part.cycles.empty:
        return Present(percent, limit)
    rows = part.cycles
    cpu = rows[list(CPU_PARTS)].sum(axis=1).to_numpy(float)
    span = float(rows["at_seconds"].iloc[-1] - rows["at_seconds"].iloc[0])
    start, end, live = (
        rows[f"heap_{one}_bytes"].to_numpy(float) for one in ("at_start", "at_mark_end", "live")
    )
    allocated = np.maximum(end - start, 0)[:-1].sum() + np.maximum(start[1:] - live[:-1], 0).sum()
    return Present(
        percent,
        limit,
        live_bytes=float(np.median(live)) + ROUNDING_BYTES / 2,
        allocation_bytes_per_second=float(allocated / span) if span > 0 else None,
        mark_cpu_seconds_per_cycle=float(cpu.mean()),
        cycles_per_second=(len(rows) - 1) / span if span > 0 else None,
        gc_cpu_cores=float(cpu[:-1].sum() / span) if span > 0 else None,
        peak_heap_bytes=float(end.max()) + ROUNDING_BYTES / 2,
        gomaxprocs=float(rows["gomaxprocs"].median()),
        seconds=span,
        cycles=len(rows),
    )
