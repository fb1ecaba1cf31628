"""The process can reach its container's limit, where the kernel kills it.

The kernel kills the process when the cgroup's charge reaches `memory.max` and nothing can be
reclaimed. Go's runtime does not look at the cgroup, and never derives GOMEMLIMIT from it (Go 1.27
included).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from gomem.analysis.memory.ledger_change import MIN_MAIN_SHARE
from gomem.capture.release import shows_go
from gomem.causes.cause import Case, Cause
from gomem.causes.checks import grows
from gomem.causes.commands import CAPTURE_ONCE, no_go_words, sentences
from gomem.causes.evidence import COMPUTED, known
from gomem.causes.finding import Evidence, Finding, Severity
from gomem.causes.goroutines import goroutines_pile_up
from gomem.causes.killed import (
    AFTER_A_KILL,
    after_a_kill,
    again_words,
    is_bystander,
    killed_by_events,
    killed_container,
    largest_words,
    why_the_machine,
)
from gomem.causes.sites import growing_sites
from gomem.facts.settings import settings_written
from gomem.facts.told_beside import is_at_its_limit
from gomem.inputs.processes.containers import OLD_DOCKER
from gomem.inputs.processes.languages import is_not_go
from gomem.text import (
    Bytes,
    Command,
    Count,
    Function,
    Program,
    Rate,
    Seconds,
    Share,
    Text,
    joined,
    text,
)

if TYPE_CHECKING:
    from gomem.analysis.memory.cgroup import CgroupUse
    from gomem.analysis.memory.limits import TimeToLimit
    from gomem.analysis.memory.listed import Listed
    from gomem.causes.thresholds import Thresholds
    from gomem.facts.moment import MomentFacts

_CGROUP_ALONE = (
    "The kernel kills a process when the cgroup's memory reaches memory.max (version 1: "
    "memory.limit_in_bytes) and nothing can be reclaimed. The kernel can reclaim page cache. "
    "Without swap, it cannot reclaim anonymous memory, shared memory or sockets."
)
REST = "rest"
COUNTED = {
    "anon": "anonymous memory",
    "shmem": "shared memory",
    "kernel": "kernel memory",
    "sock": "socket buffers",
    REST: "memory that no counter names (rest)",
}


def find(case: Case) -> list[Finding]:
    """Return one finding per snapshot at risk; growth is considered only at the last snapshot.

    If a process was killed, that is the only finding, even if the snapshot has no time.
    """
    found, killed_at = case.at_moments(_at), _killed_at(case)
    kills = [finding for finding in found if finding.moment in killed_at]
    if kills:
        return [replace(kills[-1], moment=case.facts.moments[-1].name)]
    by_kernel = any(finding.severity is Severity.CRITICAL for finding in found)
    return found if by_kernel else [*found, *killed_container(case, CAUSE)]


def _killed_at(case: Case) -> set[str]:
    listed = ((moment.name, moment.listed) for moment in case.facts.moments)
    return {name for name, row in listed if row is not None and row.killed_in}


def growth_is_bounded(case: Case) -> bool:
    """Return whether the growth towards the limit is only garbage that the next GCs free."""
    growth = case.facts.limit_growth
    return growth is not None and not may_grow_on(case, growth.seen_bytes)


def may_grow_on(case: Case, grown_bytes: float) -> bool:
    """Return whether more grew than garbage that the next GCs free, or whether that is possible."""
    if not case.facts.with_memstats or grows(case) or goroutines_pile_up(case):
        return True
    claimed = [
        sum(moment.groups.claimed.values()) for moment in case.facts.moments if moment.groups
    ]
    return not claimed or claimed[-1] - claimed[0] < MIN_MAIN_SHARE * grown_bytes


CAUSE = Cause(
    code="limit-risk",
    mechanism=f"{_CGROUP_ALONE} Go does not read the limit of the cgroup: without GOMEMLIMIT the "
    "heap grows to twice the live heap, whatever the limit is.",
    remedy=text(
        "Add MemStats and smaps, so that gomem can work out a GOMEMLIMIT: {}.", CAPTURE_ONCE
    ),
    references=("kernel: cgroup-v2, memory.max", "Go GC guide: memory limit"),
    bears_on=("limits",),
    rule=find,
)
IF_IT_IS_GO = text(
    "If this is a Go program, add MemStats and smaps, so that gomem can work out a GOMEMLIMIT: {}.",
    CAPTURE_ONCE,
)
_SEE_SLABS = text(
    "Kernel memory is in no process's smaps. See which objects of the kernel fill the cgroup: {}; "
    "or the machine: {}.",
    Command("cat /sys/fs/cgroup/memory/GROUP/memory.kmem.slabinfo"),
    Command("slabtop -o -s c | head -20"),
)
_SNAPSHOTS = "snapshots"  # the artefact of evidence from several snapshots
_CAN_BE_CACHE = "without memory.stat, some of this can be page cache"


def _at(moment: MomentFacts, case: Case) -> Finding | None:
    """Return the moment's finding, which explains Go's part only if a file shows Go."""
    is_go = shows_go(case.facts.capture)
    finding = _of_any_program(moment, case, CAUSE.remedy if is_go else IF_IT_IS_GO)
    if finding is None or is_go or finding.mechanism != CAUSE.mechanism:
        return finding
    return replace(finding, mechanism=_CGROUP_ALONE)


def _of_any_program(moment: MomentFacts, case: Case, step: str) -> Finding | None:
    if moment.listed is not None and moment.listed.killed_in:
        return _killed(moment, moment.listed, case)
    if moment.listed is not None and moment.cgroup_use is None:
        if is_not_go(moment.listed.name, shows_go=shows_go(case.facts.capture)):
            step = no_go_words(moment.listed, settings_written(case.facts))
        return _near_by_a_table(moment, moment.listed, step, case.thresholds)
    if moment.cgroup_use is None:
        return killed_by_events(moment, case, CAUSE)
    return _by_cgroup(moment, moment.cgroup_use, case, step)


def _by_cgroup(moment: MomentFacts, use: CgroupUse, case: Case, step: str) -> Finding | None:
    if use.limit_bytes is None:
        return None
    if is_at_its_limit(moment):
        return _at_its_limit(moment, use)
    is_last = moment is case.facts.moments[-1] and not growth_is_bounded(case)
    growth = case.facts.limit_growth if is_last else None
    risk = _gravest(moment, use, growth, case.thresholds)
    if risk is None:
        return None
    severity, title = risk
    confidence = "certain" if severity is Severity.CRITICAL else "likely"
    if not use.is_counted and not use.oom_kills:
        # A cgroup full of page cache is healthy.
        severity, confidence = Severity.INFO, "possible"
        title = text("{}; {}", title, _CAN_BE_CACHE)
    return CAUSE.finding(
        severity,
        title,
        moment=moment.name,
        size=use.unreclaimable_bytes,
        evidence=_evidence(moment, use, growth),
        next_step=sentences(_next_step(moment, step), _growing(growth, case)),
        confidence=confidence,
    )


def _near_by_a_table(
    moment: MomentFacts, listed: Listed, step: str, limits: Thresholds
) -> Finding | None:
    """Return a finding for a container near its limit in docker stats, page cache included."""
    used, limit = listed.working_set_bytes, listed.limit_bytes
    if used is None or not limit or used < limits.limit_near_fraction * limit:
        return None
    words = "The container is {} full: it uses {} of its limit of {}; {}"
    if listed.shares_limit:
        words = (
            "One container fills {} of what is likely the machine's memory: {} of {}, the limit "
            "shown for all containers; {}"
        )
    counted = "usage" if listed.tool == OLD_DOCKER else "usage minus inactive_file"
    return CAUSE.finding(
        Severity.INFO,
        text(words, Share(used / limit), Bytes(used), Bytes(limit), _CAN_BE_CACHE),
        moment=moment.name,
        size=used,
        evidence=known(moment.path("processes"), "B", {counted: used, "limit": limit}),
        next_step=step,
        confidence="possible",
    )


def _at_its_limit(moment: MomentFacts, use: CgroupUse) -> Finding:
    """Return a finding for the cgroup of an OOM report that does not name the killed process."""
    sizes = Bytes(use.current_bytes), Bytes(use.limit_bytes)
    return CAUSE.finding(
        Severity.CRITICAL,
        text("OOM: the cgroup reached its limit: it used {} of {}", *sizes),
        moment=moment.name,
        size=use.current_bytes,
        evidence=known(
            moment.path("processes"), "B", {"usage": use.current_bytes, "limit": use.limit_bytes}
        ),
        next_step=_SEE_SLABS if use.is_counted and use.killer == REST else AFTER_A_KILL,
        confidence="certain",
    )


def _killed(moment: MomentFacts, listed: Listed, case: Case) -> Finding:
    """Return a finding for the process named in the OOM killer's own lines."""
    limits = case.thresholds
    who = text("{} (PID {})", Program(listed.name), str(listed.pid))
    of_machine = listed.killed_in == "machine"
    if largest := largest_words(listed, limits):
        limit = largest
    elif is_bystander(listed, limits):
        limit = text("; no cgroup is named")
    elif of_machine:
        limit = text("; the machine ran out of memory")
    elif listed.limit_bytes is not None:
        limit = text(" (limit {})", Bytes(listed.limit_bytes))
    else:
        limit = text("; its cgroup reached its limit")
    said = {"RSS": listed.rss_bytes, "file-rss": listed.file_bytes, "limit": listed.limit_bytes}
    at = "with at least" if listed.file_bytes is None else "at"
    words = "OOM: the kernel killed {} {} {} RSS{}{}"
    return CAUSE.finding(
        Severity.CRITICAL,
        text(words, who, at, Bytes(listed.rss_bytes), limit, again_words(listed)),
        moment=moment.name,
        size=listed.rss_bytes,
        evidence=known(moment.path("processes"), "B", said),
        next_step=after_a_kill(case, listed),
        confidence="certain",
        mechanism=why_the_machine(listed, limits) if of_machine else "",
    )


