"""What an unsupported file looks like, in plain words, and what to do about it.

Captures contain files fetched from the wrong path, copied without their content, or saved in
another format. Each kind is recognised by its beginning, and has its own advice.
"""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from codecs import getincrementaldecoder
from functools import cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from gomem.errors import excerpt
from gomem.inputs.cadvisor import memory_of_containers
from gomem.inputs.disk_free import tmpfs_of_df
from gomem.inputs.gobench.compared import said_changes
from gomem.inputs.goroutines.by_state import counts_by_state
from gomem.inputs.goroutines.crash import (
    NO_THREAD,
    OUT_OF_MEMORY,
    STACK_OVERFLOW,
    asked_words,
    crash_of,
    refused_words,
)
from gomem.inputs.goroutines.faults import named_fault
from gomem.inputs.json_text import is_json, what_json_holds
from gomem.inputs.kubernetes import described, evicted, killed_of_oomd
from gomem.inputs.machine import nodes_of_kubectl, of_the_machine
from gomem.inputs.markdown import FENCE
from gomem.inputs.mem_info import of_the_kernel
from gomem.inputs.memstats.cut_classes import cut_size_classes
from gomem.inputs.mentions import listed_without_rss, mentioned
from gomem.inputs.metrics.page import families_of, is_page, likely_of_go
from gomem.inputs.native_leaks import native_allocations
from gomem.inputs.number_series import exported_by_grafana, loop_of_ps
from gomem.inputs.open_files import open_files_listed
from gomem.inputs.pods import restarts_of_pods
from gomem.inputs.pprof.printed.heads import heads_of_pprof
from gomem.inputs.pprof.printed.jeprof import table_of_jeprof
from gomem.inputs.pressure import pressure_on_memory, sizes_of_vmstat
from gomem.inputs.process_exporter import memory_of_groups
from gomem.inputs.processes.cgroups import table_of_cgtop, task_of_nomad
from gomem.inputs.processes.consumed import consumed_by_a_unit
from gomem.inputs.processes.killed_by import killed_by_a_daemon
from gomem.inputs.processes.named import killed_on_bsd, shown_of_a_unit, status_of_a_service
from gomem.inputs.processes.other_systems import (
    ASK_WINDOWS,
    AT_COMMIT_LIMIT,
    commit_of_windows,
    top_of_freebsd,
    top_of_macos,
)
from gomem.inputs.processes.peaks import peak_of_time
from gomem.inputs.processes.ps_columns import columns_of_ps
from gomem.inputs.processes.ps_mem import table_of_ps_mem
from gomem.inputs.processes.sinks import gauges_of_memory
from gomem.inputs.processes.toolchain import killed_build
from gomem.inputs.processes.windows import processes_of_windows
from gomem.inputs.query_table import table_of_a_query
from gomem.inputs.refused import refused_for_memory
from gomem.inputs.resemblance import Resemblance
from gomem.inputs.runtime_lines.resembling import rows_without_names, table_without_units
from gomem.inputs.sched_trace import schedule_words
from gomem.inputs.size_series import series_of_sizes
from gomem.inputs.smaps.numa import pages_by_node
from gomem.inputs.smaps.pmap_totals import totals_of_pmap
from gomem.inputs.smaps.reprinted import footprint_of_macos, reprinted_maps, summary_of_windbg
from gomem.inputs.smaps.summed import sums_of_smaps
from gomem.inputs.unwrap import plain_texts
from gomem.sources.packaged import text_beside
from gomem.text import Bytes, File, Function, Quoted, Text, text
from gomem.units import KIB

if TYPE_CHECKING:
    from collections.abc import Callable

    from gomem.inputs.goroutines.crash import Crash

HEAD_BYTES = 1 << 16  # enough to recognise a file
SHORT_BYTES = 512  # a server's message in place of content is shorter
SHOWN_BYTES = 8
_PROSE = frozenset({".md", ".rst", ".adoc"})
CORE = 4  # ET_CORE, a core dump


WITHOUT_RSS = "a table of processes without RSS"
LAZY_LINES = "LazyFree lines"
_LAZY_FREE = re.compile(rb"LazyFree: +(\d{1,15}) kB")
SCHEDULE = "what GODEBUG=schedtrace prints"
COMPARISONS = frozenset({"a table of benchstat", "a table of benchcmp"})
_ASK_PROCESS = "what gomem reads comes from the running process: profiles, logs, /proc files"
_FETCH = "curl -f -o FILE URL fails where the server has no file to give"

