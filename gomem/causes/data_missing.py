"""What to collect next, so that the ledger can say more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.causes.cause import Cause
from gomem.causes.finding import Evidence, Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Callable

    from gomem.causes.answers import Answers, MomentFacts

SHOWN = 10  # moments named as evidence

# What can be missing: the test, what it costs, how to get it.
_WANTED: tuple[tuple[str, Callable[[MomentFacts], bool], str, str], ...] = (
    (
        "smaps",
        lambda moment: moment.mappings is None,
        "RSS cannot be divided: the kernel's side of the ledger is a single number, or missing",
        "cat /proc/PID/smaps > smaps",
    ),
    (
        "MemStats",
        lambda moment: moment.memstats is None,
        "the heap's part of RSS cannot be divided: objects, idle heap and stacks are one number",
        (
            "curl http://HOST:PORT/debug/vars > memstats.json (needs expvar imported), or write "
            "runtime.ReadMemStats as JSON"
        ),
    ),
)


def find(answers: Answers) -> list[Finding]:
    """One finding for each file that moments lack."""
    if not answers.moments:
        return [_without_moments()]
    findings = []
    for name, lacks, cost, command in _WANTED:
        without = [moment.name for moment in answers.moments if lacks(moment)]
        if without:
            findings.append(_finding(name, without, cost, command))
    return findings


CAUSE = Cause(
    code="data-missing",
    mechanism="The ledger needs both sides of one moment: smaps and MemStats, read together.",
    remedy="Collect both at one moment: cat /proc/PID/smaps > smaps, and MemStats as JSON.",
    references=(),
    rule=find,
)


def _finding(name: str, without: list[str], cost: str, command: str) -> Finding:
    moments = "1 moment has" if len(without) == 1 else f"{len(without)} moments have"
    names = ", ".join(without[:SHOWN])
    return CAUSE.finding(
        Severity.INFO,
        f"{moments} no readable {name}: {cost}",
        moment=without[0] if len(without) == 1 else None,
        evidence=(Evidence("capture", f"moments without {name}", names, ""),),
        next_step=f"Collect it with: {command}",
    )


def _without_moments() -> Finding:
    return CAUSE.finding(
        Severity.INFO,
        "no moment says anything about memory: RSS cannot be reconciled with the heap",
        evidence=(Evidence("capture", "moments", 0, "count"),),
        mechanism="A log or a benchmark is about time; the ledger needs smaps and MemStats.",
    )
