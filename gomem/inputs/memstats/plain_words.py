r"""Rewrites MemStats in words as plain `Name: number`, whatever form they were printed in.

Rewritten    A Markdown table whose header names fields: a row becomes `HeapInuse: 91 MiB | …`.
             A line of InfluxDB's protocol, whose whole numbers end in `i`: `heap_sys_bytes=237i`.
             `alloc=6.7GB sys=14.2GB` of geth's and Erigon's logger: HeapAlloc and Sys.
             `'vault.runtime.alloc_bytes': 556320128.000` of go-metrics, with dots.
             `MemStats.Sys: 8.0MB`, with the name of the struct.
             Short names (`Idle: n`), if at least two lines have the same ones.
             `5 MB  5120 KB  5242880 B`, the same number in three units: the exact one stays.
Removed      HTML tags, and lists whose entries have names of fields.
Line numbers do not change.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gomem.inputs.markdown import RULE
from gomem.inputs.unwrap import plain_characters
from gomem.units import KIB

if TYPE_CHECKING:
    from collections.abc import Iterator

SHORT = {"idle": "HeapIdle", "inuse": "HeapInuse", "released": "HeapReleased",
         "objects": "HeapObjects"}  # fmt: skip
MIN_NAMES = 3
MIN_ROWS = 2  # with short names
_SHORT_FIELD = re.compile(
    rb"(?<![\w-])(?:alloc|sys|(?P<short>idle|in[ _-]?use|released|objects))(?=[ \t]*[:=][ \t]*\d)",
    re.IGNORECASE,
)
_RINGS = re.compile(rb"[\"']?(?:BySize|PauseNs|PauseEnd)[\"']?\s*[=:]\s*\[[^\]]*(?:\]|\Z)")
_TAG = re.compile(rb"<[^<>\n]{1,200}>")
_INFLUX = re.compile(rb"^\S+ \w+=-?[\d.]+i?,(?:\w+=[^\s,]+,){2}\S*", re.MULTILINE)
_WHOLE = re.compile(rb"(=\d+)i(?=,|\s|$)")
_LOGGED = re.compile(rb"\balloc=(\d[\d.]*[KMGT]i?B +sys=\d[\d.]*[KMGT]i?B)(?!\w)")
_GO_METRICS = re.compile(
    rb"[\"']?\b(?:[\w-]{1,64}\.){1,9}runtime\.(alloc_bytes|sys_bytes|heap_objects|num_goroutines)"
    rb"[\"']?([ \t]*[:=][ \t]*\d{1,19})(?:\.0+)?(?![\d.])"
)
_GO_METRICS_NAMES = {
    b"alloc_bytes": b"HeapAlloc",
    b"sys_bytes": b"Sys",
    b"heap_objects": b"HeapObjects",
    b"num_goroutines": b"NumGoroutine",
}
_TWICE = re.compile(
    rb"(?<![\d.])(?P<rounded>\d+(?:\.\d+)?) ?(?P<unit>[KMGT])i?B(?![A-Za-z])"
    rb"(?:[ \t(=/|~,]{1,8}\d[\d.]* ?[KMGT]i?B(?![A-Za-z])){0,3}"
    rb"[ \t(=/|~,]{1,8}(?P<exact>\d+) ?(?:B|bytes)\b"
)
_STRUCT = re.compile(rb"\bMemStats\.(?=[A-Z])", re.IGNORECASE)
_FIELD_NAME = re.compile(rb"(?:Total|Heap|Stack|MSpan|MCache|BuckHash|GC|Other|Next)[A-Z][A-Za-z]+")
_TIME = re.compile(rb"(?i)time|date|when|after|uptime|elapsed|minute|second|hour|day|snapshot|#|^$")
_MARKUP = re.compile(rb"[`*]+")


def plain_words(data: bytes) -> bytes:
    """Rewrite the text as `Name: number`, line by line."""
    plain = plain_characters(data)
    if b"<td" in plain:
        plain = _TAG.sub(b" ", plain)
    if b"|" in plain:
        plain = _with_tables_in_words(plain)
    plain = _INFLUX.sub(lambda line: _WHOLE.sub(rb"\1", line[0]), plain)
    plain = _LOGGED.sub(rb"HeapAlloc=\1", plain)
    plain = _GO_METRICS.sub(lambda named: _GO_METRICS_NAMES[named[1]] + named[2], plain)
    plain = _TWICE.sub(_exact, plain)
    plain = _with_long_names(_STRUCT.sub(b"", plain))
    return _RINGS.sub(lambda found: b"\n" * found[0].count(b"\n"), plain)


def _exact(found: re.Match[bytes]) -> bytes:
    """Return the exact one of two sizes, if the other is the same in a larger unit."""
    power = b"KMGT".index(found["unit"]) + 1
    rounded, exact = float(found["rounded"]), int(found["exact"])
    is_same = any(abs(rounded - exact / base**power) <= 1 for base in (KIB, 1000))
    return found["exact"] + b" B" if is_same else found[0]


def _with_tables_in_words(text: bytes) -> bytes:
    """Rewrite each table cell as its column's name and value."""
    lines = text.split(b"\n")
    for place, names, cells in _rows_of_tables(lines):
        pairs = zip(names, cells, strict=True)
        lines[place] = b" | ".join(name + b": " + cell for name, cell in pairs)
    return b"\n".join(lines)


