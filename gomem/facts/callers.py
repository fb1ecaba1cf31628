"""Which functions call what costs memory beyond the heap: collections, C, mmap, and recursion."""

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

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gomem.capture.capture import Capture

COLLECT = r"^runtime\.GC$|^runtime/debug\.[Ff]reeOSMemory$"
CALL_C = r"^runtime\.cgocall$|\._Cfunc_"
# syscall.Mmap, unix.Mmap, those in libraries that stand on them, and mmap-go; not runtime.mmap,
# through which the runtime itself maps.
MAP = r"^(syscall|[^.]*/[^.]*(\.[^.]+)*)\.(\(\*mmapper\)\.)?[Mm]map(Ptr)?$|/mmap(-go)?\."
COLLECTOR = (
    r"^runtime\.(gcBgMarkWorker|gcAssistAlloc|gcDrain|gcStart|gcMarkDone|bgsweep|bgscavenge)"
)
SERVES = re.compile(r"\.(ListenAnd)?Serve(TLS|Conn)?$")  # what that begins, others asked for
CPU, CPU_TIME = "cpu", "cpu"
GOROUTINE = "goroutine"
# From what says most: where CPU goes, who is there now, and who allocates on the way.
KINDS = (CPU, GOROUTINE, "threadcreate", "allocs", "heap")
SINCE_START = ("allocs", "heap")  # the last profile has what all before it have
ALLOCATED = "alloc_space"


@dataclass(frozen=True)
class Caller:
    """One of the program's own functions."""

    function: str  # its name
    called: str  # what it calls there; empty if it is innermost
    file: str  # where; empty if no file says
    line: int | None  # its line; None likewise
    share: float  # of all that do so, as far as the files show
    path: str  # the file that shows it
    depth: int = 1  # how often it stands in one stack at most, of who recurses


@dataclass(frozen=True)
class CollectorCpu:
    """What a CPU profile says that the collector took."""

    fraction: float  # of the CPU that the program used
    used_seconds: float  # that CPU
    path: str  # the profile


@dataclass(frozen=True, eq=False)
class Callers:
    """The program's own functions that call something, each asked when it is first read."""

    capture: Capture  # what was read

    @cached_property
    def collecting(self) -> tuple[Caller, ...]:
        """Who calls runtime.GC or debug.FreeOSMemory, the most frequent first."""
        return self._calling(COLLECT)

    @cached_property
    def calling_c(self) -> tuple[Caller, ...]:
        """Who calls C."""
        return self._calling(CALL_C)

    @cached_property
    def mapping(self) -> tuple[Caller, ...]:
        """Who maps memory or files."""
        return self._calling(MAP)

    @cached_property
    def recursing(self) -> tuple[Caller, ...]:
        """Who calls itself on goroutines' stacks, in the last profile or dump of them."""
        for stacks, path in self._stacks_of(GOROUTINE, ""):
            rows = rows_of(recursing(stacks))
            return tuple(_caller(row, path, share=1.0, depth=row["value"]) for row in rows)
        return ()

    @cached_property
    def collector_cpu(self) -> CollectorCpu | None:
        """The GC's share of CPU in the last CPU profile; None without one."""
        for moment in reversed([*self.capture.by_moment.values()]):
            profile = moment.profiles.get(CPU)
            used = 0 if profile is None else profile.total(CPU_TIME)
            if profile is not None and used > 0:
                taken = int(profile.filtered(focus=COLLECTOR).values(CPU_TIME).sum())
                return CollectorCpu(taken / used, used / 1e9, profile.source)
        return None

    def opening(self, waits: str) -> tuple[Caller, ...]:
        """Who calls the library in which goroutines wait, other than to serve; the most first.

        A library's own goroutines have no function of the program on their stacks: whoever opened
        a connection or a database, and did not close it, stands where it was asked for. Nobody is
        told of a function of the program's own.
        """
        if not self.is_of_a_library(waits):
            return ()
        package = re.escape(package_of(waits)).replace(r"\.", r"(?:\.|%2e)")  # as linkers write it
        called = self._calling(rf"^{package}\.", SERVES)
        whole = sum(caller.share for caller in called)
        return tuple(replace(caller, share=caller.share / whole) for caller in called)

    def calling(self, called: str, kinds: Sequence[str] = KINDS) -> tuple[Caller, ...]:
        """Who calls a function that a pattern matches; of the first of the kinds that shows any."""
        return self._calling(called, kinds=kinds)

    def holding(self, called: str) -> tuple[Caller, ...]:
        """Who has in use what was allocated below such a call, by the last heap profile."""
        for profile in reversed([*self.capture.heap_profiles.values()]):
            if IN_USE not in profile.sample_type_names or profile.printed is not None:
                continue
            return _shares(Stacks.of_profile(profile, IN_USE, called), called, profile.source)
        return ()

    def is_of_a_library(self, waits: str) -> bool:
        """Whether a function in which goroutines wait is of Go's library or a module of others."""
        if not waits or not can_be_mended(waits):
            return bool(waits)
        return any(waits in stacks.others for stacks, _ in self._stacks_of(GOROUTINE, ""))

    def _calling(
        self, called: str, but: re.Pattern[str] | None = None, kinds: Sequence[str] = KINDS
    ) -> tuple[Caller, ...]:
        """By the first kind of file that shows any, and of it by the last that does."""
        for kind in kinds:
            for stacks, path in self._stacks_of(kind, called):
                if callers := _shares(stacks, called, path, but):
                    return callers
        return ()

    def _stacks_of(self, kind: str, called: str) -> Iterator[tuple[Stacks, str]]:
        """Those of the profiles of a kind, or of goroutines in text; the last file first."""
        for moment in reversed([*self.capture.by_moment.values()]):
            profile = moment.profiles.get(kind)
            if profile is not None:
                if not called or matches([*function_names(profile.columns)], called).any():
                    of = ALLOCATED if ALLOCATED in profile.sample_type_names else None
                    yield Stacks.of_profile(profile, of, called), profile.source
                if kind in SINCE_START:
                    return
            elif kind == GOROUTINE and len(moment.goroutines):
                yield Stacks.of_text(moment.goroutines, called), moment.paths.get(kind, kind)


def _shares(
    stacks: Stacks, called: str, path: str, but: re.Pattern[str] | None = None
) -> tuple[Caller, ...]:
    """The own functions that call it in some stacks, each with its share of these."""
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
    """Whether a row is of who serves others, or is not the program's own."""
    return row["function"] in stacks.others or bool(serves.search(row["called"]))


def _caller(row: Mapping[str, Any], path: str, *, share: float, depth: int = 1) -> Caller:
    """A row of `own_code.OWN_CODE`."""
    return Caller(row["function"], row["called"], row["file"], row["line"], share, path, depth)
