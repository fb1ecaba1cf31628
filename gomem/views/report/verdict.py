"""The report in two sentences, as `gomem.diagnosis.verdict` says them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gomem.causes.finding import Severity
from gomem.views.document import Verdict
from gomem.views.share import named_in
from gomem.views.words import minus_signs

if TYPE_CHECKING:
    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.views.document import Tone

TONES: dict[Severity, Tone] = {
    Severity.CRITICAL: "critical", Severity.WARNING: "warning", Severity.INFO: "info",
}  # fmt: skip
LABELS: dict[Tone, str] = {"info": "note", "good": "no warning"}


def verdict(diagnosis: Diagnosis) -> Verdict:
    """The diagnosis' verdict, with the names in it marked and numbers kept with their units."""
    said, known = diagnosis.verdict, moment_names(diagnosis)
    tone: Tone = "good" if said.severity is None else TONES[said.severity]
    words = (said.second, *said.whose, f"Next: {said.next_step}", said.further)
    return Verdict(
        tone,
        LABELS.get(tone, tone),
        _together(named_in(said.headline, known)),
        tuple(_together(named_in(one, known)) for one in words if one),
    )


def moment_names(diagnosis: Diagnosis) -> frozenset[str]:
    """The names of the moments, the baseline's too."""
    both = (diagnosis, diagnosis.baseline)
    return frozenset(name for one in both if one is not None for name in one.capture.by_moment)


def _together(text: str) -> str:
    """A number and its unit stay on one line, and a minus is no hyphen."""
    return re.sub(r"(?<=\d) (?=%|[KMGT]?i?B\b)", "\u00a0", minus_signs(text))
