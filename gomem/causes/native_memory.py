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

from gomem.analysis.mappings.native import HEAP_IN_USE
from gomem.analysis.memory.groups import NATIVE
from gomem.causes.cause import Cause
from gomem.causes.evidence import known, rss_evidence
from gomem.causes.finding import Evidence, Finding, Severity, Site
from gomem.causes.goroutines import goroutines_pile_up, opening
from gomem.causes.outside_go import growth, outside_go
from gomem.causes.piling_up import threads_pile_up
from gomem.causes.sites import called_by, caller_sites
from gomem.inputs.pprof.calls.names import package_of
from gomem.text import Bytes, Count, Function, Share, Text, text

if TYPE_CHECKING:
    from gomem.causes.case import Case
    from gomem.causes.outside_go import Growth
    from gomem.causes.thresholds import Thresholds
    from gomem.facts.moment import MomentFacts

THREADS = "thread_stacks"
KINDS = {"native-heap": "native_heap", "thread-stack": THREADS}


_BLOCKS = (
    " Blocks from 128 KiB on (M_MMAP_THRESHOLD) it maps one by one, without a name: anonymous "
    "mappings that Go does not count are most likely such blocks in a program whose C code "
    "allocates, but could be mapped by the program itself."
)


def find(case: Case) -> list[Finding]:
    """One finding for each moment with much of C's memory; the last says whether it grows."""
    if all(moment.mappings is None for moment in case.facts.moments):
        return _by_totals(case)
    threads = not threads_pile_up(case)  # theirs are thread-growth's
    found = outside_go(
        case, lambda one: native_memory(one, threads).bytes, case.thresholds.native_bytes
    )
    return [
        _finding(moment, native_memory(moment, threads), grows, case) for moment, grows in found
    ]


def _by_totals(case: Case) -> list[Finding]:
    """What neither Go nor files can hold of RSS, by the account: whose it is, no total says."""
    account, thresholds = case.facts.account, case.thresholds
    if account is None or account.quantity != "rss":
        return []
    last = account.last
    least = thresholds.notable(thresholds.native_bytes, last.total_bytes)
    held = last.likely.parts[NATIVE]
    if held.low < least:
        return []
    moment = case.facts.by_moment[last.moment]
    grows = growth(case, thresholds.native_bytes)
    title = text(
        "at least {} ({} of RSS) is neither Go's nor a file's: C memory, or mapped by the program",
        Bytes(round(held.low)),
        Share(held.low / last.total_bytes),
    )
    if grows is not None:
        title = grows.title("Memory that is neither Go's nor a file's", last.total_bytes)
    return [
        CAUSE.finding(
            Severity.INFO if grows is None else Severity.WARNING,
            title,
            moment=moment.name,
            size=round(held.low),
            evidence=(*rss_evidence(moment), *_claimed(moment), *_of(grows, "account")),
            next_step=_TAKE_SMAPS,
            confidence="possible",
        )
    ]


def _claimed(moment: MomentFacts) -> tuple[Evidence, ...]:
    sys = None if moment.memstats is None else moment.memstats.get("Sys")
    claimed = None if sys is None or pd.isna(sys) else int(sys)
    return known(moment.path("memstats"), "B", {"Sys": claimed})


def _of(grows: Growth | None, path: str) -> tuple[Evidence, ...]:
    return () if grows is None else grows.evidence(path)


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


def native_memory(moment: MomentFacts, with_threads: bool = True) -> NativeMemory:
    """C's resident bytes; 0 where nothing says.

    Args:
        moment: What is known of it.
        with_threads: Whether the stacks of threads are meant, too.
    """
    if moment.ledger is None or moment.mappings is None:
        return NativeMemory(0, 0)
    blocks = moment.mappings.loc[moment.is_malloced, "Rss"]
    parts = [part for part in KINDS.values() if with_threads or part != THREADS]
    return NativeMemory(sum(map(moment.ledger.part, parts)), int(blocks.sum()))


