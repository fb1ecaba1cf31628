"""Steps from one GC to the next: time, CPU, allocation, garbage.

A step belongs to the collection at its beginning. Every rate from a gctrace log uses steps, so all
rates exclude the same data: the time before a run's first collection, the CPU of a run's last
collection, and the data of missing lines.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pandas as pd

from gomem.inputs.packed import PackedFrame
from gomem.units import MIB

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROUNDING_BYTES = MIB  # the runtime rounds each heap size down to whole MiB
ROUNDING_ERROR = ROUNDING_BYTES / 2  # of the middle of what a printed size can be
# for sums and differences of printed decimals, without binary rounding errors
NANOSECOND_DIGITS = 9
STOPS = ("sweep_termination_seconds", "mark_termination_seconds")
CONCURRENT = ("scan_seconds", "write_barrier_seconds", "mark_seconds")
# Idle marking uses Ps that had nothing else to do, so it costs nothing; the runtime also leaves it
# out.
MARKING = ("cpu_scan_seconds", "cpu_assist_seconds", "cpu_background_seconds")
# The log prints the length of a pause times the Ps. But a pause counts from its request, and until
# the last P has stopped the others run: on a busy machine that is nearly all of it. Since Go 1.23
# the runtime's own accounts (GCCPUFraction, the percentage) exclude that; these fields include it.
STOP_CPU = ("cpu_sweep_termination_seconds", "cpu_mark_termination_seconds")
CPU_PARTS = (*MARKING, *STOP_CPU)
GC_CPU = (  # what a column of it means
    "GC CPU as a share of GOMAXPROCS, without idle marking. An upper bound, because the log counts "
    "whole pauses. The runtime's own number is GCCPUFraction."
)


Cycles: TypeAlias = pd.DataFrame | PackedFrame


def pieces_of(cycles: Cycles, columns: Sequence[str] | None = None) -> Iterator[pd.DataFrame]:
    """Yield collections piece by piece; a frame is one piece."""
    if isinstance(cycles, PackedFrame):
        yield from cycles.pieces(columns)
    else:
        yield cycles


def overlapping(
    cycles: Cycles, columns: Sequence[str] | None = None
) -> Iterator[tuple[pd.DataFrame, int]]:
    """Yield each piece after the last row of the previous piece, and the number of rows added.

    The number is 0 for the first piece, else 1. So every step is complete in the piece in which the
    step ends.
    """
    last: pd.DataFrame | None = None
    for piece in pieces_of(cycles, columns):
        if last is None:
            yield piece, 0
        else:
            yield pd.concat([last, piece]), 1
        last = piece.tail(1) if len(piece) else last


MAX_ROWS = 200_000  # collections; a longer log is read in groups
# The columns from which steps are computed.
STEP_COLUMNS = (
    "run", "number", "at_seconds", "gomaxprocs", "heap_at_start_bytes", "heap_at_mark_end_bytes",
    "heap_live_bytes", *CPU_PARTS,
)  # fmt: skip


def gc_steps(cycles: pd.DataFrame) -> pd.DataFrame:
    """Compute the step from each collection to the next of its run.

    A row per collection that has a successor in its run, with the collection's index: `run`,
    `follows` (whether no line is missing in between), `seconds`, `gomaxprocs`, `cpu_seconds`
    (without idle marking), `marking_cpu_seconds` (also without pauses: see `STOP_CPU`),
    `heap_grown_bytes` (from start to start) and `heap_freed_bytes` (the heap at the end of marking
    minus what was marked). The two heap columns add up to the allocation; each is known to ±1 MiB.
    """
    run, number, at = (cycles[name].to_numpy() for name in ("run", "number", "at_seconds"))
    begin = np.flatnonzero(run[1:] == run[:-1])
    end = begin + 1
    start = cycles["heap_at_start_bytes"].array
    freed = cycles["heap_at_mark_end_bytes"].array - cycles["heap_live_bytes"].array
    steps = {
        "run": run[begin],
        "follows": number[begin] + 1 == number[end],
        "seconds": (at[end] - at[begin]).round(NANOSECOND_DIGITS),
        "gomaxprocs": cycles["gomaxprocs"].to_numpy(float, na_value=np.nan)[begin],
        "cpu_seconds": row_sums(cycles, CPU_PARTS)[begin],
        "marking_cpu_seconds": row_sums(cycles, MARKING)[begin],
        "heap_grown_bytes": start[end] - start[begin],
        "heap_freed_bytes": freed[begin],
    }
    return pd.DataFrame(steps, index=cycles.index[begin], copy=False)


def row_sums(cycles: pd.DataFrame, columns: Sequence[str]) -> np.ndarray:
    """Return the sum of several columns in each row; unknown values are skipped.

    NaN if all values of a row are unknown.
    """
    total, is_known = np.zeros(len(cycles)), np.zeros(len(cycles), bool)
    for name in columns:
        values = cycles[name].to_numpy(float, na_value=np.nan)
        known = ~np.isnan(values)
        total += np.where(known, values, 0.0)
        is_known |= known
    return np.where(is_known, total, np.nan)


def group_size(cycles: Cycles) -> int:
    """Return how many collections a row of `grouped` has."""
    return 1 if isinstance(cycles, pd.DataFrame) else max(1, -(-len(cycles) // MAX_ROWS))


def grouped(cycles: Cycles) -> tuple[pd.DataFrame, int]:
    """Return collections as a frame, and the number of collections per row.

    If a log is too long for memory, a row is a group of collections. A group begins with its first
    collection. Its live heap is the median of what the collections marked. Freed bytes and CPU are
    sums, so that a step from group to group is a sum of steps.
    """
    if isinstance(cycles, pd.DataFrame):
        return cycles, 1
    size = group_size(cycles)
    pieces = cycles.pieces(STEP_COLUMNS)
    return pd.concat([_groups(piece, size) for piece in pieces], ignore_index=True), size


@dataclass(frozen=True)
class Run:
    """A run's collections that marked a heap of known size."""

    run: int  # number of the run
    at: np.ndarray  # start of each, in seconds
    live: np.ndarray  # live heap marked by each, in bytes
    cycles: np.ndarray  # collections that each stands for: in a long log, several


