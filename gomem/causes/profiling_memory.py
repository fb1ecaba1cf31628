"""What the profilers cost: a table of every stack ever seen, never freed, and CPU.

Heap, block and mutex profiles count by stack. Each new stack takes a permanent bucket of some 200
bytes, plus 8 bytes per frame. A bucket has up to 32 frames, and since Go 1.23 up to 128. A typical
program has some thousand such stacks. The table grows without end if stacks are deep and all
different, as in recursion over data, in parsers and in generated code. MemStats has its size as
BuckHashSys, and runtime/metrics as /memory/classes/profiling/buckets.

The heap profiler walks the stack of each allocation that it records: by default, one per 512 KiB.
With MemProfileRate=1 it is every allocation, which can take most of the CPU.
"""

from __future__ import annotations

from gomem.analysis.memory.groups import RUNTIME
from gomem.causes.cause import Case, Cause
from gomem.causes.collecting import cpu_profile_evidence
from gomem.causes.evidence import rss_evidence
from gomem.causes.finding import Evidence, Finding, Severity
from gomem.text import Bytes, Command, MomentName, Share, Text, text

FIELD = "BuckHashSys"


def find(case: Case) -> list[Finding]:
    """Return one finding: by a CPU profile, or for the last snapshot that counts the table."""
    taken, limits = case.facts.callers.profiler_cpu, case.thresholds
    if taken is None or taken.used_seconds < limits.enough_cpu_seconds:
        return _by_table(case)
    if taken.fraction < limits.profiler_cpu_fraction:
        return _by_table(case)
    heap = next(reversed(case.facts.capture.heap_profiles.values()), None)
    is_whole = heap is not None and heap.columns.period == 1
    every = " by recording every allocation (MemProfileRate is 1)" if is_whole else ""
    words = "The heap profiler takes {} of the CPU in the profile{}"
    return [
        CAUSE.finding(
            Severity.WARNING,
            text(words, Share(taken.fraction), every),
            cpu_fraction=taken.fraction,
            evidence=cpu_profile_evidence(taken, "the heap profiler"),
            mechanism=_WALKS,
            next_step=text(_USUAL, Command("grep -rn MemProfileRate .")),
            confidence="certain" if is_whole else "likely",
        )
    ]


_WALKS = (
    "For each allocation that it records, the heap profiler walks the stack and takes a lock. By "
    "default it records one per 512 KiB, which costs next to nothing. With a low MemProfileRate "
    "it records nearly all of them."
)
_USUAL = "Leave runtime.MemProfileRate at its default, 512 KiB. See who sets it: {}."


def _by_table(case: Case) -> list[Finding]:
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
