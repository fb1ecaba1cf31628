"""C memory (malloc's heaps and thread stacks), which no metric of the Go runtime shows.

Only programs with cgo or C libraries have C memory. In smaps it appears as brk's `[heap]`, as
malloc's arenas of 64 MiB, as separate mappings for large blocks, and as thread stacks. A heap
profile does not show it and GOMEMLIMIT does not count it, so a C leak looks like a Go leak.

The rule looks at growth, not at size. C memory of constant size is normal for the program, and a
single snapshot shows no trend. In both cases the finding is only a note.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gomem.analysis.mappings.native import HEAP_IN_USE
from gomem.analysis.memory.groups import NATIVE
from gomem.analysis.memory.totals import LOGGED
from gomem.causes.beyond_go import beyond_go, kinds_outside
from gomem.causes.cause import Case, Cause
from gomem.causes.checks import threads_pile_up
from gomem.causes.commands import TAKE_CPU_PROFILE, TAKE_SMAPS, sentences, stacks_in, top
from gomem.causes.evidence import known, rss_evidence
from gomem.causes.finding import Evidence, Finding, Severity, Site
from gomem.causes.goroutines import call_c, goroutines_pile_up, open_files_evidence, opening
from gomem.causes.missing_call import of_native
from gomem.causes.outside_go import Growth, growth, is_level, outside_go
from gomem.causes.sites import called_by, caller_sites
from gomem.facts.told_beside import has_no_cgo
from gomem.inputs.pprof.calls.names import package_of
from gomem.text import Bytes, Command, Count, Function, MomentName, Share, Text, text

if TYPE_CHECKING:
    from gomem.analysis.memory.account import Account
    from gomem.analysis.series.level import Rise
    from gomem.causes.thresholds import Thresholds
    from gomem.facts.callers import Callers
    from gomem.facts.moment import MomentFacts

THREADS = "thread_stacks"
KINDS = {"native-heap": "native_heap", "thread-stack": THREADS}


_BLOCKS = (
    " malloc maps each block of 128 KiB or more (M_MMAP_THRESHOLD) separately, without a name. In "
    "a program with C code, anonymous mappings outside Go are most likely such blocks, but the "
    "program itself could have made the mappings."
)


def find(case: Case) -> list[Finding]:
    """Return one finding per snapshot with much C memory; the last says whether that grows."""
    if all(moment.mappings is None for moment in case.facts.moments):
        return _by_totals(case)
    with_threads = not threads_pile_up(case)  # thread stacks belong to thread-growth
    found = outside_go(
        case, lambda moment: native_memory(moment, with_threads).bytes, case.thresholds.native_bytes
    )
    is_level = bool(found) and found[-1][1] is None
    since = _unchanged_since(case, with_threads) if is_level else ""
    return [
        _finding(moment, native_memory(moment, with_threads), grows, case, since)
        for moment, grows in found
    ]


def _by_totals(case: Case) -> list[Finding]:
    """Return a finding by the part of RSS, in totals, that is neither Go nor files."""
    account, thresholds = case.facts.account_of_rss, case.thresholds
    if account is not None:
        held, rss = account.last.likely.parts[NATIVE].low, account.last.total_bytes
        if held >= thresholds.notable(thresholds.native_bytes, rss):
            return _held(round(held), account, case)
    beyond, is_mapped = beyond_go(case), has_no_cgo(case.facts.capture)
    if beyond is None:
        return []
    return [
        CAUSE.finding(
            Severity.WARNING,
            beyond.title,
            moment=beyond.moment,
            size=beyond.bytes,
            evidence=beyond.evidence,
            mechanism=_MAPPED if is_mapped else "",
            next_step=_FIND_MAPS if is_mapped else _TAKE_SMAPS,
            confidence="possible",
        )
    ]


def _held(size: int, account: Account, case: Case) -> list[Finding]:
    last, limits = account.last, case.thresholds
    moment, grows = case.facts.by_moment[last.moment], growth(case, limits.native_bytes)
    is_watched = len(account.snapshots) > 1
    if grows is None and is_watched and size < limits.large_rss_fraction * last.total_bytes:
        return []  # constant, and small beside Go's memory
    least, share = Bytes(size), Share(size / last.total_bytes)
    is_steady, is_mapped = is_level(case), has_no_cgo(case.facts.capture)
    kinds, logged = kinds_outside("C or mmap", case), _logged(moment)
    title = text(_TOTAL, least, share, "" if is_mapped else "C memory, or ")
    if is_steady:
        title = text(_LEVEL_TOTAL, kinds, least, share)
    elif sum(int(row.value) for row in logged) >= limits.most_share * size:
        title = text(_LOGGED, least, share)
    if grows is not None:
        title = grows.title(f"Memory outside Go ({kinds})")
    return [
        CAUSE.finding(
            Severity.INFO if grows is None else Severity.WARNING,
            title,
            moment=moment.name,
            size=size,
            evidence=(*rss_evidence(moment), *logged, *_claimed(moment), *_of(grows)),
            mechanism=_MAPPED if is_mapped else "",
            next_step=_IT_IS_LEVEL if is_steady else _FIND_MAPS if is_mapped else _TAKE_SMAPS,
            confidence="possible",
        )
    ]


def _claimed(moment: MomentFacts) -> tuple[Evidence, ...]:
    return known(moment.path("memstats"), "B", {"Sys": moment.told("Sys")})


def _logged(moment: MomentFacts) -> tuple[Evidence, ...]:
    """C memory that the program itself counts in its log."""
    assert moment.ledger is not None
    size = moment.ledger.part("native_heap") or None
    return known(moment.path(LOGGED), "B", {"C memory, counted by the program": size})


def _of(grows: Growth | None) -> tuple[Evidence, ...]:
    return () if grows is None else grows.evidence()


_LOGGED = "{} of RSS ({}) is C memory (malloc), by the program's log"
_TOTAL = "At least {} of RSS ({}) is outside Go: {}mapped by the program"
_LEVEL_TOTAL = "Memory outside Go ({}) is level: at least {} of RSS ({})"
_IT_IS_LEVEL = text("It does not grow. To see what it is, collect smaps: {}.", TAKE_SMAPS)
_TAKE_SMAPS = text(
    "Collect smaps, which lists malloc's heaps, thread stacks and other mappings: {}. If the "
    "program uses cgo, check that it frees every C.malloc and C.CString.",
    TAKE_SMAPS,
)
_MAPPED = (
    "Without cgo, the program or a library maps this memory itself (syscall.Mmap, an off-heap "
    "cache). The Go runtime does not know about it: no MemStats field and no heap profile shows "
    "it, and GOMEMLIMIT does not count it."
)
_FIND_MAPS = text(
    "Search the program and its dependencies for calls to Mmap without Munmap: memory that is "
    "mapped and never unmapped stays until the process ends. Collect smaps, which lists the "
    "mappings: {}.",
    TAKE_SMAPS,
)
_WHO_CALLS = text(
    "A CPU profile shows which Go functions call C (runtime.cgocall): {}.", TAKE_CPU_PROFILE
)
_FREE_IT = (
    "Check that the program frees every C.malloc and C.CString, and closes every C handle. To "
    "profile C allocations, use jemalloc, heaptrack or massif. If malloc itself keeps the memory, "
    "try MALLOC_ARENA_MAX=2; if there are many threads, look at what blocks in cgo calls."
)
_UNCHANGED = "It is as large as at {}. If the program needs less, see who allocates it."
CAUSE = Cause(
    code="native-memory",
    mechanism="This memory is outside the Go runtime: malloc by C code, thread stacks, or mmaps by "
    "the program. No MemStats field and no heap profile shows it, and GOMEMLIMIT does not count "
    "it. malloc keeps freed memory in its arenas, up to eight per core: part of what is counted "
    "can be free.",
    remedy=sentences(_WHO_CALLS, _FREE_IT),
    references=("cmd/cgo", "mallopt(3)"),
    bears_on=("mappings",),
    rule=find,
    claims=frozenset({NATIVE}),
    past="C memory and thread stacks",
)


@dataclass(frozen=True)
class NativeMemory:
    """Resident C memory at a snapshot.

    Attributes:
        known_bytes: In malloc's heaps and threads' stacks.
        block_bytes: In large blocks that malloc most likely mapped.
    """

    known_bytes: int
    block_bytes: int

    @property
    def bytes(self) -> int:
        """The sum of both."""
        return self.known_bytes + self.block_bytes


def native_memory(moment: MomentFacts, with_threads: bool = True) -> NativeMemory:
    """Return resident C memory, with or without thread stacks; 0 if unknown."""
    if moment.ledger is None or moment.mappings is None:
        return NativeMemory(0, 0)
    blocks = moment.mappings.loc[moment.is_malloced, "Rss"]
    parts = [part for part in KINDS.values() if with_threads or part != THREADS]
    return NativeMemory(sum(map(moment.ledger.part, parts)), int(blocks.sum()))


def _finding(
    moment: MomentFacts, native: NativeMemory, grows: Growth | None, case: Case, since: str
) -> Finding:
    assert moment.ledger is not None
    callers, thresholds = case.facts.callers.calling_c, case.thresholds
    files = _files_beside(case) if grows is not None else None
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
    evidence += [*rss_evidence(moment), *_of(grows)]
    evidence += known(moment.path("memstats"), "B", {"HeapInuse": moment.counted("HeapInuse")})
    title = _title(native, moment.rss_bytes or 0)
    if grows is not None:
        title = grows.title("C memory (malloc)")
    if files is not None:
        ends = (Count(round(end)) for end in (files.first, files.last))
        title += text("; open files {} → {}", *ends)
        evidence += open_files_evidence(case)
    sites = caller_sites(callers, thresholds, native.bytes)
    for site in sites[:1]:
        title += text("; most calls into C are from {}", Function(site.own_function))
    return CAUSE.finding(
        Severity.INFO if grows is None else Severity.WARNING,
        title,
        moment=moment.name,
        size=native.bytes,
        evidence=evidence,
        mechanism=CAUSE.mechanism + (_BLOCKS if native.block_bytes else ""),
        next_step=sentences(
            _next_step(case.facts.callers, came_with or _with_files(files, grows), since),
            "" if came_with else _perhaps_held(case, grows),
        ),
        confidence=_confidence(native, grows, thresholds),
        sites=sites or (_came_with(case, native.bytes) if came_with else ()),
        missing_call=of_native(case),
    )


def _next_step(known: Callers, came_with: str, unchanged_since: str) -> Text:
    """Return the next step: the goroutines that grow with C memory, then the callers of C."""
    before, after = came_with, _FREE_IT
    if unchanged_since:
        before, after = text(_UNCHANGED, MomentName(unchanged_since)), ""
    callers = known.calling_c
    if not callers:
        return sentences(before, called_by(known.copying_from_c, "C"), _WHO_CALLS, after)
    path = callers[0].path
    is_text = path.endswith(".txt")  # has no frames of the runtime
    command = stacks_in(path) if is_text else top(path, options="--peek cgocall")
    shows = text("See the callers: {}.", command)
    return sentences(before, shows, called_by(callers, "C"), after)


def _unchanged_since(case: Case, with_threads: bool) -> str:
    """The first snapshot whose C memory was as large as the last one's; empty without two."""
    saying = [m for m in case.facts.of_last_process if m.mappings is not None]
    sizes = [native_memory(moment, with_threads).bytes for moment in saying]
    is_level = len(saying) > 1 and not case.thresholds.has_grown(min(sizes), max(sizes))
    return saying[0].name if is_level else ""


