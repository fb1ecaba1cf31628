"""The report's findings: a card for each cause, with the snapshots at which it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.causes import CAUSES
from gomem.causes.finding import Evidence, Finding, Severity
from gomem.text import MomentName, Text, text
from gomem.units import format_value, minus
from gomem.views.document import Block, Card, Cell, Codes, Folded, Paragraph, Section, Step, Table
from gomem.views.names import typed, typed_paths, typed_value
from gomem.views.report.verdict import TONES, label_of, steps_of, together
from gomem.views.tables import Column, code, table
from gomem.views.titles import field_title
from gomem.views.values import bytes_cell, seconds_cell
from gomem.views.words import first_few, how_many

if TYPE_CHECKING:
    from gomem.diagnosis.diagnosis import Diagnosis

NAMED = 3  # moments besides the one shown
WORD = 24  # characters: longer evidence is a sentence
NOUNS = {Severity.CRITICAL: "critical finding", Severity.WARNING: "warning", Severity.INFO: "note"}


def findings_section(diagnosis: Diagnosis) -> Section:
    """The findings, then all causes that were checked."""
    cards: list[Block] = [_card(finding, diagnosis) for finding in diagnosis.findings]
    codes = Codes("Checked", tuple(cause.code for cause in CAUSES))
    checked = Folded(f"{len(CAUSES)} causes checked", (codes,))
    blocks = (*(cards or [Paragraph("None.")]), checked)
    return Section("findings", "Findings", blocks, gist=_gist(diagnosis))


def _gist(diagnosis: Diagnosis) -> str:
    """The number of findings per severity, the most severe first."""
    severities = [finding.severity for finding in diagnosis.findings]
    if not severities:
        return f"none of {len(CAUSES)} causes"
    each = ((severity, severities.count(severity)) for severity in reversed(Severity))
    return ", ".join(how_many(count, NOUNS[severity]) for severity, count in each if count)


def _card(finding: Finding, diagnosis: Diagnosis) -> Card:
    is_headline = finding.code == diagnosis.verdict.code
    title = Text("Main finding") if is_headline else Text(finding.title)
    tone = TONES[finding.severity]
    explained: tuple[tuple[str, tuple[Step, ...]], ...] = (("Why", steps_of(finding.mechanism)),)
    if finding.next_step != diagnosis.verdict.next_step:  # the page's verdict already has it
        steps = steps_of(together(typed(finding.next_step, diagnosis)))
        explained += (("What to do", steps),)
    return Card(
        title=together(typed(title, diagnosis)),
        tone=tone,
        label=label_of(tone, finding.confidence),
        code=finding.code,
        about=_when(finding, diagnosis),
        explained=explained,
        proof=_evidence_table(finding, diagnosis),
        references=(*_documentation(finding), *finding.references),
    )


def _documentation(finding: Finding) -> tuple[str, ...]:
    """Links to the documentation of the missing call."""
    return () if finding.missing_call is None else (finding.missing_call.reference,)


def _when(finding: Finding, diagnosis: Diagnosis) -> tuple[str, ...]:
    """The moments at which it holds, if there are several, and whether it still does."""
    if finding.moment is None or len(diagnosis.capture.by_moment) == 1:
        return ()
    over = ("resolved",) if finding.over else ()
    if len(finding.moments) == len(diagnosis.capture.by_moment):
        many = len(finding.moments)
        return ("at both snapshots" if many == 2 else f"at all {many} snapshots", *over)
    others = [MomentName(name) for name in finding.moments if name != finding.moment]
    also = ("also at " + first_few(others, NAMED),) if others else ()
    at = text("at {}", MomentName(finding.moment))
    return (at, *also, *over)


def _evidence_table(finding: Finding, diagnosis: Diagnosis) -> Table:
    """The evidence of a finding; text is left-aligned, numbers right-aligned."""
    has_words = any(
        isinstance(evidence.value, str) and len(evidence.value) > WORD
        for evidence in finding.evidence
    )
    columns = (
        code("artefact", lambda evidence: typed_paths(evidence.artefact)),
        code("measured", lambda evidence: field_title(evidence.field)),
        Column(
            "value", lambda evidence: _value_cell(evidence, diagnosis), "<" if has_words else ">"
        ),
    )
    return table(f"Evidence for {finding.code}", columns, finding.evidence)


def _value_cell(evidence: Evidence, diagnosis: Diagnosis) -> Cell:
    """The value rounded by its unit; bytes, rates, seconds and fractions keep all digits behind."""
    value, unit = evidence.value, evidence.unit
    if isinstance(value, str):
        return Cell(typed_value(value, diagnosis))
    if unit == "B":
        return bytes_cell(value)
    if unit == "s":
        return seconds_cell(value)
    exact = {"B/s": f"{value:.0f} B/s", "fraction": str(value)}.get(unit, "")
    return Cell(minus(format_value(value, unit)), minus(exact))
