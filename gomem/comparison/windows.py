"""The compared part of each side's run, and the metrics that unequal windows rule out.

A window lies between the first and the last snapshot that have a counterpart. With one snapshot, it
is the log's window. Rates are divided by the window's length, so windows can differ in length.
Cumulative counters and the longest pause cannot be compared that way, because a much longer window
has more of them in any case. If both sides served the same number of requests, they did the same
work, and the time it took is part of the result.

A log's clock begins with the process. Two logs without a common second cover different phases, such
as start-up and service. Nothing in them is compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from gomem.comparison.samples import CLAIMS, TOO_FEW
from gomem.comparison.single_values import COLLECTOR_METRICS, CUMULATIVE
from gomem.inputs.schema import Column, build_rows
from gomem.text import MomentName, Words
from gomem.units import format_seconds

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pandas as pd

    from gomem.comparison.side import Span
    from gomem.diagnosis.diagnosis import Diagnosis

MANY_TIMES = 3.0  # ratio of lengths; twice can be a run stopped later, or a slower machine
GROWING = (*CUMULATIVE, "cycles", "longest_stop_seconds")
NOT_TOLD = ("difference", "change", "p_value", "p_adjusted", "equivalence", "p_no_worse")
WINDOWS = (
    Column("side", "str", "", "before or after.", Words),
    Column("runs", "int64", "count", "Number of captures of the side."),
    Column(
        "first_moment",
        "str",
        "",
        "First snapshot of the window; empty for the window of the log.",
        MomentName,
    ),
    Column(
        "last_moment",
        "str",
        "",
        "Last snapshot of the window; levels are from this snapshot.",
        MomentName,
    ),
    Column("seconds", "Float64", "s", "Length of the window; median over the runs."),
    Column("collections", "Int64", "count", "Collections in the window; median over the runs."),
    Column(
        "requests", "Float64", "count", "Requests answered in the window; median over the runs."
    ),
)


@dataclass(frozen=True)
class Window:
    """The window that one capture's numbers cover."""

    seconds: float | None = None  # its length; None if no clock gives it
    collections: int | None = None  # in the window; None if unknown
    requests: float | None = None  # served in the window; None if unknown
    # begin and end of the log since process start, if there is one
    log: tuple[float, float] | None = None


def window_of(diagnosis: Diagnosis, span: Span, requests: float | None) -> Window:
    """Return the window of one capture."""
    collector = diagnosis.collector
    log = None if collector is None else collector.log_seconds
    seconds, collections = span.seconds, span.collections or None
    if seconds is None and log is not None and span.first is span.last:
        seconds = log[1] - log[0]
        collections = None if collector is None else collector.cost.cycles
    return Window(seconds, collections, requests, log)


def windows_table(sides: Iterable[tuple[str, str, str, Sequence[Window]]]) -> pd.DataFrame:
    """A row per side: name, first and last moment, windows; see `WINDOWS`."""
    rows = []
    for side, first, last, windows in sides:
        ends = "" if first == last else first, last
        seconds, requests = (_medians(windows, field) for field in ("seconds", "requests"))
        collections = _medians(windows, "collections")
        count = None if collections is None else round(collections)
        rows.append((side, len(windows), *ends, seconds, count, requests))
    return build_rows(rows, WINDOWS)


def incomparable(before: Sequence[Window], after: Sequence[Window]) -> dict[str, str]:
    """Metrics that cannot be compared in these windows, by name, each with the reason."""
    logs = [[window.log for window in side if window.log is not None] for side in (before, after)]
    if all(logs) and (apart := _apart(*logs)):
        return {name: apart for name, *_ in COLLECTOR_METRICS}
    old, new = (_medians(side, "seconds") for side in (before, after))
    if not old or not new or max(old, new) <= MANY_TIMES * min(old, new):
        return {}
    requests = [_medians(side, "requests") for side in (before, after)]
    if all(requests) and requests[0] == requests[1]:
        return {}
    lengths = f"{format_seconds(old)} before, {format_seconds(new)} after"
    reason = (
        f"not compared, because the runs differ in length ({lengths}); compare runs of about the "
        "same length, or with the same number of requests (--requests)"
    )
    return dict.fromkeys(GROWING, reason)


def not_compared(metrics: pd.DataFrame, reasons: Mapping[str, str]) -> pd.DataFrame:
    """Return the metrics; the named ones keep both values, but no difference or verdict."""
    said = metrics["name"].isin(reasons) & (metrics["before_n"] > 0) & (metrics["after_n"] > 0)
    if not said.any():
        return metrics
    told = metrics.copy()
    for name in NOT_TOLD:
        told[name] = told[name].mask(said)
    told["verdict"] = told["verdict"].mask(said, TOO_FEW)
    told["note"] = told["note"].mask(said, told["name"].map(dict(reasons)))
    return told


def not_judged(metrics: pd.DataFrame, reason: str) -> pd.DataFrame:
    """Return the metrics with their numbers but without verdicts."""
    claimed = metrics["verdict"].isin(CLAIMS)
    words = {"verdict": TOO_FEW, "note": reason}
    return metrics.assign(
        **{name: metrics[name].mask(claimed, word) for name, word in words.items()}
    )


def _apart(before: Sequence[tuple[float, float]], after: Sequence[tuple[float, float]]) -> str:
    """Why logs cover different phases; empty if they have a second in common."""
    sides = [(min(a for a, _ in side), max(b for _, b in side)) for side in (before, after)]
    if min(end for _, end in sides) >= max(begin for begin, _ in sides):
        return ""
    each = [f"{format_seconds(begin)} to {format_seconds(end)}" for begin, end in sides]
    return (
        f"the logs cover different phases after the start: {each[0]} before, {each[1]} after; log "
        "the same phase"
    )


def _medians(windows: Sequence[Window], field: str) -> float | None:
    """The median of the known values; None if there are none."""
    known = [value for window in windows if (value := getattr(window, field)) is not None]
    return median(known) if known else None
