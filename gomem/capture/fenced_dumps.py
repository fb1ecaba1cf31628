"""Join the parts of one goroutine dump: people paste each stack into a code fence of its own.

The runtime numbers goroutines from 1 and gives no number twice, so parts without a common number
can be of one dump. A time, a command, or a heading of before and after, also one that is folded,
makes them two dumps.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from gomem.capture.pasted import is_mark
from gomem.capture.place import place_of_word
from gomem.inputs.goroutines.parse import DOTS
from gomem.inputs.kinds import kind_of
from gomem.inputs.looks_like import looks_like
from gomem.inputs.markdown import FENCE
from gomem.inputs.separators import is_separator, time_in
from gomem.inputs.unwrap import QUOTE, TAG
from gomem.sources.artefact import SourcePart

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gomem.sources.artefact import Source

DUMP = "goroutines"
_FIRST = re.compile(rb"\s*goroutine \d{1,19} [^\n]*\[")  # a part that has no head of its own
_NUMBER = re.compile(rb"^[ \t]*+goroutine (\d{1,19}) [^\n]*\[", re.MULTILINE)
_TAGS = re.compile(rb"</?[A-Za-z][^<>\n]{0,200}>")


def with_whole_dumps(source: Source, parts: Sequence[Source]) -> list[Source]:
    """Return the parts of a text, those of one goroutine dump as one: a text can be only that."""
    if not any(_FIRST.match(part.data) for part in parts[1:]):
        return [*parts]
    lines = source.data.split(b"\n")
    joined: list[Source] = []
    last = -1  # the place of the last dump
    for part in parts:
        if not _is_dump(part):
            joined.append(part)
        elif last >= 0 and (both := _joined(lines, joined[last], part)) is not None:
            joined[last] = both
        else:
            last = len(joined)
            joined.append(part)
    is_whole = len(joined) < len(parts) and _is_dump(source)
    others = (part for place, part in enumerate(joined) if place != last)
    if not is_whole or any(map(_is_evidence, others)):
        return joined
    return [_with_lines_above(source, joined[last])]


def _joined(lines: Sequence[bytes], dump: Source, part: Source) -> Source | None:
    """The two as one part, whose lines keep their numbers; None if they are not of one dump."""
    if not isinstance(dump, SourcePart) or not isinstance(part, SourcePart):
        return None
    ended = dump.first_line - 1 + dump.data.count(b"\n")
    between = lines[ended : part.first_line - 1]
    if _FIRST.match(part.data) is None or any(map(_parts_dumps, between)):
        return None
    if not _numbers(dump).isdisjoint(_numbers(part)):
        return None
    left_out = (line.strip() if DOTS.fullmatch(line.strip()) else b"" for line in between)
    data = b"".join((dump.data, *(line + b"\n" for line in left_out), part.data))
    return replace(dump, data=data, stored=data)


def _with_lines_above(source: Source, dump: Source) -> Source:
    """A dump as the whole text, with what stands above it, such as a crash's message."""
    assert isinstance(dump, SourcePart)
    above = source.data.split(b"\n")[: dump.first_line - 1]
    data = b"".join((*(line + b"\n" for line in above), dump.data))
    return replace(source, data=data)


def _is_dump(source: Source) -> bool:
    kind = kind_of(source.data, source.name)
    return kind is not None and kind.name == DUMP


def _is_evidence(source: Source) -> bool:
    return kind_of(source.data) is not None or looks_like(source.data, "").is_evidence


def _numbers(dump: Source) -> set[bytes]:
    return set(_NUMBER.findall(dump.data))


def _parts_dumps(line: bytes) -> bool:
    """Whether what is below a line is another dump than what is above it."""
    line = line[quote.end() :] if (quote := QUOTE.match(line)) else line
    if FENCE.fullmatch(line) is not None:
        return False
    is_tag = TAG.fullmatch(line) is not None
    line = _TAGS.sub(b"", line).strip() if is_tag else line
    is_title = is_tag or is_separator(line) or line.rstrip(b" *_\r").endswith(b":")
    has_place = (
        is_title and place_of_word(line.decode("utf-8", "replace").strip("#*: ")) is not None
    )
    return has_place or (not is_tag and is_mark(line)) or bool(time_in(line))
