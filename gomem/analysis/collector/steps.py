"""What lies between one collection and the next: time, CPU, what was allocated, what was found.

A step belongs to the collection it begins with. It is the ground of every rate that a gctrace log
gives, so that all of them leave out the same: the time before a run's first collection, the CPU of
its last one, and whatever a line that is missing would have told.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from gomem.units import MIB

ROUNDING_BYTES = MIB  # the runtime floors each heap size to a whole MiB
NANOSECOND_DIGITS = 9  # sums and differences of printed decimals, without the noise of binary ones
STOPS = ("sweep_termination_seconds", "mark_termination_seconds")
CONCURRENT = ("scan_seconds", "write_barrier_seconds", "mark_seconds")
# Marking on Ps that had nothing else to do costs nobody anything; the runtime leaves it out too.
MARKING = ("cpu_scan_seconds", "cpu_assist_seconds", "cpu_background_seconds")
# Printed as the length of a stop times the Ps. A stop counts from its request, though, and until
# the last P has stopped the others run: on a busy machine that is nearly all of it. Since Go 1.23
# the runtime's own accounts (GCCPUFraction, the percentage) leave that out; these fields do not.
STOP_CPU = ("cpu_sweep_termination_seconds", "cpu_mark_termination_seconds")
CPU_PARTS = (*MARKING, *STOP_CPU)


def gc_steps(cycles: pd.DataFrame) -> pd.DataFrame:
    """From each collection to the next of its run.

    Args:
        cycles: Collections as `gomem.inputs.gctrace.table.CYCLES` describes them.

    Returns:
        A row per collection that another of its run comes after, under its index: `run`, `follows`
        (whether no line is missing between), `seconds`, `gomaxprocs`, `cpu_seconds` (idle marking
        left out), `marking_cpu_seconds` (stops left out as well: see `STOP_CPU`),
        `heap_grown_bytes` (from start to start) and `heap_freed_bytes` (what marking did not
        find). The last two sum to what was allocated; each is known to 1 MiB either way.
    """
    after = cycles.shift(-1)
    same_run = cycles["run"].eq(after["run"])
    start, end = cycles["heap_at_start_bytes"], cycles["heap_at_mark_end_bytes"]
    steps = pd.DataFrame(
        {
            "run": cycles["run"],
            "follows": cycles["number"].add(1).eq(after["number"]),
            "seconds": (after["at_seconds"] - cycles["at_seconds"]).round(NANOSECOND_DIGITS),
            "gomaxprocs": cycles["gomaxprocs"].astype(float),
            "cpu_seconds": cycles[list(CPU_PARTS)].sum(axis=1, min_count=1),
            "marking_cpu_seconds": cycles[list(MARKING)].sum(axis=1, min_count=1),
            "heap_grown_bytes": after["heap_at_start_bytes"] - start,
            "heap_freed_bytes": end - cycles["heap_live_bytes"],
        }
    )
    return steps[same_run]


def available_seconds(steps: pd.DataFrame) -> pd.Series:
    """CPU that GOMAXPROCS allowed in each step whose own CPU is known; of the others it is not."""
    return (steps["gomaxprocs"] * steps["seconds"]).where(steps["cpu_seconds"].notna())


def stopped_seconds(cycles: pd.DataFrame) -> pd.Series:
    """How long each collection stopped the world: both stops together, as PauseNs counts it."""
    return cycles[list(STOPS)].sum(axis=1, min_count=1).round(NANOSECOND_DIGITS)


def log_seconds(cycles: pd.DataFrame) -> pd.Series:
    """When each collection began on one clock for the whole log, its runs laid end to end.

    The time between two runs is not known from the log, and counts as none.
    """
    if cycles.empty:
        return cycles["at_seconds"]
    lasting = cycles[[*STOPS, *CONCURRENT]].sum(axis=1)
    ends = (cycles["at_seconds"] + lasting).groupby(cycles["run"], sort=False).max()
    offsets = pd.Series(np.cumsum([0.0, *ends.to_numpy()])[:-1], index=ends.index)
    return (cycles["at_seconds"] + cycles["run"].map(offsets)).round(NANOSECOND_DIGITS)
