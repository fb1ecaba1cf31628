"""What a description of a container says, in a file or a paste beside the other files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gomem.capture.pasted import PastedPart
from gomem.inputs.environ.parse import MAX_TEXT_BYTES
from gomem.inputs.kubernetes import OomKilled, oom_killed

if TYPE_CHECKING:
    from gomem.capture.capture import Capture
    from gomem.facts.capture import CaptureFacts

GC_LOG = "gctrace"  # whose text can have more than the log


def texts_beside(capture: Capture) -> dict[str, bytes]:
    """Return the texts that can describe a container, by name: not read, or with pastes.

    A longer one is a log, or no text.
    """
    files = ((file.source, file.kind.name) for file in capture.files)
    pasted = (text for text, kind in files if isinstance(text, PastedPart) or kind == GC_LOG)
    sources = (*capture.passed_over, *pasted)
    texts = {source.text_name: source.whole_text for source in sources}
    return {name: data for name, data in texts.items() if len(data) <= MAX_TEXT_BYTES}


@dataclass(frozen=True)
class KillDescribed:
    """A container's kill, and the file that describes it."""

    source: str
    kill: OomKilled


def kill_described(facts: CaptureFacts) -> KillDescribed | None:
    """Return the only kill that a description has, and its file; None without one."""
    texts = texts_beside(facts.capture)
    found = [
        KillDescribed(name, kill)
        for name, text in texts.items()
        if (kill := oom_killed(text)) is not None
    ]
    return found[0] if len(found) == 1 else None
