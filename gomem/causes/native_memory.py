"""C's memory: malloc's heaps and threads' stacks, which show in no number of Go's runtime.

Only a program with cgo, or one that loads C libraries, has it. It stands in smaps as brk
`[heap]`, in malloc's own arenas of 64 MiB, in mappings that malloc makes for single large blocks,
and in the stacks of threads. A heap profile does not show it and GOMEMLIMIT does not count it, so a
leak of it looks like a leak of Go's.

It is the growth that tells, not the size: what stays as large is how the program works, and of one
moment nobody knows. That is a note, and says whose the memory is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from gomem.analysis.memory.groups import NATIVE
from gomem.causes.callers import called_by, caller_sites
from gomem.causes.cause import Cause
from gomem.causes.evidence import rss_evidence
from gomem.causes.finding import Evidence, Finding, Severity, what_is_known
from gomem.causes.outside_go import outside_go
from gomem.units import format_bytes, format_fraction

if TYPE_CHECKING:
    from gomem.causes.case import Case
    from gomem.facts.moment import MomentFacts

KINDS = {"native-heap": "native_heap", "thread-stack": "thread_stacks"}


_BLOCKS = (
    " Blocks from 128 KiB on (M_MMAP_THRESHOLD) it maps one by one, without a name: anonymous "
    "mappings that Go does not count are most likely such blocks in a program whose C code "
    "allocates, but could be mapped by the program itself."
)


def find(case: Case) -> list[Finding]:
    """One finding for each moment with much of C's memory."""
    least = case.thresholds.native_bytes
    seen = [one for one in case.facts.moments if one.mappings is not None]
    found = outside_go(case, lambda one: native_memory(one).bytes, least)
    if not seen:
        return _by_totals(case)
    return [_finding(moment, seen[0], severity, case) for moment, severity in found]


def _by_totals(case: Case) -> list[Finding]:
    """What Go does not claim of RSS without files: whose it is, no total says.

    At least: of what Go claims, some may never have been touched. But the heap may have grown up to
    its goal between the two readings. A note, for it may be what the program is meant to map.
    """
    told = [one for one in case.facts.moments if not_claimed_bytes(one) is not None]
    found = outside_go(
        case, lambda one: not_claimed_bytes(one) or 0, case.thresholds.native_bytes, told
    )
    return [_of_totals(moment) for moment, _ in found]


def not_claimed_bytes(moment: MomentFacts) -> int | None:
    """Anonymous resident memory beyond all that Go claims; None where totals do not say both."""
    ledger = moment.ledger
    if ledger is None or moment.memstats is None or moment.mappings is not None:
        return None
    known = moment.rss_bytes is not None and ledger.has("mapped_files")
    if not known or moment.skew.crosses_a_collection:
        return None
    goal = moment.memstats.get("NextGC")
    until_goal = 0 if pd.isna(goal) else max(0, int(goal) - ledger.part("heap_objects"))
    return max(0, ledger.part("anonymous_other") - until_goal)


def _of_totals(moment: MomentFacts) -> Finding:
    assert moment.ledger is not None
    assert moment.memstats is not None
    size, rss = not_claimed_bytes(moment) or 0, moment.rss_bytes or 0
    sys = moment.memstats.get("Sys")
    claimed = None if pd.isna(sys) else int(sys)
    share = f"{format_bytes(size)} ({format_fraction(size / rss)} of RSS)"
    return CAUSE.finding(
        Severity.INFO,
        f"at least {share} is neither Go's nor a file's: it is C's, or the program has mapped it",
        moment=moment.name,
        size=size,
        evidence=(
            *rss_evidence(moment),
            *what_is_known((moment.path("memstats"), "Sys", claimed, "B")),
        ),
        next_step=_TAKE_SMAPS,
        confidence="possible",
    )


