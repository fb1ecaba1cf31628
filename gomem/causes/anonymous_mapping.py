"""Anonymous memory outside Go: mapped by the program itself, or large malloc blocks.

This memory is outside Go's arenas, outside the memory that the runtime counts for its own
structures, and without the shape of malloc's arenas (those are native-memory). It comes from
syscall.Mmap, from libraries built on it (off-heap caches, arenas), and from C's malloc for blocks
of 128 KiB and more.

The rule looks at growth, not at size. Memory of constant size is normal for the program, and one
snapshot shows no trend. In both cases the finding is only a note.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from gomem.analysis.mappings.runtime import is_excerpt
from gomem.analysis.memory.groups import NATIVE
from gomem.causes.cause import Case, Cause
from gomem.causes.commands import WHO_MAPS, sentences, top
from gomem.causes.evidence import heap_evidence, known, rss_evidence
from gomem.causes.finding import Finding, Severity
from gomem.causes.outside_go import Growth, outside_go
from gomem.causes.sites import called_by, caller_sites
from gomem.text import Bytes, Function, Share, Text, text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gomem.facts.callers import Caller
    from gomem.facts.moment import MomentFacts

KIND = "anonymous-other"
SHOWN = 3  # mappings cited as evidence


def find(case: Case) -> list[Finding]:
    """Return one finding per snapshot with much anonymous memory outside Go, by smaps."""
    found = outside_go(
        case,
        lambda moment: int(unnamed_mappings(moment)["Rss"].sum()),
        case.thresholds.anonymous_bytes,
    )
    return [_finding(moment, grows, case) for moment, grows in found]


_MECHANISM = (
    "These mappings have no name and no file. They lie outside Go's arenas and exceed the "
    "runtime's own structures. The program or a library maps them (syscall.Mmap, an off-heap "
    "cache){or_malloc}. Heap profiles do not show them, and GOMEMLIMIT does not count them."
)
_OR_MALLOC = ", or malloc does: it maps blocks of 128 KiB or more separately"
_UNMAP_IT = "Memory that is mapped and never unmapped stays until the process ends."
CAUSE = Cause(
    code="anonymous-mapping",
    mechanism=_MECHANISM.format(or_malloc=_OR_MALLOC),
    remedy=text("See which calls map memory: {}. ", WHO_MAPS)
    + "Search the program and its dependencies for calls to Mmap. "
    + _UNMAP_IT,
    references=("mmap(2)", "syscall.Mmap"),
    bears_on=("mappings",),
    rule=find,
    claims=frozenset({NATIVE}),
    past="anonymous memory outside Go",
)


def unnamed_mappings(moment: MomentFacts) -> pd.DataFrame:
    """Return anonymous mappings, private or shared, that are neither Go's nor likely malloc's.

    No rows without smaps, or with an excerpt of it that has no Go heap: it might be Go's own.
    """
    if moment.mappings is None or is_excerpt(moment.mappings):
        return pd.DataFrame({"Rss": []})
    mine = (moment.mappings["kind"] == KIND) & ~moment.is_malloced
    return moment.mappings[mine | moment.is_shared_anonymous]


def _finding(moment: MomentFacts, grows: Growth | None, case: Case) -> Finding:
    assert moment.mappings is not None
    callers, smaps = case.facts.callers.mapping, moment.path("smaps")
    mine, rss = unnamed_mappings(moment), moment.rss_bytes or 0
    size = int(mine["Rss"].sum())
    known_rows = mine[mine["Rss"].notna()]  # a file of mappings can be truncated before a row's Rss
    largest = known_rows.sort_values("Rss", ascending=False, kind="stable").head(SHOWN)
    sizes = {f"Rss at {row.start:x}-{row.end:x}": int(row.Rss) for row in largest.itertuples()}
    with_c = bool(moment.mappings["kind"].isin(["native-heap", "library"]).any())
    is_counted = moment.memstats is not None and not with_c
    title = text("{} of RSS ({}) is anonymous memory outside Go", Bytes(size), Share(size / rss))
    if grows is not None:
        title = grows.title("Anonymous memory outside Go")
    sites = caller_sites(callers, case.thresholds, size)
    for site in sites[:1]:
        title += text(", mapped by {}", Function(site.own_function))
    return CAUSE.finding(
        Severity.INFO if grows is None else Severity.WARNING,
        title,
        moment=moment.name,
        size=size,
        evidence=(
            *known(smaps, "B", sizes),
            *rss_evidence(moment),
            *(() if grows is None else grows.evidence()),
            *heap_evidence(moment, "Sys"),
        ),
        mechanism="" if with_c else _MECHANISM.format(or_malloc=""),
        next_step=_next_step(callers),
        confidence=grows.confidence if grows else "certain" if is_counted else "likely",
        sites=sites,
    )


def _next_step(callers: Sequence[Caller]) -> Text:
    """Return the next step: the callers of mmap, or without a profile, how to find callers."""
    if not callers:
        return Text(CAUSE.remedy)
    shows = text("See every caller: {}.", top(callers[0].path, options="--peek '[mM]map'"))
    return sentences(shows, called_by(callers, "mmap"), _UNMAP_IT)