def _confidence(native: NativeMemory, grows: Growth | None, thresholds: Thresholds) -> str:
    """Return the confidence, by the growth and by how likely unnamed blocks are malloc's."""
    known = "certain" if grows is None else grows.confidence
    if native.block_bytes < thresholds.native_blocks_fraction * native.bytes:
        return known
    if native.known_bytes < HEAP_IN_USE:
        return "possible"  # only their shape suggests malloc
    return "likely" if known == "certain" else known


def _with_goroutines(case: Case, grows: Growth | None) -> Text:
    """Name the goroutines that came at the same time, and are in C or of an opened library."""
    count, waiting = case.facts.goroutines.count, case.facts.goroutines.waiting
    if grows is None or count is None or not _rise_beside(case):
        return Text()
    if not _are_in_c(count.grown, case) and not opening(case):
        return Text()
    words = text(
        "{}: C memory grows by {} for each of {} new goroutines",
        "Fix the goroutine leak first"
        if goroutines_pile_up(case)
        else "See who starts these goroutines",
        Bytes(round(grows.rise.grown / count.grown)),
        Count(round(count.grown)),
    )
    if waiting is None or not waiting.function:
        return words + "."
    asked = called_by(opening(case), package_of(waiting.function))
    return sentences(text("{}, which wait in {}.", words, Function(waiting.function)), asked)


