"""The only list of the kinds of input. A file's content decides its kind, never its name alone.

An input is a folder beside this module: `parse.py` turns bytes into columns, `table.py` turns
columns into DataFrames and has the public `read_<input>`. To add an input, add its folder and a
line in `KINDS`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from gomem.inputs.buildinfo.parse import looks_like_build_info
from gomem.inputs.cgroup.parse import file_of, has_memory_stats, has_totals, looks_like_cgroup
from gomem.inputs.environ.parse import looks_like_environ
from gomem.inputs.escapes.parse import looks_like_escapes
from gomem.inputs.gctrace.mixed_lines import has_own_line
from gomem.inputs.gobench.parse import looks_like_gobench
from gomem.inputs.goroutines.delve import looks_like_dump
from gomem.inputs.heapdump.parse import looks_like_heapdump
from gomem.inputs.json_text import is_one_value
from gomem.inputs.limits.parse import looks_like_limits
from gomem.inputs.loadtest.parse import looks_like_loadtest
from gomem.inputs.memstats.goroutine_counts import has_goroutine_counts
from gomem.inputs.memstats.in_words import has_more_in_words, looks_like_in_words
from gomem.inputs.memstats.parse import looks_like_memstats
from gomem.inputs.metrics.page import looks_like_metrics
from gomem.inputs.pprof.count_text import looks_like_count_text
from gomem.inputs.pprof.heap_text import looks_like_heap_text
from gomem.inputs.pprof.parse import starts_like_pprof
from gomem.inputs.pprof.printed.parse import looks_like_printed
from gomem.inputs.processes.parse import looks_like_processes
from gomem.inputs.runtime_lines.parse import looks_like_runtime_lines
from gomem.inputs.smaps.parse import kind_of_mappings
from gomem.inputs.smaps.pmap import looks_like_pmap
from gomem.inputs.status.parse import looks_like_statm, looks_like_status
from gomem.inputs.symbols.parse import looks_like_symbols
from gomem.inputs.unwrap import HEAD_BYTES, plain_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gomem.inputs.schema import Column
    from gomem.sources.artefact import Readable

MOMENT_SCOPE, CAPTURE_SCOPE = "moment", "whole"
METRICS_PAGE = "metrics-page"  # a slot of its own: a moment can have one beside the JSON


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of artefact."""

    name: str  # what tables, evidence and messages call it
    wanted: str  # the same in the words of a message that says what gomem reads
    # Whether content, with the file's name, is of this kind.
    recognise: Callable[[bytes, str], bool]
    reader: str  # the public function that reads it, below `gomem.inputs`
    # Its frames, by which `gomem table` prints them: the first unless another is named.
    frames: tuple[str, ...]
    # Frames of a capture that it fills, each from which of its own. A capture's frame that several
    # kinds fill takes, in each moment, the first kind in this list's order.
    fills: Mapping[str, str] = field(default_factory=dict)
    scope: str = MOMENT_SCOPE  # whether it belongs to a moment or to the whole capture
    # What a moment has one of, where that is finer than the kind.
    slot: Callable[[str, Any], str] | None = None
    words: tuple[str, ...] = ()  # words in file names that tell the kind, and so no moment, apart
    # Whether it is text that its reader takes out of what people paste it in, such as a fence; a
    # log's reader has its own way.
    is_pasted: bool = True

    def __reduce__(self) -> tuple[Callable[[str], Kind], tuple[str]]:
        """By its name, so that what was read can go to another process: a kind is one of KINDS."""
        return kind_named, (self.name,)

    def read(self, readable: Readable, **options: Any) -> Any:
        """A frozen object whose frames are attributes; FormatError if it cannot be read at all."""
        module, _, name = self.reader.rpartition(".")
        return getattr(import_module(f"gomem.inputs.{module}"), name)(readable, **options)

    def schema(self, frame: str) -> tuple[Column, ...]:
        """The data dictionary of one of its frames, which has the frame's name in capitals."""
        table = import_module(f"gomem.inputs.{self.reader.partition('.')[0]}.table")
        return getattr(table, frame.upper())


def _mappings(wanted: str) -> Callable[[bytes, str], bool]:
    return lambda data, _: kind_of_mappings(data) == wanted


def _content(looks_like: Callable[[bytes], bool]) -> Callable[[bytes, str], bool]:
    return lambda data, _: looks_like(data)


_PROFILE = ("samples", "stacks", "functions", "mappings", "labels", "damage")