_TAKE_SMAPS = (
    "Take smaps, too: it tells malloc's heaps and threads' stacks from mappings of the program's "
    "own. If the program uses cgo, look at which C library is called, and whether each C.malloc "
    "and C.CString has its C.free."
)
_FREE_IT = (
    "Look whether each C.malloc and C.CString has its C.free, and whatever a library opens its "
    "close. Use the library's own profiler (jemalloc, heaptrack, valgrind's massif). If malloc "
    "itself keeps the memory, try MALLOC_ARENA_MAX=2 in the environment; if there are many "
    "threads, look at what blocks in cgo calls."
)
CAUSE = Cause(
    code="native-memory",
    mechanism="The memory was taken by C code through malloc, or is the stack of a thread. Go's "
    "runtime does not know it: it is in no MemStats field and in no heap profile, and "
    "GOMEMLIMIT does not count it. malloc keeps freed memory in its arenas, up to eight for each "
    "core, so not all of it need be in use.",
    remedy="Take a CPU profile (/debug/pprof/profile): it shows who calls C. " + _FREE_IT,
    references=("cmd/cgo", "mallopt(3)"),
    bears_on=("mappings",),
    rule=find,
    claims=frozenset({NATIVE}),
    past="C's memory and threads' stacks took",
)


@dataclass(frozen=True)
class NativeMemory:
    """C's resident bytes at one moment.

    Attributes:
        known_bytes: In malloc's heaps and threads' stacks.
        block_bytes: In large blocks that malloc most likely mapped on their own.
    """

    known_bytes: int
    block_bytes: int

    @property
    def bytes(self) -> int:
        """Both together."""
        return self.known_bytes + self.block_bytes


def native_memory(moment: MomentFacts) -> NativeMemory:
    """C's resident bytes; 0 where nothing says."""
    if moment.ledger is None or moment.mappings is None:
        return NativeMemory(0, 0)
    blocks = moment.mappings.loc[moment.is_malloced, "Rss"]
    return NativeMemory(sum(map(moment.ledger.part, KINDS.values())), int(blocks.sum()))


def _finding(moment: MomentFacts, first: MomentFacts, severity: Severity, case: Case) -> Finding:
    assert moment.ledger is not None
    callers, few = case.facts.callers.calling_c, case.thresholds.native_blocks_fraction
    native, rss = native_memory(moment), moment.rss_bytes or 0
    smaps = moment.path("smaps")
    evidence = [
        Evidence(smaps, f"Rss of {kind}", moment.ledger.part(part), "B")
        for kind, part in KINDS.items()
        if moment.ledger.part(part)
    ]
    if native.block_bytes:
        blocks = "Rss of anonymous blocks from 128 KiB on"
        evidence.append(Evidence(smaps, blocks, native.block_bytes, "B"))
    evidence += rss_evidence(moment)
    if first is not moment:
        before = native_memory(first).bytes
        evidence.append(Evidence(first.path("smaps"), "Rss of all this, first moment", before, "B"))
    if moment.memstats is not None:
        held = int(moment.memstats["HeapInuse"])
        evidence.append(Evidence(moment.path("memstats"), "HeapInuse", held, "B"))
    return CAUSE.finding(
        severity,
        _title(native, rss),
        moment=moment.name,
        size=native.bytes,
        evidence=evidence,
        mechanism=CAUSE.mechanism + (_BLOCKS if native.block_bytes else ""),
        next_step=called_by(callers, "C") + (_FREE_IT if callers else CAUSE.remedy),
        confidence="likely" if native.block_bytes >= few * native.bytes else "certain",
        sites=caller_sites(callers, case.thresholds, native.bytes),
    )


def _title(native: NativeMemory, rss: int) -> str:
    share = f"{format_bytes(native.bytes)} ({format_fraction(native.bytes / rss)} of RSS)"
    known = "in malloc's heaps and threads' stacks"
    if not native.block_bytes:
        return f"{share} is C's, not Go's: it is {known}"
    return (
        f"{share} is C's, not Go's: {format_bytes(native.known_bytes)} {known}, "
        f"{format_bytes(native.block_bytes)} in large blocks of their own, which malloc most "
        "likely mapped"
    )