def _rise_beside(case: Case) -> bool:
    """Return whether the number of goroutines rises by enough to be named."""
    count, least = case.facts.goroutines.count, case.thresholds
    if count is None or count.grown < least.goroutines_beside:
        return False
    return count.ratio >= least.goroutine_growth_ratio


def _perhaps_held(case: Case, grows: Growth | None) -> Text:
    """Ask about goroutines that wait in Go and came at the same time; empty without any."""
    waiting = case.facts.goroutines.waiting
    if grows is None or waiting is None or not waiting.function or not _rise_beside(case):
        return Text()
    return text(_EACH_MAY_HOLD, Function(waiting.function))


_EACH_MAY_HOLD = (
    "Goroutines rise at the same time: check whether those that wait in {} hold C memory until "
    "they end."
)


def _are_in_c(came: float, case: Case) -> bool:
    """Return whether most new goroutines run C code, by their stacks, or have a thread each.

    What waits in Go and grows at the same time need not hold the C memory.
    """
    threads, counts = case.facts.threads, case.facts.goroutine_counts
    least, frame = case.thresholds.most_share * came, counts[-1].frame
    if threads is not None and threads.grown >= least:
        return True
    if frame is None:
        return False
    return int(frame.loc[call_c(frame), "goroutines"].sum()) >= least


