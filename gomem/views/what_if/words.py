"""Predictions for other GOGC and GOMEMLIMIT values, in sentences."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from gomem.analysis.what_if.watched import OFF, Present
from gomem.text import Bytes, Count, Rate, Seconds, Share, Text, joined, text
from gomem.units import format_bytes, format_seconds, is_unknown

if TYPE_CHECKING:
    from gomem.analysis.what_if.what_if import PodAdvice, WhatIf

HIGHEST = 400  # a GOGC that people ask about
NO_BACKTEST = (
    "No back-test: the log's GOGC is unknown, so the replay's own error is assumed to be 10 %."
)


def gogc_word(gogc: int | None) -> str:
    """GOGC as the runtime reads it."""
    return "?" if gogc is None else "off" if gogc == OFF else str(gogc)


def limit_word(limit: float | None) -> str:
    """GOMEMLIMIT for people."""
    is_known = limit is not None and not is_unknown(limit) and not math.isinf(limit)
    return format_bytes(limit) if is_known else "none"


def limit_setting(limit: float) -> str:
    """GOMEMLIMIT as the runtime reads it."""
    mib = 1 << 20
    return f"{int(limit) // mib}MiB" if int(limit) % mib == 0 else f"{int(limit)}B"


def digits(value: float, count: int) -> str:
    """Format with `count` significant digits, without exponent: `550`, `0.0036`."""
    return np.format_float_positional(
        value, precision=count, unique=False, fractional=False, trim="-"
    )


def rate_words(per_second: float) -> str:
    """GCs per second, or the time between GCs if they are rare."""
    if per_second >= 0.1:
        return f"{digits(per_second, 3)} GCs per second"
    return f"a GC every {format_seconds(1 / per_second, brief=True)}" if per_second > 0 else "no GC"


def cores_words(cores: float) -> str:
    """CPU in cores; small amounts in millicores, as schedulers count them."""
    if cores >= 0.1:
        return f"{digits(cores, 3)} cores"
    return f"{digits(1000 * cores, 3)} millicores"


def today_words(present: Present) -> Text:
    """The observed behaviour in the log, in a sentence or two."""
    set_to = f"GOGC={gogc_word(present.gogc)}" if present.gogc is not None else "GOGC unknown"
    limit = present.memory_limit_bytes
    if limit is not None and not math.isinf(limit):
        set_to += f", GOMEMLIMIT={limit_setting(limit)}"
    return text(
        "Today ({}): {} take {} on {} Ps; the heap peaks at {}, and the median live heap is {}. "
        "The program allocates {}, and a GC costs {} of CPU ({} in {}).",
        set_to,
        rate_words(present.cycles_per_second or 0.0),
        cores_words(present.gc_cpu_cores or 0.0),
        f"{present.gomaxprocs:g}",
        Bytes(present.peak_heap_bytes),
        Bytes(present.live_bytes),
        Rate(present.allocation_bytes_per_second),
        Seconds(present.mark_cpu_seconds_per_cycle),
        Count(present.cycles, "GC"),
        Seconds(present.seconds),
    )


def bought_words(answer: WhatIf) -> Text:
    """The effect of a higher GOGC; empty if the current GOGC is unknown, or as high."""
    present = answer.present
    limit = present.memory_limit_bytes
    limit = None if limit is None or math.isinf(limit) else limit
    now = None if present.gogc is None else answer.cell(present.gogc, limit)
    finite = [gogc for gogc in answer.grid["gogc"] if gogc != OFF]
    wanted = HIGHEST if HIGHEST in finite else max(finite, default=OFF)
    then = answer.cell(wanted)
    if now is None or then is None or now["gogc"] in (OFF, wanted):
        return Text()
    less = float(now["gc_cpu_cores"] - then["gc_cpu_cores"])
    more = int(then["peak_heap_bytes"] - now["peak_heap_bytes"])
    rate = float(then["cycles_per_second"] / now["cycles_per_second"]) - 1
    return text(
        "GOGC={} would {} {} of GC CPU ({} {} GCs) for {} {} heap, a peak of {}.",
        str(wanted),
        "save" if less >= 0 else "cost",
        cores_words(abs(less)),
        Share(abs(rate)),
        "fewer" if rate <= 0 else "more",
        Bytes(abs(more)),
        "more" if more >= 0 else "less",
        Bytes(int(then["peak_heap_bytes"])),
    )


def advice_words(advice: PodAdvice) -> Text:
    """The advised settings for a container."""
    pod, left = Bytes(advice.container_bytes), int(advice.steps["bytes"].sum())
    if left <= 0:
        return text("A container of {} leaves nothing for Go's memory.", pod)
    if advice.gogc is None:
        return text(
            "A container of {} is too small for this load: even with GOGC=25, Go would use more "
            "than the {} left for Go.",
            pod,
            Bytes(left),
        )
    return text("Set {} for a container of {}.", " and ".join(advised_settings(advice)), pod)


def advice_reasons(advice: PodAdvice) -> tuple[Text, ...]:
    """The consequences of the advice, a sentence each."""
    left, row = int(advice.steps["bytes"].sum()), advice.expected
    if left <= 0:
        return ()
    if row is None:
        often = text("Under a limit of {}, GCs would come far more often.", Bytes(left))
        return often, Text("Give the container more memory, or reduce the memory of the program.")
    return (
        text(
            "Go would use at most {} of the {} left for Go, with {} taking {}.",
            Bytes(advice.held_bytes),
            Bytes(left),
            rate_words(float(row["cycles_per_second"])),
            cores_words(float(row["gc_cpu_cores"])),
        ),
        Text("With a larger GOGC, Go could use more than that, by the upper end of the interval."),
    )


def advised_settings(advice: PodAdvice) -> tuple[str, ...]:
    """GOGC and GOMEMLIMIT as environment variables; empty without advice."""
    if advice.gogc is None:
        return ()
    limit = advice.gomemlimit_bytes
    return f"GOGC={advice.gogc}", *([] if limit is None else [f"GOMEMLIMIT={limit_setting(limit)}"])


def risk_words(advice: PodAdvice) -> tuple[Text, ...]:
    """How far the live heap can grow, and what happens then."""
    if advice.met_bytes is None or advice.limit_decides_bytes is None:
        return ()
    if advice.gomemlimit_bytes is None:
        return (Text("this release has no GOMEMLIMIT, so nothing bounds a growing heap"),)
    risk = text(
        "the live heap is {}; if it exceeds {}, the limit sets the heap goal instead of GOGC, and "
        "GCs become more frequent",
        Bytes(advice.live_bytes),
        Bytes(advice.limit_decides_bytes),
    )
    worst = text(
        "at {} the live heap itself reaches the limit: then GC takes up to half of the CPU, the "
        "heap exceeds the limit, and the kernel might kill the process",
        Bytes(advice.met_bytes),
    )
    return risk, worst


def backtest_words(answer: WhatIf) -> Text:
    """How well the earlier part of the log predicts the later part."""
    test = answer.backtest
    if not test.replay_errors:
        return Text(NO_BACKTEST)
    said = []
    if test.goal_error_p95 is not None:
        said.append(
            text(
                "Back-test: the previous GC predicts {} of {} within the log's rounding.",
                Share(test.goals_agree_fraction),
                Count(test.cycles, "heap goal"),
            )
        )
    if test.interval_error_p50 is not None:
        said.append(text("The median GC interval is off by {}.", Share(test.interval_error_p50)))
    said.append(text("The replay is off by {}.", test.error_words))
    return joined(" ", said)
