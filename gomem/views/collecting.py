"""What a capture lacks for a better answer, and the command that gets it for this very process."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from gomem.capture.wanted import missing_from
from gomem.text import MomentName, Quoted
from gomem.views.document import Cell, Section, Table
from gomem.views.words import first_few, how_many

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gomem.capture.capture import Capture

SHOWN_MOMENTS = 3
SHOWN_REASONS = 20
_PLAIN = re.compile(r"[\w./][\w./-]*")
_ARCHIVE = re.compile(r"\.(?:tar|tgz|zip|gz|zst)\b")


def _process_of(capture: Capture) -> dict[str, str]:
    """What commands call the process, as far as the manifest tells."""
    manifest = capture.manifest
    pid, bases, program = map(manifest.fact, ("pid", "endpoints", "program"))
    base = bases[0] if isinstance(bases, list) and bases else None
    is_folder = _PLAIN.fullmatch(capture.name) and not _ARCHIVE.search(capture.name)
    told = {
        "pid": str(pid) if type(pid) is int else None,
        "base": base if isinstance(base, str) and _is_base(base) else None,
        "program": program if isinstance(program, str) and _PLAIN.fullmatch(program) else None,
        "folder": capture.name if is_folder and type(pid) is int else None,
    }
    return {name: text for name, text in told.items() if text is not None}


def _is_base(base: str) -> bool:
    return re.fullmatch(r"https?://[\w.:\[\]/-]+", base) is not None


def collecting_sections(capture: Capture) -> Iterator[Section]:
    """What was tried and could not be had, then what else would help."""
    tried = _tried(capture)
    if tried is not None:
        yield Section("not-collected", "What could not be collected", (tried,))
    process = _process_of(capture)
    rows = tuple(
        (Cell(one.name), Cell(one.tells), Cell(one.command(**process), code=True))
        for one in missing_from(capture)
    )
    if rows and capture.by_moment:
        caption = "Missing, with the command that gets it"
        table = Table(caption, ("missing", "what it would tell", "command"), "<<<", rows)
        yield Section("better", "For a better answer", (table,))


def _tried(capture: Capture) -> Table | None:
    """What the collector noted as missing, once for each reason."""
    reasons: dict[tuple[str, str], list[MomentName]] = defaultdict(list)
    for one in capture.manifest.missing:
        reasons[one.artefact, one.why].append(MomentName(one.moment))
    if not reasons:
        return None
    rows = tuple(
        (
            Cell(Quoted(artefact), code=True),
            Cell(first_few(moments, SHOWN_MOMENTS)),
            Cell(Quoted(why)),
        )
        for (artefact, why), moments in list(reasons.items())[:SHOWN_REASONS]
    )
    caption = how_many(len(reasons), "reason")
    return Table(caption, ("artefact", "at", "why"), "<<<", rows)
