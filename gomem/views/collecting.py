"""The section on missing files, with a command to get each."""

from __future__ import annotations

import re
from collections import defaultdict
from operator import attrgetter
from typing import TYPE_CHECKING

from gomem.capture.wanted import missing_from
from gomem.text import MomentName, Quoted
from gomem.views.document import Section
from gomem.views.tables import code, table, words
from gomem.views.words import first_few, how_many

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gomem.capture.capture import Capture

SHOWN_MOMENTS = 3
SHOWN_REASONS = 20
_PLAIN = re.compile(r"[\w./][\w./-]*")
_BASE = re.compile(r"https?://[\w.:\[\]/-]+")
_ARCHIVE = re.compile(r"\.(?:tar|tgz|zip|gz|zst)\b")
TRIED = (
    code("artefact", lambda reason: Quoted(reason[0][0])),
    words("at", lambda reason: first_few(reason[1], SHOWN_MOMENTS)),
    words("why", lambda reason: Quoted(reason[0][1])),
)


def _process_of(capture: Capture) -> dict[str, str]:
    """The process's names for use in commands, as far as the manifest has them."""
    manifest = capture.manifest
    pid, bases, program = map(manifest.fact, ("pid", "endpoints", "program"))
    base = bases[0] if isinstance(bases, list) and bases else None
    is_folder = _PLAIN.fullmatch(capture.name) and not _ARCHIVE.search(capture.name)
    told = {
        "pid": str(pid) if type(pid) is int else None,
        "base": base if isinstance(base, str) and _BASE.fullmatch(base) else None,
        "program": program if isinstance(program, str) and _PLAIN.fullmatch(program) else None,
        "folder": capture.name if is_folder and type(pid) is int else None,
    }
    return {name: text for name, text in told.items() if text is not None}


def collecting_sections(capture: Capture) -> Iterator[Section]:
    """Sections on files that could not be collected, and on files that would help."""
    # Missing files that the collector noted, grouped by reason.
    reasons: dict[tuple[str, str], list[MomentName]] = defaultdict(list)
    for note in capture.manifest.missing:
        reasons[note.artefact, note.why].append(MomentName(note.moment))
    if reasons:
        tried = table(
            how_many(len(reasons), "reason"), TRIED, list(reasons.items())[:SHOWN_REASONS]
        )
        yield Section("not-collected", "What could not be collected", (tried,))
    process = _process_of(capture)
    columns = (
        words("missing file", attrgetter("name")),
        words("adds", attrgetter("tells")),
        code("command", lambda wanted: wanted.command(**process)),
    )
    missing = list(missing_from(capture))
    if missing and capture.by_moment:
        better = table("Missing files, with the command that gets each", columns, missing)
        yield Section("better", "For a better answer", (better,))
