"""What is in a capture, what gomem found, and what it could not read, in a notebook."""

from __future__ import annotations

from html import escape
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import pandas as pd

from gomem.units import format_value
from gomem.views.writers.cells import SECONDS, Shown, sentences, table

if TYPE_CHECKING:
    from gomem.capture.capture import Capture
    from gomem.causes.finding import Evidence, Finding
    from gomem.diagnosis.diagnosis import Diagnosis

NOTHING_FOUND = "No known cause of trouble fits this capture."


def show_capture(capture: Capture) -> Shown:
    """The moments of a capture, its files by kind, and the Go release."""
    files = capture.artefacts
    moments = capture.moments.assign(
        time=[
            f"{time:%Y-%m-%d %H:%M:%S} UTC" if pd.notna(time) else None
            for time in capture.moments["time"]
        ],
        artefacts=[
            _names(files.loc[files["moment"] == name, "path"]) for name in capture.moments["moment"]
        ],
    )
    whole = _names(files.loc[(files["moment"] == "") & (files["kind"] != ""), "path"])
    name = PurePosixPath(capture.name).name
    caption = f"The capture {name}. Its Go release: {capture.go_version}." + (
        f" Of the whole capture: {whole}." if whole else ""
    )
    units = {"skew_seconds": SECONDS}
    return table(moments.rename(columns={"artefacts": "files"}), caption, units)


def _names(paths: pd.Series) -> str:
    return ", ".join(PurePosixPath(path).name for path in paths)


def headlines(diagnosis: Diagnosis) -> Shown:
    """What was found, a sentence for each finding; the most severe first."""
    if not diagnosis.findings:
        return sentences(NOTHING_FOUND)
    return sentences(*(_headline(finding) for finding in diagnosis.findings))


def _headline(finding: Finding) -> str:
    where = f"{finding.moment}: " if finding.moment else ""
    return f"{where}{finding.title} ({finding.severity}, {finding.code})."


def show_findings(diagnosis: Diagnosis) -> Shown:
    """Every finding with its evidence, why it happens, and what to do."""
    if not diagnosis.findings:
        return sentences(NOTHING_FOUND)
    shown = [_finding(finding) for finding in diagnosis.findings]
    return Shown("".join(one.html for one in shown), "\n\n".join(one.text for one in shown))


def show_damage(*captures: Capture) -> Shown:
    """What could not be read; nothing is dropped in silence."""
    damage = pd.concat([capture.damage for capture in captures], ignore_index=True)
    if damage.empty:
        return sentences(
            "Everything in the capture was read."
            if len(captures) == 1
            else "Everything in the captures was read."
        )
    return table(damage, f"Could not be read: {len(damage)}. The numbers above are without it.")


def _finding(finding: Finding) -> Shown:
    facts = pd.DataFrame(
        {
            "file": [one.artefact for one in finding.evidence],
            "field": [one.field for one in finding.evidence],
            "value": [_value(one) for one in finding.evidence],
        }
    )
    where = f", at {finding.moment}" if finding.moment else ""
    proof = table(facts, f"Evidence for {finding.code}{where} ({finding.confidence})")
    words = [
        ("Why", finding.mechanism),
        ("Next step", finding.next_step),
        ("See", ", ".join(finding.references)),
    ]
    paragraphs = "".join(
        f"<p><strong>{word}.</strong> {escape(text)}</p>" for word, text in words if text
    )
    html = (
        f"<h3>{escape(str(finding.severity))}: {escape(finding.title)}</h3>{paragraphs}{proof.html}"
    )
    lines = [f"{finding.severity}: {finding.title}", *(f"{word}. {text}" for word, text in words)]
    return Shown(html, "\n".join([*lines, proof.text]))


def _value(evidence: Evidence) -> str:
    """As people read it, and where that is rounded, the exact number behind."""
    shown = format_value(evidence.value, evidence.unit)
    rounded = evidence.unit in {"B", "B/s", "s", "fraction"}
    return f"{shown} ({evidence.value})" if rounded else shown
