"""Dates the pastes of a text that have no time: each was taken with the dated paste next to it.

In a ticket, `ps` is followed by what `go tool pprof` printed a moment later. `ps` prints no time,
but the profile has one, so both belong to the dated reading of that time.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from gomem.capture.clock import BESIDE, EXACT
from gomem.capture.other_processes import PROCESSES
from gomem.capture.pasted import PastedPart
from gomem.capture.place import are_repeated
from gomem.inputs.kinds import MOMENT_SCOPE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gomem.capture.moment import Artefact


def with_times_beside(artefacts: Sequence[Artefact]) -> list[Artefact]:
    """Give pastes without a clock the time of the nearest paste that has one, next to them."""
    texts: dict[str, list[Artefact]] = defaultdict(list)
    for file in artefacts:
        if isinstance(file.source, PastedPart) and file.kind.scope == MOMENT_SCOPE:
            texts[file.source.text_name].append(file)
    timed: dict[int, Artefact] = {}
    for pastes in texts.values():
        for _, undated, dated in sorted(_neighbours(pastes), key=lambda found: found[0]):
            if id(undated) not in timed:
                timed[id(undated)] = replace(undated, time=dated.time, time_source=BESIDE)
    return [timed.get(id(file), file) for file in artefacts]


def _neighbours(pastes: Sequence[Artefact]) -> Iterator[tuple[int, Artefact, Artefact]]:
    """The lines between two pastes of other kinds, the one without a clock, and the one with it."""
    for above, below in pairwise(sorted(pastes, key=_first_line)):
        if are_repeated([above, below]):
            continue
        between = _first_line(below) - _first_line(above) - above.source.data.strip().count(b"\n")
        for undated, dated in ((above, below), (below, above)):
            if _is_undated(undated) and dated.time_source in EXACT:
                yield between, undated, dated


def _is_undated(paste: Artefact) -> bool:
    """Whether a paste has no clock, and no readings of several times."""
    return paste.time_source not in EXACT and not (
        paste.kind.name == PROCESSES and len(list(paste.parsed.dumps)) > 1
    )


def _first_line(paste: Artefact) -> int:
    assert isinstance(paste.source, PastedPart)
    return paste.source.first_line
