"""A cause is possible, but there are too few samples: how many there are and are needed.

Without this, a rule with too few samples would look like a rule that found nothing wrong.
"""

from __future__ import annotations

from gomem.causes.cause import Case, Cause
from gomem.causes.finding import Finding, Severity
from gomem.text import text


def find(case: Case) -> list[Finding]:
    """Return one finding per rule without enough evidence."""
    return [
        CAUSE.finding(
            Severity.INFO,
            text(
                "Insufficient evidence for {} ({}): {} available, {} required",
                lack.code,
                lack.seen,
                lack.had,
                lack.needed,
            ),
            evidence=lack.evidence,
            next_step=lack.next_step,
            confidence="possible",
        )
        for lack in case.lacks
    ]


CAUSE = Cause(
    code="data-thin",
    mechanism="gomem reports a cause only if the evidence is enough to decide. A start-up, a test "
    "or a brief load can look different from the usual run.",
    remedy="Watch the process for longer, under its usual load.",
    references=(),
    rule=find,
)
