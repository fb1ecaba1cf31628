"""Too little was seen of something that would be a finding: say what, and how much it takes.

A rule that is silent because it had few samples looks like a rule that found nothing wrong. So it
says what it saw, what it needed and what there was.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.causes.cause import Cause
from gomem.causes.finding import Finding, Severity

if TYPE_CHECKING:
    from gomem.causes.case import Case


def find(case: Case) -> list[Finding]:
    """One finding for each rule that saw too little."""
    return [
        CAUSE.finding(
            Severity.INFO,
            f"too little was seen to call it {lack.code}: {lack.seen}, but {lack.had}; "
            f"wanted {lack.needed}",
            evidence=lack.evidence,
            next_step=lack.next_step,
            confidence="possible",
        )
        for lack in case.lacks
    ]


CAUSE = Cause(
    code="data-thin",
    mechanism="A start-up, a test or a moment's load can look like anything for a while. A rule "
    "speaks only when it has seen enough to tell the difference.",
    remedy="Watch the process for longer, under its usual load.",
    references=(),
    rule=find,
)
