"""What a kill by the OOM killer shows: who filled the memory, and where to look next.

A container's description, or its memory.events, can record a kill of which no kernel line is left.
Neither says what used the memory, but a GC log in the same capture can.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pandas as pd

from gomem.analysis.memory.cgroup import hard_limit
from gomem.capture.release import shows_go
from gomem.causes.checks import grows
from gomem.causes.commands import (
    CAPTURE,
    CAPTURE_ONCE,
    CAPTURE_SECONDS,
    no_go_words,
    sentences,
    with_files,
)
from gomem.causes.evidence import known
from gomem.causes.finding import Finding, Severity
from gomem.inputs.processes.languages import is_not_go
from gomem.inputs.processes.toolchain import BUILD_LESS, is_toolchain
from gomem.text import Bytes, Command, Count, Program, Seconds, Text, text
from gomem.units import MIB

if TYPE_CHECKING:
    from gomem.analysis.memory.listed import Listed
    from gomem.causes.cause import Case, Cause
    from gomem.causes.thresholds import Thresholds
    from gomem.facts.moment import MomentFacts


_LIVE_GROWS = (
    "The last GC in the log left {} live, and the live heap was growing: a GOMEMLIMIT cannot free "
    "live memory, it only makes the GC run more often. Find in the next run what holds it, and "
    "hold less of it, or raise the container's limit: {}."
)
AFTER_A_KILL = text(
    "The kernel's log lines do not say what used the memory. Capture after the process has "
    "restarted: {}.",
    CAPTURE,
)
_MACHINE_IS_FULL = (
    "The machine, not a cgroup, had no memory left. The kernel then kills the process with the "
    "highest score, computed from RSS, swap and oom_score_adj."
)
_ASK_FOR_CGROUP = Command("dmesg -T | grep -i -e 'memory cgroup' -e 'oom-kill' -e 'killed process'")
_WHO_USES_MEMORY = Command("ps aux --sort=-rss | head; free -m")
_NO_CGROUP_NAMED = (
    "The kernel's log lines name no cgroup: the machine had no memory left, a container reached a "
    "limit on kernel memory, or the lines that name the cgroup were left out (as by grep). The "
    "kernel kills the process with the highest score, computed from RSS, swap and oom_score_adj."
)
_LIMIT_IT = (
    "A limit on the process's own cgroup (MemoryMax=, docker run -m) keeps it from using up the "
    "machine's memory{}."
)
_GO_LIMITS_GARBAGE = (
    "; GOMEMLIMIT makes a Go program collect garbage earlier, but the live heap can exceed it"
)


def largest_words(listed: Listed, thresholds: Thresholds) -> Text:
    """The largest process listed beside a killed one; empty if it is not much larger."""
    if listed.larger is None or listed.killed_in != "machine":
        return Text()
    name, pid, size = listed.larger
    if size < thresholds.larger_listed_ratio * (listed.rss_bytes or 0):
        return Text()
    words = "; the largest process listed is {} (PID {}): {} RSS"
    return text(words, Program(name), str(pid), Bytes(size))


def _after_a_small_kill(listed: Listed, thresholds: Thresholds) -> Text:
    """Ask for the process that uses most, where the table lists it; else empty."""
    if listed.larger is None or not largest_words(listed, thresholds):
        return Text()
    words = (
        "{} of RSS cannot have filled the machine: of the processes listed, {} uses most. "
        "See what it holds: {}."
    )
    return text(words, Bytes(listed.rss_bytes), Program(listed.larger[0]), CAPTURE_ONCE)


def is_bystander(listed: Listed, limits: Thresholds) -> bool:
    """Return whether a process is too small to have filled the machine."""
    return listed.killed_in == "machine" and (listed.rss_bytes or 0) < limits.small_victim_bytes


def after_the_log(case: Case, limit: int) -> Text:
    """Say what a log's last GC left, if that or the goal after it fills the memory at the kill."""
    log = case.facts.collector
    if log is None or len(log.cycles) <= 1:  # a goal is of what the GC before left
        return Text()
    full = case.thresholds.most_share * limit
    live, goals = log.cycles["heap_live_bytes"], log.cycles["heap_goal_bytes"]
    left, before, last = int(live.iloc[-1]), live.iloc[-2], goals.iloc[-1]
    if left >= full:
        words = (
            "The last GC in the log left {} live, of {}: no GOGC frees that. Find in the next run "
            "what holds it, or raise the limit: {}."
        )
        return text(words, Bytes(left), Bytes(limit), CAPTURE)
    if grows(case):
        return text(_LIVE_GROWS, Bytes(left), CAPTURE)
    if pd.isna(last) or not before:
        return Text()
    times = float(last) / float(before)  # the goal, of what the GC before left
    reached = round(times * left)
    if reached < full:
        return Text()
    words = (
        "The last GC in the log left {} live, and by its goals the heap can grow to about {} "
        "before the next. Set a limit, so that the GC runs earlier: {}. See what that costs in "
        "CPU: {}."
    )
    mib = round(limit * case.thresholds.limit_full_fraction) // MIB
    what_if = with_files("gomem what-if {}", log.path)
    return text(words, Bytes(left), Bytes(reached), Command(f"GOMEMLIMIT={mib}MiB"), what_if)