_GROWS_AGAIN = (
    "it does not say who held it; capture the next run while it grows: "
    "gomem capture PID --every 10s -o DIR"
)
_LENGTH_FIRST = (
    "find where the length of that object comes from; if it is a usual one, capture the next run "
    "while it grows: gomem capture PID --every 10s -o DIR"
)
_FRAME = re.compile(
    rb"^([\w.-]{1,200}(?:/[\w.-]{1,100}){0,20}[\w.*()]{1,100})\((?:0x|\{|\.)", re.MULTILINE
)
_FRAMES_REPEAT = (
    "the frames below `goroutine N [running]` say which: those that repeat are the cycle"
)
_REDIRECT = "save what one command prints: COMMAND > FILE; gomem report FILE"
_PRINTED_AS = {
    OUT_OF_MEMORY: "what a Go program printed as it ran out of memory",
    NO_THREAD: "what a Go program printed as it crashed",
}
_CRASHED = re.compile(
    rb"\A[\s`$#>]{0,8}(?:fatal error: |runtime: |runtime/cgo: )"
    rb"|^runtime: out of memory: cannot allocate",
    re.MULTILINE,
)
_THROWN = b"runtime.throw("  # in stacks whose first line is cut off
_SHELL = re.compile(rb"\s*(?:\[[\w.-]+@[^\]\n]{1,200}\]|[\w.-]+@[\w.-]+:[^$#\n]{0,200}) ?[$#%] ")

# Lines of an environment, which are never quoted, because they can contain secrets.
_VARIABLE = re.compile(rb"\s*(?:(?:export|declare -x|set) )?[A-Za-z_][A-Za-z0-9_]*=")

# One-line messages of servers that have no content to send.
_REFUSAL = re.compile(
    rb"\s*(?:[45]\d\d[ :].*|unauthorized|forbidden|not found|bad gateway|access denied|permission "
    rb"denied|unknown profile|unknown endpoint|method not allowed|internal server error|service "
    rb"unavailable|no healthy upstream|upstream .*|client sent an http request to an https server"
    rb"|could not .*|profile duration exceeds .*|gateway time-?out|error .*|.*connection refused)"
    rb"[.!]?\s*",
    re.IGNORECASE,
)
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_TITLE = re.compile(rb"<title>([^<]{1,200})</title>", re.IGNORECASE)
_ERROR_KEYS = ("error", "message", "msg", "detail", "title", "errors", "reason")


def looks_like(head: bytes, name: str) -> Resemblance:
    """Return what an unsupported file looks like, from its first `HEAD_BYTES`."""
    # The name is used in suggested commands, and if the content shows too little.
    head = head[:HEAD_BYTES]
    seen = next((found for look in _LOOKS if (found := look(head, name)) is not None), None)
    if seen is not None:
        return seen
    if _is_binary(head[:SHORT_BYTES]):
        what = f"an unknown binary beginning {head[:SHOWN_BYTES].hex(' ')}"
        return Resemblance(what, known=False)
    suffix = PurePosixPath(name).suffix.lower()
    document = "a document" if PurePosixPath(name).stem.lower() == "readme" else ""
    known, line = _table()["by_suffix"].get(suffix, document), _first_line(head)
    seen_in = mentioned(head) if suffix in _PROSE or not known else None
    if seen_in is not None:
        what = text("{}: {}", known or "text of no known kind", seen_in.what)
        return Resemblance(what, seen_in.way_out, text=line)
    return Resemblance(known or "text of no known kind", known=bool(known), text=line)


def _is_binary(start: bytes) -> bool:
    """Whether it has control characters, or is neither UTF-8 nor mostly ASCII."""
    if _CONTROL.search(start):
        return True
    try:
        getincrementaldecoder("utf-8")().decode(start)  # the last character may be cut
    except UnicodeDecodeError:
        return sum(byte > 126 for byte in start) * 4 > len(start)
    return False


def _nothing(head: bytes, _: str) -> Resemblance | None:
    if not head.strip():
        of = "a file of blanks alone" if head else "an empty file"
        return Resemblance(of, "collect it again", is_stand_in=True)
    if not head.strip(b"\0"):
        return Resemblance(
            "a file of zero bytes alone", "its content was lost; copy it again", is_stand_in=True
        )
    return None


