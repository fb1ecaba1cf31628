"""What other settings would do, as a document of its own."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING

from gomem.text import CaptureName, text
from gomem.views.document import Document, Section, Verdict
from gomem.views.names import hidden
from gomem.views.share import share
from gomem.views.what_if.blocks import advice_words, what_if_blocks
from gomem.views.words import minus_signs

if TYPE_CHECKING:
    from gomem.analysis.what_if.what_if import WhatIf
    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.views.document import Tone

KIND = "What other GOGC and GOMEMLIMIT would do"


def what_if_document(diagnosis: Diagnosis, answer: WhatIf) -> Document:
    """Say everything once, for the settings that were asked for."""
    release = diagnosis.capture.go_version
    document = Document(
        kind=KIND,
        title=CaptureName(diagnosis.capture.name),
        facts=(("Go release", text("{} ({})", str(release), release.evidence)),),
        verdict=_verdict(answer),
        sections=(Section("what-if", "What would happen", what_if_blocks(answer, advised=True)),),
        made_by=f"gomem {version('gomem')}",
    )
    return share(document, hidden(diagnosis))


def _verdict(answer: WhatIf) -> Verdict | None:
    """What to set, where the container's size is known; that it is refused, where it is."""
    if answer.refused is not None:
        return Verdict(
            "neutral", "no telling", f"{answer.refused[:1].upper()}{answer.refused[1:]}."
        )
    if answer.advice is None:
        return None
    tone: Tone = "info" if answer.advice.gogc is not None else "warning"
    return Verdict(tone, "advice", minus_signs(advice_words(answer.advice)))
