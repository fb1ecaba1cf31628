"""Which phases has a run: start-up, steady work, bursts, quiet times?

A mean over a start-up, an hour of traffic and a night says nothing of any of them. The phases are
told apart by how fast the program allocates, held against the run's own usual rate. (How fast
collections follow one another would say the same, were the heap always of one size.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from gomem.analysis.gc_steps import ROUNDING_BYTES, gc_steps

if TYPE_CHECKING:
    from collections.abc import Iterator

MEANING = {
    "start-up": "until the live heap is first half of what it usually is",
    "steady": "allocation at about the usual rate",
    "burst": "allocation at least four times as fast as usual",
    "quiet": "allocation at most a quarter as fast as usual",
}
FACTOR = 4.0  # of the usual rate: twice is the noise of any traffic
EITHER_WAY = 2 * ROUNDING_BYTES  # of what a step allocated: two differences of printed sizes
SHORTEST = 5  # collections: fewer, and it is an odd step, not a phase
USUAL_LIVE = 0.5
COLUMNS = {
    "run": "int64",
    "phase": "str",
    "first_number": "int64",
    "last_number": "int64",
    "cycles": "int64",
    "begin_seconds": "float64",
    "end_seconds": "float64",
    "interval_p50_seconds": "float64",
    "allocation_rate_bytes_per_second": "float64",
    "gc_cpu_fraction": "float64",
    "heap_live_p50_bytes": "float64",
}


def gc_phases(cycles: pd.DataFrame) -> pd.DataFrame:
    """Cut each run into phases, in order.

    Args:
        cycles: Collections as `gomem.tables.gctrace.CYCLES` describes them.

    Returns:
        A row per phase: `run`, `phase` (see `MEANING`), which collections, from when to when on the
        run's clock, and what they were like. A phase ends where the next one begins.
    """
    steps = gc_steps(cycles)
    rows = [
        row
        for _, part in cycles.groupby("run", sort=False)
        for row in _phases_of(part, steps.loc[steps.index.intersection(part.index)])
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS)


def _phases_of(cycles: pd.DataFrame, steps: pd.DataFrame) -> Iterator[dict[str, object]]:
    names = _names(cycles, steps)
    begins = [0, *(int(place) + 1 for place in np.flatnonzero(names[1:] != names[:-1]))]
    ends = [*begins[1:], len(names)]
    for begin, end in zip(begins, ends, strict=True):
        until = min(end, len(cycles) - 1)
        yield {
            "phase": str(names[begin]),
            **_measured(cycles.iloc[begin:end], steps.iloc[begin:end]),
            "end_seconds": float(cycles["at_seconds"].iloc[until]),
        }


def _names(cycles: pd.DataFrame, steps: pd.DataFrame) -> np.ndarray:
    """The phase that each collection of a run belongs to."""
    names = np.full(len(cycles), "steady", dtype=object)
    started = _start_up(cycles)
    rest = steps.iloc[started:]
    if len(rest) >= 2 * SHORTEST:
        names[started : started + len(rest)] = _without_short(_paces(rest))
        names[-1] = names[-2]  # the last collection has no step of its own
    names[:started] = "start-up"
    return names


def _start_up(cycles: pd.DataFrame) -> int:
    """How many collections came before the live heap was first half of its median."""
    live = cycles["heap_live_bytes"].to_numpy(float, na_value=np.nan)
    if np.isnan(live).all():
        return 0
    reached = live >= USUAL_LIVE * np.nanmedian(live)
    return int(reached.argmax())


def _paces(steps: pd.DataFrame) -> np.ndarray:
    """Steady, burst or quiet, by the median rate of each step and its neighbours.

    What a step allocated is known to 2 MiB either way, so that is granted: rounding makes no phase.
    """
    allocated = (steps["heap_grown_bytes"] + steps["heap_freed_bytes"]).astype("Float64")
    rates = _smooth(allocated.clip(lower=0), steps["seconds"])
    lowest = _smooth((allocated - EITHER_WAY).clip(lower=0), steps["seconds"])
    highest = _smooth(allocated + EITHER_WAY, steps["seconds"])
    usual = _usual(rates, steps["seconds"].to_numpy(float))
    if not usual > 0:
        return np.full(len(steps), "steady", dtype=object)
    paces = np.select([lowest >= FACTOR * usual, highest * FACTOR <= usual], ["burst", "quiet"], "")
    return np.where(paces == "", "steady", paces).astype(object)


def _smooth(size: pd.Series, seconds: pd.Series) -> np.ndarray:
    rates = (size / seconds.where(seconds > 0)).astype("float64")
    return rates.rolling(SHORTEST, center=True, min_periods=1).median().to_numpy(float)


def _usual(rates: np.ndarray, seconds: np.ndarray) -> float:
    """The rate that half of the time was spent below: bursts hardly move it."""
    known = ~np.isnan(rates)
    order = np.argsort(rates[known], kind="stable")
    spent = seconds[known][order].cumsum()
    if not len(spent):
        return 0.0
    return float(rates[known][order][int(np.searchsorted(spent, spent[-1] / 2))])


def _without_short(names: np.ndarray) -> np.ndarray:
    """Phases of fewer collections than make one go to the phase before; a first one is steady."""
    changes = np.flatnonzero(names[1:] != names[:-1]) + 1
    begins, ends = [0, *changes], [*changes, len(names)]
    for begin, end in zip(begins, ends, strict=True):
        if end - begin < SHORTEST:
            names[begin:end] = names[begin - 1] if begin else "steady"
    return names


def _measured(cycles: pd.DataFrame, steps: pd.DataFrame) -> dict[str, object]:
    seconds = float(steps["seconds"].sum())
    available = float((steps["gomaxprocs"] * steps["seconds"]).sum())
    allocated = (steps["heap_grown_bytes"] + steps["heap_freed_bytes"]).sum()
    live = cycles["heap_live_bytes"].dropna()
    return {
        "run": int(cycles["run"].iloc[0]),
        "first_number": int(cycles["number"].iloc[0]),
        "last_number": int(cycles["number"].iloc[-1]),
        "cycles": len(cycles),
        "begin_seconds": float(cycles["at_seconds"].iloc[0]),
        "interval_p50_seconds": float(steps["seconds"].median()) if len(steps) else np.nan,
        "allocation_rate_bytes_per_second": max(0, int(allocated)) / seconds if seconds else np.nan,
        "gc_cpu_fraction": float(steps["cpu_seconds"].sum()) / available if available else np.nan,
        "heap_live_p50_bytes": float(live.median()) if len(live) else np.nan,
    }
