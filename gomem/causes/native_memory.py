"""Memory of C: malloc's heaps and threads' stacks, which no number of Go's runtime moves with.

Only a program with cgo, or one that loads C libraries, has it. It stands in smaps as brk
`[heap]`, in malloc's own arenas of 64 MiB, and in the stacks of threads. A heap profile does not
show it and GOMEMLIMIT does not count it, so a leak of it looks like a leak of Go's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.causes.finding import Evidence, Finding, Severity
from gomem.units import MIB, format_bytes, format_fraction

if TYPE_CHECKING:
    from gomem.causes.answers import MomentFacts, Situation

CODE = "native-memory"
LEAST_BYTES = 8 * MIB  # below, malloc's first arenas and the stacks of a few threads explain it
NOTABLE_SHARE = 0.10  # below a tenth of RSS nobody's limit or bill turns on it
# From a quarter of RSS on, who looks at the heap profile alone looks in the wrong place.
LARGE_SHARE = 0.25
KINDS = {"native-heap": "native_heap", "thread-stack": "thread_stacks"}


def find(situation: Situation) -> list[Finding]:
    """One finding per moment with much memory of C's."""
    first = next((one for one in situation.moments if one.mappings is not None), None)
    return [
        _finding(moment, first)
        for moment in situation.moments
        if moment.mappings is not None
        and native_bytes(moment) >= max(LEAST_BYTES, NOTABLE_SHARE * (moment.rss_bytes or 0))
    ]


def native_bytes(moment: MomentFacts) -> int:
    """Resident bytes of C's heap and of threads' stacks."""
    return 0 if moment.ledger is None else sum(map(moment.ledger.part, KINDS.values()))


def _finding(moment: MomentFacts, first: MomentFacts | None) -> Finding:
    assert moment.ledger is not None
    size, rss = native_bytes(moment), moment.rss_bytes or 0
    evidence = [
        Evidence(moment.path("smaps"), f"Rss of {kind}", moment.ledger.part(part), "B")
        for kind, part in KINDS.items()
        if moment.ledger.part(part)
    ]
    evidence.append(Evidence(moment.path("smaps"), "Rss", rss, "B"))
    if first is not None and first.name != moment.name:
        before = native_bytes(first)
        evidence.append(Evidence(first.path("smaps"), "Rss of both, first moment", before, "B"))
    if moment.memstats is not None:
        held = int(moment.memstats["HeapInuse"])
        evidence.append(Evidence(moment.path("memstats"), "HeapInuse", held, "B"))
    return Finding(
        code=CODE,
        severity=Severity.WARNING if size >= LARGE_SHARE * rss else Severity.INFO,
        title=(
            f"{format_bytes(size)} are C's, not Go's: {format_fraction(size / rss)} of RSS in "
            "malloc's heaps and threads' stacks"
        ),
        moment=moment.name,
        bytes=size,
        evidence=tuple(evidence),
        mechanism=(
            "The memory was taken by C code through malloc, or is the stack of a thread. Go's "
            "runtime does not know of it: it is in no MemStats field and no heap profile, and "
            "GOMEMLIMIT does not count it. malloc keeps freed memory in its arenas, up to eight "
            "for each core, so not all of it need be in use."
        ),
        next_step=(
            "Look at which C library is called, and whether each C.malloc and C.CString has its "
            "C.free. Use the library's own profiler (jemalloc, heaptrack, valgrind's massif). If "
            "it is malloc that keeps it, try MALLOC_ARENA_MAX=2 in the environment; for many "
            "threads, look at what blocks in cgo calls."
        ),
        references=("cmd/cgo", "mallopt(3)"),
    )
