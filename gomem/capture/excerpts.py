"""What is cut in a text that a person wrote is an excerpt: the author left the rest out.

A file that a command wrote, or a copy of it, is damaged if its end is missing.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from gomem.capture.pasted import MAX_BYTES, prose_in
from gomem.errors import EXCERPT
from gomem.inputs.kinds import MOMENT_SCOPE
from gomem.inputs.markdown import FENCE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gomem.errors import Damage
    from gomem.inputs.kinds import Kind
    from gomem.sources.artefact import Source

WORDS = 5  # of a sentence; a heading has fewer
_CUT = re.compile(r"\b(?:is|are) cut\b|\b(?:is|are|be) missing\b")


def as_excerpts(source: Source, kind: Kind, damage: Iterable[Damage]) -> list[Damage]:
    """Return the damage of a text; what is cut is an excerpt where a person wrote around it."""
    found = [source.placed(fault) for fault in damage]
    if kind.scope != MOMENT_SCOPE or not any(map(_is_cut, found)) or not _is_written(source):
        return found
    return [
        replace(fault, what=f"{EXCERPT}{fault.what}") if _is_cut(fault) else fault
        for fault in found
    ]


def _is_cut(fault: Damage) -> bool:
    return not fault.is_excerpt and _CUT.search(str(fault.what)) is not None


def _is_written(source: Source) -> bool:
    """Whether a text has code fences, or a sentence."""
    data = source.whole_text
    if len(data) > MAX_BYTES or b"\0" in data:
        return False
    lines = data.split(b"\n")
    has_sentence = any(len(lines[place].split()) >= WORDS for place in prose_in(lines))
    return has_sentence or any(map(FENCE.fullmatch, lines))
