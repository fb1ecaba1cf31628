r"""Rewrites MemStats in words as plain `Name: number`, whatever form they were printed in.

Rewritten    A table whose columns are fields, see `columns`.
             A line of InfluxDB's protocol, whose whole numbers end in `i`: `heap_sys_bytes=237i`.
             `alloc=6.7GB sys=14.2GB` of geth's and Erigon's logger: HeapAlloc and Sys.
             `alloc=25681136 total=70511640 sys=53130504`: the second is TotalAlloc.
             Names of telemetry libraries, see `telemetry`.
             `MemStats.Sys: 8.0MB`, with the name of the struct.
             Short names (`Idle: n`), if at least two lines have the same ones.
             `5 MB  5120 KB  5242880 B`, the same number in three units: the exact one stays.
             `Alloc: (uint64) 50417768`, with the types that spew prints.
Removed      HTML tags, and lists whose entries have names of fields.
             A gloss, `HeapSys (memory reserved): 128 MB`, unless it names a unit, or says that the
             number is not the field's own: `HeapAlloc (peak): 5 MB`.
Line numbers do not change.
"""

from __future__ import annotations

import re

from gomem.inputs.memstats.columns import with_columns_in_words
from gomem.inputs.memstats.field_names import NAMES, squeezed
from gomem.inputs.memstats.rows import with_rows_in_words
from gomem.inputs.memstats.telemetry import with_plain_names
from gomem.inputs.unwrap import plain_characters
from gomem.units import KIB

SHORT = {"idle": "HeapIdle", "inuse": "HeapInuse", "released": "HeapReleased",
         "objects": "HeapObjects"}  # fmt: skip
# Also with two neighbouring letters swapped.
SPELT = {
    name[:at] + name[at : at + 2][::-1] + name[at + 2 :]: field
    for name, field in SHORT.items()
    for at in range(len(name))
}
MIN_NAMES = 3
MIN_ROWS = 2  # with short names
_SHORT_FIELD = re.compile(
    rb"(?<![\w-])(?:alloc|sys|(?P<short>in[ _-]use|" + "|".join(SPELT).encode()
    + rb"))(?=[ \t]*[:=][ \t]*\d)",
    re.IGNORECASE,
)  # fmt: skip
_RINGS = re.compile(rb"[\"']?(?:BySize|PauseNs|PauseEnd)[\"']?\s*[=:]\s*\[[^\]]*(?:\]|\Z)")
_TAG = re.compile(rb"<[^<>\n]{1,200}>")
_INFLUX = re.compile(rb"^\S+ [\w.]+=-?[\d.]+i?,(?:[\w.]+=[^\s,]+,){2}\S*", re.MULTILINE)
_WHOLE = re.compile(rb"(=\d+)i(?=,|\s|$)")
_LOGGED = re.compile(rb"\balloc=(\d[\d.]*[KMGT]i?B +sys=\d[\d.]*[KMGT]i?B)(?!\w)")
# `alloc=25681136 total=70511640 sys=53130504`, in the order of MemStats.
_IN_ORDER = re.compile(
    rb"\b(alloc(?P<sign>[=:] ?)\d[\d.]*(?: ?[KMGT]?i?B)?,? +)total(?=(?P=sign)\d[\d.]*"
    rb"(?: ?[KMGT]?i?B)?,? +sys(?P=sign)\d)",
    re.IGNORECASE,
)
_TWICE = re.compile(
    rb"(?<![\d.])(?P<rounded>\d+(?:\.\d+)?) ?(?P<unit>[KMGT])i?B(?![A-Za-z])"
    rb"(?:[ \t(=/|~,]{1,8}\d[\d.]* ?[KMGT]i?B(?![A-Za-z])){0,3}"
    rb"[ \t(=/|~,]{1,8}(?P<exact>\d+) ?(?:B|bytes)\b"
)
_TYPED = re.compile(rb"(?<=: )\((?:u?int(?:32|64)|float64)\) (?=[0-9])")
_GLOSS = re.compile(
    rb"(?<![\w-])(?P<name>" + NAMES.encode() + rb")(?P<quote>[\"'`*]{0,3})[ \t]*"
    rb"\((?P<gloss>[a-z][\w /,;.+'~&-]{2,80})\)(?=[\"'`*]{0,3}[ \t]*(?:=>|->|[=:|]))",
    re.IGNORECASE,
)  # fmt: skip
_OTHER_NUMBER = re.compile(
    rb"\b(?:max(?:imum)?|peak|min(?:imum)?|avg|average|mean|median|p\d\d?|delta|diff\w*|change\w*"
    rb"|grow\w*|per|rate|before|after|start\w*|end|first|last|previous|next|old|new|limit|goal|target"
    rb"|bytes?|[kmgt]i?b|[kmgt]|pages|percent)\b|\d", re.IGNORECASE,
)  # fmt: skip
_STRUCT = re.compile(rb"\bMemStats\.(?=[A-Z])", re.IGNORECASE)


def plain_words(data: bytes) -> bytes:
    """Rewrite the text as `Name: number`, line by line."""
    plain = plain_characters(data)
    if b"<td" in plain:
        plain = _TAG.sub(b" ", plain)
    plain = with_columns_in_words(with_rows_in_words(_TWICE.sub(_exact, plain)))
    plain = _INFLUX.sub(lambda line: _WHOLE.sub(rb"\1", line[0]), plain)
    plain = _LOGGED.sub(rb"HeapAlloc=\1", plain)
    plain = with_plain_names(_IN_ORDER.sub(rb"\1TotalAlloc", plain))
    plain = _TYPED.sub(b"", plain)
    plain = _GLOSS.sub(_without_gloss, plain)
    plain = _with_long_names(_STRUCT.sub(b"", plain))
    return _RINGS.sub(lambda found: b"\n" * found[0].count(b"\n"), plain)


def _without_gloss(found: re.Match[bytes]) -> bytes:
    """Return a name without its gloss, unless that says what else its number is."""
    return found[0] if _OTHER_NUMBER.search(found["gloss"]) else found["name"] + found["quote"]


def _exact(found: re.Match[bytes]) -> bytes:
    """Return the exact one of two sizes, if the other is the same in a larger unit."""
    power = b"KMGT".index(found["unit"]) + 1
    rounded, exact = float(found["rounded"]), int(found["exact"])
    is_same = any(abs(rounded - exact / base**power) <= 1 for base in (KIB, 1000))
    return found["exact"] + b" B" if is_same else found[0]


def _with_long_names(text: bytes) -> bytes:
    """Replace short field names by the full ones in the lines of a table."""
    lines = text.split(b"\n")
    rows: dict[frozenset[str], list[int]] = {}
    for place, line in enumerate(lines):
        names = frozenset(squeezed(found[0].decode()) for found in _SHORT_FIELD.finditer(line))
        if len(names) >= MIN_NAMES and "alloc" in names:
            rows.setdefault(names, []).append(place)
    for place in (place for places in rows.values() if len(places) >= MIN_ROWS for place in places):
        lines[place] = _SHORT_FIELD.sub(_long_name, lines[place])
    return b"\n".join(lines)


def _long_name(found: re.Match[bytes]) -> bytes:
    return SPELT[squeezed(found[0].decode())].encode() if found["short"] else found[0]