def _finding(
    moment: MomentFacts, native: NativeMemory, grows: Growth | None, case: Case
) -> Finding:
    assert moment.ledger is not None
    callers, thresholds = case.facts.callers.calling_c, case.thresholds
    came_with = _with_goroutines(case, grows)
    smaps = moment.path("smaps")
    evidence = [
        Evidence(smaps, f"Rss of {kind}", moment.ledger.part(part), "B")
        for kind, part in KINDS.items()
        if moment.ledger.part(part)
    ]
    if native.block_bytes:
        blocks = "Rss of anonymous blocks from 128 KiB on"
        evidence.append(Evidence(smaps, blocks, native.block_bytes, "B"))
    evidence += [*rss_evidence(moment), *_of(grows, smaps)]
    if moment.memstats is not None:
        held = int(moment.memstats["HeapInuse"])
        evidence.append(Evidence(moment.path("memstats"), "HeapInuse", held, "B"))
    title = _title(native, moment.rss_bytes or 0)
    if grows is not None:
        title = grows.title("C memory (malloc)", moment.rss_bytes) + _in_blocks(native)
    return CAUSE.finding(
        Severity.INFO if grows is None else Severity.WARNING,
        title,
        moment=moment.name,
        size=native.bytes,
        evidence=evidence,
        mechanism=CAUSE.mechanism + (_BLOCKS if native.block_bytes else ""),
        next_step=came_with + called_by(callers, "C") + (_FREE_IT if callers else CAUSE.remedy),
        confidence=_confidence(native, grows, thresholds),
        sites=caller_sites(callers, thresholds, native.bytes)
        or (_came_with(case, native.bytes) if came_with else ()),
    )


def _confidence(native: NativeMemory, grows: Growth | None, thresholds: Thresholds) -> str:
    """By the growth, and by whether blocks that nothing names are most likely malloc's."""
    known = "certain" if grows is None else grows.confidence
    if native.block_bytes < thresholds.native_blocks_fraction * native.bytes:
        return known
    if native.known_bytes < HEAP_IN_USE:
        return "possible"  # a shape alone says that C allocates
    return "likely" if known == "certain" else known


def _with_goroutines(case: Case, grows: Growth | None) -> Text:
    """That goroutines came meanwhile, whose C memory it may be, and who asked for them."""
    count, waiting = case.facts.goroutines.count, case.facts.goroutines.waiting
    if grows is None or count is None or count.grown < case.thresholds.goroutines_beside:
        return Text()
    if count.ratio < case.thresholds.goroutine_growth_ratio:
        return Text()
    words = text(
        "{}it grows by {} for each of {} goroutines that came",
        "Mend the goroutine leak first: " if goroutines_pile_up(case) else "See who began these: ",
        Bytes(round(grows.rise.grown / count.grown)),
        Count(round(count.grown)),
    )
    if waiting is None or not waiting.function:
        return words + ". "
    asked = called_by(opening(case), package_of(waiting.function))
    return text("{} and wait in {}. {}", words, Function(waiting.function), asked)


def _came_with(case: Case, size: int) -> tuple[Site, ...]:
    """The functions of those goroutines, or who asks their library."""
    waiting, opened = case.facts.goroutines.waiting, opening(case)
    if opened or waiting is None or case.facts.callers.is_of_a_library(waiting.function):
        return caller_sites(opened, case.thresholds, size)
    return (Site(waiting.function, waiting.function, high=size, share=1.0),)


def _title(native: NativeMemory, rss: int) -> Text:
    size, share = Bytes(native.bytes), Share(native.bytes / rss)
    return text("{} of RSS ({}) is C memory, not Go's", size, share) + _in_blocks(native)


def _in_blocks(native: NativeMemory) -> Text:
    if not native.block_bytes:
        return Text()
    return text(
        ", {} of it in large blocks that malloc most likely mapped", Bytes(native.block_bytes)
    )
