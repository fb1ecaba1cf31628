"""What a capture lacks for a better answer, and the command that gets it for this very process."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gomem.views.document import Cell, Section, Table
from gomem.views.words import first_few, how_many

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gomem.capture.capture import Capture

SHOWN_MOMENTS = 3
SHOWN_REASONS = 20
_PLAIN = re.compile(r"[\w./][\w./-]*")
_ARCHIVE = re.compile(r"\.(?:tar|tgz|zip|gz|zst)\b")


@dataclass(frozen=True, slots=True)
class _Process:
    """How commands call the process, as far as the manifest tells."""

    pid: str
    base: str
    program: str
    folder: str
    known: bool

    @classmethod
    def of(cls, capture: Capture) -> _Process:
        manifest = capture.manifest
        pid, bases, program = map(manifest.fact, ("pid", "endpoints", "program"))
        base = bases[0] if isinstance(bases, list) and bases else None
        is_folder = _PLAIN.fullmatch(capture.name) and not _ARCHIVE.search(capture.name)
        named = isinstance(program, str) and _PLAIN.fullmatch(program)
        return cls(
            pid=str(pid) if type(pid) is int else "PID",
            base=base if isinstance(base, str) and _is_base(base) else "http://HOST:PORT",
            program=program if named else "PROGRAM",
            folder=capture.name if is_folder and type(pid) is int else "DIR",
            known=type(pid) is int,
        )

    @property
    def capture(self) -> str:
        """The command that collects all there is."""
        return f"gomem capture {self.pid} -o {self.folder}"


def _is_base(base: str) -> bool:
    return re.fullmatch(r"https?://[\w.:\[\]/-]+", base) is not None


def _lacks(kinds: str) -> Callable[[Capture], bool]:
    wanted = set(kinds.split())

    def lacks(capture: Capture) -> bool:
        return not wanted & {path for one in capture.by_moment.values() for path in one.paths}

    return lacks


# What can be missing: its name, whether it is, what it would tell, how to get it.
_WANTED: tuple[
    tuple[str, Callable[[Capture], bool], str, Callable[[_Process], str]],
    ...,
] = (
    (
        "smaps",
        _lacks("smaps"),
        "whose the resident memory is",
        lambda process: process.capture if process.known else "cat /proc/PID/smaps > smaps",
    ),
    (
        "MemStats",
        lambda capture: capture.memstats.empty and capture.metrics.empty,
        "what of the Go heap is objects, free, or given back",
        lambda process: f"curl -s {process.base}/debug/vars > memstats.json",
    ),
    (
        "a heap profile",
        lambda capture: not capture.heap_profiles,
        "which code allocates what is in use",
        lambda process: f"curl -s {process.base}/debug/pprof/heap > heap.pb.gz",
    ),
    (
        "a goroutine profile",
        lambda capture: not len(capture.goroutines),
        "whether goroutines pile up, and where",
        lambda process: f"curl -s {process.base}/debug/pprof/goroutine > goroutine.pb.gz",
    ),
    (
        "a second moment",
        lambda capture: len(capture.by_moment) < 2,
        "what grows, and how fast",
        lambda process: f"{process.capture} --every 10s --for 5m",
    ),
    (
        "a GC log",
        lambda capture: capture.gc is None,
        "what each collection cost, and why it ran",
        lambda process: f"GODEBUG=gctrace=1 {process.program} 2> gctrace.log",
    ),
    (
        "the Go release",
        lambda capture: capture.go_version.exact is None,
        "which of the runtime's own causes are possible",
        lambda process: f"go version -m {process.program} > buildinfo.txt",
    ),
)


def collecting_sections(capture: Capture) -> Iterator[Section]:
    """What was tried and could not be had, then what else would help."""
    tried = _tried(capture)
    if tried is not None:
        yield Section("not-collected", "What could not be collected", (tried,))
    process = _Process.of(capture)
    rows = tuple(
        (Cell(name), Cell(tells), Cell(how(process), code=True))
        for name, lacks, tells, how in _WANTED
        if lacks(capture)
    )
    if rows and capture.by_moment:
        caption = "Missing, with the command that gets it"
        table = Table(caption, ("missing", "what it would tell", "command"), "<<<", rows)
        yield Section("better", "For a better answer", (table,))


def _tried(capture: Capture) -> Table | None:
    """What the collector noted as missing, once for each reason."""
    reasons: dict[tuple[str, str], list[str]] = defaultdict(list)
    for one in capture.manifest.missing:
        reasons[one.artefact, one.why].append(one.moment)
    if not reasons:
        return None
    rows = tuple(
        (Cell(artefact, code=True), Cell(first_few(moments, SHOWN_MOMENTS)), Cell(why))
        for (artefact, why), moments in list(reasons.items())[:SHOWN_REASONS]
    )
    caption = how_many(len(reasons), "reason")
    return Table(caption, ("artefact", "at", "why"), "<<<", rows)
