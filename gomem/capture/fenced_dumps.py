"""Join the parts of one goroutine dump: people paste each stack into a code fence of its own.

The runtime numbers goroutines from 1 and gives no number twice, so parts without a common number
can be of one dump. A time, a command, or a heading of before and after makes them two dumps.
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
from gomem.inputs.unwrap import QUOTE
from gomem.sources.artefact import SourcePart

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gomem.sources.artefact import Source

DUMP = "goroutines"
_FIRST = re.compile(rb"\s*goroutine \d{1,19} [^\n]*\[")  # a part that has no head of its own
_NUMBER = re.compile(rb"^[ \t]*+goroutine (\d{1,19}) [^\n]*\[", re.MULTILINE)


def with_whole_dumps(source: Source, parts: Sequence[Source]) -> list[Source]:
    """Return the parts of a text, those of one goroutine dump as one; none if it is only that."""
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
    return [] if is_whole and not any(map(_is_evidence, others)) else joined


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


def _is_dump(source: Source) -> bool:
    kind = kind_of(source.data, source.name)
    return kind is not None and kind.name == DUMP


def _is_evidence(source: Source) -> bool:
    return kind_of(source.data) is not None or looks_like(source.data, "").is_evidence


def _numbers(dump: Source) -> set[bytes]:
    return set(_NUMBER.findall(dump.data))


def _parts_dumps(line: bytes) -> bool:
    """Whether what is below a line is another dump than what is above it."""
    line = QUOTE.sub(b"", line, count=1)
    if FENCE.fullmatch(line) is not None:
        return False
    is_title = is_separator(line) or line.rstrip(b" *_\r").endswith(b":")
    has_place = (
        is_title and place_of_word(line.decode("utf-8", "replace").strip("#*: ")) is not None
    )
    return has_place or is_mark(line) or bool(time_in(line))
