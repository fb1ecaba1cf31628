"""The capture's data on retained heap, as input of the scavenger analysis."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from gomem.analysis.collector.timeline import gc_scavenges
from gomem.analysis.memory.skew import collection_ends
from gomem.analysis.scavenger.retention import READINGS
from gomem.analysis.scavenger.scavenger import CPU_CLASSES, Scavenger, scavenger
from gomem.facts.settings import ASSUMED
from gomem.inputs.schema import build_rows

if TYPE_CHECKING:
    from gomem.capture.capture import Capture
    from gomem.facts.capture import CaptureFacts
    from gomem.facts.moment import MomentFacts

STOPPED = frozenset("Tt")
HUGE = "AnonHugePages"
_LINE_COLUMNS = {
    "HeapInuse": "heap_inuse_bytes",
    "HeapIdle": "heap_idle_bytes",
    "HeapSys": "heap_sys_bytes",
    "HeapReleased": "released_total_bytes",
}


def scavenger_of(facts: CaptureFacts) -> Scavenger | None:
    """Return what is released to the kernel, and why not more; None without data."""
    capture, moments, log = facts.capture, facts.of_last_process, facts.capture.gc
    cycles = cycles_of(capture)
    lines = None if log is None or cycles is None else log.scavenges
    times = pd.Series([moment.time for moment in moments], dtype="datetime64[ns, UTC]")
    seconds = (times - times.min()).dt.total_seconds()
    rows = (_reading(*timed, capture) for timed in zip(moments, seconds, strict=True))
    readings = build_rows(rows, READINGS)
    placed = None
    if lines is not None and cycles is not None and len(lines):
        ends = collection_ends(cycles, capture.memstats)
        alone = readings["HeapSys"].isna().all()
        placed = _placed(lines, cycles, None if alone else ends, times.min())
        of_lines = _of_lines(placed, cycles)
        readings = of_lines if alone and len(of_lines) else readings
    if readings["HeapSys"].isna().all() and placed is None:
        return None
    metrics = [[moment.metrics.get(name) for name in CPU_CLASSES.values()] for moment in moments]
    cpu = pd.DataFrame(metrics, columns=list(CPU_CLASSES.values()), dtype=float)
    limit = facts.settings_stated.memory_limit
    has_none = limit is not None and limit.known_by != ASSUMED and limit.value == math.inf
    return scavenger(readings, capture.go_version, cycles, placed, cpu, has_no_limit=has_none)


def heap_of_log(capture: Capture) -> pd.DataFrame:
    """Return MemStats' sizes in the log's last `scvg` line that has them; no row without one."""
    lines = None if cycles_of(capture) is None or capture.gc is None else capture.gc.scavenges
    if not isinstance(lines, pd.DataFrame):
        return capture.memstats.head(0)
    last = lines[lines["heap_sys_bytes"].notna()].tail(1)
    sizes = {name: last[column].to_numpy() for name, column in _LINE_COLUMNS.items()}
    stats = pd.DataFrame({"moment": [f"line {number}" for number in last["line"]], **sizes})
    return stats.reindex(columns=capture.memstats.columns)


def cycles_of(capture: Capture) -> pd.DataFrame | None:
    """Return the log's collections; None without a log, or if it is too long for memory."""
    found = None if capture.gc is None else capture.gc.cycles
    return found if isinstance(found, pd.DataFrame) else None


def _placed(
    lines: pd.DataFrame, cycles: pd.DataFrame, ends: pd.Series | None, zero: pd.Timestamp
) -> pd.DataFrame:
    """Add to the scavenger's lines the time of the preceding collection, on the snapshots' clock.

    Without snapshots, it is the log's own clock. Missing if nothing relates the two clocks.
    """
    if ends is not None:
        since = (ends - zero).dt.total_seconds()
        return lines.assign(seconds=lines["after_cycle"].map(since).astype(float))
    begins = gc_scavenges(cycles, lines)["log_seconds"].to_numpy(float)
    return lines.assign(seconds=begins if pd.isna(zero) else np.nan)


def _reading(moment: MomentFacts, seconds: float, capture: Capture) -> tuple[Any, ...]:
    stats = {} if moment.memstats is None else moment.memstats.to_dict()
    return (
        moment.name,
        seconds,
        *(stats.get(column.name) for column in READINGS[2:10]),
        moment.rss_bytes,
        _part(moment, "heap_released_resident"),
        _huge_excess(moment),
        moment.gomemlimit_bytes,
        _is_stopped(capture, moment.name),
    )


def _part(moment: MomentFacts, name: str) -> int | None:
    return (
        moment.ledger.part(name) if moment.ledger is not None and moment.ledger.has(name) else None
    )


def _huge_excess(moment: MomentFacts) -> int | None:
    """Return the arenas' resident bytes beyond what Go counts, as far as huge pages hold them."""
    if moment.mappings is None or HUGE not in moment.mappings:
        return None
    arenas = moment.mappings[moment.mappings["kind"] == "go-heap"]
    return min(int(arenas[HUGE].fillna(0).sum()), _part(moment, "heap_unexplained") or 0)


def _is_stopped(capture: Capture, moment: str) -> bool | None:
    states = capture.by_moment[moment].status["State"].dropna()
    return None if states.empty else bool(states.isin(STOPPED).any())


def _of_lines(lines: pd.DataFrame, cycles: pd.DataFrame) -> pd.DataFrame:
    """Return rows from a log alone, one per `scvg` line with sizes: MemStats rounded to 1 MiB."""
    told = lines[lines["heap_sys_bytes"].notna()]
    goals = cycles.set_index(["run", "number"])["heap_goal_bytes"]
    rows = []
    for line in told[told["run"] == told["run"].max()].itertuples():
        after = None if pd.isna(line.after_cycle) else int(line.after_cycle)
        goal = None if after is None else goals.get((line.run, after + 1))
        sizes = line.heap_inuse_bytes, line.heap_idle_bytes, line.released_total_bytes
        whole = line.heap_sys_bytes, line.heap_sys_bytes
        nothing = (None,) * len(READINGS[10:])
        name = f"line {line.line}"
        rows.append((name, line.seconds, None, *sizes, *whole, goal, after, *nothing))
    return build_rows(rows, READINGS)
