"""The names that a diagnosis has, its baseline's among them, and what an output hides of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.views.share import Hidden

if TYPE_CHECKING:
    from gomem.diagnosis.diagnosis import Diagnosis


def hidden(diagnosis: Diagnosis, *, redact: bool = False) -> Hidden:
    """What a report hides of the capture and of its baseline."""
    known = (diagnosis, diagnosis.baseline)
    return Hidden.of(*(one.capture for one in known if one is not None), redact=redact)


def moment_names(diagnosis: Diagnosis) -> frozenset[str]:
    """The names of the moments, the baseline's too."""
    both = (diagnosis, diagnosis.baseline)
    return frozenset(name for one in both if one is not None for name in one.capture.by_moment)
