"""Parts of a text that has several artefacts: what commands printed, or what somebody pasted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gomem.capture.loops import LoopPart, loop_parts
from gomem.capture.pasted import pasted_parts
from gomem.inputs.disk_free import lines_of_df
from gomem.inputs.kinds import kind_of
from gomem.sources.artefact import Source, SourcePart, open_source
from gomem.units import is_digits

if TYPE_CHECKING:
    from os import PathLike


MAX_BYTES = 1 << 24  # of a text that is searched for what df printed


def parts_of(source: Source, *, is_ticket: bool) -> list[Source]:
    """Return the artefacts in a text; empty if it is one artefact, or none."""
    parts = _parts(source, is_ticket=is_ticket)
    df = _of_df(source)
    if df is None or (not parts and kind_of(source.data, source.name) is None):
        return parts
    return [*(part for part in parts or [source] if not _is_of_df(part)), df]


def _of_df(source: Source) -> Source | None:
    """The lines of a text that df printed of tmpfs, of all readings together; None without any."""
    data = source.data
    found = lines_of_df(data) if len(data) <= MAX_BYTES and b"Mounted on" in data else set()
    if not found:
        return None
    lines = data.split(b"\n")
    kept = b"".join(lines[number - 1].strip() + b"\n" for number in sorted(found))
    first = min(found)
    return SourcePart(f"{source.name}:{first}", kept, kept, source.modified, first_line=first)


def _is_of_df(source: Source) -> bool:
    """Whether a part is only what df printed of tmpfs, which the lines of all readings have."""
    return kind_of(source.data) is None and bool(lines_of_df(source.data))


def _parts(source: Source, *, is_ticket: bool) -> list[Source]:
    printed = loop_parts(source)
    if not is_ticket:
        return printed
    # Of a session of commands both have parts: those with times, or else the more, are better.
    pasted = pasted_parts(source)
    has_times = any(isinstance(part, LoopPart) and part.has_time for part in printed)
    return printed if len(printed) + has_times > len(pasted) else pasted


def part_named(path: str | PathLike[str]) -> Source | None:
    """Return a part of a text by the name that reports give it, such as `heaps.log:168`."""
    name, _, line = str(path).rpartition(":")
    if not is_digits(line) or Path(path).exists() or not Path(name).is_file():
        return None
    parts = parts_of(open_source(name), is_ticket=True)
    return next((part for part in parts if part.name.endswith(f":{line}")), None)
