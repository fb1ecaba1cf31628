"""The schema of the JSON of `gomem what-if`, which `gomem.views.json.what_if` makes."""

from __future__ import annotations

from gomem.analysis.what_if.advice import STEPS
from gomem.analysis.what_if.grid import BOUND_BY, GRID
from gomem.inputs.schema import Column
from gomem.views.json.schemas.fields import (
    SIZE,
    TEXT_OR_NULL,
    Schema,
    document,
    listed,
    or_null,
    record,
    rows,
    words,
    written_as,
)
from gomem.views.json.what_if import SCHEMA

MEANS = (
    "What would happen under other GOGC and GOMEMLIMIT, by replaying the load of a gctrace log. "
    "Values are base units: bytes, seconds, fractions. Unknown is null. Fields may be added, never "
    "renamed."
)
PRESENT = (
    Column("gogc", "Int64", "", "GOGC in per cent; -1 is off; null if it is not known."),
    Column("memory_limit_bytes", "float64", "B", "GOMEMLIMIT; null for none, or not known."),
    Column("live_bytes", "float64", "B", "Median of what collections marked."),
    Column("allocation_bytes_per_second", "float64", "B/s", "What the program allocates."),
    Column("mark_cpu_seconds_per_cycle", "float64", "s", "CPU of a collection, not idle marking."),
    Column("cycles_per_second", "float64", "Hz", "Collections a second."),
    Column("gc_cpu_cores", "float64", "ratio", "Their CPU a second."),
    Column("peak_heap_bytes", "float64", "B", "The highest heap at the end of marking."),
    Column("gomaxprocs", "float64", "count", "GOMAXPROCS."),
    Column("seconds", "float64", "s", "The time that was looked at."),
    Column("cycles", "int64", "count", "The collections in it."),
)
BACKTEST = (
    Column("cycles", "int64", "count", "Collections whose goal was foretold."),
    Column("goals_agree_fraction", "float64", "fraction", "Of them, right within the rounding."),
    Column("goal_error_p95", "float64", "fraction", "95 in 100 goals are off by at most this."),
    Column("interval_error_p50", "float64", "fraction", "Median error of the next distance."),
    Column("cycles_per_second_error", "float64", "fraction", "Of the replay on the log itself."),
    Column("gc_cpu_cores_error", "float64", "fraction", "Likewise."),
    Column("peak_heap_bytes_error", "float64", "fraction", "Likewise."),
)
ADVICE = (
    Column("container_bytes", "int64", "B", "What the container may use."),
    Column("container_source", "str", "", "What says so."),
    Column("gomemlimit_bytes", "Int64", "B", "The GOMEMLIMIT; null if nothing is left for Go."),
    Column("gogc", "Int64", "", "The GOGC in per cent; null if none tried leaves room."),
    Column("held_bytes", "Int64", "B", "What Go would hold, at the upper end of its interval."),
    Column("live_bytes", "float64", "B", "The live heap today."),
    Column("limit_decides_bytes", "float64", "B", "A live heap above this, and the limit decides."),
    Column("met_bytes", "float64", "B", "The live heap at which it and the limit meet."),
)
_GRID = {"bound_by": words(BOUND_BY), "gogc": {"minimum": -1}}
BODY = {
    "present": record(PRESENT, "What the log shows."),
    "grid": rows(GRID, "A row per setting; empty where the answer is refused.", **_GRID),
    "backtest": record(BACKTEST, "How well the log's earlier part foretells its later one."),
    "advice": or_null(
        record(
            ADVICE,
            steps=rows(STEPS, "The limit's arithmetic; adds up to it."),
            expected=or_null(record(GRID, **_GRID), "What these settings would do."),
            container_bytes=SIZE,
        ),
        "What to set for the container; null where its size is not known.",
    ),
    "assumptions": listed({"type": "string"}, "What the answer rests on, in sentences."),
    "refused": TEXT_OR_NULL | {"description": "Why there is no answer; null where there is."},
}


def what_if_body() -> Schema:
    """The object itself, as it also stands in a report."""
    return record((), MEANS, schema=written_as(SCHEMA), **BODY)


def what_if_schema() -> Schema:
    """JSON Schema of what `gomem what-if --format json` writes."""
    return document(SCHEMA, what_if_body())
