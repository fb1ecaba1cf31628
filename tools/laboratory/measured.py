"""Counts of how often gomem is right, in one file, for the manual and the README.

`python -m tools.laboratory.matrix --write` writes it. The documentation reads it, and omits counts
that are missing.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tools.laboratory.captures import sets, truth
from tools.laboratory.reliability import reliability

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tools.laboratory.captures import Answer

MEASURED = Path(__file__).parent.parent.parent / "docs" / "measured.json"


def measured_json(answers: Sequence[Answer]) -> str:
    """Return all counts: over all answers, over the last set, and for each cause."""
    last = sets()[-1]
    codes = sorted({code for answer in answers for code in answer.true_codes})
    counts = {
        "overall": _overall(answers),
        "last_set": _overall([a for a in answers if truth()[a.name]["set"] == last]),
        "causes": {code: _of_cause(code, answers) for code in codes},
    }
    return json.dumps(counts, indent=1) + "\n"


def _overall(answers: Sequence[Answer]) -> dict[str, int]:
    ill = [answer for answer in answers if not answer.healthy]
    well = [answer for answer in answers if answer.healthy]
    return {
        "captures": len(answers),
        "ill": len(ill),
        "first_finding_right": sum(answer.right for answer in ill),
        "every_cause_found": sum(not answer.missed for answer in ill),
        "healthy": len(well),
        "healthy_without_warning": sum(answer.right for answer in well),
        "confidently_wrong": sum(bool(answer.confidently_wrong) for answer in answers),
    }


def _of_cause(code: str, answers: Sequence[Answer]) -> dict[str, Any]:
    """Return how often a true cause is found, and how often a warning of it is right."""
    there = [answer for answer in answers if code in answer.true_codes]
    return {
        "recorded": len(there),
        "found": sum(code not in answer.missed for answer in there),
        "first": sum(answer.right for answer in there),
        "warnings": {
            row.confidence: {"right": row.right, "count": row.count}
            for row in reliability(answers, code)
            if row.severity == "warnings"
        },
        "healthy_warned": sum(
            finding["code"] == code
            for answer in answers
            if answer.healthy
            for finding in answer.warnings
        ),
    }
