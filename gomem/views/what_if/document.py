"""What other settings would do, as a document of its own."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING

from gomem.text import Bytes, CaptureName, Command, Text, text
from gomem.views.document import Document, Section, Step, Tile, Verdict
from gomem.views.names import hidden
from gomem.views.share import share
from gomem.views.what_if.blocks import trade_figure, what_if_blocks
from gomem.views.what_if.words import (
    advice_reasons,
    advice_words,
    bought_words,
    limit_setting,
    settings_command,
    today_words,
)

if TYPE_CHECKING:
    from gomem.analysis.what_if.what_if import PodAdvice, WhatIf
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
        sections=(Section("what-if", "What would happen", what_if_blocks(answer, opened=True)),),
        made_by=f"gomem {version('gomem')}",
        opening=() if answer.refused is not None else (trade_figure(answer),),
    )
    return share(document, hidden(diagnosis))


def _verdict(answer: WhatIf) -> Verdict:
    """What to set, where the container's size is known; else what a higher GOGC would buy."""
    if answer.refused is not None:
        return Verdict("neutral", "no estimate", Text(answer.refused).sentence())
    today, advice = today_words(answer.present), answer.advice
    if advice is None:
        bought = bought_words(answer)
        return Verdict("neutral", "estimate", bought or today, (today,) if bought else ())
    tone: Tone = "info" if advice.gogc is not None else "warning"
    details = (*advice_reasons(advice), today)
    command = settings_command(advice)
    steps = (Step(Command(command), is_command=True),) if command else ()
    return Verdict(tone, "advice", advice_words(advice), details, steps, size=_size(advice))


def _size(advice: PodAdvice) -> Tile | None:
    """The GOGC that is advised, with its limit."""
    if advice.gogc is None:
        return None
    limit = advice.gomemlimit_bytes
    beside = "" if limit is None else f"GOMEMLIMIT={limit_setting(limit)}, "
    container = text("{}container of {}", beside, Bytes(advice.container_bytes))
    return Tile(f"GOGC={advice.gogc}", container)