def _gravest(
    moment: MomentFacts, use: CgroupUse, growth: TimeToLimit | None, limits: Thresholds
) -> tuple[Severity, Text] | None:
    """Return the most severe case: OOM kill, nearly full, soon full, full in the worst case."""
    limit = use.limit_bytes or 0
    size, share = Bytes(limit), Share(use.unreclaimable_bytes / limit)
    if use.oom_kills:
        killed = Count(use.oom_kills, "process", "processes")
        title = text("OOM: the kernel has killed {} in this cgroup (limit {})", killed, size)
        return Severity.CRITICAL, title
    if use.unreclaimable_bytes >= limits.limit_full_fraction * limit:
        if not use.is_counted:
            was_full = (use.peak_bytes or 0) >= limit
            words = "The cgroup {}: it uses {} of its limit of {}"
            full = "has been full, by its peak" if was_full else "is nearly full"
            return Severity.INFO, text(words, full, Share(use.current_bytes / limit), size)
        words = "The cgroup is nearly full: unreclaimable memory is {} of the limit of {}{}"
        return Severity.CRITICAL, text(words, share, size, _mostly(use))
    if growth is not None and _is_soon(growth, limits):
        is_near = growth.left_bytes <= limits.limit_reach_times * growth.seen_bytes
        title = text(
            "The cgroup will reach its limit of {} in {}, growing by {}{}",
            size,
            Seconds(growth.seconds),
            Rate(growth.slope_bytes_per_second, growth.slope_low, growth.slope_high),
            "" if is_near else ", if the little growth seen so far continues",
        )
        return Severity.WARNING if is_near else Severity.INFO, title
    return _by_what_can_come(moment, use, limits)


