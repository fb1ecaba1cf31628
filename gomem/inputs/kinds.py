"""Which kind of artefact is this? Found from its content; a name is never believed alone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from gomem.errors import Damage, excerpt
from gomem.inputs.cgroup.parse import looks_like_cgroup
from gomem.inputs.escapes.parse import looks_like_escapes
from gomem.inputs.gctrace.parse import looks_like_gctrace
from gomem.inputs.gobench.parse import looks_like_gobench
from gomem.inputs.limits.parse import looks_like_limits
from gomem.inputs.memstats.parse import find_memstats
from gomem.inputs.metrics.parse import is_metrics
from gomem.inputs.pprof.heap_text import looks_like_heap_text
from gomem.inputs.pprof.parse import starts_like_pprof
from gomem.inputs.smaps.parse import kind_of_mappings
from gomem.inputs.status.parse import looks_like_statm, looks_like_status

if TYPE_CHECKING:
    from collections.abc import Callable

MANIFEST_SCHEMA = "gomem.capture/1"
WANTED = (
    "a pprof profile, a gctrace log, MemStats or runtime/metrics JSON, smaps, smaps_rollup, maps, "
    "status, limits, a cgroup's memory files, go test -bench or go build -gcflags=-m output"
)
EXECUTABLE_MAGIC = b"\x7fELF"

# In this order: the strictest first, a log last, since anything may stand in one.
_TESTS: tuple[tuple[str, Callable[[bytes], bool]], ...] = (
    ("status", looks_like_status),
    ("statm", looks_like_statm),
    ("limits", looks_like_limits),
    ("heap_text", looks_like_heap_text),
    ("gobench", looks_like_gobench),
    ("gctrace", looks_like_gctrace),
    ("escapes", looks_like_escapes),
    ("pprof", starts_like_pprof),
)


def kind_of(data: bytes, name: str = "") -> str | None:
    """The kind of an artefact, or None if it is none that gomem reads.

    A damaged artefact is still of its kind as far as its beginning shows it. Where the content is
    one bare number, as in a cgroup's files, it is of a kind only if its name says so, too.
    """
    if not data.strip():
        return None
    if looks_like_cgroup(data, name):
        return "cgroup"
    mappings = kind_of_mappings(data)
    if mappings is not None:
        return mappings
    if data.lstrip()[:1] in (b"{", b"["):
        json_kind = _kind_of_json(data)
        if json_kind is not None:
            return json_kind
    return next((kind for kind, looks_like in _TESTS if looks_like(data)), None)


def not_an_artefact(data: bytes, source: str) -> Damage:
    """Why a file of no kind was passed over: what was found, and what is wanted."""
    if not data:
        return Damage(source, "", f"empty file; wanted {WANTED}")
    if data.lstrip()[:1] in (b"{", b"["):
        return Damage(source, "", f"{_found_json(data)}; wanted MemStats or runtime/metrics")
    if data.startswith(EXECUTABLE_MAGIC):
        return Damage(source, "", f"an executable, not a capture's artefact; wanted {WANTED}")
    text = data[:512]
    if b"\0" in text or sum(byte > 126 for byte in text) * 4 > len(text):
        found = f"{len(data)} bytes of an unknown binary beginning {text[:8].hex(' ')}"
        return Damage(source, "", f"{found}; wanted {WANTED}")
    return Damage(source, "", f"text of no known kind; wanted {WANTED}", _first_line(data))


def _kind_of_json(data: bytes) -> str | None:
    """JSON's kind by its first value; by its names where the text is cut."""
    text = data.decode("utf-8-sig", "replace").lstrip()
    try:
        value, _ = json.JSONDecoder().raw_decode(text)
    except (json.JSONDecodeError, RecursionError):
        head = data[:65536]
        if b'"HeapAlloc"' in head or b'"TotalAlloc"' in head:
            return "memstats"
        return "metrics" if b'"/memory/classes/' in head else None
    first = value[0] if isinstance(value, list) and value else value
    if find_memstats(first) is not None:
        return "memstats"
    if is_metrics(first):
        return "metrics"
    if isinstance(first, dict) and first.get("schema") == MANIFEST_SCHEMA:
        return "manifest"
    return None


def _found_json(data: bytes) -> str:
    text = data.decode("utf-8-sig", "replace").lstrip()
    try:
        value, _ = json.JSONDecoder().raw_decode(text)
    except (json.JSONDecodeError, RecursionError) as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else "nested too deeply"
        return f"text that begins like JSON and is not: {reason}"
    if isinstance(value, dict):
        keys = ", ".join(excerpt(str(key))[:40] for key in list(value)[:4])
        return f"JSON with the keys {keys or '(none)'}"
    return f"JSON holding a {type(value).__name__}"


def _first_line(data: bytes) -> str:
    return excerpt(data.strip().split(b"\n", 1)[0][:200])
