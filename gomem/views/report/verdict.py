"""The report in two sentences: what is wrong, if anything, and where the memory is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gomem.causes.finding import Severity
from gomem.units import format_bytes, format_fraction
from gomem.views.document import Verdict
from gomem.views.share import named
from gomem.views.words import how_many, part_name

if TYPE_CHECKING:
    from gomem.causes.finding import Finding
    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.views.document import Tone

TONES: dict[Severity, Tone] = {
    Severity.CRITICAL: "critical", Severity.WARNING: "warning", Severity.INFO: "info",
}  # fmt: skip
MISSING, DAMAGED = "data-missing", "data-damaged"
LARGEST_PARTS = 3
MUCH_UNTOUCHED = 0.05  # of RSS: worth a word in the first lines


def verdict(diagnosis: Diagnosis) -> Verdict:
    """What the worst finding says, or that nothing warns; where the memory is; what else."""
    warnings = [one for one in diagnosis.findings if one.severity >= Severity.WARNING]
    details = (_together(_residence(diagnosis)), *_beside(diagnosis, warnings))
    if warnings:
        tone = TONES[warnings[0].severity]
        return Verdict(tone, tone, _sentence(warnings[0].title), details)
    lacking = any(one.code == MISSING for one in diagnosis.findings)
    limited = ", as far as these files can tell" if lacking else ""
    return Verdict("good", "no warning", f"No warning{limited}.", details)


def _sentence(title: str) -> str:
    return _together(title[:1].upper() + title[1:].rstrip(".") + ".")


def _together(text: str) -> str:
    """A number and its unit stay on one line."""
    return re.sub(r"(?<=\d) (?=%|[KMGT]?i?B\b)", "\u00a0", text)


def _residence(diagnosis: Diagnosis) -> str:
    """RSS and its largest parts, of the moment that is shown first."""
    moment = diagnosis.shown_first
    ledger = diagnosis.ledgers.get(moment or "")
    if moment is None or ledger is None:
        return "No file here says how much memory is resident."
    rss = ledger.rss_bytes
    doubtful = ledger.parts["confidence"] == "doubtful"
    trusted = ledger.parts[~doubtful]
    sizes = dict(zip(trusted["part"], trusted["bytes"].tolist(), strict=True))
    largest = sorted(sizes, key=lambda part: -sizes[part])[:LARGEST_PARTS]
    parts = [_part_words(part, sizes[part], rss) for part in largest if sizes[part] > 0]
    if rss is None:
        return f"No file here says how much is resident. Go claims {', '.join(parts)}."
    place = f" at {named(moment)}" if len(diagnosis.capture.moments) > 1 else ""
    total = f"RSS is {format_bytes(rss)}{place}"
    if doubtful.any():
        return f"{total}; how much of it is heap, these files cannot tell."
    text = f"{total}; its largest parts are {', '.join(parts)}."
    untouched = -sizes.get("heap_untouched", 0)
    if untouched > MUCH_UNTOUCHED * rss:
        text += f" {format_bytes(untouched)} of what Go claims were never touched."
    return text


def _part_words(part: str, size: int, rss: int | None) -> str:
    share = f" ({format_fraction(size / rss)})" if rss else ""
    return f"{part_name(part)} {format_bytes(size)}{share}"


def _beside(diagnosis: Diagnosis, warnings: list[Finding]) -> tuple[str, ...]:
    """Further findings, and what could not be read; empty if there is neither."""
    words = []
    further = len(warnings) - 1
    if further > 0:
        words.append("one further warning" if further == 1 else f"{further} further warnings")
    notes = len(diagnosis.findings) - len(warnings)
    if notes:
        words.append(how_many(notes, "note"))
    damaged = len(diagnosis.capture.damaged)
    if damaged and not (warnings and warnings[0].code == DAMAGED):
        words.append(f"{how_many(damaged, 'place')} could not be read")
    return (f"Also: {'; '.join(words)}.",) if words else ()
