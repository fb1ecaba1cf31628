"""Anonymous memory that nobody's count explains: mapped by the program itself, or large mallocs.

It is neither in an arena of Go's nor within what the runtime counts for its own structures, and
has no shape of malloc's arenas. What maps it: syscall.Mmap and libraries built on it (off-heap
caches, arenas), and C's malloc for pieces of 128 KiB and more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.causes.finding import Evidence, Finding, Severity
from gomem.units import MIB, format_bytes, format_fraction

if TYPE_CHECKING:
    from gomem.causes.answers import MomentFacts, Situation

CODE = "anonymous-mapping"
KIND = "anonymous-other"
LEAST_BYTES = 4 * MIB  # a few runtime structures more than MemStats count stay below it
NOTABLE_SHARE = 0.10  # below a tenth of RSS nobody's limit or bill turns on it
# From a quarter of RSS on, who looks at the heap profile alone looks in the wrong place.
LARGE_SHARE = 0.25
SHOWN = 3


def find(situation: Situation) -> list[Finding]:
    """One finding per moment with much anonymous memory of nobody's; it takes smaps to see it."""
    return [
        _finding(moment)
        for moment in situation.moments
        if moment.mappings is not None
        and moment.ledger is not None
        and moment.ledger.part("anonymous_other")
        >= max(LEAST_BYTES, NOTABLE_SHARE * (moment.rss_bytes or 0))
    ]


def _finding(moment: MomentFacts) -> Finding:
    assert moment.ledger is not None
    assert moment.mappings is not None
    size, rss = moment.ledger.part("anonymous_other"), moment.rss_bytes or 0
    mine = moment.mappings[moment.mappings["kind"] == KIND]
    largest = mine.sort_values("Rss", ascending=False, kind="stable").head(SHOWN)
    smaps = moment.path("smaps")
    evidence = [
        Evidence(smaps, f"Rss at {row.start:x}-{row.end:x}", int(row.Rss), "B")
        for row in largest.itertuples()
    ]
    evidence.append(Evidence(smaps, "Rss", rss, "B"))
    if moment.memstats is not None:
        claimed = int(moment.memstats["Sys"]) if "Sys" in moment.memstats else 0
        evidence.append(Evidence(moment.path("memstats"), "Sys", claimed, "B"))
    return Finding(
        code=CODE,
        severity=Severity.WARNING if size >= LARGE_SHARE * rss else Severity.INFO,
        title=(
            f"{format_bytes(size)} ({format_fraction(size / rss)} of RSS) are anonymous memory "
            "that Go's runtime did not map"
        ),
        moment=moment.name,
        bytes=size,
        evidence=tuple(evidence),
        mechanism=(
            "These mappings have no name and no file, lie outside the arenas, and are more than "
            "the runtime counts for its own structures. The program or a library has mapped them "
            f"(syscall.Mmap, an off-heap cache){_or_malloc(moment)}. No heap profile shows them "
            "and GOMEMLIMIT does not count them."
        ),
        next_step=(
            "Search the program and its dependencies for Mmap, and see who maps: strace -k -e "
            "trace=mmap,munmap -p PID (or bpftrace) while it grows. Memory that is mapped and "
            "not unmapped stays until the process ends."
        ),
        references=("mmap(2)", "syscall.Mmap"),
        confidence="certain" if moment.memstats is not None else "likely",
    )


def _or_malloc(moment: MomentFacts) -> str:
    """C is there if its heap is, or a C library."""
    assert moment.mappings is not None
    if not moment.mappings["kind"].isin(["native-heap", "library"]).any():
        return ""
    return ", or C's malloc, which maps each piece of 128 KiB and more on its own"
