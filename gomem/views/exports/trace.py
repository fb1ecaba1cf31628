"""A GC log as a trace for Perfetto (ui.perfetto.dev) and chrome://tracing.

The format is the Trace Event Format: JSON with complete events (`X`), counters (`C`), instants
(`i`) and metadata (`M`), with times in microseconds. Each process in the log is a process of the
trace. The runs follow each other without gaps, because the log does not have the time between them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pandas as pd

from gomem.inputs.schema import rows_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MICROSECONDS = 1e6
COLLECTIONS, SCAVENGER = 1, 2
THREADS = {COLLECTIONS: "collections", SCAVENGER: "scavenger"}
PHASES = {
    "sweep_termination_seconds": "stop the world: sweep termination",
    "scan_seconds": "scan",
    "write_barrier_seconds": "write barrier",
    "mark_seconds": "mark",
    "mark_termination_seconds": "stop the world: mark termination",
}
HEAP = {"heap_at_start_bytes": "at start", "heap_live_bytes": "live", "heap_goal_bytes": "goal"}
# Details of an event, besides time and phases.
DETAILS = (
    "number", "at_seconds", "time", "forced", "periodic", "leak_check", "heap_at_start_bytes",
    "heap_at_mark_end_bytes", "heap_live_bytes", "heap_goal_bytes", "stacks_bytes", "globals_bytes",
    "cpu_assist_seconds", "cpu_background_seconds", "cpu_idle_seconds", "gomaxprocs",
)  # fmt: skip
Event = dict[str, Any]
Part = tuple[pd.DataFrame, pd.Series, pd.DataFrame]


def render_trace(parts: Iterable[Part]) -> Iterator[str]:
    """Yield the trace's JSON in pieces: a log of 400,000 collections gives 200 MB.

    The log rounds the start of a collection down to 1 ms. If that is before the end of the previous
    collection, the event begins at that end; `at_seconds` in its details keeps the log's value.

    Parts of the log come in order, each with collections (`CYCLES` of `inputs.gctrace.table`),
    their start in seconds on one clock for all runs (`log_seconds` of `analysis.collector.steps`,
    by their index), and scavenger lines on that clock (`gc_scavenges`).
    """
    yield '{"displayTimeUnit":"ms","traceEvents":[\n'
    separator = ""
    drawn = _Drawn()
    for cycles, log_seconds, scavenges in parts:
        for event in _events(cycles.assign(begin=log_seconds), scavenges, drawn):
            yield separator + json.dumps(event, separators=(",", ":"), allow_nan=False)
            separator = ",\n"
    yield "\n]}\n"


@dataclass
class _Drawn:
    """State between parts: the runs already named, and the end of the last event."""

    runs: set[int] = field(default_factory=set)
    run: int | None = None
    end: float = 0.0


def _events(cycles: pd.DataFrame, scavenges: pd.DataFrame, drawn: _Drawn) -> Iterator[Event]:
    for run in sorted((set(cycles["run"]) | set(scavenges["run"])) - drawn.runs):
        drawn.runs.add(run)
        for thread, name in {0: f"run {run}", **THREADS}.items():
            what = "thread_name" if thread else "process_name"
            args = {"name": name}
            yield {"ph": "M", "name": what, "pid": int(run), "tid": thread, "args": args}
    yield from _collections(cycles, drawn)
    yield from _scavenges(scavenges)


def _collections(cycles: pd.DataFrame, drawn: _Drawn) -> Iterator[Event]:
    end, run = drawn.end, drawn.run
    for row in rows_of(cycles):
        begin = max(row["begin"] * MICROSECONDS, end if row["run"] == run else 0.0)
        phases = [(name, row[name]) for name in PHASES if _known(row[name])]
        run, end = row["run"], begin + sum(seconds for _, seconds in phases) * MICROSECONDS
        place = {"pid": int(run), "tid": COLLECTIONS}
        heap = {short: row[name] for name, short in HEAP.items() if _known(row[name])}
        yield {"ph": "C", "name": "heap (bytes)", "ts": round(begin, 3), "args": heap, **place}
        why = ", ".join(name for name in ("forced", "periodic") if row[name])
        title = f"gc {row['number']}" + (f" ({why})" if why else "")
        details = {name: row[name] for name in DETAILS if _known(row[name])}
        for name, value in details.items():
            if isinstance(value, pd.Timestamp):
                details[name] = value.isoformat()
        yield _complete(title, begin, end, place) | {"args": details}
        for name, seconds in phases:
            stop = begin + seconds * MICROSECONDS
            yield _complete(PHASES[name], begin, stop, place)
            begin = stop
    drawn.run, drawn.end = run, end


def _complete(name: str, begin: float, end: float, place: Event) -> Event:
    # Rounded to 1 ns, so that consecutive events do not overlap by a floating-point error.
    ts = round(begin, 3)
    return {"ph": "X", "name": name, "ts": ts, "dur": round(round(end, 3) - ts, 3), **place}


def _scavenges(scavenges: pd.DataFrame) -> Iterator[Event]:
    for row in rows_of(scavenges):
        begin = row["log_seconds"] if _known(row["log_seconds"]) else 0.0
        place = {"pid": int(row["run"]), "tid": SCAVENGER, "ts": round(begin * MICROSECONDS, 3)}
        sizes = {name: row[name] for name in row if name.endswith("_bytes") and _known(row[name])}
        title = f"{row['event']} (forced)" if row["forced"] else row["event"]
        yield {"ph": "i", "s": "t", "name": title, "args": sizes, **place}
        if "released_total_bytes" in sizes:
            released = {"released": sizes["released_total_bytes"]}
            yield {"ph": "C", "name": "released (bytes)", "args": released, **place}


def _known(value: Any) -> bool:
    return not pd.isna(value)
