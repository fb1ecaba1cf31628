"""The process can reach its container's limit, and the kernel then kills it.

The kernel kills when the cgroup's charge reaches `memory.max` and nothing is left to reclaim. Go's
runtime does not look at the cgroup: GOMEMLIMIT is never derived from it (Go 1.27 included).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.analysis.series.shapes import HALF
from gomem.causes.cause import Cause
from gomem.causes.evidence import known
from gomem.causes.finding import Evidence, Finding, Severity
from gomem.causes.goroutines import goroutines_pile_up
from gomem.causes.live_growth import grows
from gomem.causes.sites import growing_sites
from gomem.text import Function, Text, text
from gomem.units import format_bytes, format_fraction, format_seconds

if TYPE_CHECKING:
    from gomem.analysis.memory.cgroup import CgroupUse
    from gomem.analysis.memory.limits import TimeToLimit
    from gomem.causes.case import Case
    from gomem.causes.thresholds import Thresholds
    from gomem.facts.moment import MomentFacts

REST = "rest"
COUNTED = {
    "anon": "anonymous memory",
    "shmem": "shared memory",
    "kernel": "the kernel's own",
    "sock": "buffers of sockets",
    REST: "what no counter names",
}


def find(case: Case) -> list[Finding]:
    """One finding for each moment at risk; what only time brings is found at the last moment."""
    return case.at_moments(_at)


def growth_is_bounded(case: Case) -> bool:
    """Whether what grows towards the last moment's limit is garbage, which a goal bounds."""
    growth = case.facts.limit_growth
    return growth is not None and not may_grow_on(case, growth.seen_bytes)


def may_grow_on(case: Case, grown_bytes: float) -> bool:
    """Whether what grew by so much may do so without end: not garbage, which a goal bounds."""
    says = any(moment.memstats is not None for moment in case.facts.moments)
    if not says or grows(case) or goroutines_pile_up(case):
        return True
    claimed = [sum(one.groups.claimed.values()) for one in case.facts.moments if one.groups]
    return not claimed or claimed[-1] - claimed[0] < HALF * grown_bytes


CAUSE = Cause(
    code="limit-risk",
    mechanism="The kernel kills when what is charged reaches memory.max and nothing can be "
    "reclaimed: page cache goes first; anonymous and shared memory and sockets stay. Go does not "
    "look at the cgroup, so without GOMEMLIMIT the heap grows to twice what is live, wherever "
    "the limit is.",
    remedy="Collect MemStats and smaps beside the cgroup's files: then gomem can work out a "
    "GOMEMLIMIT.",
    references=("kernel: cgroup-v2, memory.max", "Go GC guide: memory limit"),
    bears_on=("limits",),
    rule=find,
)
_MAY_BE_CACHE = "how much of that is page cache, which goes first, only memory.stat says"


def _at(moment: MomentFacts, case: Case) -> Finding | None:
    use = moment.cgroup_use
    if use is None or use.limit_bytes is None:
        return None
    is_last = moment is case.facts.moments[-1] and not growth_is_bounded(case)
    growth = case.facts.limit_growth if is_last else None
    risk = _gravest(moment, use, growth, case.thresholds)
    if risk is None:
        return None
    severity, title = risk
    confidence = "certain" if severity is Severity.CRITICAL else "likely"
    if use.killer == REST and not use.oom_kills:
        # Nothing says what is charged: a cgroup full of page cache is a healthy one.
        severity, title, confidence = Severity.INFO, f"{title}; {_MAY_BE_CACHE}", "possible"
    return CAUSE.finding(
        severity,
        title,
        moment=moment.name,
        size=use.unreclaimable_bytes,
        evidence=_evidence(moment, use, growth),
        next_step=text("{}{}", _mend(growth, case), _next_step(moment)),
        confidence=confidence,
    )


def _gravest(
    moment: MomentFacts, use: CgroupUse, growth: TimeToLimit | None, limits: Thresholds
) -> tuple[Severity, str] | None:
    """The gravest that applies: killed already, nearly full, soon full, full in the worst case."""
    limit = use.limit_bytes or 0
    size, share = format_bytes(limit), format_fraction(use.unreclaimable_bytes / limit)
    if use.oom_kills:
        killed = "1 process" if use.oom_kills == 1 else f"{use.oom_kills} processes"
        title = f"the kernel has killed {killed} in this cgroup, limited to {size}"
        return Severity.CRITICAL, title
    if use.unreclaimable_bytes >= limits.limit_full_fraction * limit:
        most = COUNTED.get(use.killer, use.killer)
        title = f"the kernel cannot reclaim {share} of the limit of {size}, most of it {most}"
        return Severity.CRITICAL, title
    if growth is not None and _is_soon(growth, limits):
        near = growth.left_bytes <= limits.limit_reach_times * growth.seen_bytes
        return Severity.WARNING if near else Severity.INFO, (
            f"at a growth of {format_bytes(growth.slope_bytes_per_second)}/s, the limit of {size} "
            f"will be reached in {format_seconds(growth.seconds)} "
            f"({format_seconds(growth.soonest_seconds)} to {format_seconds(growth.latest_seconds)})"
            + ("" if near else f"; only {format_bytes(growth.seen_bytes)} of growth was seen")
        )
    return _by_what_may_come(moment, use, limits)


