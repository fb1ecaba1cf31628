"""Which sections a page shows unfolded: those that bear on what the verdict says."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gomem.causes import CAUSES
from gomem.causes.finding import Severity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.views.document import Section

# Where nothing was found, the first of these that there is.
GROUND = ("ledger", "allocations", "collector")


def unfolded(sections: Sequence[Section], diagnosis: Diagnosis) -> tuple[Section, ...]:
    """The same sections, of which those that bear on the verdict are unfolded."""
    there = {section.name for section in sections}
    code = diagnosis.verdict.code
    opened = {name for cause in CAUSES if cause.code == code for name in cause.bears_on}
    opened |= set([name for name in GROUND if name in there][:1])
    if any(one.severity >= Severity.WARNING for one in diagnosis.findings):
        opened.add("findings")
    return tuple(
        replace(section, opened=True) if section.name in opened else section for section in sections
    )
