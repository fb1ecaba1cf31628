"""Which phases does a run have: start-up, steady work, bursts, quiet times?

A mean over a start-up, an hour of traffic and a night describes none of the three. Phases are
separated by the allocation rate, relative to the run's usual rate. (The rate of collections would
give the same phases only if the heap never changed size.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from gomem.analysis.collector.steps import GC_CPU, ROUNDING_BYTES, Cycles, gc_steps, grouped
from gomem.inputs.schema import Column, build
from gomem.text import Words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Arrays = dict[str, np.ndarray]

PHASES = ("start-up", "steady", "burst", "quiet")
FACTOR = 4.0  # of the usual rate: twice is normal traffic noise
EITHER_WAY = 2 * ROUNDING_BYTES  # error of a step's allocation: two differences of printed sizes
SHORTEST = 5  # collections: fewer are an outlier, not a phase
LONG_SHARE = 0.1  # of a run's time: with less, so few collections are an outlier
USUAL_LIVE = 0.5
CYCLES = ("run", "number", "at_seconds", "heap_live_bytes")
STEPS = ("seconds", "gomaxprocs", "cpu_seconds", "heap_grown_bytes", "heap_freed_bytes")
PHASE_ROWS = (
    Column("run", "int64", "", "Which process of the log."),
    Column("phase", "str", "", "One of `PHASES`.", Words),
    Column("first_number", "int64", "", "Its first collection."),
    Column("last_number", "int64", "", "Its last collection."),
    Column("cycles", "int64", "count", "Collections."),
    Column("begin_seconds", "float64", "s", "When it began, on the run's clock."),
    Column("end_seconds", "float64", "s", "End of the phase, where the next begins."),
    Column("interval_p50_seconds", "float64", "s", "Median interval between GCs."),
    Column("allocation_rate_bytes_per_second", "float64", "B/s", "What the program allocated."),
    Column("gc_cpu_fraction", "float64", "fraction", GC_CPU),
    Column("heap_live_p50_bytes", "float64", "B", "Median of the live heap; to 1 MiB."),
)


def gc_phases(cycles: Cycles) -> pd.DataFrame:
    """Divide each run into phases; a row per phase, in order; see `PHASE_ROWS`.

    A log too long for memory is read in groups of collections; see `steps.grouped`.
    """
    cycles, size = grouped(cycles)
    known = _arrays(cycles, CYCLES)
    known["cycles"] = _arrays(cycles, ["cycles"])["cycles"] if size > 1 else np.ones(len(cycles))
    steps = _arrays(gc_steps(cycles), STEPS)
    steps["interval"] = steps["seconds"] / size
    begins = np.flatnonzero(np.diff(known["run"], prepend=np.nan) != 0).tolist()
    ends = [*begins, len(cycles)][1:]
    rows = [
        row
        # Each earlier run has one step fewer than collections.
        for before, (begin, end) in enumerate(zip(begins, ends, strict=True))
        for row in _phases_of(
            _cut(known, begin, end), _cut(steps, begin - before, end - before - 1)
        )
    ]
    names = [column.name for column in PHASE_ROWS]
    return build(dict(pd.DataFrame(rows, columns=names)), PHASE_ROWS)


def _arrays(frame: pd.DataFrame, columns: Sequence[str]) -> Arrays:
    """Return columns as plain arrays, NaN where unknown: a log can have very many runs."""
    return {name: frame[name].to_numpy(float, na_value=np.nan) for name in columns}


def _cut(columns: Arrays, begin: int, end: int) -> Arrays:
    return {name: values[begin:end] for name, values in columns.items()}


def _phases_of(cycles: Arrays, steps: Arrays) -> Iterator[dict[str, object]]:
    names = _names(cycles, steps)
    begins = [0, *(int(place) + 1 for place in np.flatnonzero(names[1:] != names[:-1]))]
    ends = [*begins[1:], len(names)]
    for begin, end in zip(begins, ends, strict=True):
        until = min(end, len(names) - 1)
        yield {
            "phase": str(names[begin]),
            **_measured(_cut(cycles, begin, end), _cut(steps, begin, end)),
            "end_seconds": float(cycles["at_seconds"][until]),
        }


def _names(cycles: Arrays, steps: Arrays) -> np.ndarray:
    """Return the phase of each collection of a run."""
    names = np.full(len(cycles["run"]), "steady", dtype=object)
    begins_late = cycles["number"][0] > SHORTEST  # such a log has no start-up
    started = 0 if begins_late else _start_up(cycles["heap_live_bytes"])
    rest = _cut(steps, started, len(names))
    length = len(rest["seconds"])
    if length >= 2 * SHORTEST:
        names[started : started + length] = _without_short(_paces(rest), rest["seconds"])
        names[-1] = names[-2]  # the last collection has no step
    names[:started] = "start-up"
    return names


def _start_up(live: np.ndarray) -> int:
    """Count the collections before the live heap first reached half of its median."""
    if np.isnan(live).all():
        return 0
    reached = live >= USUAL_LIVE * np.nanmedian(live)
    return int(reached.argmax())


def _paces(steps: Arrays) -> np.ndarray:
    """Classify steps as steady, burst or quiet, by the median rate of each and its neighbours.

    The allocation of a step is known to ±2 MiB, which is allowed for, so rounding alone makes no
    phase.
    """
    allocated, seconds = steps["heap_grown_bytes"] + steps["heap_freed_bytes"], steps["seconds"]
    rates = _smooth(allocated.clip(min=0), seconds)
    lowest = _smooth((allocated - EITHER_WAY).clip(min=0), seconds)
    highest = _smooth(allocated + EITHER_WAY, seconds)
    usual = _usual(rates, seconds)
    if not usual > 0:
        return np.full(len(seconds), "steady", dtype=object)
    paces = np.select([lowest >= FACTOR * usual, highest * FACTOR <= usual], ["burst", "quiet"], "")
    return np.where(paces == "", "steady", paces).astype(object)


def _smooth(size: np.ndarray, seconds: np.ndarray) -> np.ndarray:
    """Smooth the rate of each step: the median of its known neighbours and itself."""
    rates = np.divide(size, seconds, out=np.full(len(size), np.nan), where=seconds > 0)
    around = np.pad(rates, SHORTEST // 2, constant_values=np.nan)
    ordered = np.sort(np.lib.stride_tricks.sliding_window_view(around, SHORTEST), axis=1)
    known = (~np.isnan(ordered)).sum(axis=1)  # NaN sorts to the end
    row = np.arange(len(rates))
    return (ordered[row, np.maximum(known - 1, 0) // 2] + ordered[row, known // 2]) / 2


def _usual(rates: np.ndarray, seconds: np.ndarray) -> float:
    """Return the time-weighted median rate, which bursts hardly move."""
    known = ~np.isnan(rates)
    order = np.argsort(rates[known], kind="stable")
    spent = seconds[known][order].cumsum()
    if not len(spent):
        return 0.0
    return float(rates[known][order][int(np.searchsorted(spent, spent[-1] / 2))])


def _without_short(names: np.ndarray, seconds: np.ndarray) -> np.ndarray:
    """Merge phases with too few collections into the previous one; a first one becomes steady.

    Few collections are a phase if they take much of the time, as at the quiet end of a log.
    """
    long = LONG_SHARE * float(np.nansum(seconds))
    changes = np.flatnonzero(names[1:] != names[:-1]) + 1
    begins, ends = [0, *changes], [*changes, len(names)]
    for begin, end in zip(begins, ends, strict=True):
        if end - begin < SHORTEST and np.nansum(seconds[begin:end]) < long:
            names[begin:end] = names[begin - 1] if begin else "steady"
    return names


def _measured(cycles: Arrays, steps: Arrays) -> dict[str, object]:
    seconds = float(np.nansum(steps["seconds"]))
    known = ~np.isnan(steps["cpu_seconds"])
    available = float(np.nansum((steps["gomaxprocs"] * steps["seconds"])[known]))
    allocated = float(np.nansum(steps["heap_grown_bytes"] + steps["heap_freed_bytes"]))
    cpu = float(np.nansum(steps["cpu_seconds"]))
    return {
        "run": int(cycles["run"][0]),
        "first_number": int(cycles["number"][0]),
        "last_number": int(cycles["number"][-1] + cycles["cycles"][-1] - 1),
        "cycles": int(cycles["cycles"].sum()),
        "begin_seconds": float(cycles["at_seconds"][0]),
        "interval_p50_seconds": _median(steps["interval"]),
        "allocation_rate_bytes_per_second": max(0.0, allocated) / seconds if seconds else np.nan,
        "gc_cpu_fraction": cpu / available if available else np.nan,
        "heap_live_p50_bytes": _median(cycles["heap_live_bytes"]),
    }


def _median(values: np.ndarray) -> float:
    """Return the lower median of the known values, as `Quantiles` does; NaN without any."""
    known = values[~np.isnan(values)]
    return float(np.quantile(known, 0.5, method="inverted_cdf")) if len(known) else np.nan