def _executable(head: bytes, name: str) -> Resemblance | None:
    """Recognise an ELF file; its type field distinguishes a core dump from an executable."""
    if not head.startswith(b"\x7fELF"):
        return None
    kind = int.from_bytes(head[16:18], "big" if head[5:6] == b"\x02" else "little")
    if kind == CORE:
        way_out = "viewcore (golang.org/x/debug/cmd/viewcore) reads it: viewcore {} --exe PROGRAM"
        way_out = text(f"{way_out} histogram", _file(name))
        return Resemblance("a core dump", way_out, is_evidence=True)
    return Resemblance("an ELF executable", _ASK_PROCESS)


@cache
def _table() -> dict[str, Any]:
    """Return the known file beginnings (compiled) and file names."""
    table = tomllib.loads(text_beside("gomem.inputs", "looks_like.toml"))
    forms = [form | {"begins": re.compile(form["begins"].encode())} for form in table["form"]]
    return table | {"form": forms}


def _known_form(head: bytes, name: str) -> Resemblance | None:
    forms = _table()["form"]
    form = next((form for form in forms if form["begins"].match(head)), None)
    if form is None:
        return None
    what = form["what"]
    if what in COMPARISONS and (said := said_changes(head)):
        what = text("{}, which says: {}", what, said)
    if what.startswith(LAZY_LINES):
        sizes = [int(size) * KIB for size in _LAZY_FREE.findall(head)]
        what = text("{}: {} in all", what, Bytes(sum(sizes)))
    if what.startswith(SCHEDULE) and (said := schedule_words(head)):
        what = text("{}: {}", what, said)
    if what == "an HTML page" and (title := _TITLE.search(head)):
        what = text("{}, titled {}", what, _quoted(excerpt(b" ".join(title[1].split()))))
    way_out = text(form.get("way_out", ""), file=_file(name))
    if what == WITHOUT_RSS and (listed := listed_without_rss(head)) is not None:
        what, way_out = text("{}: {}", what, listed.what), listed.way_out
    of = {"is_evidence": form.get("evidence", False), "is_stand_in": form.get("stand_in", False)}
    return Resemblance(what, way_out, **of)


def _out_of_memory(head: bytes, _: str) -> Resemblance | None:
    """Recognise the runtime's out-of-memory message; with stacks below it, it would be a dump."""
    is_crash = _CRASHED.search(head) is not None or _THROWN in head
    texts = (head, *(plain.data for plain in plain_texts(head))) if is_crash else ()
    crashes = list(filter(None, map(crash_of, texts)))
    # The frames say where the heap begins and ends, if nothing stands before them.
    crash = next((known for known in crashes if known.heap_bytes), next(iter(crashes), None))
    if crash is not None and crash.why == STACK_OVERFLOW:
        return _overflow(crash, head)
    if crash is None or crash.why not in _PRINTED_AS:
        return None
    what: str = _PRINTED_AS[crash.why]
    if asked := asked_words(crash):
        what = text("{}, {}", what, asked)
    if crash.is_at_commit_limit:
        return Resemblance(text("{}; {}", what, AT_COMMIT_LIMIT), ASK_WINDOWS, is_evidence=True)
    if refused := refused_words(crash):
        return Resemblance(text("{}; {}", what, refused[0]), refused[1], is_evidence=True)
    way_out = _LENGTH_FIRST if crash.is_one_object else _GROWS_AGAIN
    return Resemblance(what, way_out, is_evidence=True)


def _overflow(crash: Crash, head: bytes) -> Resemblance:
    """Describe the runtime's message about a stack that reached its limit."""
    limit = text(" of {}", Bytes(crash.limit_bytes)) if crash.limit_bytes else Text()
    words = (
        "what a Go program printed as a goroutine's stack reached its limit{} (stack overflow): "
        "a function calls itself without end, or too deep{}; that is no leak of the heap"
    )
    frame = next((name for name in _FRAME.findall(head) if not name.startswith(b"runtime.")), None)
    at = text(" (it shows {})", Function(frame.decode("utf-8", "replace"))) if frame else Text()
    return Resemblance(text(words, limit, at), _FRAMES_REPEAT, is_evidence=True)


