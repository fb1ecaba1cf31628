"""What was found: a card for each cause, with all the moments in which it was found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.causes import CAUSES
from gomem.units import format_value
from gomem.views.document import Block, Card, Cell, Codes, Folded, Paragraph, Section, Table
from gomem.views.report.verdict import TONES
from gomem.views.share import located_all, named, named_all
from gomem.views.values import bytes_cell, seconds_cell
from gomem.views.words import minus

if TYPE_CHECKING:
    from gomem.causes.finding import Evidence, Finding
    from gomem.diagnosis.diagnosis import Diagnosis

WORD = 24  # characters: evidence that is longer is a sentence


def findings_section(diagnosis: Diagnosis) -> Section:
    """The findings, then all the causes that were looked for."""
    moments = frozenset(map(str, diagnosis.capture.moments["moment"]))
    cards: list[Block] = [_card(same, moments) for same in _by_cause(diagnosis.findings)]
    looked_for = Codes("Looked for", tuple(cause.code for cause in CAUSES))
    return Section("findings", "Findings", (*(cards or [Paragraph("None.")]), looked_for))


def _by_cause(findings: tuple[Finding, ...]) -> list[list[Finding]]:
    """Findings that say the same about different moments are grouped."""
    same: dict[tuple[str, str, str], list[Finding]] = {}
    for finding in findings:
        same.setdefault((finding.code, finding.mechanism, finding.next_step), []).append(finding)
    return list(same.values())


def _card(findings: list[Finding], moments: frozenset[str]) -> Card:
    first, *others = findings
    place = (f"at {named(first.moment)}",) if first.moment else ()
    return Card(
        title=first.title,
        tone=TONES[first.severity],
        code=first.code,
        about=(first.confidence, *place),
        explained=(("Why", first.mechanism), ("What to do", first.next_step)),
        proof=_evidence_table(first, moments),
        references=tuple(first.references),
        others=tuple(_other(finding, moments) for finding in others),
    )


def _other(finding: Finding, moments: frozenset[str]) -> Folded:
    also = f"Also at {named(finding.moment)}" if finding.moment else "Also"
    return Folded(f"{also}: {finding.title}", (_evidence_table(finding, moments),))


def _evidence_table(finding: Finding, moments: frozenset[str]) -> Table:
    """What proves a finding; words read from the left, numbers from the right."""
    words = any(isinstance(one.value, str) and len(one.value) > WORD for one in finding.evidence)
    return Table(
        f"Evidence for {finding.code}",
        ("artefact", "field", "value"),
        "<<<" if words else "<<>",
        tuple(
            (Cell(located_all(one.artefact), code=True), Cell(one.field, code=True),
             _value_cell(one, moments))
            for one in finding.evidence
        ),
    )  # fmt: skip


def _value_cell(evidence: Evidence, moments: frozenset[str]) -> Cell:
    """Rounded by its unit, with all digits of bytes, rates, seconds and fractions behind."""
    value, unit = evidence.value, evidence.unit
    if isinstance(value, str):
        return Cell(named_all(value, moments))
    if unit == "B":
        return bytes_cell(value)
    if unit == "s":
        return seconds_cell(value)
    exact = {"B/s": f"{value:.0f} B/s", "fraction": str(value)}.get(unit, "")
    return Cell(minus(format_value(value, unit)), minus(exact))
