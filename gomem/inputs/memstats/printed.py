"""runtime.MemStats as printed by `fmt.Printf("%+v", stats)` or `%#v`, in a log or alone.

Printed by    fmt: with %+v a struct is `{Alloc:1 … BySize:[{Size:0 …} …]}`, with %#v it is Go
              syntax, `runtime.MemStats{Alloc:0x1, …}`. A pointer has `&` before it.
Quirks        The struct is one line, however long. %#v writes unsigned numbers in hexadecimal.
              %v writes no field names, and is not read.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

from gomem.errors import Damage
from gomem.inputs.json_text import whole_number

_BEGINNING = re.compile(rb"(?:runtime\.MemStats)?\{Alloc:(?:0x)?[0-9a-f]+[ ,]")
_FIELD = re.compile(
    rb"([A-Z]\w*):(?:(0x[0-9a-f]{1,16}|[0-9.eE+-]{1,40}|true|false)(?=[ ,}])"
    rb"|(?:\[\d+\]uint64\{|\[)([0-9a-fx, ]*)[\]}])"
)
_CLASS = re.compile(
    rb"\{Size:(0x[0-9a-f]+|\d+),? Mallocs:(0x[0-9a-f]+|\d+),? Frees:(0x[0-9a-f]+|\d+)\}"
)
_NUMBERS = re.compile(rb"[^, ]+")
_JSON_FIELD = re.compile(rb'"HeapAlloc"\s*:')
_COLLECTION = re.compile(rb"^gc \d+ @", re.MULTILINE)
CLASSES = b"BySize:"
FLAGS = {b"true": True, b"false": False}


def looks_like_printed(data: bytes) -> bool:
    """Whether the first line has MemStats printed by fmt; false for JSON and for a gctrace log."""
    first = data.lstrip().partition(b"\n")[0]
    found = _BEGINNING.search(first)
    if found is None or _JSON_FIELD.search(first, 0, found.start()):
        return False
    return _COLLECTION.search(data) is None


def printed_values(data: bytes, source: str) -> tuple[list[tuple[str, Any]], list[Damage]]:
    """Return every printed MemStats in a text, with its place, as the equivalent JSON object."""
    values: list[tuple[str, Any]] = []
    damage: list[Damage] = []
    for number, line in enumerate(data.split(b"\n"), start=1):
        begins = [match.start() for match in _BEGINNING.finditer(line)]
        for begin, end in pairwise([*begins, len(line)]):
            dump = line[begin:end]
            place = f"line {number}"
            before, _, classes = dump.partition(CLASSES)
            value: dict[str, Any] = dict.fromkeys(("HeapAlloc", "HeapSys", "Sys")) | {
                name.decode(): _number(text) if text else list(map(_number, _NUMBERS.findall(ring)))
                for name, text, ring in _FIELD.findall(before)
            }
            value["BySize"] = [
                dict(zip(("Size", "Mallocs", "Frees"), map(_number, numbers), strict=True))
                for numbers in _CLASS.findall(classes)
            ]
            values.append((place, value))
            if not classes or (b"]}" not in classes and b"}}" not in classes):
                what = "ends within MemStats: it is cut, and fields are missing"
                damage.append(Damage(source, place, what))
    return values, damage


def _number(text: bytes) -> Any:
    if text in FLAGS:
        return FLAGS[text]
    if text.startswith(b"0x"):
        return int(text, 16)
    try:
        return whole_number(text) if text.isdigit() else float(text)
    except ValueError:
        return None
