"""Anonymous memory that no count explains: mapped by the program itself, or large mallocs.

It is neither in one of Go's arenas nor within what the runtime counts for its own structures, and
it does not have the shape of malloc's arenas; what is most likely malloc's is native-memory. What
maps the rest: syscall.Mmap and libraries built on it
(off-heap caches, arenas), and C's malloc for pieces of 128 KiB and more.

It is the growth that tells, not the size: what stays as large is how the program works, and of one
moment nobody knows. That is a note, and says whose the memory is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from gomem.analysis.memory.groups import NATIVE
from gomem.causes.callers import called_by, caller_sites
from gomem.causes.cause import Cause
from gomem.causes.evidence import rss_evidence
from gomem.causes.finding import Evidence, Finding
from gomem.causes.outside_go import outside_go
from gomem.units import format_bytes, format_fraction

if TYPE_CHECKING:
    from gomem.causes.case import Case
    from gomem.causes.finding import Severity
    from gomem.facts.moment import MomentFacts

KIND = "anonymous-other"
SHOWN = 3  # mappings named as evidence


def find(case: Case) -> list[Finding]:
    """One finding for each moment with much unexplained anonymous memory; only smaps shows it."""
    found = outside_go(
        case, lambda one: int(unnamed_mappings(one)["Rss"].sum()), case.thresholds.anonymous_bytes
    )
    return [_finding(moment, severity, case) for moment, severity in found]


_MECHANISM = (
    "These mappings have no name and no file, lie outside the arenas, and are more than the "
    "runtime counts for its own structures. The program or a library has mapped them "
    "(syscall.Mmap, an off-heap cache){or_malloc}. No heap profile shows them and GOMEMLIMIT does "
    "not count them."
)
_OR_MALLOC = ", or C's malloc, which maps each piece of 128 KiB and more on its own"
_UNMAP_IT = "Memory that is mapped and never unmapped stays until the process ends."
CAUSE = Cause(
    code="anonymous-mapping",
    mechanism=_MECHANISM.format(or_malloc=_OR_MALLOC),
    remedy="Search the program and its dependencies for Mmap, and see who maps: strace -k -e "
    "trace=mmap,munmap -p PID (or bpftrace, or a CPU profile) while it grows. " + _UNMAP_IT,
    references=("mmap(2)", "syscall.Mmap"),
    bears_on=("mappings",),
    rule=find,
    claims=frozenset({NATIVE}),
    past="anonymous memory that Go's runtime did not map was",
)


def unnamed_mappings(moment: MomentFacts) -> pd.DataFrame:
    """Anonymous mappings, private or shared, that are neither Go's nor most likely malloc's.

    None without smaps.
    """
    if moment.mappings is None:
        return pd.DataFrame({"Rss": []})
    mine = (moment.mappings["kind"] == KIND) & ~moment.is_malloced
    return moment.mappings[mine | moment.is_shared_anonymous]


def _finding(moment: MomentFacts, severity: Severity, case: Case) -> Finding:
    assert moment.mappings is not None
    callers = case.facts.callers.mapping
    mine, rss = unnamed_mappings(moment), moment.rss_bytes or 0
    size = int(mine["Rss"].sum())
    largest = mine.sort_values("Rss", ascending=False, kind="stable").head(SHOWN)
    smaps = moment.path("smaps")
    evidence = [
        Evidence(smaps, f"Rss at {row.start:x}-{row.end:x}", int(row.Rss), "B")
        for row in largest.itertuples()
    ]
    evidence += rss_evidence(moment)
    if moment.memstats is not None:
        claimed = int(moment.memstats["Sys"]) if "Sys" in moment.memstats else 0
        evidence.append(Evidence(moment.path("memstats"), "Sys", claimed, "B"))
    with_c = bool(moment.mappings["kind"].isin(["native-heap", "library"]).any())
    return CAUSE.finding(
        severity,
        f"{format_bytes(size)} ({format_fraction(size / rss)} of RSS) is anonymous memory that "
        "Go's runtime did not map",
        moment=moment.name,
        size=size,
        evidence=evidence,
        mechanism="" if with_c else _MECHANISM.format(or_malloc=""),
        next_step=called_by(callers, "mmap") + (_UNMAP_IT if callers else CAUSE.remedy),
        confidence="certain" if moment.memstats is not None else "likely",
        sites=caller_sites(callers, case.thresholds, size),
    )
