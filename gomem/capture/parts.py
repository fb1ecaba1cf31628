"""Parts of a text that has several artefacts: what commands printed, or what somebody pasted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gomem.capture.loops import LoopPart, loop_parts
from gomem.capture.pasted import pasted_parts
from gomem.sources.artefact import Source, open_source

if TYPE_CHECKING:
    from os import PathLike


def parts_of(source: Source, *, is_ticket: bool) -> list[Source]:
    """Return the artefacts in a text; empty if it is one artefact, or none."""
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
    if not line.isdecimal() or Path(path).exists() or not Path(name).is_file():
        return None
    parts = parts_of(open_source(name), is_ticket=True)
    return next((part for part in parts if part.name.endswith(f":{line}")), None)
