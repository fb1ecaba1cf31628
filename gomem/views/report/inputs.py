"""The files that were read, and those that a fuller report would need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.capture.wanted import missing_from
from gomem.inputs.schema import rows_of
from gomem.text import File
from gomem.views.document import Block, Cell, Notes, Section, Table
from gomem.views.values import bytes_cell, kind_cell
from gomem.views.words import how_many

if TYPE_CHECKING:
    from gomem.capture.capture import Capture
    from gomem.diagnosis.diagnosis import Diagnosis


def inputs_section(diagnosis: Diagnosis) -> Section:
    """The files, with the digests by which they can be known again."""
    blocks: list[Block] = [_files_table(diagnosis.capture)]
    missing = [wanted.name for wanted in missing_from(diagnosis.capture)]
    if missing:
        blocks.append(Notes((f"not in this capture: {', '.join(missing)}",)))
    gist = how_many(len(diagnosis.capture.artefacts), "file")
    return Section("inputs", "What was read", tuple(blocks), brief=False, gist=gist)


def _files_table(capture: Capture) -> Table:
    rows = tuple(
        (
            Cell(File(row["path"]), code=True),
            kind_cell(row["kind"], capture.looks.get(row["path"], "")),
            bytes_cell(row["bytes"]),
            Cell(row["sha256"], code=True),
        )
        for row in rows_of(capture.artefacts)
    )
    return Table("Files read", ("file", "kind", "size", "SHA-256"), "<<><", rows)
