"""The profilers' own memory: a table of every stack ever seen, which is never freed.

Heap, block and mutex profiles count by stack. Each new stack takes a permanent bucket of some 200
bytes, plus 8 bytes per frame. A bucket has up to 32 frames, and since Go 1.23 up to 128. A typical
program has some thousand such stacks. The table grows without end if stacks are deep and all
different, as in recursion over data, in parsers and in generated code. MemStats has its size as
BuckHashSys, and runtime/metrics as /memory/classes/profiling/buckets.
"""

from __future__ import annotations

from gomem.analysis.memory.groups import RUNTIME
from gomem.causes.cause import Case, Cause
from gomem.causes.evidence import rss_evidence
from gomem.causes.finding import Evidence, Finding, Severity
from gomem.text import Bytes, Command, MomentName, Text, text

FIELD = "BuckHashSys"


def find(case: Case) -> list[Finding]:
    """Return one finding for the last snapshot that counts the table, which only grows."""
    counted = [moment for moment in case.facts.moments if moment.counted(FIELD) is not None]
    if not counted:
        return []
    first, last = counted[0], counted[-1]
    size, before = last.counted(FIELD) or 0, first.counted(FIELD) or 0
    limits = case.thresholds
    if size < limits.notable(limits.profiling_bytes, last.held_bytes):
        return []
    is_growing = size - before >= max(1, limits.profiling_bytes)
    is_large = size >= limits.large_rss_fraction * (last.rss_bytes or last.held_bytes or size)
    since = text(", up from {} at {}", Bytes(before), MomentName(first.name))
    return [
        CAUSE.finding(
            Severity.WARNING if is_growing or is_large else Severity.INFO,
            text(
                "The profiler's own table of stacks takes {}{}",
                Bytes(size),
                since if is_growing else Text(),
            ),
            moment=last.name,
            size=size,
            evidence=(
                Evidence(last.path("memstats"), FIELD, size, "B"),
                *rss_evidence(last),
            ),
        )
    ]


CAUSE = Cause(
    code="profiling-memory",
    mechanism="Heap, block and mutex profiles keep a bucket for each stack ever seen, and never "
    "free the buckets. Deep stacks that all differ a little, as in recursion over data, fill the "
    "table for as long as the program runs. A stack has up to 128 frames since Go 1.23, and up to "
    "32 before.",
    remedy=text(
        "Limit the recorded depth, so that more stacks are equal (Go 1.23 and later): {}. Turn "
        "off profiles that nothing reads: runtime.SetBlockProfileRate(0), "
        "runtime.SetMutexProfileFraction(0), or runtime.MemProfileRate = 0 as the first statement "
        "of main. Only a restart frees the table.",
        Command("GODEBUG=profstackdepth=32 ./PROGRAM"),
    ),
    references=("runtime.MemProfileRate", "golang/go#69590"),
    bears_on=("ledger", "moments"),
    rule=find,
    claims=frozenset({RUNTIME}),
)
