"""The only list of the kinds of input. A file's content decides its kind, never its name alone.

An input is a folder next to this module: `parse.py` turns bytes into columns, `table.py` turns
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
from gomem.inputs.cgroup.session import has_session
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
from gomem.inputs.runtime_lines.columns import pattern_of_columns
from gomem.inputs.runtime_lines.parse import looks_like_runtime_lines
from gomem.inputs.runtime_lines.structured import looks_like_structured
from gomem.inputs.runtime_lines.tables import has_rss_column, looks_like_table
from gomem.inputs.runtime_lines.typed import looks_like_typed
from gomem.inputs.smaps.excerpt import is_rollup_excerpt
from gomem.inputs.smaps.parse import kind_of_mappings
from gomem.inputs.smaps.pmap import looks_like_pmap
from gomem.inputs.status.parse import looks_like_statm, looks_like_status
from gomem.inputs.symbols.parse import looks_like_symbols
from gomem.inputs.unwrap import HEAD_BYTES, any_plain, plain_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from gomem.inputs.schema import Column
    from gomem.sources.artefact import Readable

MOMENT_SCOPE, CAPTURE_SCOPE = "moment", "whole"
# a separate slot, because a moment can also have runtime/metrics in JSON
METRICS_PAGE = "metrics-page"


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of artefact."""

    name: str  # its name in tables, evidence and messages
    wanted: str  # its name in messages that list what gomem reads
    # Whether the content of a file with a name is of this kind.
    recognise: Callable[[bytes, str], bool]
    reader: str  # the public reader, relative to `gomem.inputs`
    # Its frames, as printed by `gomem table`: the first is the default.
    frames: tuple[str, ...]
    # The capture frames that it fills, and the own frame for each. If several kinds fill a capture
    # frame, each moment uses the first of them in the order of KINDS.
    fills: Mapping[str, str] = field(default_factory=dict)
    scope: str = MOMENT_SCOPE  # whether it belongs to a moment or to the whole capture
    # The slot of a file in a moment, if a kind has several slots.
    slot: Callable[[str, Any], str] | None = None
    # words in file names that name the kind, and so do not separate moments
    words: tuple[str, ...] = ()
    # Whether the reader also unwraps pasted text, such as a Markdown fence; the log reader has its
    # own method.
    is_pasted: bool = True

    def __reduce__(self) -> tuple[Callable[[str], Kind], tuple[str]]:
        """Pickle by name, because a kind is always one of KINDS."""
        return kind_named, (self.name,)

    def read(self, readable: Readable, **options: Any) -> Any:
        """Return the parsed artefact, with frames as attributes; FormatError if unreadable."""
        module, _, name = self.reader.rpartition(".")
        return getattr(import_module(f"gomem.inputs.{module}"), name)(readable, **options)

    def schema(self, frame: str) -> tuple[Column, ...]:
        """Return the data dictionary of one of its frames."""
        table = import_module(f"gomem.inputs.{self.reader.partition('.')[0]}.table")
        return getattr(table, frame.upper())


def _mappings(wanted: str) -> Callable[[bytes, str], bool]:
    return lambda data, _: kind_of_mappings(data) == wanted


def _content(looks_like: Callable[[bytes], bool]) -> Callable[[bytes, str], bool]:
    return lambda data, _: looks_like(data)


def _is_log(data: bytes, _: str) -> bool:
    """Whether a program logs its memory; columns of MemStats alone are MemStats."""
    if not looks_like_runtime_lines(data):
        return False
    columns = pattern_of_columns(data)
    has_more = columns is None or not columns.units.keys().isdisjoint({"rss", "goroutines"})
    return has_more or not looks_like_in_words(data)


_PROFILE = ("samples", "stacks", "functions", "mappings", "labels", "damage")

