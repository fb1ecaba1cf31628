"""Part of the capture could not be read, so a number may be too small."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.causes.cause import Cause
from gomem.causes.finding import Evidence, Finding, Severity

if TYPE_CHECKING:
    from gomem.causes.case import Case

SHOWN = 5  # places named as evidence
TORN = "a line of the collector's that is torn"


def find(case: Case) -> list[Finding]:
    """One finding for all damage; the report lists each place."""
    damage = case.facts.damage
    if not damage:
        return []
    places = "1 place" if len(damage) == 1 else f"{len(damage)} places"
    sources = {one.source for one in damage}
    files = "1 file" if len(sources) == 1 else f"{len(sources)} files"
    torn = any(TORN in one.what for one in damage)
    shown = (
        Evidence(one.source, one.where or "whole file", one.what, "") for one in damage[:SHOWN]
    )
    return [
        CAUSE.finding(
            Severity.WARNING,
            f"{places} in {files} could not be read: numbers from there are missing",
            evidence=shown,
            next_step=CAUSE.remedy + _LOG_ELSEWHERE if torn else "",
        )
    ]


CAUSE = Cause(
    code="data-damaged",
    mechanism="A file is cut or corrupt, or has lines that its kind does not explain. What "
    "could be read is in the report; what could not is in none of its sums.",
    remedy="Copy or record the files named here again, each in one read.",
    references=(),
    rule=find,
)
# A copy mends no line of a GC log that another writer's text stands in.
_LOG_ELSEWHERE = (
    " Lines of a GC log are torn where the program writes to standard error between the runtime's "
    "own writes: let it log elsewhere, to standard output or a file."
)
