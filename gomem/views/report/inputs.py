"""The files that were read, and those that a fuller report would need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.capture.wanted import missing_from
from gomem.views.document import Block, Notes, Section
from gomem.views.inspect.inspection import files_columns
from gomem.views.tables import code, table
from gomem.views.words import how_many

if TYPE_CHECKING:
    from gomem.diagnosis.diagnosis import Diagnosis


def inputs_section(diagnosis: Diagnosis) -> Section:
    """The files, with the digests by which they can be known again."""
    capture = diagnosis.capture
    columns = (*files_columns(capture), code("SHA-256", "sha256"))
    blocks: list[Block] = [table("Files read", columns, capture.artefacts)]
    missing = [wanted.name for wanted in missing_from(capture)]
    if missing:
        blocks.append(Notes((f"not in this capture: {', '.join(missing)}",)))
    gist = how_many(len(capture.artefacts), "file")
    return Section("inputs", "What was read", tuple(blocks), brief=False, gist=gist)
