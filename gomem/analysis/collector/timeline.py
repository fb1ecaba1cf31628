"""How did heap, pauses, CPU and allocation change over time, in a readable number of windows?

Each of forty collections gets a window. Four hundred thousand collections share a few hundred
windows. A window has the minimum and the maximum of its values, so no peak and no pause is lost.
Values that can be added are summed, and no value is counted twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from gomem.analysis.collector.steps import (
    CONCURRENT,
    GC_CPU,
    STOP_CPU,
    STOPS,
    Cycles,
    LogClock,
    log_seconds,
    pieces_of,
    row_sums,
    stopped_seconds,
)
from gomem.inputs.schema import FRACTION, SECONDS, Column, build

if TYPE_CHECKING:
    from collections.abc import Iterator

WINDOWS = 400  # about as many columns as fit into a figure on a page
HEAPS = {
    name: f"{name}_bytes"
    for name in ("heap_at_start", "heap_at_mark_end", "heap_live", "heap_goal")
}
SIZES = ("run", "heap_at_start_bytes", "heap_at_mark_end_bytes", "heap_live_bytes")
MIDDLED = ("heap_live", "heap_goal")
CPU = {
    "assist": ["cpu_assist_seconds"],
    "background": ["cpu_background_seconds", "cpu_scan_seconds"],
    "idle": ["cpu_idle_seconds"],
    "stopped": list(STOP_CPU),
}
TIMES = ("run", "at_seconds", *STOPS, *CONCURRENT)
COLUMNS = (
    *TIMES, "number", "gomaxprocs", *HEAPS.values(), "cpu_scan_seconds", "cpu_assist_seconds",
    "cpu_background_seconds", "cpu_idle_seconds", *STOP_CPU,
)  # fmt: skip
Part = tuple[pd.DataFrame, np.ndarray, np.ndarray]
_RELEASED = ("", "_background", "_eager", "_total", "_so_far")
SCAVENGES = {
    "run": "int64",
    "after_cycle": "Int64",
    "log_seconds": "float64",
    "until_seconds": "float64",
    "event": "str",
    "forced": "bool",
    **{f"released{what}_bytes": "Int64" for what in _RELEASED},
}
TIMELINE = (
    Column("begin_seconds", *SECONDS, "Start of the window, on one clock for all runs."),
    Column("end_seconds", *SECONDS, "Where it ends."),
    Column("cycles", "int64", "count", "GCs that began in the window."),
    Column("run", "Int64", "", "Process of the log that the first GC belongs to."),
    *(
        Column(f"{heap}_{end}_bytes", "Int64", "B", f"The {word} {heap.replace('_', ' ')}.")
        for heap in HEAPS
        for end, word in (("low", "lowest"), ("high", "highest"))
    ),
    *(
        Column(f"{heap}_p50_bytes", "Float64", "B", f"The median {heap.replace('_', ' ')}.")
        for heap in MIDDLED
    ),
    Column("stopped_p50_seconds", *SECONDS, "Median pause."),
    Column("stopped_max_seconds", *SECONDS, "Longest pause."),
    Column("stopped_seconds", *SECONDS, "Total pause."),
    *(Column(f"{kind}_cores", "float64", "", f"CPU of the kind {kind}, in cores.") for kind in CPU),
    Column("gc_cpu_fraction", *FRACTION, GC_CPU),
    Column("allocation_rate_bytes_per_second", "float64", "B/s", "Allocation rate."),
)


def gc_timeline(cycles: Cycles, windows: int = WINDOWS) -> pd.DataFrame:
    """Divide a log into at most `windows` windows, a row each.

    With fewer collections than that, each collection has a row, which ends where the next row
    begins. Otherwise all rows are equally long and have any number of collections. A row has
    `begin_seconds` and `end_seconds` on one clock for all runs, `cycles`, `run` (of its first
    collection); the lowest and the highest of each heap size (`heap_live_low_bytes`,
    `heap_live_high_bytes`, …) and the medians of live heap and goal (`heap_live_p50_bytes`, …), or
    the sizes of the previous collection if no collection begins in the window; pauses as
    `stopped_p50_seconds`, `stopped_max_seconds` and, in total, `stopped_seconds`; CPU by kind in
    cores (`assist_cores`, `background_cores`, `idle_cores`, `stopped_cores`), missing for the last
    collection if it has a window of its own; `gc_cpu_fraction`, all but idle marking as a fraction
    of GOMAXPROCS; and `allocation_rate_bytes_per_second`.
    """
    if len(cycles) < windows:
        cycles = pd.concat(list(pieces_of(cycles)))
        at = log_seconds(cycles).to_numpy(float)
        edges = _own_edges(at, cycles)
        parts = iter([(cycles, at, np.arange(len(at)))])
    else:
        edges = _equal_edges(cycles, windows)
        parts = _by_windows(cycles, edges)
    return _laid_out(parts, edges)


def _laid_out(parts: Iterator[Part], edges: np.ndarray) -> pd.DataFrame:
    """Build the windows of all parts, each of which has only complete windows."""
    windows, so_far = [], _AllocatedSoFar(edges)
    last_at = 0.0
    for piece, at, places in parts:
        windows.append(_extremes(piece, places))
        so_far.add(piece, at)
        last_at = max(last_at, float(at.max(initial=0.0)))
    every = pd.RangeIndex(len(edges) - 1)
    frame = _filled(pd.concat(windows).reindex(every))
    frame.insert(0, "begin_seconds", edges[:-1])
    frame.insert(1, "end_seconds", edges[1:])
    lengths = frame["end_seconds"] - frame["begin_seconds"]
    for kind in CPU:
        cores = frame.pop(f"{kind}_cpu_seconds") / lengths.where(lengths > 0)
        frame[f"{kind}_cores"] = cores.where(frame["begin_seconds"] < last_at)
    working = frame[[f"{kind}_cores" for kind in CPU if kind != "idle"]].sum(axis=1, min_count=1)
    frame["gc_cpu_fraction"] = working / frame.pop("gomaxprocs").clip(lower=1).astype(float)
    frame["allocation_rate_bytes_per_second"] = so_far.rates(last_at)
    return build(dict(frame), TIMELINE, copy=False)


def _own_edges(at: np.ndarray, cycles: pd.DataFrame) -> np.ndarray:
    """Return window bounds at the collections' starts."""
    if not len(at):
        return np.zeros(1)
    end = float(at[-1] + _lasting(cycles.iloc[[-1]]))
    return np.concatenate([np.maximum.accumulate(at), [max(end, float(at.max()))]])