def _files_beside(case: Case) -> Rise | None:
    """Return the rise of the open files, if it is large; else None."""
    files, least = case.facts.open_files, case.thresholds
    if files is None or files.grown < least.goroutine_growth:
        return None
    return files if files.ratio >= least.goroutine_growth_ratio else None


_NOT_CLOSED = (
    "C memory grows by {} for each of {} new open files: something is opened again and again, and "
    "not closed. Call rows.Close() for each sql.Rows, open a database once and not for each "
    "request, and bound its connections with db.SetMaxOpenConns. See what is open: {}."
)


def _with_files(files: Rise | None, grows: Growth | None) -> Text:
    """Say that open files rise with C memory, and what leaves them open; empty if they do not."""
    if files is None or grows is None:
        return Text()
    each = Bytes(round(grows.rise.grown / files.grown))
    return text(_NOT_CLOSED, each, Count(round(files.grown)), Command("ls -l /proc/PID/fd"))


def _came_with(case: Case, size: int) -> tuple[Site, ...]:
    """Return the functions of the goroutines that grow with C memory, or their callers."""
    waiting, opened = case.facts.goroutines.waiting, opening(case)
    if opened or waiting is None or case.facts.callers.is_of_a_library(waiting.function):
        return caller_sites(opened, case.thresholds, size)
    return (Site(waiting.function, waiting.function, high=size, share=1.0),)


def _title(native: NativeMemory, rss: int) -> Text:
    size, share = Bytes(native.bytes), Share(native.bytes / rss)
    blocks = text(", {} in large blocks", Bytes(native.block_bytes))
    title = text("{} of RSS ({}) is C memory (malloc), not Go's", size, share)
    return title + blocks if native.block_bytes else title
