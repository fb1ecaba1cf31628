"""How did heap, pauses, CPU and allocation go over time, in as many windows as can be looked at?

Forty collections have a window each. Four hundred thousand share a few hundred: a window then holds
the least and the greatest of what lies in it, so that no peak and no pause is lost, and sums of
what adds up, so that nothing is counted twice.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from gomem.analysis.collector.steps import STOP_CPU, gc_steps, log_seconds, stopped_seconds

WINDOWS = 400  # about as many columns as a figure on a page has room for
HEAPS = {
    "heap_at_start": "heap_at_start_bytes",
    "heap_at_mark_end": "heap_at_mark_end_bytes",
    "heap_live": "heap_live_bytes",
    "heap_goal": "heap_goal_bytes",
}
MIDDLED = ("heap_live", "heap_goal")
CPU = {
    "assist": ["cpu_assist_seconds"],
    "background": ["cpu_background_seconds", "cpu_scan_seconds"],
    "idle": ["cpu_idle_seconds"],
    "stopped": list(STOP_CPU),
}


def gc_timeline(cycles: pd.DataFrame, windows: int = WINDOWS) -> pd.DataFrame:
    """Lay a log out over time.

    Args:
        cycles: Collections as `gomem.inputs.gctrace.table.CYCLES` describes them.
        windows: At most so many rows. Of fewer collections each has a row, which ends where the
            next one begins; of more, the rows are equally long and may hold any number.

    Returns:
        A row per window: `begin_seconds` and `end_seconds` on one clock for all runs, `cycles`,
        `run` (of its first collection); lowest and highest of each heap size
        (`heap_live_low_bytes`, `heap_live_high_bytes`, …) and the medians of live heap and goal
        (`heap_live_p50_bytes`, …), those of the last collection where none begins in it;
        `stopped_p50_seconds`, `stopped_max_seconds` and, of all, `stopped_seconds`; CPU by kind in
        cores (`assist_cores`, `background_cores`, `idle_cores`, `stopped_cores`), missing for a
        last collection alone, because nobody knows what follows; `gc_cpu_fraction`, all but idle
        of GOMAXPROCS; and `allocation_rate_bytes_per_second`.
    """
    at = log_seconds(cycles).to_numpy(float)
    edges = _edges(at, cycles, windows)
    own = len(cycles) < windows
    places = np.arange(len(at)) if own else _places(at, edges)
    frame = _extremes(cycles, places, len(edges) - 1)
    frame.insert(0, "begin_seconds", edges[:-1])
    frame.insert(1, "end_seconds", edges[1:])
    lengths = frame["end_seconds"] - frame["begin_seconds"]
    for kind in CPU:
        cores = frame.pop(f"{kind}_cpu_seconds") / lengths.where(lengths > 0)
        frame[f"{kind}_cores"] = cores.where(frame["begin_seconds"] < at.max(initial=0.0))
    working = frame[[f"{kind}_cores" for kind in CPU if kind != "idle"]].sum(axis=1, min_count=1)
    frame["gc_cpu_fraction"] = working / frame.pop("gomaxprocs").clip(lower=1).astype(float)
    frame["allocation_rate_bytes_per_second"] = _allocation_rate(cycles, at, edges)
    return frame


def _edges(at: np.ndarray, cycles: pd.DataFrame, windows: int) -> np.ndarray:
    """Bounds of the windows: the collections' own starts, or equal parts of the log."""
    if not len(at):
        return np.zeros(1)
    end = float(at[-1] + _lasting(cycles.iloc[[-1]]))
    if len(at) < windows:
        return np.concatenate([np.maximum.accumulate(at), [max(end, float(at.max()))]])
    return np.linspace(float(at[0]), end, windows + 1)


def _lasting(last: pd.DataFrame) -> float:
    return float((stopped_seconds(last) + last["mark_seconds"].fillna(0)).iloc[0])


def _places(at: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """In which window each collection begins; the last window has its upper bound too."""
    return np.clip(np.searchsorted(edges, at, side="right") - 1, 0, len(edges) - 2)


def _extremes(cycles: pd.DataFrame, places: np.ndarray, windows: int) -> pd.DataFrame:
    by_window = pd.DataFrame(
        {
            **{name: cycles[column] for name, column in HEAPS.items()},
            "run": cycles["run"],
            "gomaxprocs": cycles["gomaxprocs"].astype(float),
            "stopped": stopped_seconds(cycles),
            **{f"{kind}_cpu": cycles[parts].sum(axis=1) for kind, parts in CPU.items()},
        }
    ).groupby(places)
    every = pd.RangeIndex(windows)
    columns = {"cycles": by_window.size().reindex(every, fill_value=0)}
    columns["run"] = by_window["run"].first().reindex(every).ffill()
    columns["gomaxprocs"] = by_window["gomaxprocs"].max().reindex(every).ffill()
    for name in HEAPS:
        for end, found in (("low", by_window[name].min()), ("high", by_window[name].max())):
            values = found.reindex(every)
            columns[f"{name}_{end}_bytes"] = values.ffill()
    for name in MIDDLED:
        columns[f"{name}_p50_bytes"] = by_window[name].median().reindex(every).ffill()
    columns["stopped_p50_seconds"] = by_window["stopped"].median().reindex(every)
    columns["stopped_max_seconds"] = by_window["stopped"].max().reindex(every)
    columns["stopped_seconds"] = by_window["stopped"].sum().reindex(every, fill_value=0.0)
    for kind in CPU:
        seconds = by_window[f"{kind}_cpu"].sum()
        columns[f"{kind}_cpu_seconds"] = seconds.reindex(every, fill_value=0.0)
    return pd.DataFrame(columns).astype({"run": "Int64"})


def _allocation_rate(cycles: pd.DataFrame, at: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Bytes a second in each window: what a step allocated is spread over it evenly."""
    if len(at) < 2:
        return np.full(len(edges) - 1, np.nan)
    steps = gc_steps(cycles)
    allocated = (steps["heap_grown_bytes"] + steps["heap_freed_bytes"]).clip(lower=0)
    each = allocated.reindex(cycles.index).fillna(0).to_numpy(float)
    so_far = np.concatenate([[0.0], each.cumsum()[:-1]])
    lengths = np.diff(edges)
    with np.errstate(divide="ignore", invalid="ignore"):
        rates = np.diff(np.interp(edges, at, so_far)) / lengths
    return np.where((lengths > 0) & (edges[:-1] < at[-1]), rates, np.nan)