def _equal_edges(cycles: Cycles, windows: int) -> np.ndarray:
    """Return window bounds at equal parts of the log."""
    clock, first, end = LogClock(), None, 0.0
    for piece in pieces_of(cycles, TIMES):
        at = clock.seconds(piece)
        if len(at):
            first = float(at.iloc[0]) if first is None else first
            end = float(at.iloc[-1]) + _lasting(piece.iloc[[-1]])
    return np.zeros(1) if first is None else np.linspace(first, end, windows + 1)


def _by_windows(cycles: Cycles, edges: np.ndarray) -> Iterator[Part]:
    """Split the log into parts with complete windows, with start times and window numbers."""
    clock = LogClock()
    held: list[Part] = []
    for piece in pieces_of(cycles, COLUMNS):
        at = clock.seconds(piece).to_numpy(float)
        held.append((piece, at, _places(at, edges)))
        if held[0][2].size and held[-1][2][-1] > held[0][2][0]:
            together = _together(held)
            whole = int(np.searchsorted(together[2], together[2][-1]))
            yield _cut(together, slice(0, whole))
            held = [_cut(together, slice(whole, None))]
    yield _together(held)


def _together(held: list[Part]) -> Part:
    frames, starts, places = zip(*held, strict=True)
    return pd.concat(frames), np.concatenate(starts), np.concatenate(places)


def _cut(part: Part, rows: slice) -> Part:
    return part[0].iloc[rows], part[1][rows], part[2][rows]


def _lasting(last: pd.DataFrame) -> float:
    return float((stopped_seconds(last) + last["mark_seconds"].fillna(0)).iloc[0])