# The strictest first, and logs last, because a log can contain anything.
KINDS = (
    Kind(
        "cgroup", "a cgroup's memory files", looks_like_cgroup, "cgroup.table.read_cgroup",
        frames=("cgroup", "damage"), fills={"cgroup": "cgroup"},
        slot=lambda name, parsed: f"cgroup {file_of(name) or parsed.file}",
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
        "smaps_rollup", "smaps_rollup",
        lambda data, _: kind_of_mappings(data) == "smaps_rollup" or is_rollup_excerpt(data),
        "smaps.table.read_smaps",
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
        frames=("goroutines", "positions", "damage"),
        fills={"goroutine_stacks": "goroutines", "goroutine_positions": "positions"},
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
        words=("metrics", "om", "openmetrics", "prom", "prometheus", "rt", "runtime"),
    ),
    Kind(
        "processes", "a table of processes or containers, or the OOM killer's lines",
        looks_like_processes, "processes.table.read_processes",
        frames=("processes", "cgroup", "damage"),
        fills={"processes": "processes", "cgroup": "cgroup"},
        words=("aux", "dmesg", "docker", "kubectl", "oom", "podman", "ps", "rss", "top"),
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
        _is_log, "runtime_lines.table.read_runtime_lines",
        frames=("readings", "stats", "damage"),
        fills={"memstats": "stats", "logged": "readings"}, words=("csv", "log"),
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
_FILES_OF_PROC = tuple(BY_NAME[name] for name in ("smaps", "smaps_rollup", "status"))
_BESIDE_RSS = re.compile(rb"\b(?:Private_Dirty|State):")
# The usual files, listed in a message about a file of which nothing is known.
_TAR_AT = 257  # bytes before a tar's magic
WANTED = "a profile, a GC log, MemStats, /metrics, smaps or another file of /proc, or benchmarks"
_WORDS = frozenset(BY_NAME) | frozenset(word for kind in KINDS for word in kind.words)
_WORD = re.compile(r"[a-z]+")
FILE_WORDS = frozenset({"gz", "text", "txt", "zst"}) | _WORDS


def kind_named(name: str) -> Kind:
    """Return the kind with this name; KeyError if there is none."""
    return BY_NAME[name]


def kind_of(data: bytes, name: str = "") -> Kind | None:
    """Return the kind of an artefact; None if gomem cannot read it."""
    # Pasted text has the kind of its content, without fence, quote marks or prompt. A damaged
    # artefact still has the kind that its beginning shows. If the content is a single number, as in
    # cgroup files, the file name must confirm the kind.
    if not data.strip() or data.startswith(b"ustar", _TAR_AT):
        return None  # of a tar, the first file would be taken for the whole
    kind = next((kind for kind in KINDS if kind.recognise(data, name)), None)
    if kind is not None:
        # A script that prints RSS behind a time makes a log; all fields of a file are the file.
        is_file = kind.name == "runtime_lines" and _BESIDE_RSS.search(data[:HEAD_BYTES]) is not None
        return next(_pasted(data, name, _FILES_OF_PROC), kind) if is_file else kind
    kind = next(_pasted(data, name, KINDS), None)
    if kind is None and looks_like_in_words(data):
        # Last, because its words can occur in a text of any kind.
        has_more = has_more_in_words(data) or any_plain(has_rss_column, data)
        return BY_NAME["runtime_lines" if has_more else "memstats"]
    return _beside_words(data) if kind is None else kind


def _pasted(data: bytes, name: str, kinds: Iterable[Kind]) -> Iterator[Kind]:
    """Yield the kinds of the texts in a pasted text."""
    for text in plain_texts(data[:HEAD_BYTES]):
        yield from (kind for kind in kinds if kind.is_pasted and kind.recognise(text.data, name))


def _beside_words(data: bytes) -> Kind | None:
    """Return the kind of any text that mentions memory; None if it does not."""
    if has_memory_stats(data) or has_session(data):
        return BY_NAME["cgroup"]
    if is_one_value(data):
        return None  # the names in a JSON document are not lines of a log
    if any_plain(looks_like_structured, data) or has_goroutine_counts(data):
        return BY_NAME["runtime_lines"]
    if has_totals(data):
        return BY_NAME["cgroup"]
    is_read = looks_like_typed(data) or any_plain(looks_like_table, data)
    return BY_NAME["runtime_lines"] if is_read else None


def is_named_as_one(name: str) -> bool:
    """Whether a file name contains the name of some kind, whatever the content."""
    return not _WORDS.isdisjoint(_WORD.findall(PurePosixPath(name).name.lower()))


def slot_of(kind: Kind, name: str, parsed: Any) -> str:
    """Return an artefact's slot in a moment: its kind, or one per profile type or cgroup file."""
    return kind.name if kind.slot is None else kind.slot(PurePosixPath(name).name, parsed)


def capture_frames() -> dict[str, tuple[tuple[Kind, str], ...]]:
    """Return the capture frames, each with the kinds that can fill it, in order of preference."""
    frames: dict[str, tuple[tuple[Kind, str], ...]] = {}
    for kind in KINDS:
        for name, own in kind.fills.items():
            frames[name] = (*frames.get(name, ()), (kind, own))
    return frames


def readers() -> dict[str, str]:
    """Return the public readers, each with its module."""
    dotted = {kind.reader.rpartition(".")[::2] for kind in KINDS}
    return {name: f"gomem.inputs.{module}" for module, name in dotted}
