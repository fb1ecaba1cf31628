"""What to collect next, so that the ledger can say more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.capture.wanted import MEMSTATS, SMAPS
from gomem.causes.cause import Cause
from gomem.causes.finding import Evidence, Finding, Severity
from gomem.text import MomentName, Text, joined

if TYPE_CHECKING:
    from collections.abc import Callable

    from gomem.causes.case import Case
    from gomem.facts.moment import MomentFacts

SHOWN = 10  # moments named as evidence

# What can be missing: the test, what it costs, how to get it.
_WANTED: tuple[tuple[str, Callable[[MomentFacts], bool], str, str], ...] = (
    (
        "smaps",
        lambda moment: moment.mappings is None,
        "RSS cannot be divided: the kernel's side of the ledger is a single number, or missing",
        SMAPS.command(),
    ),
    (
        "MemStats",
        lambda moment: moment.memstats is None,
        "the heap's part of RSS cannot be divided: objects, idle heap and stacks are one number",
        f"{MEMSTATS.command()} (needs expvar imported), or write runtime.ReadMemStats as JSON",
    ),
)


def find(case: Case) -> list[Finding]:
    """One finding for all files that moments lack."""
    if all(one.ledger is None and one.memstats is None for one in case.facts.moments):
        return [_without_moments()]
    lacking = [
        (name, without, cost, command)
        for name, lacks, cost, command in _WANTED
        if (without := [moment.name for moment in case.facts.moments if lacks(moment)])
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
    return CAUSE.finding(
        Severity.INFO,
        "; ".join(
            f"{_have(without)} no readable {name}: {cost}" for name, without, cost, _ in lacking
        ),
        moment=next(iter(where)) if len(where) == 1 else None,
        evidence=(
            Evidence("capture", f"moments without {name}", _named(without[:SHOWN]), "")
            for name, without, _, _ in lacking
        ),
        next_step=f"Collect {'; and '.join(f'{name} with: {how}' for name, _, _, how in lacking)}",
    )


def _named(moments: list[str]) -> Text:
    return joined(", ", map(MomentName, moments))


def _have(moments: list[str]) -> str:
    return "1 moment has" if len(moments) == 1 else f"{len(moments)} moments have"


def _without_moments() -> Finding:
    return CAUSE.finding(
        Severity.INFO,
        "no moment has smaps or MemStats: RSS cannot be reconciled with the heap",
        evidence=(Evidence("capture", "moments with either", 0, "count"),),
    )
