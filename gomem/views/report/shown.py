"""Which moment is shown first, and how the others follow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.views.document import Folded, in_one_fold
from gomem.views.share import named

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gomem.diagnosis.diagnosis import Diagnosis


def in_order(names: Iterable[str], diagnosis: Diagnosis) -> list[str]:
    """The moment to show first, then the others as they come."""
    return sorted(names, key=lambda name: name != diagnosis.shown_first)


def heading_of(words: str, moment: str, diagnosis: Diagnosis) -> str:
    """A heading, with the moment behind it if there is more than one."""
    return f"{words}: {named(moment)}" if len(diagnosis.capture.moments) > 1 else words


def other_moments(folded: Sequence[Folded]) -> tuple[Folded, ...]:
    """The moments that are not shown first."""
    return in_one_fold(folded, f"the other {len(folded)} moments")
