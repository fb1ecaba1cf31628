"""The only list of the data that a capture should have: what it shows, and how to get it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gomem.numbered import Address
from gomem.text import CaptureName, Program, Text, Words, text

if TYPE_CHECKING:
    from collections.abc import Callable

    from gomem.capture.capture import Capture

UNKNOWN = {"pid": "PID", "base": "http://HOST:PORT", "program": "PROGRAM", "folder": "DIR"}
KINDS: dict[str, type[Text]] = {
    "pid": Words, "base": Address, "program": Program, "folder": CaptureName,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Wanted:
    """Data that a capture should have."""

    name: str  # display name
    tells: str  # what it would show
    how: str  # the command that gets it, with the names in `UNKNOWN` in braces
    is_missing: Callable[[Capture], bool]  # whether a capture does not have it
    of_process: str = ""  # another command for a known process; empty if it is the same

    def command(self, **known: str) -> Text:
        """Return the command; `known` can give `pid`, `base`, `program` and `folder`."""
        named = {name: KINDS[name](value) for name, value in known.items() if value}
        how = (self.of_process if "pid" in named else "") or self.how
        return text(how, **UNKNOWN | named)


SMAPS = Wanted(
    "smaps", "what uses the memory", "cat /proc/{pid}/smaps > smaps",
    lambda capture: not any("smaps" in moment.paths for moment in capture.by_moment.values()),
    of_process="gomem capture {pid} -o {folder}",
)  # fmt: skip
MEMSTATS = Wanted(
    "MemStats", "how much of the Go heap is objects, idle, or returned to the OS",
    "curl -s {base}/debug/vars > memstats.json",
    lambda capture: capture.memstats.empty and capture.metrics.empty,
)  # fmt: skip
HEAP_PROFILE = Wanted(
    "a heap profile", "which code allocates the live heap",
    "curl -s {base}/debug/pprof/heap > heap.pb.gz", lambda capture: not capture.heap_profiles,
)  # fmt: skip
GOROUTINES = Wanted(
    "a goroutine profile", "whether goroutines leak, and where they wait",
    "curl -s {base}/debug/pprof/goroutine > goroutine.pb.gz",
    lambda capture: not len(capture.goroutines),
)  # fmt: skip
SECOND_MOMENT = Wanted(
    "a second snapshot", "what grows, and how fast",
    "gomem capture {pid} -o {folder} --every 10s --for 5m",
    lambda capture: len(capture.by_moment) < 2,
)  # fmt: skip
GC_LOG = Wanted(
    "a GC log", "what each collection costs, and why it runs",
    "GODEBUG=gctrace=1 {program} 2> gctrace.log", lambda capture: capture.gc is None,
)  # fmt: skip
GO_RELEASE = Wanted(
    "the Go release", "which known regressions of the runtime apply",
    "go version -m {program} > buildinfo.txt", lambda capture: capture.go_version.exact is None,
)  # fmt: skip
WANTED = (SMAPS, MEMSTATS, HEAP_PROFILE, GOROUTINES, SECOND_MOMENT, GC_LOG, GO_RELEASE)


def missing_from(capture: Capture) -> list[Wanted]:
    """Return the data that a capture lacks, the most useful first."""
    return [wanted for wanted in WANTED if wanted.is_missing(capture)]
