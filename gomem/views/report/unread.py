"""What of the capture could not be read."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gomem.views.damage import damage_section
from gomem.views.words import how_many

if TYPE_CHECKING:
    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.views.document import Section


def unread_section(diagnosis: Diagnosis) -> Section | None:
    """Every place; None if all was read."""
    damaged = diagnosis.capture.damaged
    section = damage_section(damaged)
    if section is None:
        return None
    files = how_many(len({one.source for one in damaged}), "file")
    return replace(section, gist=f"{how_many(len(damaged), 'place')} in {files}")
