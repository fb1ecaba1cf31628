"""The report's verdict in two sentences, from `gomem.diagnosis.verdict`."""

from __future__ import annotations

import re
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING

from gomem.causes.finding import Evidence, Finding, Severity
from gomem.diagnosis.first_sentence import sentences_within
from gomem.diagnosis.healthy import can_be_healthy, shows_no_growth, shows_rss
from gomem.text import (
    Bytes,
    BytesBy,
    BytesChange,
    Command,
    Count,
    MomentName,
    Name,
    Number,
    Text,
    Words,
    joined,
    number,
    text,
)
from gomem.views.document import NO_BREAK, Step, Tile, Tone, Verdict
from gomem.views.figures.flame_graph import known_name
from gomem.views.names import typed, typed_paths
from gomem.views.titles import field_title
from gomem.views.words import minus_signs

if TYPE_CHECKING:
    from gomem.capture.capture import Capture
    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.text import Part

TONES: dict[Severity, Tone] = {
    Severity.CRITICAL: "critical", Severity.WARNING: "warning", Severity.INFO: "info",
}  # fmt: skip
SHOWN_PROOF = 3  # lines below the headline
TWO_LINES = 180  # characters of a headline


def verdict(diagnosis: Diagnosis) -> Verdict:
    """Return the diagnosis' verdict, with numbers kept together with their units."""
    said = diagnosis.verdict
    tone = _tone(diagnosis)
    confidence = None if said.found else said.confidence  # of the headline, if it is the finding's
    # Figures show what RSS consists of, and nothing else that `where` says.
    is_drawn = said.rss_bytes is not None
    where = "" if said.is_in_short else said.where
    headline, rest = sentences_within(said.headline, TWO_LINES)
    details = (rest, "" if is_drawn else where, said.moved, said.found, *said.whose)
    finding = next((finding for finding in diagnosis.findings if finding.code == said.code), None)
    return Verdict(
        tone,
        _label(tone, confidence, diagnosis),
        together(typed(headline, diagnosis)),
        tuple(together(typed(sentence, diagnosis)) for sentence in details if sentence),
        steps_of(together(typed(said.next_step, diagnosis))),
        together(said.further),
        size=_size(diagnosis),
        where=together(typed(where, diagnosis)) if is_drawn else "",
        proof=() if finding is None else proof_of(finding, SHOWN_PROOF),
    )


def _tone(diagnosis: Diagnosis) -> Tone:
    """The severity; neutral if no file shows how memory changes."""
    severity = diagnosis.verdict.severity
    if severity is not None:
        return TONES[severity]
    return "good" if can_be_healthy(diagnosis) else "neutral"


def label_of(tone: Tone, confidence: str | None) -> str:
    """Severity and confidence: `warning · likely`."""
    word = "note" if tone == "info" else tone
    return f"{word} · {confidence}" if confidence else word


def _label(tone: Tone, confidence: str | None, diagnosis: Diagnosis) -> Text:
    if tone == "neutral" and not shows_no_growth(diagnosis):
        return Text("no verdict")
    if tone not in {"good", "neutral"}:
        return Text(label_of(tone, confidence))
    # A log of the GC shows no other memory.
    healthy = "healthy" if shows_rss(diagnosis) else "Go heap healthy"
    words = "no steady growth" if tone == "neutral" else healthy
    return text("{}{}", words, _files_read(diagnosis.capture))


def _files_read(capture: Capture) -> Text:
    """How many of the files the verdict uses; empty if all were read."""
    read = {file.source.text_name for file in capture.files}
    unread = {source.text_name for source in capture.passed_over} - read
    if not unread:
        return Text()
    return text(" ({} of {} read)", str(len(read)), Count(len(read) + len(unread), "file"))


def _size(diagnosis: Diagnosis) -> Tile | None:
    """The total at the shown moment, and its change since the start."""
    owners = diagnosis.owners
    if owners is None or any(moment.rss_is_of_cgroup for moment in diagnosis.moments):
        return None  # the headline has the cgroup's usage, which is no RSS
    what = {"rss": "RSS", "reserved": "retained by Go"}[owners.quantity]
    whole, name = owners.totals[-1], Text(what)
    if owners.totals[1:]:
        change, first, last = whole - owners.totals[0], owners.labels[0], owners.labels[-1]
        before = None if first in diagnosis.by_moment else diagnosis.baseline_moment(last)
        name = text("{} at {}, {} since {}", what, last, BytesChange(change), first)
        if before is not None:
            by = text("{} {} than", BytesBy(change), "more" if change > 0 else "less")
            than = by if change else "as much as"
            where = "" if before == last else text(" at {}", MomentName(before))
            name = text("{} at {}, {} in the baseline{}", what, last, than, where)
    return Tile(together(Bytes(whole)), together(name))


def steps_of(sentence: str) -> tuple[Step, ...]:
    """The next step, with commands separated from the text around them."""
    steps: list[Step] = []
    words: list[str] = []
    for part in (*Text(sentence).parts, Command("")):
        if not isinstance(part, Command):
            behind = steps and not words and type(part) is Words  # the full stop after a command
            words.append(Words(part.lstrip(" .;")) if behind else part)
            continue
        if Text(*words).strip(" ."):
            steps.append(Step(Text(*words)))
        if part.value:
            steps.append(Step(part, is_command=True))
        words = []
    return tuple(steps)


def proof_of(finding: Finding, most: int) -> tuple[str, ...]:
    """The first numbers of a finding's evidence, a line per file."""
    lines = []
    for artefact, rows in groupby(finding.evidence[:most], key=attrgetter("artefact")):
        numbers = joined(
            "; ", (text("{} = {}", field_title(row.field), _value(row)) for row in rows)
        )
        lines.append(together(text("{}: {}", typed_paths(artefact), numbers)))
    return tuple(lines)


def _value(row: Evidence) -> Text:
    return Text(row.value) if isinstance(row.value, str) else Text(number(row.value, row.unit))


def together(sentence: str) -> Text:
    """Prepare a sentence for a page: non-breaking units, minus signs, breakable names."""
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
    return Words(re.sub(r"(?<=[0-9]) (?=%|[KMGT]?i?B\b)", NO_BREAK, cut))
