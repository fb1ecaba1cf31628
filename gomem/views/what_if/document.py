"""A document of predictions for other settings."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING

from gomem.text import Bytes, CaptureName, Command, Text, joined, text
from gomem.views.document import Document, Section, Step, Tile, Tone, Verdict
from gomem.views.share import Hidden, share
from gomem.views.what_if.blocks import trade_figure, what_if_blocks
from gomem.views.what_if.words import (
    advice_reasons,
    advice_words,
    advised_settings,
    bought_words,
    today_words,
)

if TYPE_CHECKING:
    from gomem.analysis.what_if.what_if import PodAdvice, WhatIf
    from gomem.diagnosis.diagnosis import Diagnosis

KIND = "What other GOGC and GOMEMLIMIT would do"


def what_if_document(diagnosis: Diagnosis, answer: WhatIf, hidden: Hidden) -> Document:
    """Build the document for the requested settings."""
    release = diagnosis.capture.go_version
    document = Document(
        kind=KIND,
        title=CaptureName(diagnosis.capture.name),
        facts=(("Go release", text("{} ({})", str(release), release.evidence)),),
        verdict=_verdict(answer),
        sections=(Section("what-if", "What would happen", what_if_blocks(answer, opened=True)),),
        made_by=f"gomem {version('gomem')}",
        opening=() if answer.refused is not None else (trade_figure(answer),),
    )
    return share(document, hidden)


def _verdict(answer: WhatIf) -> Verdict:
    """The advised settings, if the container's size is known; else the effect of a higher GOGC."""
    if answer.refused is not None:
        return Verdict("neutral", "no estimate", Text(answer.refused).sentence())
    today, advice = today_words(answer.present), answer.advice
    if advice is None:
        bought = bought_words(answer)
        return Verdict("neutral", "estimate", bought or today, (today,) if bought else ())
    tone: Tone = "info" if advice.gogc is not None else "warning"
    details = (*advice_reasons(advice), today)
    settings = advised_settings(advice)
    command = f"export {' '.join(settings)}"
    steps = (Step(Command(command), is_command=True),) if settings else ()
    return Verdict(tone, "advice", advice_words(advice), details, steps, size=_size(advice))


def _size(advice: PodAdvice) -> Tile | None:
    """The advised GOGC with its limit."""
    if advice.gogc is None:
        return None
    gogc, *beside = advised_settings(advice)
    container = text("container of {}", Bytes(advice.container_bytes))
    return Tile(gogc, joined(", ", [*beside, container]))
