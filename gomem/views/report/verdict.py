"""The report in two sentences, as `gomem.diagnosis.verdict` says them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gomem.causes.finding import Severity
from gomem.text import Command, Name, Number, Text, Words
from gomem.views.document import Verdict
from gomem.views.figures.flame_graph import known_name
from gomem.views.names import typed
from gomem.views.words import minus_signs

if TYPE_CHECKING:
    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.text import Part
    from gomem.views.document import Tone

TONES: dict[Severity, Tone] = {
    Severity.CRITICAL: "critical", Severity.WARNING: "warning", Severity.INFO: "info",
}  # fmt: skip
NO_BREAK = "\u00a0"  # space
LABELS: dict[Tone, str] = {"info": "note", "good": "no warning"}


def verdict(diagnosis: Diagnosis) -> Verdict:
    """The diagnosis' verdict, with numbers kept with their units."""
    said = diagnosis.verdict
    tone: Tone = "good" if said.severity is None else TONES[said.severity]
    return Verdict(
        tone,
        LABELS.get(tone, tone),
        together(typed(said.headline, diagnosis)),
        tuple(
            together(typed(sentence, diagnosis))
            for sentence in (said.second, *said.whose)
            if sentence
        ),
        together(typed(said.next_step, diagnosis)),
        together(said.further),
    )


def together(sentence: str) -> Text:
    """A sentence for a page: a number stays with its unit, a minus is no hyphen, names end."""
    return minus_signs(sentence).shown(_on_a_page)


def _on_a_page(part: Part) -> Part:
    if isinstance(part, Command):
        return part
    if isinstance(part, Name):
        shown = known_name(part.value)
        return part if shown == part.value else type(part)(shown)
    if isinstance(part, Number):
        return Words(part.replace(" ", NO_BREAK))
    cut = re.sub(r"\S{301,}", lambda long: known_name(long[0]), part)
    return Words(re.sub(r"(?<=\d) (?=%|[KMGT]?i?B\b)", NO_BREAK, cut))