def _mostly(use: CgroupUse) -> str:
    """What most of the charge is; empty if no counter names it."""
    return "" if use.killer == REST else f", mostly {COUNTED.get(use.killer, use.killer)}"


def _by_what_can_come(
    moment: MomentFacts, use: CgroupUse, limits: Thresholds
) -> tuple[Severity, Text] | None:
    """Return the case of a full worst case, an ineffective GOMEMLIMIT, or a nearly full cgroup.

    A nearly full cgroup is a note: even if Go touches all mapped memory, the memory fits.
    """
    limit, worst, set_to = use.limit_bytes or 0, _worst_bytes(moment, use), moment.gomemlimit_bytes
    size = Bytes(limit)
    if worst is not None and worst > limit:
        words = (
            "The worst case exceeds the cgroup's limit: {} under a limit of {}, once Go touches "
            "all mapped memory"
        )
        return Severity.WARNING, text(words, Bytes(worst), size)
    if set_to is not None and set_to > limit:
        words = "GOMEMLIMIT cannot help: {} is above the cgroup's limit of {}"
        return Severity.WARNING, text(words, Bytes(set_to), size)
    sure = use.unreclaimable_bytes if worst is None else worst
    if sure < limits.limit_near_fraction * limit:
        return None
    share, left = Share(sure / limit), Bytes(limit - sure)
    if worst is None:
        words = "The cgroup is {} full{}: {} is left of its limit of {}"
        return Severity.INFO, text(words, share, _mostly(use), left, size)
    words = "The cgroup is up to {} full in the worst case: {} is left of its limit of {}"
    return Severity.INFO, text(words, share, left, size)