# The strictest first, a log last, since anything may stand in one.
KINDS = (
    Kind(
        "cgroup", "a cgroup's memory files", looks_like_cgroup, "cgroup.table.read_cgroup",
        frames=("cgroup", "damage"), fills={"cgroup": "cgroup"},
        slot=lambda name, _: f"cgroup {file_of(name)}",
    ),
    Kind(
        "smaps", "smaps", _mappings("smaps"), "smaps.table.read_smaps",
        frames=("mappings", "damage"), fills={"smaps": "mappings"}, words=("smaps", "proc"),
    ),
    Kind(
        "pmap", "what pmap printed", _content(looks_like_pmap), "smaps.table.read_smaps",
        frames=("mappings", "damage"), fills={"smaps": "mappings"}, words=("pmap",),
    ),
    Kind(
        "maps", "maps", _mappings("maps"), "smaps.table.read_smaps",
        frames=("mappings", "damage"), fills={"smaps": "mappings"}, words=("maps",),
    ),
    Kind(
        "smaps_rollup", "smaps_rollup", _mappings("smaps_rollup"), "smaps.table.read_smaps",
        frames=("mappings", "damage"), fills={"rollups": "mappings"}, words=("rollup",),
    ),
    Kind(
        "memstats", "MemStats as JSON or printed", looks_like_memstats,
        "memstats.table.read_memstats",
        frames=("stats", "pauses", "size_classes", "damage"),
        fills={"memstats": "stats", "pauses": "pauses", "size_classes": "size_classes"},
        words=("memstats", "expvar", "vars", "json", "jsonl", "ndjson"),
    ),
    Kind(
        "heapdump", "a heap dump", _content(looks_like_heapdump), "heapdump.table.read_heapdump",
        frames=(
            "objects", "pointers", "roots", "frames", "goroutines", "finalizers", "segments",
            "stats", "buckets", "calls", "samples", "types", "damage",
        ),
        fills={"memstats": "stats"}, is_pasted=False, words=("dump", "heapdump"),
    ),
    Kind(
        "status", "status", _content(looks_like_status), "status.table.read_status",
        frames=("status", "damage"), fills={"status": "status"}, words=("status",),
    ),
    Kind(
        "statm", "statm", _content(looks_like_statm), "status.table.read_statm",
        frames=("statm", "damage"), fills={"statm": "statm"}, words=("statm", "stat"),
    ),
    Kind(
        "limits", "limits", _content(looks_like_limits), "limits.table.read_limits",
        frames=("limits", "damage"), fills={"limits": "limits"}, words=("limits",),
    ),
    Kind(
        "environ", "a process's environment", looks_like_environ, "environ.table.read_environ",
        frames=("environ", "damage"), scope=CAPTURE_SCOPE, words=("env", "environ", "environment"),
    ),
    Kind(
        "heap_text", "a heap profile in text", _content(looks_like_heap_text),
        "pprof.read.read_pprof", frames=_PROFILE,
        fills={"memstats": "memstats.stats", "pauses": "memstats.pauses"},
    ),
    Kind(
        "count_text", "goroutines in text (debug=1)", _content(looks_like_count_text),
        "pprof.read.read_pprof", frames=_PROFILE,
        slot=lambda _, parsed: f"count_text {parsed.kind}",
    ),
    Kind(
        "goroutines", "goroutine stacks in text (debug=2)", _content(looks_like_dump),
        "goroutines.table.read_goroutines",
        frames=("goroutines", "damage"), fills={"goroutine_stacks": "goroutines"},
        words=("crash", "debug", "dump", "panic", "sigquit", "stacks"),
    ),
    Kind(
        "buildinfo", "an executable's build information", _content(looks_like_build_info),
        "buildinfo.table.read_buildinfo", frames=("build", "settings", "modules", "damage"),
        scope=CAPTURE_SCOPE, words=("buildinfo", "exe"),
    ),
    Kind(
        "symbols", "an executable's symbols (go tool nm)", _content(looks_like_symbols),
        "symbols.table.read_symbols", frames=("symbols", "damage"), scope=CAPTURE_SCOPE,
        words=("nm", "symbols"),
    ),
    Kind(
        "metrics", "runtime/metrics JSON or a page of Prometheus metrics", looks_like_metrics,
        "metrics.table.read_metrics",
        frames=("values", "histograms", "stats", "process", "pause_quantiles", "damage"),
        fills={"metrics": "values", "memstats": "memstats.stats", "process": "process"},
        slot=lambda _, parsed: METRICS_PAGE if parsed.is_page else "metrics",
        words=("metrics", "om", "openmetrics", "prom", "prometheus", "runtime"),
    ),
    Kind(
        "processes", "a table of processes or containers, or the OOM killer's lines",
        _content(looks_like_processes), "processes.table.read_processes",
        frames=("processes", "cgroup", "damage"),
        fills={"processes": "processes", "cgroup": "cgroup"},
        words=("dmesg", "docker", "kubectl", "oom", "podman", "ps", "rss", "top"),
    ),
    Kind(
        "gobench", "go test -bench output", _content(looks_like_gobench),
        "gobench.table.read_bench", frames=("results", "config", "units", "damage"),
        scope=CAPTURE_SCOPE,
    ),
    Kind(
        "loadtest", "a load generator's report", _content(looks_like_loadtest),
        "loadtest.table.read_loadtest", frames=("runs", "latencies", "damage"), scope=CAPTURE_SCOPE,
        words=("ab", "hey", "loadtest", "vegeta", "wrk"),
    ),
    Kind(
        "gctrace", "a gctrace log", _content(has_own_line), "gctrace.table.read_gctrace",
        frames=("cycles", "scavenges", "pacer", "other", "damage"),
        scope=CAPTURE_SCOPE, words=("gctrace", "log", "out"), is_pasted=False,
    ),
    Kind(
        "runtime_lines", "a log with a program's own memory figures",
        _content(looks_like_runtime_lines), "runtime_lines.table.read_runtime_lines",
        frames=("readings", "stats", "damage"),
        fills={"memstats": "stats", "logged": "readings"}, words=("log",),
    ),
    Kind(
        "escapes", "go build -gcflags=-m output", _content(looks_like_escapes),
        "escapes.table.read_escapes", frames=("verdicts", "damage"), scope=CAPTURE_SCOPE,
    ),
    Kind(
        "pprof_text", "what go tool pprof printed", _content(looks_like_printed),
        "pprof.read.read_pprof", frames=_PROFILE,
        slot=lambda _, parsed: f"pprof_text {parsed.kind}",
    ),
    Kind(
        "pprof", "a pprof profile", _content(starts_like_pprof), "pprof.read.read_pprof",
        frames=_PROFILE, slot=lambda _, parsed: f"pprof {parsed.kind}", is_pasted=False,
        words=(
            "alloc", "allocs", "block", "cpu", "goroutine", "goroutines", "heap", "inuse", "mem",
            "memory", "memprof", "mutex", "pb", "pprof", "prof", "profile", "proto",
        ),
    ),
)  # fmt: skip
BY_NAME = {kind.name: kind for kind in KINDS}
# What a message asks for where nothing at all is known of a file: what people have at hand.
WANTED = "a profile, a GC log, MemStats, /metrics, smaps or another file of /proc, or benchmarks"
_WORDS = frozenset(word for kind in KINDS for word in kind.words)
_WORD = re.compile(r"[a-z]+")
FILE_WORDS = frozenset({"gz", "text", "txt", "zst"}) | _WORDS


