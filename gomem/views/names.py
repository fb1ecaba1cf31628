"""What an output hides of a diagnosis, including names from its baseline."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gomem.text import File, MomentName, Text, Words, joined, parts_of
from gomem.views.share import Hidden

if TYPE_CHECKING:
    from gomem.diagnosis.diagnosis import Diagnosis


def hidden(diagnosis: Diagnosis, *, redact: bool = False, here: bool = False) -> Hidden:
    """Return what a report hides of the capture and of its baseline; for `here` see `Hidden.of`."""
    known = (diagnosis, diagnosis.baseline)
    captures = (side.capture for side in known if side is not None)
    return Hidden.of(*captures, redact=redact, here=here)


def typed(sentence: str, diagnosis: Diagnosis) -> Text:
    """Mark moment names in a sentence; in plain text, those after `at` and similar words."""
    both = (diagnosis, diagnosis.baseline)
    names = {name for side in both if side is not None for name in side.capture.by_moment}
    if not names:
        return Text(sentence)
    ranked = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
    place = rf"(?<=\b(?:at|by|of|to) )({ranked})(?=[,.:;)]|$| (?:and|to|here|has)\b)"
    pieces: list[str] = []
    for part in parts_of(sentence):
        if type(part) is Words:
            split = enumerate(re.split(place, part))
            pieces += [MomentName(piece) if n % 2 else piece for n, piece in split]
        else:
            pieces.append(part)
    return Text(*pieces)


def typed_paths(paths: str) -> Text:
    """Mark comma-separated paths."""
    return Text(paths) if isinstance(paths, Text) else joined(", ", map(File, paths.split(", ")))


def typed_value(value: str, diagnosis: Diagnosis) -> Text:
    """Mark moment names in the text of evidence."""
    if isinstance(value, Text):
        return value
    names = diagnosis.capture.by_moment
    each = value.split(", ")
    return joined(", ", (MomentName(name) if name in names else name for name in each))
