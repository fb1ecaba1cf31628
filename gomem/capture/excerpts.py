"""A truncated paste in a person's text is an excerpt, not damage: the author left the rest out.

This covers whatever its parser calls cut or missing, and a last line in another form. A file that a
command wrote, or a copy of it, is damaged if its end is missing. A chat message (`[18:07] kim: and
now`) and a prompt with its command belong to no file.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from gomem.capture.pasted import MAX_BYTES, prose_in
from gomem.errors import EXCERPT
from gomem.inputs.kinds import MOMENT_SCOPE
from gomem.inputs.markdown import FENCE
from gomem.units import is_digits

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gomem.errors import Damage
    from gomem.inputs.kinds import Kind
    from gomem.sources.artefact import Source

LINE, FENCE_LINE = b"\n", b"```"
WORDS = 5  # of a sentence; a heading has fewer
_CUT = re.compile(r"\b(?:is|are) cut\b|\b(?:is|are|be) missing\b")
_BETWEEN = re.compile(
    rb"[ \t>]*(?:\[\d\d?:\d\d(?::\d\d)?\] ?<?[\w.@-]{1,40}>?:?(?: .*)?"
    rb"|\d\d?:\d\d(?::\d\d)? [$#%>] .*)"
)
_OTHER_FORM = re.compile(r"; wanted\b")


def as_excerpts(source: Source, kind: Kind, damage: Iterable[Damage]) -> list[Damage]:
    """Return the damage of a text; what is cut is an excerpt where a person wrote around it."""
    found = list(damage)
    lines = source.data.split(LINE) if found and len(source.data) <= MAX_BYTES else []
    found = [fault for fault in found if not _is_between(fault, lines)]
    if found and _is_written(source):
        is_cut = _is_cut if kind.scope == MOMENT_SCOPE else _is_at_the_end
        found = [_as_excerpt(fault) if is_cut(fault, lines) else fault for fault in found]
    return [source.placed(fault) for fault in found]


def _as_excerpt(fault: Damage) -> Damage:
    return fault if fault.is_excerpt else replace(fault, what=f"{EXCERPT}{fault.what}")


def _is_between(fault: Damage, lines: Sequence[bytes]) -> bool:
    """Whether a line that is none of a form is of a chat, or has a prompt behind a time."""
    number = _line_of_other_form(fault)
    return 0 < number <= len(lines) and _BETWEEN.fullmatch(lines[number - 1].strip()) is not None


def _is_cut(fault: Damage, lines: Sequence[bytes]) -> bool:
    """Whether something is missing, or the last line of a paste is none of its form."""
    if _CUT.search(str(fault.what)) is not None:
        return True
    return _OTHER_FORM.search(str(fault.what)) is not None and _is_at_the_end(fault, lines)


def _is_at_the_end(fault: Damage, lines: Sequence[bytes]) -> bool:
    """Whether a fault is of the last line, which the end of the text or of its fence cut."""
    number = _line_of(fault)
    below = filter(bytes.strip, islice(lines, number, None))
    return number > 0 and FENCE.fullmatch(next(below, FENCE_LINE)) is not None


def _line_of_other_form(fault: Damage) -> int:
    """The line, from 1, that is none of its file's form; 0 if the fault is another."""
    return _line_of(fault) if _OTHER_FORM.search(str(fault.what)) else 0


def _line_of(fault: Damage) -> int:
    word, _, number = fault.where.partition(" ")
    return int(number) if word == "line" and is_digits(number) else 0


def _is_written(source: Source) -> bool:
    """Whether a text has code fences, or a sentence."""
    data = source.whole_text
    if len(data) > MAX_BYTES or b"\0" in data:
        return False
    lines = data.split(LINE)
    has_sentence = any(len(lines[place].split()) >= WORDS for place in prose_in(lines))
    return has_sentence or any(map(FENCE.fullmatch, lines))
