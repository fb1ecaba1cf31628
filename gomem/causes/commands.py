"""Commands for next steps, ready to paste, with the file names of the capture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.capture.wanted import GC_LOG, GOROUTINES, HEAP_PROFILE, MEMSTATS, SMAPS
from gomem.inputs.processes.containers import CRICTL_STATS, DOCKER_STATS, KUBECTL_TOP, OLD_DOCKER
from gomem.inputs.processes.docker_releases import CACHELESS_DOCKER
from gomem.inputs.processes.metrics_api import METRICS_API
from gomem.inputs.system import BSD, FREEBSD, MACOS, PLAN9, TINYGO, WASM
from gomem.shell import Argument
from gomem.text import Command, Program, Quoted, Text, joined, text
from gomem.units import is_digits

if TYPE_CHECKING:
    from collections.abc import Collection

    from gomem.analysis.memory.listed import Listed
    from gomem.causes.cause import Case

_PROCSTAT, _VMMAP = Command("procstat -v PID"), Command("vmmap --summary PID")
_MAPPINGS_ON = {
    FREEBSD: _PROCSTAT,
    MACOS: _VMMAP,
    PLAN9: Command("cat /proc/PID/segment"),
    BSD: text("on FreeBSD {}, on macOS {}", _PROCSTAT, _VMMAP),
}
_BY_VMMAP = "Look at the working set with VMMap (Go's heap is Private Data)."
_IN_THE_NEXT_RUN = (
    "The process has ended: watch the next run while it grows. {} Let the program write a heap "
    "profile then (pprof.WriteHeapProfile)."
)
_IN_A_MODULE = (
    "A WebAssembly module has no /proc and serves no profiles: log MemStats for longer, and "
    "compare Sys with the memory that the host shows."
)
_IN_TINYGO = (
    "TinyGo serves no profiles: log its MemStats after runtime.GC() for longer. Only a HeapInuse "
    "that rises there is held."
)
_FOLLOWED_BY = {
    **dict.fromkeys((KUBECTL_TOP, METRICS_API), "kubectl top pod NAME --containers"),
    CRICTL_STATS: "crictl stats",
    **dict.fromkeys((DOCKER_STATS, CACHELESS_DOCKER, OLD_DOCKER), "docker stats --no-stream NAME"),
}
STANDARD_INPUT = "stdin"  # has no name that a command could open
PPROF = "http://HOST:PORT/debug/pprof"
CAPTURE_ONCE = Command("gomem capture PID -o DIR")
CAPTURE_SECONDS = 30  # between two readings
CAPTURE = Command(f"gomem capture PID -o DIR --every {CAPTURE_SECONDS}s --for 10m")
CAPTURE_THE_NEXT_RUN = text(
    "The process has ended: capture the next run while it grows: {}.",
    Command("gomem capture PID --every 10s -o DIR"),
)
TAKE_SMAPS = Command(SMAPS.command())
TAKE_GC_LOG = Command(GC_LOG.command())
TAKE_MEMSTATS = Command(MEMSTATS.command())
TAKE_ALLOCS = Command(f"curl -s {PPROF}/allocs > allocs.pb.gz")
TAKE_HEAP_PROFILE = Command(HEAP_PROFILE.command())
TAKE_AFTER_GC = Command(f"curl -s '{PPROF}/heap?gc=1' > heap.pb.gz")
TAKE_GOROUTINES = Command(GOROUTINES.command())
WHERE_THEY_WAIT = text("See where they wait: {}.", TAKE_GOROUTINES)
TAKE_STACKS = Command(f"curl -s '{PPROF}/goroutine?debug=2' > goroutines.txt")
TAKE_CPU_PROFILE = Command(f"curl -s '{PPROF}/profile?seconds=30' > cpu.pb.gz")
WHO_MAPS = Command("strace -f -k -e trace=mmap,munmap -p PID")


def see_resident(system: str, *, has_ended: bool = False) -> Text:
    """Return how to see resident memory, and Go's part of RSS, on a system without /proc."""
    if system == WASM:
        return Text(_IN_A_MODULE)
    if system == TINYGO:
        return Text(_IN_TINYGO)
    command = _MAPPINGS_ON.get(system)
    words = "See what is resident: {}."
    first = text(words, command) if command else Text(_BY_VMMAP)
    if has_ended:  # nothing that it served can be asked
        return text(_IN_THE_NEXT_RUN, first)
    return text("{} See what holds Go's heap: {}.", first, TAKE_HEAP_PROFILE)


def with_files(template: str, *paths: str) -> Command:
    """Fill the capture's files into a command."""
    return Command(text(template, *map(_argument, paths)))


def top(path: str, base: str = "", options: str = "--cum") -> Command:
    """Return the command that shows the largest sites of a profile, or the growth since a base."""
    if base and base != path:
        return with_files(f"gomem top {{}} --base {{}} {options}", path, base)
    return with_files(f"gomem top {{}} {options}", path)


def since_baseline(case: Case) -> Command | None:
    """Return the command that compares the last heap profile with that of a baseline beside it."""
    base = case.baseline
    if base is None or base.capture.place != case.facts.capture.place:
        return None
    paths = [facts.profiles.last_path for facts in (case.facts, base)]
    return top(*paths) if all(paths) else None


def stacks_in(path: str) -> Command:
    """Return the command that shows the stacks of a goroutine profile or dump."""
    if path.endswith((".gz", ".pprof")):
        return with_files("gomem top {} --traces", path)
    text, _, line = path.rpartition(":")
    if text and is_digits(line):  # a part of a text
        return with_files(f"less +{line} {{}}", text)
    return with_files("less {}", path)


def top_of_last(case: Case, options: str = "--cum") -> Command:
    """Return `top` of the last heap profile; without any, the command that takes one."""
    path = case.facts.profiles.last_path
    return top(path, options=options) if path else TAKE_HEAP_PROFILE


def sentences(*pieces: str) -> Text:
    """Join the steps that are not empty."""
    return joined(" ", (piece for piece in pieces if piece))


def no_go_words(listed: Listed, settings: Collection[str] = ()) -> Text:
    """Say what to do about a program or a container that is not Go."""
    words = "{} is not a Go program, so gomem cannot break down its memory. Follow its {}: {}."
    what = "RSS" if listed.rss_bytes is not None else "working set"
    how = _FOLLOWED_BY.get(listed.tool, "ps -o pid,rss,etime,args -C NAME")
    command = Command(f"while sleep 60; do {how}; done")
    said = text(words, Program(listed.name), what, command)
    if not settings:
        return said
    have = "has" if len(settings) == 1 else "have"
    unheard = text("{} {} no effect on this program.", joined(", ", map(Quoted, settings)), have)
    return sentences(unheard, said)


def _argument(path: str) -> Text:
    is_pasted = path.partition(":")[0] == STANDARD_INPUT  # or a part of it, `stdin:4`
    return Text("FILE") if is_pasted else Argument(path)
