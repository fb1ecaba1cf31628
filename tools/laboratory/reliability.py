"""How often findings are right, by confidence."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tools.laboratory.captures import Answer

CONFIDENCES = ("certain", "likely", "possible")
SEVERITIES = ("warnings", "infos")


@dataclass(frozen=True)
class Reliability:
    """The number of right findings of one confidence and kind.

    Attributes:
        confidence: `certain`, `likely` or `possible`.
        severity: `warnings` (including critical ones) or `infos`.
        right: The number of findings that are true, or were measured.
        count: The number of all findings.
    """

    confidence: str
    severity: str
    right: int
    count: int


def reliability(answers: Iterable[Answer], code: str | None = None) -> list[Reliability]:
    """Return a row for each confidence and kind, of one cause or of all about the process."""
    right, count = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for answer in answers:
        for finding in answer.mechanisms:
            if code not in (None, finding["code"]):
                continue
            kind = (finding["confidence"], SEVERITIES[finding["severity"] == "info"])
            count[kind] += 1
            right[kind] += finding["code"] in answer.measured
    return [
        Reliability(confidence, severity, right[confidence, severity], count[confidence, severity])
        for severity in SEVERITIES
        for confidence in CONFIDENCES
    ]
