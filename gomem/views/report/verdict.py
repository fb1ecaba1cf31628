"""The report in two sentences, as `gomem.diagnosis.verdict` says them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gomem.causes.finding import Severity
from gomem.views.document import Verdict
from gomem.views.figures.flame_graph import known_name
from gomem.views.names import moment_names
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

    def words(text: str) -> str:
        return together(named_in(text, known))

    return Verdict(
        tone,
        LABELS.get(tone, tone),
        words(said.headline),
        tuple(words(one) for one in (said.second, *said.whose) if one),
        words(said.next_step),
        words(said.further),
    )


def together(text: str) -> str:
    """A sentence for a page: a number stays with its unit, a minus is no hyphen, names end."""
    cut = re.sub(r"\S{301,}", lambda long: known_name(long[0]), minus_signs(text))
    return re.sub(r"(?<=\d) (?=%|[KMGT]?i?B\b)", "\u00a0", cut)