def _is_soon(growth: TimeToLimit, limits: Thresholds) -> bool:
    """Return whether the growth is certain, continues to the end, and can reach the limit soon."""
    surely = growth.slope_low > 0 and growth.goes_on
    return surely and growth.soonest_seconds < limits.limit_soon_seconds


def _worst_bytes(moment: MomentFacts, use: CgroupUse) -> int | None:
    """Return unreclaimable memory, plus the mapped memory that Go has not touched."""
    worst = moment.worst_case
    return None if worst is None else use.unreclaimable_bytes + worst.worst_bytes - worst.rss_bytes


def _evidence(moment: MomentFacts, use: CgroupUse, growth: TimeToLimit | None) -> list[Evidence]:
    cgroup = moment.path("cgroup")
    counted = ("unreclaimable_bytes",) if use.is_counted else ()
    names = ("current_bytes", *counted, "working_set_bytes")
    evidence = [
        *known(moment.limits_from or cgroup, "B", {"limit_bytes": use.limit_bytes}),
        *known(cgroup, "B", {name: getattr(use, name) for name in names}),
        Evidence(cgroup, "largest part of the charge", use.killer, ""),
        *known(COMPUTED, "B", {"worst_case_bytes": _worst_bytes(moment, use)}),
        *known(cgroup, "count", {"oom_kill": use.oom_kills}),
    ]
    if growth is not None:
        bounds = growth.slope_low, growth.slope_high
        slope = text("{} to {}", *(Rate(bound, *bounds) for bound in bounds))
        evidence.append(Evidence(_SNAPSHOTS, f"slope, 95 % interval, n={growth.points}", slope, ""))
        ends = growth.soonest_seconds, growth.latest_seconds
        soonest, latest = ("never" if math.isinf(end) else Seconds(end) for end in ends)
        until = text("{} to {}", soonest, latest)
        evidence.append(Evidence(_SNAPSHOTS, "time to the limit, 95 % interval", until, ""))
    return evidence


def _growing(growth: TimeToLimit | None, case: Case) -> Text:
    """Say that growth must be fixed first: no limit stops a leak."""
    if growth is None or not _is_soon(growth, case.thresholds):
        return Text()
    sites = growing_sites(case)
    where = text(", mostly {}", Function(sites[0].own_function)) if sites else ""
    return text("Fix the growth first{}: a memory limit only delays the OOM kill.", where)


def _next_step(moment: MomentFacts, unknown: str) -> str:
    """Return the GOMEMLIMIT that fits, or `unknown`."""
    advice = moment.limit_advice
    if advice is None:
        return unknown
    if advice.gomemlimit_bytes is None:
        return (
            "Raise the container's limit, or reduce the memory outside Go: that alone fills the "
            "limit, so no GOMEMLIMIT helps."
        )
    # without the rounding at the end, which the setting shows
    (_, limit), *off, _ = zip(advice.steps["step"], advice.steps["bytes"], strict=True)
    taken = joined(", ", (text("{} {}", Bytes(-size), step) for step, size in off if size))
    setting = Command(f"GOMEMLIMIT={advice.gomemlimit_bytes >> 20}MiB")
    arithmetic = text("the limit of {} minus {}; in whole MiB", Bytes(limit), taken)
    words = "{} fits: {}. {}." if advice.enough else "At most {} fits: {}. {}."
    return text(words, setting, arithmetic, advice.note)