def _pasted_form(head: bytes, name: str) -> Resemblance | None:
    """Recognise a known form after a prompt, in a fence or quoted; else the output of a shell."""
    looks = (_out_of_memory, named_fault, killed_build, _known_form)
    found = (look(plain.data, name) for plain in plain_texts(head) for look in looks)
    seen = next(filter(None, found), None)
    if seen is not None or _SHELL.match(head) is None:
        return seen
    return Resemblance("what a shell printed", _REDIRECT, text=_first_line(head))


def _variables(head: bytes, _: str) -> Resemblance | None:
    """Recognise environment variables; their values are not quoted."""
    if _VARIABLE.match(head) is None:
        return None
    way_out = "if it is a process's environment, copy /proc/PID/environ as it is"
    return Resemblance("names and values, each as NAME=VALUE", way_out)


def _metrics_page(head: bytes, _: str) -> Resemblance | None:
    """Recognise a metrics page without Go metrics, by the most frequent prefix of its names."""
    if not is_page(head):
        return None
    families, likely = families_of(head), likely_of_go(head)
    of = text(" of {}", Quoted(" and ".join(map(excerpt, families[:2])))) * bool(families)
    none = text(", with none of Go's")
    if likely:
        none = text(
            ", with none of Go's by a name that gomem knows ({})",
            Quoted(", ".join(map(excerpt, likely[:2]))),
        )
    return Resemblance(
        text("a page of Prometheus metrics{}{}", of, none),
        "a Go process has go_memstats_… on its own /metrics",
    )


def _refusal(head: bytes, _: str) -> Resemblance | None:
    if len(head) > SHORT_BYTES or _REFUSAL.fullmatch(head) is None:
        return None
    way_out = f"check the path: programs have it after importing net/http/pprof; {_FETCH}"
    return Resemblance(text("a server's refusal, {}", _quoted(_first_line(head))), way_out)


def _json(head: bytes, _: str) -> Resemblance | None:
    if not is_json(head):
        return None
    problem = _json_error(head)
    if problem is not None:
        return Resemblance(text("a server's error in JSON, {}", _quoted(problem)), _FETCH)
    return Resemblance(what_json_holds(head), "gomem reads MemStats and runtime/metrics of it")


def _json_error(head: bytes) -> str | None:
    """Return the error message of a JSON object that contains little else."""
    try:
        value = json.loads(head) if len(head) <= 8 * SHORT_BYTES else None
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or len(value) > 8:
        return None
    said = next((value[key] for key in _ERROR_KEYS if value.get(key)), None)
    if isinstance(said, dict):
        said = next((said[key] for key in _ERROR_KEYS if said.get(key)), None)
    return excerpt(said) if isinstance(said, str) else None


_LOOKS: tuple[Callable[[bytes, str], Resemblance | None], ...] = (
    _nothing, _executable, _out_of_memory, named_fault, killed_build, killed_of_oomd,
    described, evicted, restarts_of_pods,
    nodes_of_kubectl, of_the_machine, of_the_kernel,
    top_of_macos, top_of_freebsd, table_of_ps_mem, pages_by_node, totals_of_pmap, sums_of_smaps,
    commit_of_windows, processes_of_windows, memory_of_containers, memory_of_groups,
    table_of_cgtop, task_of_nomad, killed_by_a_daemon, consumed_by_a_unit, native_allocations,
    peak_of_time, open_files_listed,
    pressure_on_memory, sizes_of_vmstat, tmpfs_of_df, loop_of_ps, columns_of_ps, gauges_of_memory,
    exported_by_grafana, table_of_a_query,
    _known_form, _pasted_form,
    killed_on_bsd, status_of_a_service, shown_of_a_unit, reprinted_maps,
    summary_of_windbg, footprint_of_macos, cut_size_classes, counts_by_state, table_of_jeprof,
    heads_of_pprof,
    series_of_sizes, refused_for_memory, _variables, _metrics_page, _refusal, _json,
    table_without_units, rows_without_names,
)  # fmt: skip


def _file(name: str) -> Text:
    """Return the file name for a command; `FILE` if it has no name."""
    if not name or shlex.quote(name) == name:
        return File(name or "FILE")
    return text("'{}'", File(shlex.quote(name)[1:-1]))


def _quoted(line: str) -> Quoted:
    """Return text from the file in quotation marks."""
    return Quoted(repr(line))


def _first_line(head: bytes) -> str:
    filled = [line for line in head.split(b"\n") if line.strip()]
    content = (line for line in filled if not FENCE.fullmatch(line.rstrip()))
    return excerpt(next(content, filled[0] if filled else b"").strip()[:200])