def runs_of(cycles: Cycles) -> list[Run]:
    """Return each run of a log; see `grouped`."""
    rows, size = grouped(cycles)
    known = rows.dropna(subset=["heap_live_bytes", "at_seconds"])
    run = known["run"].to_numpy(int)
    at, live = (known[name].to_numpy(float) for name in ("at_seconds", "heap_live_bytes"))
    each = np.ones(len(known)) if size == 1 else known["cycles"].to_numpy(float)
    begins = np.flatnonzero(np.diff(run, prepend=-1))
    ends = pairwise([*begins.tolist(), len(run)])
    parts = [slice(begin, end) for begin, end in ends]
    return [Run(int(run[of.start]), at[of], live[of], each[of]) for of in parts]


def _groups(piece: pd.DataFrame, size: int) -> pd.DataFrame:
    group = pd.DataFrame({"run": piece["run"], "group": np.arange(len(piece)) // size})
    same = piece.groupby([group["run"], group["group"]], sort=False)
    frame = same.first()
    sizes = same.size()
    freed = (piece["heap_at_mark_end_bytes"] - piece["heap_live_bytes"]).astype(float)
    live = same["heap_live_bytes"].median().round()
    ends = freed.groupby([group["run"], group["group"]], sort=False).sum() + live
    cpu = same[list(CPU_PARTS)].sum(min_count=1)
    frame[list(CPU_PARTS)] = cpu
    numbers = frame["number"]
    frame = frame.drop(columns="run", errors="ignore").assign(
        heap_live_bytes=live.astype("Int64"),
        heap_at_mark_end_bytes=ends.round().astype("Int64"),
        number=numbers,
        cycles=sizes,
    )
    return frame.reset_index("run").reset_index(drop=True)


def available_seconds(steps: pd.DataFrame) -> pd.Series:
    """Return the CPU that GOMAXPROCS allowed in each step; NaN if the step's GC CPU is unknown."""
    return (steps["gomaxprocs"] * steps["seconds"]).where(steps["cpu_seconds"].notna())


def stopped_seconds(cycles: pd.DataFrame) -> pd.Series:
    """Return the STW time of each collection: both pauses together, as in PauseNs."""
    return pd.Series(row_sums(cycles, STOPS).round(NANOSECOND_DIGITS), cycles.index)


def log_seconds(cycles: pd.DataFrame) -> pd.Series:
    """Return the start of each collection, on one clock for the whole log, runs end to end.

    The time between two runs is not in the log and counts as zero.
    """
    return LogClock().seconds(cycles)


@dataclass
class LogClock:
    """The clock of `log_seconds`, for a log that is read piece by piece."""

    offset: float = 0.0  # start of the current run
    end: float = 0.0  # end of the current run, as far as known
    _run: int | None = None

    def seconds(self, cycles: pd.DataFrame) -> pd.Series:
        """Return the starts of the next collections."""
        if cycles.empty:
            return cycles["at_seconds"]
        lasting = np.nan_to_num(row_sums(cycles, (*STOPS, *CONCURRENT)))
        ends = (cycles["at_seconds"] + lasting).groupby(cycles["run"], sort=False).max()
        if ends.index[0] == self._run:
            ends.iloc[0] = max(ends.iloc[0], self.end - self.offset)
        else:
            self.offset = self.end
        starts = np.cumsum([self.offset, *ends.to_numpy()])
        offsets = pd.Series(starts[:-1], index=ends.index)
        self._run, self.offset, self.end = int(ends.index[-1]), starts[-2], starts[-1]
        return (cycles["at_seconds"] + cycles["run"].map(offsets)).round(NANOSECOND_DIGITS)
