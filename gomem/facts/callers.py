"""Which functions make the calls that cost memory beyond the heap: GC, C, mmap, and recursion?"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from gomem.analysis.profiles.own_code import IN_USE, Stacks, own_code, recursing
from gomem.inputs.pprof.calls.filters import matches
from gomem.inputs.pprof.calls.names import can_be_mended, package_of
from gomem.inputs.pprof.calls.nodes import function_names
from gomem.inputs.schema import rows_of
from gomem.releases import GoRelease

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gomem.capture.capture import Capture

COLLECT = r"^runtime\.GC$|^runtime/debug\.[Ff]reeOSMemory$"
# Every call into C passes runtime.cgocall, which goroutine profiles in text leave out: there the
# wrapper shows the call. Those such as _Cfunc_GoBytes are Go's own: they copy into Go memory.
CALL_C = r"^runtime\.cgocall$|\._Cfunc_([^G]|G[^o])"
COPY = r"\._Cfunc_Go"
# syscall.Mmap, unix.Mmap, Mmap in libraries built on them, and mmap-go; not runtime.mmap, which the
# runtime uses itself.
MAP = r"^(syscall|[^.]*/[^.]*(\.[^.]+)*)\.(\(\*mmapper\)\.)?[Mm]map(Ptr)?$|/mmap(-go)?\."
COLLECTOR = (
    r"^runtime\.(gcBgMarkWorker|gcAssistAlloc|gcDrain|gcStart|gcMarkDone|bgsweep|bgscavenge)"
)
PROFILER = r"^runtime\.(profilealloc|mProf_Malloc|mProf_Free)$"  # records an allocation
# functions with these names serve others' requests
SERVES = re.compile(r"\.(ListenAnd)?Serve(TLS|Conn)?$")
CPU, CPU_TIME = "cpu", "cpu"
GOROUTINE = "goroutine"
# The most informative kind first: CPU use, goroutines at present, allocations on the way.
KINDS = (CPU, GOROUTINE, "threadcreate", "allocs", "heap")
SINCE_START = ("allocs", "heap")  # the last profile includes all earlier ones
ALLOCATED = "alloc_space"
# Frames of a stack in a profile: 128 since this release, fewer before; inlined calls add more.
GO_WITH_128_FRAMES, FRAMES_BEFORE = GoRelease(23), 32


@dataclass(frozen=True)
class Caller:
    """A function of the program itself."""

    function: str  # its name
    called: str  # what it calls there; empty if it is the innermost frame
    file: str  # its file; empty if no file says
    line: int | None  # its line; None if no file says
    share: float  # its share of all such calls in the profile
    path: str  # the profile that shows it
    depth: int = 1  # how often it occurs in a single stack at most, for recursion


@dataclass(frozen=True)
class RuntimeCpu:
    """The CPU use of a part of the runtime in a CPU profile."""

    fraction: float  # fraction of the CPU that the program used
    used_seconds: float  # CPU that the program used
    path: str  # the profile


@dataclass(frozen=True, eq=False)
class Callers:
    """The program's own functions that make certain calls, each computed on first use."""

    capture: Capture  # what was read

    @cached_property
    def collecting(self) -> tuple[Caller, ...]:
        """The callers of runtime.GC or debug.FreeOSMemory, the most frequent first."""
        return self.calling(COLLECT)

    @cached_property
    def calling_c(self) -> tuple[Caller, ...]:
        """The callers of C."""
        return self.calling(CALL_C)

    @cached_property
    def copying_from_c(self) -> tuple[Caller, ...]:
        """The functions that copy C memory to Go, by what this allocated: some call C."""
        return self.calling(COPY, SINCE_START)

    @cached_property
    def mapping(self) -> tuple[Caller, ...]:
        """The callers that map memory or files."""
        return self.calling(MAP)

    @cached_property
    def recursing(self) -> tuple[Caller, ...]:
        """The functions that recurse on goroutine stacks, in the last profile or dump."""
        for stacks, path in self._stacks_of(GOROUTINE, ""):
            rows = rows_of(recursing(stacks))
            return tuple(_caller(row, path, share=1.0, depth=row["value"]) for row in rows)
        return ()

    @cached_property
    def waiting(self) -> tuple[Caller, ...]:
        """The functions in which goroutines wait, in the last profile or dump; most first."""
        for stacks, path in self._stacks_of(GOROUTINE, ""):
            return _shares(stacks, "", path)
        return ()

    @cached_property
    def collector_cpu(self) -> RuntimeCpu | None:
        """The GC's share of CPU in the last CPU profile; None without one."""
        return self._cpu_of(COLLECTOR)

    @cached_property
    def profiler_cpu(self) -> RuntimeCpu | None:
        """The heap profiler's share of CPU in the last CPU profile; None without one."""
        return self._cpu_of(PROFILER)

    def _cpu_of(self, functions: str) -> RuntimeCpu | None:
        for moment in reversed([*self.capture.by_moment.values()]):
            profile = moment.profiles.get(CPU)
            used = 0 if profile is None else profile.total(CPU_TIME)
            if profile is not None and used > 0:
                taken = int(profile.filtered(focus=functions).values(CPU_TIME).sum())
                return RuntimeCpu(taken / used, used / 1e9, profile.source)
        return None

    def opening(self, waits: str) -> tuple[Caller, ...]:
        """Return who calls the library in which goroutines wait, except as a server; most first.

        A library's own goroutines have no function of the program on their stacks. The function
        that opened a connection or a database, without closing it, is the one that called the
        library. Empty if the goroutines wait in the program's own function.
        """
        if not self.is_of_a_library(waits):
            return ()
        package = re.escape(package_of(waits)).replace(r"\.", r"(?:\.|%2e)")  # as linkers spell it
        called = self.calling(rf"^{package}\.", but=SERVES)
        whole = sum(caller.share for caller in called)
        return tuple(replace(caller, share=caller.share / whole) for caller in called)

    def holding(self, called: str) -> tuple[Caller, ...]:
        """Return who holds memory allocated below a matching call, in the last heap profile."""
        for profile in reversed([*self.capture.heap_profiles.values()]):
            if IN_USE not in profile.sample_type_names or profile.printed is not None:
                continue
            return _shares(Stacks.of_profile(profile, IN_USE, called), called, profile.source)
        return ()

    def is_of_a_library(self, waits: str) -> bool:
        """Return whether a function is in the standard library or a dependency."""
        if not waits or not can_be_mended(waits):
            return bool(waits)
        return any(waits in stacks.others for stacks, _ in self._stacks_of(GOROUTINE, ""))

    def calling(
        self, called: str, kinds: Sequence[str] = KINDS, but: re.Pattern[str] | None = None
    ) -> tuple[Caller, ...]:
        """Return the callers of functions that match a pattern, from the first kind with any.

        They are from the last file of that kind with any.
        """
        for kind in kinds:
            for stacks, path in self._stacks_of(kind, called):
                if callers := _shares(stacks, called, path, but):
                    return callers
        return ()

    def _stacks_of(self, kind: str, called: str) -> Iterator[tuple[Stacks, str]]:
        """Return the stacks of a kind of profile, or of goroutine dumps; the last file first."""
        for moment in reversed([*self.capture.by_moment.values()]):
            profile = moment.profiles.get(kind)
            if profile is not None:
                if not called or matches([*function_names(profile.columns)], called).any():
                    of = ALLOCATED if ALLOCATED in profile.sample_type_names else None
                    yield Stacks.of_profile(profile, of, called), profile.source
                if kind in SINCE_START:
                    return
            elif kind == GOROUTINE and len(moment.goroutines):
                path = moment.paths.get(kind, kind)
                at = moment.goroutine_positions
                positions = at[at["artefact"] == path]
                yield Stacks.of_text(moment.goroutines, called, positions), path


def _shares(
    stacks: Stacks, called: str, path: str, but: re.Pattern[str] | None = None
) -> tuple[Caller, ...]:
    """Return the program's own functions that call it in these stacks, each with its share."""
    if not len(stacks.values):
        return ()
    found = own_code(stacks, called)
    whole = int(found["value"].sum())
    return tuple(
        _caller(row, path, share=row["value"] / whole)
        for row in rows_of(found)
        if row["function"] and not (but and _is_asked(row, stacks, but))
    )


def _is_asked(row: Mapping[str, Any], stacks: Stacks, serves: re.Pattern[str]) -> bool:
    """Return whether a row serves others' requests, or is not the program's own."""
    return row["function"] in stacks.others or bool(serves.search(row["called"]))


def _caller(row: Mapping[str, Any], path: str, *, share: float, depth: int = 1) -> Caller:
    """Convert a row of `own_code.OWN_CODE`."""
    return Caller(row["function"], row["called"], row["file"], row["line"], share, path, depth)