def kind_named(name: str) -> Kind:
    """The kind of a name; KeyError if there is none."""
    return BY_NAME[name]


def kind_of(data: bytes, name: str = "") -> Kind | None:
    """The kind of an artefact, or None if it is none that gomem reads."""
    # What somebody pasted is of the kind that it is without its fence, quote marks or prompt. A
    # damaged artefact is still of its kind as far as its beginning shows it. Where the content is
    # one bare number, as in a cgroup's files, it is of a kind only if its name says so, too.
    if not data.strip():
        return None
    kind = next((kind for kind in KINDS if kind.recognise(data, name)), None)
    if kind is not None:
        return kind
    pasted = (
        kind
        for text in plain_texts(data[:HEAD_BYTES])
        for kind in KINDS
        if kind.is_pasted and kind.recognise(text.data, name)
    )
    kind = next(pasted, None)
    if kind is None and looks_like_in_words(data):
        # Asked last, as its words may stand in a text of any kind.
        return BY_NAME["runtime_lines" if has_more_in_words(data) else "memstats"]
    return _beside_words(data) if kind is None else kind


def _beside_words(data: bytes) -> Kind | None:
    """The kind of a text that says something of memory among all else; None if it does not."""
    if has_memory_stats(data):
        return BY_NAME["cgroup"]
    if is_one_value(data):
        return None  # a document of JSON has names of its own, which are no lines of a log
    if has_goroutine_counts(data):
        return BY_NAME["runtime_lines"]
    return BY_NAME["cgroup"] if has_totals(data) else None


def is_named_as_one(name: str) -> bool:
    """Whether a file's name says that it is of some kind, whatever its content is."""
    return not _WORDS.isdisjoint(_WORD.findall(PurePosixPath(name).name.lower()))


def slot_of(kind: Kind, name: str, parsed: Any) -> str:
    """What a moment has one of: its kind; of profiles and of a cgroup's files one of each."""
    return kind.name if kind.slot is None else kind.slot(PurePosixPath(name).name, parsed)


def capture_frames() -> dict[str, tuple[tuple[Kind, str], ...]]:
    """Frames of a capture by name, with the kinds that fill each, the first choice first."""
    frames: dict[str, tuple[tuple[Kind, str], ...]] = {}
    for kind in KINDS:
        for name, own in kind.fills.items():
            frames[name] = (*frames.get(name, ()), (kind, own))
    return frames


def readers() -> dict[str, str]:
    """The public readers, each with the module that it stands in."""
    dotted = {kind.reader.rpartition(".")[::2] for kind in KINDS}
    return {name: f"gomem.inputs.{module}" for module, name in dotted}