def _by_what_may_come(
    moment: MomentFacts, use: CgroupUse, limits: Thresholds
) -> tuple[Severity, str] | None:
    """Full in the worst case, or a GOMEMLIMIT that cannot help, or not far from full.

    The last is a note: Go touches all that it has mapped as its goals come and go, and it fits.
    """
    limit, worst, set_to = use.limit_bytes or 0, _worst_bytes(moment, use), moment.gomemlimit_bytes
    size, charged = format_bytes(limit), f"at worst {format_bytes(worst)} is charged"
    if worst is not None and worst > limit:
        return Severity.WARNING, (
            f"{charged}, and the limit is {size}: what Go has mapped but not touched does not fit"
        )
    if set_to is not None and set_to > limit:
        return Severity.WARNING, (
            f"GOMEMLIMIT is {format_bytes(set_to)}, the cgroup's limit only {size}: it cannot help"
        )
    sure = use.unreclaimable_bytes if worst is None else worst
    if sure < limits.limit_near_fraction * limit:
        return None
    share, left = f"{format_fraction(sure / limit)} of the limit of {size}", limit - sure
    if worst is None:
        return Severity.INFO, f"the kernel cannot reclaim {share}: {format_bytes(left)} is left"
    return Severity.INFO, (
        f"{charged}, {share}: what Go has mapped fits, with {format_bytes(left)} to spare"
    )


def _is_soon(growth: TimeToLimit, limits: Thresholds) -> bool:
    """Whether it surely grows, still does, and may be there before long."""
    surely = growth.slope_low > 0 and growth.goes_on
    return surely and growth.soonest_seconds < limits.limit_soon_seconds


def _worst_bytes(moment: MomentFacts, use: CgroupUse) -> int | None:
    """What cannot be reclaimed now, and what Go may touch without asking for more."""
    worst = moment.worst_case
    return None if worst is None else use.unreclaimable_bytes + worst.worst_bytes - worst.rss_bytes


def _evidence(moment: MomentFacts, use: CgroupUse, growth: TimeToLimit | None) -> list[Evidence]:
    cgroup = moment.path("cgroup")
    names = ("limit_bytes", "current_bytes", "unreclaimable_bytes", "working_set_bytes")
    evidence = [
        *known(cgroup, "B", {name: getattr(use, name) for name in names}),
        Evidence(cgroup, "fills most of it", use.killer, ""),
        *known("ledger", "B", {"worst_case_bytes": _worst_bytes(moment, use)}),
        *known(cgroup, "count", {"oom_kill": use.oom_kills}),
    ]
    if growth is not None:
        slope = f"{format_bytes(growth.slope_low)}/s to {format_bytes(growth.slope_high)}/s"
        evidence.append(Evidence("moments", f"slope, 95 % interval, n={growth.points}", slope, ""))
    return evidence


def _mend(growth: TimeToLimit | None, case: Case) -> Text:
    """What grows comes first: no limit holds a leak."""
    if growth is None or not _is_soon(growth, case.thresholds):
        return Text()
    sites = growing_sites(case)
    whose = text(", most by {}", Function(sites[0].own_function)) if sites else ""
    return text("Mend first what grows{}: a limit only delays it. ", whose)


def _next_step(moment: MomentFacts) -> str:
    advice = moment.limit_advice
    if advice is None:
        return CAUSE.remedy
    if advice.gomemlimit_bytes is None:
        return (
            "What is not Go's fills the limit by itself: raise the limit, or look at that memory "
            "first; no GOMEMLIMIT helps."
        )
    steps = zip(advice.steps["step"], advice.steps["bytes"], strict=True)
    arithmetic = ", ".join(f"{step} {format_bytes(size)}" for step, size in steps if size)
    mib = advice.gomemlimit_bytes >> 20
    return f"Set GOMEMLIMIT={mib}MiB ({arithmetic}). {advice.note}."