def _places(at: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Return the window in which each collection begins; the last includes its upper bound."""
    places = np.clip(np.searchsorted(edges, at, side="right") - 1, 0, len(edges) - 2)
    return np.maximum.accumulate(places)


def _extremes(cycles: pd.DataFrame, places: np.ndarray) -> pd.DataFrame:
    """Reduce the values in each window that has a collection; windows ascend."""
    begins = np.flatnonzero(np.diff(places, prepend=-1))
    heaps = {name: _numbers(cycles, column) for name, column in HEAPS.items()}
    stopped = stopped_seconds(cycles).to_numpy()
    columns: dict[str, Any] = {
        "cycles": np.diff(np.append(begins, len(places))),
        "run": cycles["run"].to_numpy()[begins],
        "gomaxprocs": _reduced(np.fmax, _numbers(cycles, "gomaxprocs"), begins),
    }
    for name, sizes in heaps.items():
        columns[f"{name}_low_bytes"] = _reduced(np.fmin, sizes, begins)
        columns[f"{name}_high_bytes"] = _reduced(np.fmax, sizes, begins)
    middled = {f"{name}_p50_bytes": heaps[name] for name in MIDDLED}
    middled["stopped_p50_seconds"] = stopped
    medians = pd.DataFrame(middled, copy=False).groupby(places).median()
    columns |= {name: medians[name].to_numpy() for name in middled}
    columns["stopped_max_seconds"] = _reduced(np.fmax, stopped, begins)
    columns["stopped_seconds"] = _reduced(np.add, np.nan_to_num(stopped), begins)
    for kind, parts in CPU.items():
        spent = np.nan_to_num(row_sums(cycles, parts))
        columns[f"{kind}_cpu_seconds"] = _reduced(np.add, spent, begins)
    frame = pd.DataFrame(columns, index=places[begins])
    bounds = {name: "Int64" for name in frame if name.endswith(("_low_bytes", "_high_bytes"))}
    middles = {name: "Float64" for name in frame if name.endswith("_p50_bytes")}
    return frame.astype({"run": "Int64", **bounds, **middles})


def _numbers(cycles: pd.DataFrame, column: str) -> np.ndarray:
    return cycles[column].to_numpy(float, na_value=np.nan)


def _reduced(by: np.ufunc, values: np.ndarray, begins: np.ndarray) -> np.ndarray:
    """Reduce each window to one number; `fmin` and `fmax` skip unknown values."""
    return by.reduceat(values, begins) if len(begins) else np.empty(0)


def _filled(windows: pd.DataFrame) -> pd.DataFrame:
    """Fill windows without a collection: heaps are those of the previous one, sums are 0."""
    counted = ["cycles", "stopped_seconds", *(f"{kind}_cpu_seconds" for kind in CPU)]
    carried = [name for name in windows if name not in counted and not name.startswith("stopped")]
    windows[counted] = windows[counted].fillna(0)
    windows[carried] = windows[carried].ffill()
    return windows.astype({"cycles": "int64"})


class _AllocatedSoFar:
    """The bytes allocated up to each bound; a step's allocation is spread evenly."""

    def __init__(self, edges: np.ndarray) -> None:
        self._edges = edges
        self._at_edges = np.zeros(len(edges))
        self._done = 0
        self._sum = 0.0
        self._last = np.empty((len(SIZES), 0))  # the last collection so far
        self._last_at = np.empty(0)

    def add(self, piece: pd.DataFrame, at: np.ndarray) -> None:
        """Add further collections; those up to the last bound before the last of them are final."""
        own = np.stack([_numbers(piece, name) for name in SIZES])
        sizes = np.concatenate([self._last, own], axis=1)
        at = np.concatenate([self._last_at, at])
        if not len(at):
            return
        run, start, end, live = sizes
        allocated = np.nan_to_num((np.diff(start) + (end - live)[:-1]).clip(min=0))
        each = np.where(run[1:] == run[:-1], allocated, 0.0)
        so_far = self._sum + np.concatenate([[0.0], each.cumsum()])
        self._at_edges[self._done :] = np.interp(self._edges[self._done :], at, so_far)
        self._done = int(np.searchsorted(self._edges, at[-1]))
        self._sum = float(so_far[-1])
        self._last, self._last_at = sizes[:, -1:], at[-1:]

    def rates(self, last_at: float) -> np.ndarray:
        """Bytes per second in each window."""
        lengths = np.diff(self._edges)
        with np.errstate(divide="ignore", invalid="ignore"):
            rates = np.diff(self._at_edges) / lengths
        return np.where((lengths > 0) & (self._edges[:-1] < last_at), rates, np.nan)


def gc_scavenges(
    cycles: pd.DataFrame, scavenges: pd.DataFrame, begins: pd.Series | None = None
) -> pd.DataFrame:
    """Place the scavenger's lines, which have no time, on the clock of the collections.

    A row per line. First come the start of the preceding collection (`log_seconds`) and of the next
    one (`until_seconds`), each missing if there is no such collection. Both times are on one clock
    for all runs: that of `steps.log_seconds`, or `begins` if `cycles` has only part of the
    collections. Then come the contents of the line, and the total released up to the line in its
    run.
    """
    begins = log_seconds(cycles) if begins is None else begins
    clock = cycles[["run", "number"]].assign(begin=begins)
    clock["until"] = clock.groupby("run", sort=False)["begin"].shift(-1)
    placed = scavenges.merge(
        clock.astype({"number": "Int64"}).drop_duplicates(["run", "number"]),
        how="left",
        left_on=["run", "after_cycle"],
        right_on=["run", "number"],
    )
    in_parts = placed["released_background_bytes"] + placed["released_eager_bytes"]  # since 1.21
    released = placed["released_bytes"].fillna(in_parts)
    so_far = released.fillna(0).groupby(placed["run"], sort=False).cumsum()
    frame = placed.assign(
        log_seconds=placed["begin"],
        until_seconds=placed["until"],
        released_bytes=released,
        released_so_far_bytes=so_far,
    )
    return frame[list(SCAVENGES)].astype(SCAVENGES)
