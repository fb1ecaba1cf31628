"""What is in a capture, what gomem found, and what it could not read, in a notebook."""

from __future__ import annotations

from itertools import chain
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from gomem.views.damage import damage_section
from gomem.views.document import Cell, Table
from gomem.views.report.findings import findings_section
from gomem.views.values import NOTHING, seconds_cell, time_cell
from gomem.views.writers.notebook_cells import Shown, sentences

if TYPE_CHECKING:
    import pandas as pd

    from gomem.capture.capture import Capture
    from gomem.causes.finding import Finding
    from gomem.diagnosis.diagnosis import Diagnosis

NOTHING_FOUND = "No known cause of trouble fits this capture."


def show_capture(capture: Capture) -> Shown:
    """The moments of a capture, its files by moment, and the Go release."""
    files = capture.artefacts
    whole = _names(files.loc[(files["moment"] == "") & (files["kind"] != ""), "path"])
    caption = (
        f"The capture {PurePosixPath(capture.name).name}. Its Go release: {capture.go_version}."
    )
    if whole:
        caption += f" Of the whole capture: {whole}."
    rows = tuple(_moment(row, files) for row in capture.moments.to_dict("records"))
    return Shown((Table(caption, ("moment", "time", "skew", "files"), "<<><", rows),))


def _moment(row: dict[str, Any], files: pd.DataFrame) -> tuple[Cell, ...]:
    names = _names(files.loc[files["moment"] == row["moment"], "path"])
    return (
        Cell(row["moment"]),
        time_cell(row["time"]),
        seconds_cell(row["skew_seconds"]),
        Cell(names) if names else NOTHING,
    )


def _names(paths: pd.Series) -> str:
    return ", ".join(PurePosixPath(path).name for path in paths)


def headlines(diagnosis: Diagnosis) -> Shown:
    """What was found, a sentence for each finding; the most severe first."""
    if not diagnosis.findings:
        return sentences(NOTHING_FOUND)
    return sentences(*map(_headline, diagnosis.findings))


def _headline(finding: Finding) -> str:
    where = f"{finding.moment}: " if finding.moment else ""
    return f"{where}{finding.title} ({finding.severity}, {finding.code})."


def show_findings(diagnosis: Diagnosis) -> Shown:
    """Every finding with its evidence, why it happens, and what to do."""
    if not diagnosis.findings:
        return sentences(NOTHING_FOUND)
    return Shown(findings_section(diagnosis).blocks)


def show_damage(*captures: Capture) -> Shown:
    """What could not be read; nothing is dropped in silence."""
    damaged = tuple(chain.from_iterable(capture.damaged for capture in captures))
    section = damage_section(damaged)
    if section is None:
        noun = "capture" if len(captures) == 1 else "captures"
        return sentences(f"Everything in the {noun} was read.")
    words = sentences(f"Could not be read: {len(damaged)}. The numbers above are without it.")
    return Shown((*words.blocks, *section.blocks))
