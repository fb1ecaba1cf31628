"""What of the capture could not be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.views.damage import damage_section

if TYPE_CHECKING:
    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.views.document import Section


def unread_section(diagnosis: Diagnosis) -> Section | None:
    """Every place; None if all was read."""
    return damage_section(diagnosis.capture.damaged)
