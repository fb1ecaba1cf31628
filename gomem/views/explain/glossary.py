"""Words of the field that are no column of a table, or of which a column's sentence is not enough.

Facts are from the runtime's and the kernel's sources, and were seen in real runs of the releases
that are named.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
    """A word.

    Attributes:
        names: How it is called, the usual name first.
        means: What it is.
        comes_from: Who counts it, and where it is to be read.
        is_not: What it is taken for, and is not.
        releases: What differs by release of Go or of the kernel.
        related: Words to look at next.
    """

    names: tuple[str, ...]
    means: str
    comes_from: str = ""
    is_not: str = ""
    releases: str = ""
    related: tuple[str, ...] = ()


GLOSSARY = (
    # --- the kernel's side
    Entry(
        ("RSS", "RES", "resident", "resident set size"),
        "Bytes of a process's address space that are in memory now, in whole pages.",
        "the kernel: VmRSS of status, the second number of statm, Rss of smaps added up; RES in "
        "top, RSS in ps",
        "Not what Go uses: memory that Go has mapped and never touched is not in it, and what Go "
        "gave back with MADV_FREE still is. Shared pages count in each process that maps them.",
        related=("Pss", "working set", "VIRT", "ledger"),
    ),
    Entry(
        ("VIRT", "VSZ", "virtual memory"),
        "Address space that is mapped, touched or not.",
        "the kernel: VmSize of status, VIRT in top, VSZ in ps",
        "Not memory. A Go program reserves gigabytes of addresses at its start, and that costs "
        "next to nothing.",
        related=("RSS", "arena"),
    ),
    Entry(
        ("SHR", "shared"),
        "The part of RSS that is pages of files or of shared memory.",
        "the kernel: RssFile + RssShmem of status, the third number of statm, SHR in top",
        "Not what other processes use as well: a page counts as soon as it could be shared.",
        related=("RSS", "Pss"),
    ),
    Entry(
        ("USS", "unique set size"),
        "What the kernel would get back if the process ended: its private pages.",
        "smaps: Private_Clean + Private_Dirty",
        related=("RSS", "Pss"),
    ),
    Entry(
        ("working set", "container_memory_working_set_bytes", "workingSet"),
        "What a control group is charged, less the file pages that were not used of late.",
        "cAdvisor and the kubelet: memory.current less inactive_file of memory.stat (version 1: "
        "memory.usage_in_bytes less total_inactive_file)",
        "Not RSS: it counts page cache in use, kernel memory and every process of the group. The "
        "kubelet evicts by it; the kernel kills by the charge, when nothing can be reclaimed.",
        related=("memory.current", "RSS", "OOM kill"),
    ),
    Entry(
        ("memory.current", "memory.usage_in_bytes", "charge"),
        "All that a control group is charged: anonymous memory, page cache, kernel memory.",
        "the kernel: memory.current (version 2), memory.usage_in_bytes (version 1)",
        "Not the RSS of one process. File pages in it are taken back before anybody is killed.",
        related=("working set", "memory.max"),
    ),
    Entry(
        ("memory.max", "memory.limit_in_bytes", "container limit"),
        "The most that a control group may be charged; above it the kernel reclaims, and kills "
        "where nothing is left to reclaim.",
        "the kernel: memory.max (version 2), memory.limit_in_bytes (version 1)",
        "Not known to Go: the runtime does not read it. GOMEMLIMIT has to be set beside it, lower.",
        related=("GOMEMLIMIT", "OOM kill", "limit-risk"),
    ),
    Entry(
        ("OOM kill", "OOMKilled", "oom_kill"),
        "The kernel ends a process because its control group, or the machine, has no memory left "
        "that could be reclaimed. The process gets SIGKILL, and leaves no panic and no log.",
        "oom_kill of memory.events; exit code 137; the kernel's log",
        related=("memory.max", "limit-risk"),
    ),
    Entry(
        ("transparent huge pages", "THP", "huge pages", "khugepaged"),
        "Pages of 2 MiB that the kernel makes of 512 small ones: all of it is resident, also what "
        "was never touched.",
        "AnonHugePages of smaps; /sys/kernel/mm/transparent_hugepage",
        releases="Go 1.21.0 asked for them with MADV_HUGEPAGE, 1.21.1 to 1.21.3 with "
        "MADV_COLLAPSE; before and after, the kernel's own setting decides.",
        related=("AnonHugePages", "huge-pages"),
    ),
    Entry(
        ("page cache",),
        "Pages of files that the kernel keeps because they may be read again.",
        "file of memory.stat; buff/cache of free",
        "Not the process's: it is taken back as soon as memory is wanted.",
        related=("working set", "file-mapping"),
    ),
    Entry(
        ("MADV_FREE",),
        "A way to give memory back that lets the kernel wait: the pages count as resident until "
        "they are wanted elsewhere.",
        "LazyFree of smaps",
        "Not a leak, though RSS looks like one.",
        releases="Go used it from 1.12 to 1.15; since 1.16 it is MADV_DONTNEED again, and RSS "
        "falls at once. GODEBUG=madvdontneed=1 (or 0) chooses.",
        related=("LazyFree", "MADV_DONTNEED", "released-but-resident"),
    ),
    Entry(
        ("MADV_DONTNEED",),
        "A way to give memory back at once: the pages are gone, and read as zeros when touched "
        "again.",
        releases="What Go does since 1.16, and did before 1.12.",
        related=("MADV_FREE", "HeapReleased"),
    ),
    Entry(
        ("smaps_rollup",),
        "smaps added up by the kernel, in one entry.",
        "/proc/PID/smaps_rollup, since Linux 4.14",
        related=("Rss", "Pss"),
    ),
    # --- the runtime's side
    Entry(
        ("HeapAlloc", "Alloc"),
        "Bytes of objects: those in use, and dead ones that were not swept yet.",
        "the runtime: MemStats.HeapAlloc, go_memstats_heap_alloc_bytes",
        "Not the live heap: between two collections it holds all that was allocated since, dead or "
        "not. Not what a heap profile has in use, which is of the last collection.",
        related=("live heap", "HeapInuse", "inuse_space"),
    ),
    Entry(
        ("HeapIdle",),
        "Bytes of heap spans without objects: kept for reuse, given back, or never touched.",
        "the runtime: MemStats.HeapIdle; HeapSys - HeapInuse",
        "Not resident as such: HeapIdle - HeapReleased is what is kept.",
        related=("HeapReleased", "scavenger", "idle-heap-kept"),
    ),
    Entry(
        ("HeapReleased",),
        "Bytes of idle heap that were given back to the kernel.",
        "the runtime: MemStats.HeapReleased",
        "Not surely gone from RSS: given back with MADV_FREE, they count until the kernel takes "
        "them.",
        releases="Since Go 1.13 heap that was never touched counts in it as well; before, it is "
        "HeapIdle alone.",
        related=("HeapIdle", "LazyFree", "scavenger"),
    ),
    Entry(
        ("HeapInuse",),
        "Bytes of heap spans that hold at least one object.",
        "the runtime: MemStats.HeapInuse",
        "Not RSS: a span counts when it is taken, not when it is touched.",
        releases="HeapSys = HeapInuse + HeapIdle in every release.",
        related=("HeapAlloc", "heap_slack", "heap-fragmentation"),
    ),
    Entry(
        ("HeapSys",),
        "Address space that the runtime has taken for the heap: HeapInuse + HeapIdle.",
        "the runtime: MemStats.HeapSys",
        "Not resident memory: much of it may never have been touched, or have been given back.",
        releases="It grows by whole arenas of 64 MiB in Go 1.11 to 1.16, by chunks of 4 MiB since "
        "1.17, by 1 MiB before 1.11.",
        related=("arena", "HeapInuse", "HeapIdle"),
    ),
    Entry(
        ("Sys",),
        "Address space that the runtime has in use: the seven …Sys fields of MemStats added up.",
        "the runtime: MemStats.Sys, go_memstats_sys_bytes",
        "Not RSS, neither above nor below: C's memory, mapped files and the program's own text are "
        "not in it, and what was never touched or was given back is.",
        related=("RSS", "HeapReleased"),
    ),
    Entry(
        ("NextGC", "heap goal", "goal", "MB goal", "/gc/heap/goal:bytes"),
        "The heap size at which the next collection is to be done marking.",
        "the runtime: MemStats.NextGC, /gc/heap/goal:bytes, `MB goal` in a gctrace line",
        "Not a limit: the heap may be larger when marking ends.",
        releases="Live heap × (1 + GOGC/100); since Go 1.18 stacks and globals are added to what "
        "GOGC multiplies, and since 1.19 GOMEMLIMIT may lower it.",
        related=("GOGC", "GOMEMLIMIT", "live heap"),
    ),
    Entry(
        ("live heap", "/gc/heap/live:bytes"),
        "What the last collection found in use.",
        "the runtime: /gc/heap/live:bytes (since Go 1.21), the third size of a gctrace line, "
        "rounded down to MiB",
        "Not HeapAlloc, which also has what was allocated since.",
        related=("HeapAlloc", "heap-growth", "heap-headroom"),
    ),
    Entry(
        ("GOGC", "/gc/gogc:percent"),
        "How much the heap may grow over what was live before it is collected again, in per cent; "
        "100 unless set. Twice the number is about half the collections and more memory.",
        "the environment, or debug.SetGCPercent; /gc/gogc:percent",
        related=("NextGC", "GOMEMLIMIT", "gc-pressure", "heap-headroom"),
    ),
    Entry(
        ("GOMEMLIMIT", "memory limit", "SetMemoryLimit", "/gc/gomemlimit:bytes"),
        "A soft limit on what the runtime has mapped and not given back: near it, it collects more "
        "often and gives memory back sooner.",
        "the environment, or debug.SetMemoryLimit; /gc/gomemlimit:bytes",
        "Not a hard limit, and no limit of RSS: C's memory, mapped files and the binary are not in "
        "it. With a live heap near it, the program does little but collect.",
        releases="Since Go 1.19.",
        related=("memory.max", "memory-limit-thrash", "scavenger"),
    ),
    Entry(
        ("scavenger", "scav", "background scavenger"),
        "The part of the runtime that gives idle heap back to the kernel, slowly, in the "
        "background, down to a goal.",
        "HeapReleased; GODEBUG=scavtrace=1 prints `scav` lines",
        "Not the collector: it finds no garbage. It takes about 1 % of a core.",
        releases="Before Go 1.13 it gives back every few minutes what has been idle for five; "
        "since then it keeps about a tenth above what the next cycle will need, and since 1.19 it "
        "heeds GOMEMLIMIT, too.",
        related=("HeapIdle", "HeapReleased", "FreeOSMemory", "idle-heap-kept"),
    ),
    Entry(
        ("retained", "retained heap"),
        "Heap in use, and idle heap that is kept for reuse: what the scavenger holds against its "
        "goal.",
        "HeapSys - HeapReleased; the `util` of a scav line is HeapInuse of it",
        "Not RSS: of what is retained some may never have been touched, and what was given back "
        "with MADV_FREE is resident and not retained.",
        releases="Since Go 1.13 it settles near 1.1 × the peak of HeapInuse, which is about 1.1 × "
        "NextGC.",
        related=("scavenger", "HeapReleased", "NextGC", "idle-heap-kept"),
    ),
    Entry(
        ("dense chunks", "dense-chunks", "dense chunk"),
        "Pieces of 4 MiB of the heap that were at least 96.9 % in use in this GC cycle or the "
        "last: the background scavenger leaves them alone, so as not to break up huge pages.",
        "the runtime's page allocator; no file counts them",
        "Not a leak: a process that drops a cache, collects once and goes quiet keeps nearly all "
        "of it idle until the next collection, which comes after two minutes at the latest. "
        "debug.FreeOSMemory heeds no density.",
        releases="Since Go 1.21.",
        related=("scavenger", "retained", "FreeOSMemory", "idle-heap-kept"),
    ),
    Entry(
        ("scvg",),
        "The scavenger's line in a gctrace log of Go 1.4 to 1.13.",
        "standard error of a program under GODEBUG=gctrace=1",
        related=("scavenger",),
    ),
    Entry(
        ("FreeOSMemory", "debug.FreeOSMemory"),
        "Forces a collection and gives back all idle heap at once.",
        "a call by the program",
        "Not a cure: the next burst takes the memory again, and pays for it in page faults.",
        related=("scavenger", "forced-gc"),
    ),
    Entry(
        ("arena",),
        "A piece of address space that the heap is made of: 64 MiB, aligned, since Go 1.11.",
        "smaps: mappings of the kind go-heap; Go 1.25 and later name them `[anon: Go: heap]` where "
        "the kernel allows it",
        "Not C's arena: glibc's malloc has arenas of 64 MiB too.",
        releases="Go 1.26 and later put the heap at a random address; before, at 0xc000000000.",
        related=("span", "HeapSys"),
    ),
    Entry(
        ("span", "mspan"),
        "Some pages in a row that hold objects of one size, or one large object.",
        "MSpanInuse and MSpanSys count the structures that describe spans, not their memory",
        related=("size class", "HeapInuse"),
    ),
    Entry(
        ("size class",),
        "Small objects are rounded up to one of 67 sizes up to 32 KiB; larger ones get whole "
        "pages. 100 bytes take 112, 33 000 take 40 960.",
        "BySize of MemStats, up to about 18 KiB",
        related=("heap_slack", "heap-fragmentation"),
    ),
    Entry(
        ("large object", "large allocation"),
        "An object above 32 KiB: it gets a span of its own, from the heap's free pages.",
        releases="Go 1.24.0 to 1.24.5 zero the whole of one that holds pointers, though fresh "
        "memory is zero already: what was mapped and never touched becomes resident.",
        related=("untouched-now-resident", "span"),
    ),
    Entry(
        ("stop the world", "STW", "pause"),
        "The time for which no goroutine runs, twice in each collection.",
        "PauseNs of MemStats, /sched/pauses/total/gc:seconds, the first and last of the three "
        "times in `ms clock` of a gctrace line",
        "Not all that a collection costs: marking runs beside the program and takes its CPU.",
        related=("long-pauses", "mark assist"),
    ),
    Entry(
        ("mark assist", "assist"),
        "Marking that an allocating goroutine has to do itself, because it allocates faster than "
        "the background workers mark: latency, paid by whoever allocates.",
        "the first of the three marking times in `ms cpu`; /cpu/classes/gc/mark/assist:cpu-seconds",
        related=("gc-pressure", "GOGC"),
    ),
    Entry(
        ("gctrace", "gc line"),
        "One line on standard error for each collection: number, seconds since the start, the "
        "collector's share of CPU since the start, three wall-clock times, the CPU times, three "
        "heap sizes (at the start, at the end of marking, live), the goal, stacks, globals, Ps.",
        "a program under GODEBUG=gctrace=1",
        "Its MB are MiB, cut off. Its percentage is of the whole run, not of the collection.",
        releases="Stacks and globals since Go 1.18.",
        related=("NextGC", "stop the world", "scavenger"),
    ),
    Entry(
        ("ms clock",),
        "Wall-clock times of a collection: first stop, marking beside the program, second stop.",
        "a gctrace line; cut off to two digits",
        related=("stop the world", "ms cpu"),
    ),
    Entry(
        ("ms cpu",),
        "CPU times of a collection: first stop, assists / background marking / idle marking, "
        "second stop, over all Ps.",
        "a gctrace line; cut off to two digits",
        "Idle marking costs nobody: it takes time that no goroutine wanted.",
        related=("mark assist", "gc-pressure"),
    ),
    Entry(
        ("NumGC",),
        "Collections so far.",
        "the runtime: MemStats.NumGC, /gc/cycles/total:gc-cycles, go_gc_duration_seconds_count",
        "The same number on both sides of a reading proves that no collection ended in it.",
        related=("NumForcedGC", "skew"),
    ),
    Entry(
        ("goroutine stack", "stacks"),
        "Memory of goroutines' stacks, at least 2 KiB each; they grow by doubling and shrink at "
        "collections.",
        "StackInuse of MemStats; spans inside the arenas, outside HeapSys",
        "Not thread stacks: those of cgo's threads are the C library's, and in no field of "
        "MemStats.",
        related=("StackInuse", "goroutine-leak", "stack-growth"),
    ),
    # --- profiles
    Entry(
        ("inuse_space", "inuse_objects"),
        "What a heap profile has in use, by the place that allocated it: allocated and not freed, "
        "as the last collection left it.",
        "/debug/pprof/heap, its default; one sample in 512 KiB, scaled up",
        "Not RSS and not HeapAlloc: it is a sample, of the last collection, without the runtime's "
        "own memory and without garbage.",
        related=("alloc_space", "flat", "live heap"),
    ),
    Entry(
        ("alloc_space", "alloc_objects"),
        "What was allocated since the start, by place, freed or not.",
        "/debug/pprof/heap and /debug/pprof/allocs, which hold the same",
        "Not memory in use: it shows who keeps the collector busy.",
        related=("inuse_space", "gc-pressure"),
    ),
    Entry(
        ("flat",),
        "What a function allocated itself.",
        related=("cum",),
    ),
    Entry(
        ("cum", "cumulative"),
        "What a function and all that it called allocated.",
        "",
        "Not to be added up: each caller counts it again.",
        related=("flat",),
    ),
    Entry(
        ("sampling rate", "MemProfileRate"),
        "One allocation in so many bytes is recorded, 512 KiB unless set; pprof scales the counts.",
        "runtime.MemProfileRate; `period` in a profile",
        "Not exact: each number has an interval, and few samples have a wide one.",
        related=("inuse_space", "data-thin"),
    ),
    # --- gomem's own
    Entry(
        ("ledger",),
        "RSS of a moment divided into parts that add up to it exactly, whatever is known.",
        "gomem: smaps for the kernel's side, MemStats or runtime/metrics for Go's",
        related=("RSS", "heap_untouched", "heap_unexplained"),
    ),
    Entry(
        ("skew",),
        "How far apart the two sides of a moment were read. If a collection ended in between, the "
        "differences between them are no memory.",
        "gomem: NumGC before and after the kernel's files, in the manifest of `gomem capture`",
        related=("data-skew", "moment"),
    ),
    Entry(
        ("moment",),
        "One point in time of a capture: the files that were read together.",
        related=("capture", "skew"),
    ),
    Entry(
        ("capture",),
        "What was collected of one process: a folder, an archive, or files.",
        "`gomem capture PID -o DIR`, or by hand",
        related=("moment",),
    ),
)  # fmt: skip
