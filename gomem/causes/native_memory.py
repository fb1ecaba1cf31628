"""C's memory: malloc's heaps and threads' stacks, which show in no number of Go's runtime.

Only a program with cgo, or one that loads C libraries, has it. It stands in smaps as brk
`[heap]`, in malloc's own arenas of 64 MiB, and in the stacks of threads. A heap profile does not
show it and GOMEMLIMIT does not count it, so a leak of it looks like a leak of Go's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.causes.cause import Cause
from gomem.causes.finding import Evidence, Finding, Severity
from gomem.units import format_bytes, format_fraction

if TYPE_CHECKING:
    from gomem.causes.answers import Answers, MomentFacts

KINDS = {"native-heap": "native_heap", "thread-stack": "thread_stacks"}


def find(answers: Answers) -> list[Finding]:
    """One finding for each moment with much of C's memory."""
    limits = answers.thresholds
    seen = [one for one in answers.moments if one.mappings is not None]
    return [
        _finding(moment, seen[0], limits.large_rss_fraction)
        for moment in seen
        if native_bytes(moment) >= limits.notable(limits.native_bytes, moment.rss_bytes)
    ]


CAUSE = Cause(
    code="native-memory",
    mechanism="The memory was taken by C code through malloc, or is the stack of a thread. Go's "
    "runtime does not know it: it is in no MemStats field and in no heap profile, and "
    "GOMEMLIMIT does not count it. malloc keeps freed memory in its arenas, up to eight for each "
    "core, so not all of it need be in use.",
    remedy="Look at which C library is called, and whether each C.malloc and C.CString has its "
    "C.free. Use the library's own profiler (jemalloc, heaptrack, valgrind's massif). If malloc "
    "itself keeps the memory, try MALLOC_ARENA_MAX=2 in the environment; if there are many "
    "threads, look at what blocks in cgo calls.",
    references=("cmd/cgo", "mallopt(3)"),
    rule=find,
    past="C's memory and threads' stacks took",
)


def native_bytes(moment: MomentFacts) -> int:
    """Resident bytes of C's heap and of threads' stacks."""
    return 0 if moment.ledger is None else sum(map(moment.ledger.part, KINDS.values()))


def _finding(moment: MomentFacts, first: MomentFacts, large_fraction: float) -> Finding:
    assert moment.ledger is not None
    size, rss = native_bytes(moment), moment.rss_bytes or 0
    smaps = moment.path("smaps")
    evidence = [
        Evidence(smaps, f"Rss of {kind}", moment.ledger.part(part), "B")
        for kind, part in KINDS.items()
        if moment.ledger.part(part)
    ]
    evidence.append(Evidence(smaps, "Rss", rss, "B"))
    if first is not moment:
        before = native_bytes(first)
        evidence.append(Evidence(first.path("smaps"), "Rss of both, first moment", before, "B"))
    if moment.memstats is not None:
        held = int(moment.memstats["HeapInuse"])
        evidence.append(Evidence(moment.path("memstats"), "HeapInuse", held, "B"))
    return CAUSE.finding(
        Severity.WARNING if size >= large_fraction * rss else Severity.INFO,
        f"{format_bytes(size)} is C's, not Go's: {format_fraction(size / rss)} of RSS in malloc's "
        "heaps and threads' stacks",
        moment=moment.name,
        size=size,
        evidence=evidence,
    )
