"""A kill for want of memory that a container's description or its memory.events have alone.

Neither says what used the memory: the log of collections beside it can.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gomem.analysis.memory.cgroup import hard_limit
from gomem.causes.commands import CAPTURE, CAPTURE_SECONDS
from gomem.causes.evidence import known
from gomem.causes.finding import Finding, Severity
from gomem.causes.killed import after_the_log
from gomem.text import Age, Bytes, Command, Count, Text, text

if TYPE_CHECKING:
    from gomem.causes.case import Case
    from gomem.causes.cause import Cause
    from gomem.facts.moment import MomentFacts

_CATCH_IT = "No file says what used the memory. Capture the next run as it grows: {}."


def killed_container(case: Case, cause: Cause) -> list[Finding]:
    """Return the finding of a kill that no line of the kernel has; empty without one."""
    described = case.facts.kill_described
    if described is None:
        return []
    path, kill = described.source, described.kill
    moments, limit = case.facts.moments, kill.limit_bytes
    at = text(" at its limit of {}", Bytes(limit)) if limit else Text()
    lived = Text() if kill.seconds is None else text(", {} after its start", Age(kill.seconds))
    again = text("; {}", Count(kill.restarts, "restart")) if kill.restarts else Text()
    return [
        cause.finding(
            Severity.CRITICAL,
            text("OOM: the container was killed for want of memory{}{}{}", at, lived, again),
            moment=moments[-1].name if moments else None,
            size=limit,
            evidence=(
                *known(path, "B", {"limit": limit}),
                *known(path, "s", {"from start to kill": kill.seconds}),
                *known(path, "count", {"restarts": kill.restarts}),
            ),
            next_step=_next_step(case, limit, kill.seconds),
            confidence="certain",
        )
    ]


def killed_by_events(moment: MomentFacts, case: Case, cause: Cause) -> Finding | None:
    """Return the finding of kills in memory.events, where no file has the cgroup's use."""
    kills, limit = moment.cgroup.get("oom_kill"), hard_limit(moment.cgroup)
    if not kills:
        return None
    path = moment.path("cgroup")
    count = Count(kills, "process", "processes")
    at = Text() if limit is None else text(" (limit {})", Bytes(limit))
    return cause.finding(
        Severity.CRITICAL,
        text("OOM: the kernel has killed {} in this cgroup{}", count, at),
        moment=moment.name,
        size=limit,
        evidence=(*known(path, "count", {"oom_kill": kills}), *known(path, "B", {"limit": limit})),
        next_step=_next_step(case, limit),
        confidence="certain",
    )


def _next_step(case: Case, limit: int | None, seconds: float | None = None) -> Text:
    return (after_the_log(case, limit) if limit else Text()) or _catch_it(case, seconds)


def _catch_it(case: Case, seconds: float | None) -> Text:
    """Return how to capture the next run, with several readings if it is a short one."""
    count = case.thresholds.growth_many_readings
    every = math.inf if seconds is None else max(1, round(seconds / count))
    short = Command(f"gomem capture PID -o DIR --every {every}s --for 10m")
    return text(_CATCH_IT, short if every < CAPTURE_SECONDS else CAPTURE)
