"""The process can reach its container's limit, and the kernel then kills it.

The kernel kills when the cgroup's charge reaches `memory.max` and nothing is left to reclaim. Go's
runtime does not look at the cgroup: GOMEMLIMIT is never derived from it (Go 1.27 included).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pandas as pd

from gomem.analysis.memory.limits import (
    CgroupUse,
    TimeToLimit,
    WorstCase,
    advise_gomemlimit,
    cgroup_use,
    time_to_limit,
    worst_case_rss,
)
from gomem.causes.finding import Evidence, Finding, Severity
from gomem.units import format_bytes, format_fraction, format_seconds

if TYPE_CHECKING:
    from gomem.causes.answers import MomentFacts, Situation

CODE = "limit-risk"
# What cannot be reclaimed fills nine tenths: one more heap growth step, or one more request's
# worth of buffers, and the kernel has nowhere to take pages from.
NEARLY_FULL = 0.90
SOON_SECONDS = 24 * 3600.0  # an operator who reads the report today must know
GOMEMLIMIT = "/gc/gomemlimit:bytes"


def find(situation: Situation) -> list[Finding]:
    """One finding per moment at risk; what comes with time stands at the last moment."""
    findings = []
    for moment in situation.moments:
        use = cgroup_use(moment.cgroup)
        if use is None or use.limit_bytes is None:
            continue
        last = moment is situation.moments[-1]
        risk = _risk(moment, use, _growth(situation, use.limit_bytes) if last else None)
        if risk is not None:
            findings.append(risk)
    return findings


def _growth(situation: Situation, limit_bytes: int) -> TimeToLimit | None:
    """When what cannot be reclaimed reaches the limit, along a line through the moments."""
    uses = [(one.time, cgroup_use(one.cgroup)) for one in situation.moments]
    known = [(at, use) for at, use in uses if at is not None and use is not None]
    if not known:
        return None
    since = [(at - known[0][0]).total_seconds() for at, _ in known]
    sizes = [use.unreclaimable_bytes for _, use in known]
    return time_to_limit(pd.Series(since), pd.Series(sizes, dtype="float64"), limit_bytes)


def _risk(moment: MomentFacts, use: CgroupUse, growth: TimeToLimit | None) -> Finding | None:
    """The gravest of what is true: killed already, nearly full, soon full, full at worst."""
    limit = use.limit_bytes or 0
    worst = _worst_bytes(moment, use)
    set_to = moment.metrics.get(GOMEMLIMIT, math.inf)
    size = format_bytes(limit)
    if use.oom_kills:
        title = f"the kernel has killed in this cgroup: {use.oom_kills} times at {size}"
        return _finding(moment, use, title, Severity.CRITICAL, growth)
    if use.unreclaimable_bytes >= NEARLY_FULL * limit:
        share = format_fraction(use.unreclaimable_bytes / limit)
        title = f"{share} of the limit of {size} cannot be reclaimed, most of it {use.killer}"
        return _finding(moment, use, title, Severity.CRITICAL, growth)
    if growth is not None and growth.soonest_seconds < SOON_SECONDS and growth.slope_low > 0:
        title = (
            f"growing by {format_bytes(growth.slope_bytes_per_second)}/s, the limit of {size} is "
            f"reached in {format_seconds(growth.seconds)} ({format_seconds(growth.soonest_seconds)}"
            f" to {format_seconds(growth.latest_seconds)})"
        )
        return _finding(moment, use, title, Severity.WARNING, growth)
    if worst is not None and worst > limit:
        title = (
            f"at worst {format_bytes(worst)} are charged, the limit is {size}: what Go has mapped "
            "and not touched does not fit"
        )
        return _finding(moment, use, title, Severity.WARNING, growth)
    if limit < set_to < _NO_GOMEMLIMIT:
        title = f"GOMEMLIMIT is {format_bytes(set_to)}, the cgroup's limit {size}: it cannot help"
        return _finding(moment, use, title, Severity.WARNING, growth)
    return None


_NO_GOMEMLIMIT = 1 << 62  # math.MaxInt64, rounded as a float, stands for none


def _worst(moment: MomentFacts) -> WorstCase | None:
    if moment.ledger is None:
        return None
    return worst_case_rss(moment.ledger.parts, moment.rss_bytes, moment.memstats)


def _worst_bytes(moment: MomentFacts, use: CgroupUse) -> int | None:
    """What cannot be reclaimed now, and what Go may touch without asking for more."""
    worst = _worst(moment)
    return None if worst is None else use.unreclaimable_bytes + worst.worst_bytes - worst.rss_bytes


def _finding(
    moment: MomentFacts,
    use: CgroupUse,
    title: str,
    severity: Severity,
    growth: TimeToLimit | None,
) -> Finding:
    return Finding(
        code=CODE,
        severity=severity,
        title=title,
        moment=moment.name,
        bytes=use.unreclaimable_bytes,
        evidence=tuple(_evidence(moment, use, growth)),
        mechanism=(
            "The kernel kills when what is charged reaches memory.max and nothing can be "
            "reclaimed: page cache goes first; anonymous and shared memory and sockets stay. Go "
            "does not look at the cgroup, so without GOMEMLIMIT the heap grows to twice what is "
            "live and does not know where the wall is."
        ),
        next_step=_next_step(moment, use),
        references=("kernel: cgroup-v2, memory.max", "Go GC guide: memory limit"),
        confidence="certain" if severity is Severity.CRITICAL else "likely",
    )


def _evidence(moment: MomentFacts, use: CgroupUse, growth: TimeToLimit | None) -> list[Evidence]:
    cgroup = moment.path("cgroup")
    evidence = [
        Evidence(cgroup, "limit_bytes", use.limit_bytes or 0, "B"),
        Evidence(cgroup, "current_bytes", use.current_bytes, "B"),
        Evidence(cgroup, "unreclaimable_bytes", use.unreclaimable_bytes, "B"),
        Evidence(cgroup, "working_set_bytes", use.working_set_bytes, "B"),
        Evidence(cgroup, "fills most of it", use.killer, ""),
    ]
    worst = _worst_bytes(moment, use)
    if worst is not None:
        evidence.append(Evidence("ledger", "worst_case_bytes", worst, "B"))
    if use.oom_kills is not None:
        evidence.append(Evidence(cgroup, "oom_kill", use.oom_kills, "count"))
    if growth is not None:
        slope = f"{format_bytes(growth.slope_low)}/s to {format_bytes(growth.slope_high)}/s"
        evidence.append(Evidence("moments", f"slope, 95 % interval, n={growth.points}", slope, ""))
    return evidence


def _next_step(moment: MomentFacts, use: CgroupUse) -> str:
    if moment.ledger is None or moment.rss_bytes is None or use.limit_bytes is None:
        return "Collect MemStats and smaps beside the cgroup's files: then GOMEMLIMIT can be told."
    advice = advise_gomemlimit(use.limit_bytes, moment.ledger.parts, moment.rss_bytes, use)
    if advice.gomemlimit_bytes is None:
        return (
            "What is not Go's fills the limit by itself: raise it, or look at that memory first; "
            "no GOMEMLIMIT helps."
        )
    arithmetic = ", ".join(
        f"{step} {format_bytes(size)}"
        for step, size in zip(advice.steps["step"], advice.steps["bytes"], strict=True)
        if size
    )
    mib = advice.gomemlimit_bytes >> 20
    return f"Set GOMEMLIMIT={mib}MiB ({arithmetic}). {advice.note}."