def heads_of_tables(data: bytes) -> set[int]:
    """Return the lines, from 1, of the header and rule of each Markdown table of MemStats."""
    if b"|" not in data:
        return set()
    lines = plain_characters(data).split(b"\n")
    rows = {place for place, *_ in _rows_of_tables(list(lines))}
    rules = {place for place in rows if RULE.fullmatch(lines[place - 1].strip())}
    return {place + above for place in rules for above in (-1, 0)}


def rows_apart(data: bytes) -> frozenset[int]:
    """Return the lines, from 1, of rows of separate processes: their first column is not a time."""
    if b"|" not in data:
        return frozenset()
    rows = _rows_of_tables(plain_characters(data).split(b"\n"))
    return frozenset(place + 1 for place, names, _ in rows if not _TIME.search(names[0]))


def _rows_of_tables(lines: list[bytes]) -> Iterator[tuple[int, list[bytes], list[bytes]]]:
    """Yield rows of Markdown tables of MemStats: position, column names, and cells."""
    names: list[bytes] = []
    for place, line in enumerate(lines):
        if place and RULE.fullmatch(line.strip()):
            names = _cells(lines[place - 1])
            if sum(_FIELD_NAME.search(name) is not None for name in names) < MIN_NAMES:
                names = []
        elif names and b"|" not in line:
            names = []
        elif names and len(cells := _cells(line)) == len(names):
            yield place, names, cells


def _cells(row: bytes) -> list[bytes]:
    return [_MARKUP.sub(b"", cell).strip() for cell in row.strip().strip(b"|").split(b"|")]


def _with_long_names(text: bytes) -> bytes:
    """Replace short field names by the full ones in the lines of a table."""
    lines = text.split(b"\n")
    rows: dict[frozenset[str], list[int]] = {}
    for place, line in enumerate(lines):
        names = frozenset(_squeezed(found[0]) for found in _SHORT_FIELD.finditer(line))
        if len(names) >= MIN_NAMES and "alloc" in names:
            rows.setdefault(names, []).append(place)
    for place in (place for places in rows.values() if len(places) >= MIN_ROWS for place in places):
        lines[place] = _SHORT_FIELD.sub(_long_name, lines[place])
    return b"\n".join(lines)


def _squeezed(name: bytes) -> str:
    """Normalise a name, however it is written."""
    return re.sub(rb"[ _-]", b"", name).lower().decode()


def _long_name(found: re.Match[bytes]) -> bytes:
    return SHORT[_squeezed(found[0])].encode() if found["short"] else found[0]