def after_a_kill(case: Case, listed: Listed) -> Text:
    """Say where to look next, by the size and the language of the killed program."""
    limits = case.thresholds
    if is_bystander(listed, limits):
        if step := _after_a_small_kill(listed, limits):
            return step
        words = (
            "{} of RSS cannot have filled the machine: other processes did, memory that belongs to "
            "no process (tmpfs, kernel), or it was a container's limit, and the lines that name "
            "the cgroup are missing here. Look for them: {}. See what uses the memory: {}."
        )
        return text(words, Bytes(listed.rss_bytes), _ASK_FOR_CGROUP, _WHO_USES_MEMORY)
    if is_toolchain(listed.name):
        return text("The process is a tool of the Go toolchain, in a build: {}.", BUILD_LESS)
    if is_not_go(listed.name, shows_go=shows_go(case.facts.capture)):
        return no_go_words(listed)
    return after_the_log(case, listed.limit_bytes or listed.rss_bytes or 0) or AFTER_A_KILL


def why_the_machine(listed: Listed, limits: Thresholds) -> str:
    """Say why the kernel kills when the machine is full, and how to limit this process."""
    if is_bystander(listed, limits):
        return _NO_CGROUP_NAMED
    go_too = "" if is_not_go(listed.name) else _GO_LIMITS_GARBAGE
    return sentences(_MACHINE_IS_FULL, _LIMIT_IT.format(go_too))


def again_words(listed: Listed) -> Text:
    """Say how often the kernel killed this program."""
    if listed.kills <= 1:
        return Text()
    within = text(" within {}", Seconds(listed.kill_seconds)) if listed.kill_seconds else Text()
    return text("; {} was killed {} times{}", Program(listed.name), Count(listed.kills), within)


_SEE_THE_LIMIT = text(
    "See whether the container has a limit, or else the node was full: {}.",
    Command("kubectl describe pod POD | grep -A3 Limits"),
)
_CATCH_IT = "No file says what used the memory. Capture the next run as it grows: {}."


def killed_container(case: Case, cause: Cause) -> list[Finding]:
    """Return the finding of a kill that no line of the kernel has; empty without one."""
    described = case.facts.kill_described
    if described is None:
        return []
    path, kill = described.source, described.kill
    moments, limit = case.facts.moments, kill.limit_bytes
    at = text(" at its limit of {}", Bytes(limit)) if limit else Text()
    lived = Text() if kill.seconds is None else text(", {} after its start", Seconds(kill.seconds))
    again = text("; {}", Count(kill.restarts, "restart")) if kill.restarts else Text()
    is_said = any("limit" in said for said in case.facts.capture.stated)  # in a sentence
    is_known = limit or kill.by_docker or is_said
    unlimited = "" if is_known else _SEE_THE_LIMIT
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
            next_step=sentences(unlimited, _next_step(case, limit, kill.seconds)),
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
