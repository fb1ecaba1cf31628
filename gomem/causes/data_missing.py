"""What to collect next, so that the ledger can say more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.capture.wanted import MEMSTATS, SMAPS
from gomem.causes.cause import Cause
from gomem.causes.finding import Evidence, Finding, Severity
from gomem.text import MomentName, joined

if TYPE_CHECKING:
    from gomem.causes.case import Case

SHOWN = 10  # moments named as evidence
# What can be missing: what it is called, the fact that it gives, what it costs, how to get it.
_WANTED = (
    (
        "smaps",
        "mappings",
        "RSS cannot be divided: the kernel's side of the ledger is a single number, or missing",
        SMAPS.command(),
    ),
    (
        "MemStats",
        "memstats",
        "the heap's part of RSS cannot be divided: objects, idle heap and stacks are one number",
        f"{MEMSTATS.command()} (needs expvar imported), or write runtime.ReadMemStats as JSON",
    ),
)


def find(case: Case) -> list[Finding]:
    """One finding for all files that moments lack."""
    moments = case.facts.moments
    if all(one.ledger is None and one.memstats is None for one in moments):
        return [_without_moments()]
    lacking = [
        (name, without, cost, command)
        for name, fact, cost, command in _WANTED
        if (without := [one.name for one in moments if getattr(one, fact) is None])
    ]
    return [_finding(lacking)] if lacking else []


CAUSE = Cause(
    code="data-missing",
    mechanism="The ledger needs both sides of one moment: smaps and MemStats, read together.",
    remedy="Collect both at one moment: gomem capture PID -o DIR; or by hand, "
    f"{SMAPS.command()} and, at once behind it, MemStats as JSON.",
    references=(),
    rule=find,
)


def _finding(lacking: list[tuple[str, list[str], str, str]]) -> Finding:
    where = {name for _, without, _, _ in lacking for name in without}
    titles, evidence, steps = [], [], []
    for name, without, cost, command in lacking:
        have = "1 moment has" if len(without) == 1 else f"{len(without)} moments have"
        titles.append(f"{have} no readable {name}: {cost}")
        named = joined(", ", map(MomentName, without[:SHOWN]))
        evidence.append(Evidence("capture", f"moments without {name}", named, ""))
        steps.append(f"{name} with: {command}")
    return CAUSE.finding(
        Severity.INFO,
        "; ".join(titles),
        moment=next(iter(where)) if len(where) == 1 else None,
        evidence=evidence,
        next_step=f"Collect {'; and '.join(steps)}",
    )


def _without_moments() -> Finding:
    return CAUSE.finding(
        Severity.INFO,
        "no moment has smaps or MemStats: RSS cannot be reconciled with the heap",
        evidence=(Evidence("capture", "moments with either", 0, "count"),),
    )
