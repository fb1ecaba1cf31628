"""Which part of a log is typical for the program, and is it long enough?

A log begins with a start-up, during which the heap fills and collections are frequent. A log of
several processes has several start-ups. So the longest run is used, from the point where its live
heap first reached its median, as in `live_heap`. A log that is too short, or that does not show the
program's own pace, is refused with a reason.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from gomem.analysis.collector.steps import (
    CONCURRENT,
    CPU_PARTS,
    ROUNDING_BYTES,
    STOPS,
    Cycles,
    pieces_of,
)
from gomem.analysis.what_if.replay import MAX_CYCLES
from gomem.text import Seconds, Share
from gomem.units import format_count

MIN_CYCLES = 8  # two halves of four, so that one predicts the other
MIN_LIVE_BYTES = 4 * ROUNDING_BYTES  # sizes are whole MiB: smaller heaps are too imprecise
MAX_FORCED = 0.5  # of the collections; with more, GOGC does not decide when they run
# of the time; with more, GC slows the program down, and its own pace is not visible
MAX_MARKING = 0.5
NEEDED = (
    "run", "number", "at_seconds", "forced", "periodic", "heap_at_start_bytes",
    "heap_at_mark_end_bytes", "heap_live_bytes", "heap_goal_bytes", "stacks_bytes",
    "globals_bytes", "gomaxprocs", "cpu_assist_seconds", "cpu_background_seconds",
    "cpu_idle_seconds", "cpu_scan_seconds", "cpu_sweep_termination_seconds",
    "cpu_mark_termination_seconds", *STOPS, *CONCURRENT,
)  # fmt: skip
KNOWN = (
    "at_seconds", "heap_at_start_bytes", "heap_at_mark_end_bytes", "heap_live_bytes",
    "mark_seconds", "cpu_background_seconds", "gomaxprocs",
)  # fmt: skip
OFF = -1  # GOGC=off, in tables and JSON


@dataclass(frozen=True)
class Watched:
    """The analysed part of a log."""

    cycles: pd.DataFrame  # its collections, from one run, in order
    refused: str | None  # why it is not enough, in a sentence; None if it is
    notes: tuple[str, ...]  # what was left out, in sentences


def watched(cycles: Cycles) -> Watched:
    """Select the part of a log to analyse, and check that it is long enough.

    The part is from the longest run; in a long log, it is the end of that run.
    """
    frame, runs = _longest_run(cycles)
    whole = frame.dropna(subset=list(KNOWN))
    notes = []
    if runs > 1:
        notes.append(f"the log has {runs} processes, one after the other; the longest is replayed")
    if len(frame) > len(whole):
        notes.append(f"{format_count(len(frame) - len(whole))} cut lines are left out")
    usual, start_up = _after_start_up(whole)
    if start_up:
        notes.append(
            f"the first {format_count(start_up)} GCs are left out: the heap was still filling"
        )
    if len(usual) > MAX_CYCLES:
        notes.append(f"only the last {format_count(MAX_CYCLES)} GCs are replayed")
        usual = usual.tail(MAX_CYCLES)
    return Watched(usual.reset_index(drop=True), _refusal(usual, len(frame)), tuple(notes))


def _longest_run(cycles: Cycles) -> tuple[pd.DataFrame, int]:
    """Return the collections of the run that lasted longest, and the number of runs."""
    lasting: dict[int, float] = {}
    for piece in pieces_of(cycles, ["run", "at_seconds"]):
        ends = piece.groupby("run")["at_seconds"].max()
        lasting |= {int(run): float(end) for run, end in ends.items()}
    if not lasting:
        return next(pieces_of(cycles, NEEDED))[list(NEEDED)], 0
    longest = max(lasting, key=lambda run: lasting[run])
    kept: list[pd.DataFrame] = []
    for piece in pieces_of(cycles, NEEDED):
        own = piece.loc[piece["run"] == longest, list(NEEDED)]
        kept = [*kept, own] if sum(map(len, kept)) < 2 * MAX_CYCLES else [*kept[-1:], own]
    return pd.concat(kept, ignore_index=True), len(lasting)


def _after_start_up(cycles: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    if cycles.empty:
        return cycles, 0
    live = cycles["heap_live_bytes"].astype(float)
    reached = int((live >= live.median()).to_numpy().argmax())
    return cycles.iloc[reached:], reached


def _refusal(usual: pd.DataFrame, seen: int) -> str | None:
    """Return why the log is not enough; None if it is."""
    if not seen:
        return (
            "the log has no GC, as with GOGC=off and no memory limit, so nothing says how fast the "
            "program allocates; log a run with a GOGC"
        )
    if len(usual) < MIN_CYCLES:
        return (
            f"only {format_count(len(usual))} of the log's {format_count(seen)} GCs came after "
            f"the heap had filled, and {MIN_CYCLES} are needed; let the process run longer"
        )
    forced = float(usual["forced"].mean())
    if forced > MAX_FORCED:
        return (
            f"the program forced {Share(forced)} of the GCs (runtime.GC, debug.FreeOSMemory, a "
            "heap profile with gc=1): GOGC and GOMEMLIMIT do not decide when they run"
        )
    if float(usual["heap_live_bytes"].median()) < MIN_LIVE_BYTES:
        return (
            "the live heap is below 4 MiB: Go's minimum heap, 4 MiB at GOGC=100, decides when GCs "
            "run, and the log prints whole MiB"
        )
    return _pace_refusal(usual)


def _pace_refusal(usual: pd.DataFrame) -> str | None:
    at = usual["at_seconds"].to_numpy(float)
    span = at[-1] - at[0]
    if not span > 0:
        return "all GCs began in the same millisecond, so the log's clock shows no rate"
    marking = usual[[*STOPS, *CONCURRENT]].sum(axis=1).to_numpy(float)[:-1].sum() / span
    if marking > MAX_MARKING:
        return (
            f"the GC ran for {Share(min(marking, 1.0))} of the {Seconds(span)} and slowed the "
            "program, so the log does not show how fast it would allocate by itself; log a run "
            "with a higher GOGC or limit"
        )
    return None


@dataclass(frozen=True)
class Present:
    """What the log shows; None where unknown.

    Attributes:
        gogc: GOGC in per cent; -1 is off; None if unknown.
        memory_limit_bytes: GOMEMLIMIT; infinite for none.
        live_bytes: Median of the marked heap.
        allocation_bytes_per_second: Allocation rate.
        mark_cpu_seconds_per_cycle: CPU time of a collection, without idle marking.
        cycles_per_second: Collections per second.
        gc_cpu_cores: CPU seconds that the GC uses per second.
        peak_heap_bytes: The highest heap at the end of marking.
        gomaxprocs: GOMAXPROCS.
        seconds: Length of the analysed part of the log.
        cycles: Number of collections in that part.
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
        """GOMEMLIMIT in bytes; infinite if there is no limit, or if unknown."""
        return math.inf if self.memory_limit_bytes is None else self.memory_limit_bytes


def present_of(part: Watched, gogc: float | None = None, limit: float | None = None) -> Present:
    """Return what the analysed collections show, and the settings of the log."""
    percent = None if gogc is None else OFF if math.isinf(gogc) else round(100 * gogc)
    if part.cycles.empty:
        return Present(percent, limit)
    rows = part.cycles
    cpu = rows[list(CPU_PARTS)].sum(axis=1).to_numpy(float)
    span = float(rows["at_seconds"].iloc[-1] - rows["at_seconds"].iloc[0])
    start, end, live = (
        rows[f"heap_{name}_bytes"].to_numpy(float) for name in ("at_start", "at_mark_end", "live")
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
