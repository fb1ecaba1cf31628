"""The report: its sections in order, and what stands above them."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING

from gomem.units import format_count
from gomem.views.document import Document, Section
from gomem.views.report.allocations import allocations_section
from gomem.views.report.changes import changes_section
from gomem.views.report.collector import collector_section
from gomem.views.report.findings import findings_section
from gomem.views.report.growth import growth_section
from gomem.views.report.inputs import inputs_section
from gomem.views.report.ledger import ledger_section
from gomem.views.report.levels import levels_section
from gomem.views.report.limits import limits_section
from gomem.views.report.mappings import mappings_section
from gomem.views.report.moments import moments_section
from gomem.views.report.scavenger import scavenger_section
from gomem.views.report.unread import unread_section
from gomem.views.report.verdict import verdict
from gomem.views.report.what_if import what_if_section
from gomem.views.share import Hidden, named, share
from gomem.views.values import time_cell
from gomem.views.words import first_few

if TYPE_CHECKING:
    from collections.abc import Callable

    from gomem.capture.capture import Capture
    from gomem.diagnosis.diagnosis import Diagnosis

SECTIONS: tuple[Callable[[Diagnosis], Section | None], ...] = (
    findings_section,
    ledger_section,
    moments_section,
    levels_section,
    changes_section,
    mappings_section,
    scavenger_section,
    limits_section,
    allocations_section,
    growth_section,
    collector_section,
    what_if_section,
    unread_section,
    inputs_section,
)
NAMED = 6  # moments above the report


def report_document(diagnosis: Diagnosis, *, redact: bool = False) -> Document:
    """Say everything once.

    Args:
        diagnosis: The answers.
        redact: Whether to hide folder and moment names; see `share`.
    """
    sections = (section(diagnosis) for section in SECTIONS)
    document = Document(
        kind="Go memory report",
        title=named(diagnosis.capture.name),
        facts=_facts(diagnosis),
        verdict=verdict(diagnosis),
        sections=tuple(section for section in sections if section is not None),
        made_by=f"gomem {version('gomem')}",
    )
    return share(document, hidden(diagnosis, redact=redact))


def hidden(diagnosis: Diagnosis, *, redact: bool = False) -> Hidden:
    """What a report hides of the capture and of its baseline."""
    known = (diagnosis, diagnosis.baseline)
    return Hidden.of(*(one.capture for one in known if one is not None), redact=redact)


def _facts(diagnosis: Diagnosis) -> tuple[tuple[str, str], ...]:
    capture = diagnosis.capture
    release = capture.go_version
    facts = [("Go release", f"{release} ({release.evidence})"), ("Moments", _moments(capture))]
    taken = _taken(capture)
    if taken:
        facts.append(("Taken", taken))
    facts.append(("Files", format_count(len(capture.artefacts))))
    if diagnosis.baseline is not None:
        other = diagnosis.baseline.capture
        facts.append(("Held against", f"{named(other.name)} ({other.go_version})"))
    return tuple(facts)


def _taken(capture: Capture) -> str:
    """When the first moment was, as far as a clock says it."""
    times = capture.moments["time"].dropna()
    return "" if times.empty else time_cell(times.min()).text


def _moments(capture: Capture) -> str:
    names = [named(name) for name in capture.moments["moment"]]
    return f"{len(names)}: {first_few(names, NAMED)}" if names else "none"
