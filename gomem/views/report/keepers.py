"""Who keeps the heap, by the capture's last heap dump."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.views.document import Section
from gomem.views.retain.document import kept_blocks
from gomem.views.retain.words import growth_words, headline

if TYPE_CHECKING:
    from gomem.diagnosis.diagnosis import Diagnosis


def keepers_section(diagnosis: Diagnosis) -> Section | None:
    """The keepers, with the figure; None without a whole heap dump."""
    kept = diagnosis.facts.kept
    if kept is None:
        return None
    gist = growth_words(kept) or headline(kept)
    return Section("keepers", "Who keeps the heap", tuple(kept_blocks(kept)), gist=gist)
