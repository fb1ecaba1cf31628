"""Predictions for other settings, in JSON: for `gomem what-if`, and the report's `what_if`."""

from __future__ import annotations

import math
from typing import Any

from gomem.analysis.memory.limits import LIMIT_STEPS
from gomem.analysis.what_if.backtest import Backtest
from gomem.analysis.what_if.grid import BOUND_BY, GRID
from gomem.analysis.what_if.watched import Present
from gomem.analysis.what_if.what_if import PodAdvice, WhatIf
from gomem.views.json.table import (
    COUNT,
    SIZE,
    TEXT_OR_NULL,
    UNIT,
    Key,
    Shape,
    frame,
    inner,
    of_class,
    or_null,
    plain,
    record,
    rows_json,
    shape,
    texts,
    words,
    written,
    written_as,
)
from gomem.views.share import Hidden, share

SCHEMA = "gomem.what-if/1"
SHARE = {UNIT: "fraction"}
_GRID: dict[str, Any] = {"bound_by": words(BOUND_BY), "gogc": {"minimum": -1}}


def _limit(present: Present) -> float | None:
    limit = present.memory_limit_bytes
    return None if limit is None or math.isinf(limit) else limit


def _expected(advice: PodAdvice) -> dict[str, Any] | None:
    row = advice.expected
    return None if row is None else rows_json(row.to_frame().T)[0]


WHAT_IF = shape(
    "What would happen under other GOGC and GOMEMLIMIT, by replaying the load of a gctrace log. "
    "Values are base units: bytes, seconds, fractions. Unknown is null. Fields may be added, never "
    "renamed.",
    written_as(SCHEMA),
    inner(
        "present", "What the log shows.",
        *of_class(Present, "gogc"),
        plain("memory_limit_bytes", "float64", "B", "GOMEMLIMIT; null if unset or unknown.",
              _limit),
        *of_class(
            Present,
            "live_bytes allocation_bytes_per_second mark_cpu_seconds_per_cycle cycles_per_second "
            "gc_cpu_cores peak_heap_bytes gomaxprocs seconds cycles",
            cycles_per_second={UNIT: "Hz"}, mark_cpu_seconds_per_cycle={UNIT: "s"},
            gc_cpu_cores={UNIT: "ratio"}, gomaxprocs=COUNT, cycles=COUNT,
        ),
    ),
    frame("grid", GRID, "A row per setting; empty without an answer.", **_GRID),
    inner(
        "backtest", "How well the earlier part of the log predicts the later part.",
        *of_class(
            Backtest,
            "cycles goals_agree_fraction goal_error_p95 interval_error_p50 cycles_per_second_error "
            "gc_cpu_cores_error peak_heap_bytes_error",
            cycles=COUNT,
            goal_error_p95=SHARE, interval_error_p50=SHARE, cycles_per_second_error=SHARE,
            gc_cpu_cores_error=SHARE, peak_heap_bytes_error=SHARE,
        ),
    ),
    inner(
        "advice", "Advised settings for the container; null if its size is unknown.",
        *of_class(
            PodAdvice,
            "container_bytes container_source gomemlimit_bytes gogc held_bytes live_bytes "
            "limit_decides_bytes met_bytes", container_bytes=SIZE,
        ),
        frame("steps", LIMIT_STEPS, "Arithmetic of the limit; the steps add up to the limit."),
        Key("expected",
            Shape(
                lambda: or_null(record(GRID, **_GRID), "Effect of the advised settings."), _expected
            ),
            lambda advice: advice),
        nullable=True,
    ),
    texts("assumptions", "Assumptions, in sentences."),
    plain("refused", "str", "", "Why there is no answer; null with an answer.", **TEXT_OR_NULL),
)  # fmt: skip


def render_what_if_json(answer: WhatIf, hidden: Hidden) -> str:
    """Write the JSON of the command: base units, null if unknown, with a final newline."""
    return written(share(WHAT_IF.json(answer), hidden))
