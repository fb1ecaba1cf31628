"""What the columns of a table over time are: their names, and the units of their sizes.

Names         rss_kb   RSS (MiB)   heap alloc   process_resident_memory_bytes   numGC
Labels        go_goroutines{instance="a:6060", job="b"}, {__name__="go_goroutines", job="b"}
              A name with commas is in quotation marks in CSV, and some programs forget these.
Quirks        A column without a unit in its name or cells: /proc and ps print KiB, programs and
              dashboards bytes. Whole pages of bytes are multiples of 4096, and of KiB of 4.
              A field of MemStats is in bytes, unless a row is too small for that.
"""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING

from gomem.inputs.runtime_lines.patterns import COUNTS
from gomem.units import GIB, KIB, MIB

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_COLUMNS = 60
MAX_NAME = 200  # characters of a column's name, without its labels
SAMPLE_ROWS = 1000  # whose sizes decide whether a column can be in bytes
LEAST_HEAP = 1 << 16  # bytes; a Go program's heap is never smaller
PAGE, PAGE_KIB = 4096, 4
NO_BREAK = b"\xc2\xa0"  # Grafana's blank between number and unit
_UNITS = {"b": 1, "bytes": 1, "kb": KIB, "kib": KIB, "mb": MIB, "mib": MIB, "gb": GIB, "gib": GIB}
_QUANTITIES = {
    **dict.fromkeys(("time", "ts", "timestamp", "date", "datetime", "when", "epoch"), "time"),
    **dict.fromkeys(("rss", "vmrss", "res", "resident", "residentmemory"), "rss"),
    **dict.fromkeys(("alloc", "heapalloc", "goalloc", "goheapalloc"), "go_alloc"),
    **dict.fromkeys(("heapinuse", "goheapinuse"), "go_heap_inuse"),
    **dict.fromkeys(("heapidle", "goheapidle"), "go_heap_idle"),
    **dict.fromkeys(("heapsys", "goheapsys"), "go_heap_sys"),
    **dict.fromkeys(("released", "heapreleased", "goheapreleased"), "go_released"),
    **dict.fromkeys(("sys", "gosys"), "go_sys"),
    **dict.fromkeys(("stackinuse", "stacksinuse"), "go_stacks"),
    **dict.fromkeys(("nextgc", "gonextgc"), "go_next_gc"),
    **dict.fromkeys(("goroutines", "numgoroutine", "numgoroutines"), "goroutines"),
    **dict.fromkeys(("numgc", "gcs"), "gcs"),
    **dict.fromkeys(("heapobjects", "goheapobjects"), "objects"),
    **dict.fromkeys(("threads", "numthreads", "nlwp"), "threads"),
}
# Sizes that are never small: a number without a unit that is one cannot be in bytes.
_NEVER_SMALL = frozenset({"rss", "go_alloc", "go_heap_inuse", "go_heap_sys", "go_sys"})
_NAME = re.compile(r"([a-z_ ]*?)[_ (\[]*(b|bytes|[kmg]i?b)?[)\]]*")
# A column that is only called memory: RSS, or a container's working set.
_MEMORY = re.compile(
    r"(?!.*\b(?:node|host|system|machine|free|available|limits?|requests?|total|swap|virtual)\b)"
    r"(?:.{1,100}[ _])?mem(?:ory)?(?:[ _](?:usage|used|working[ _]set|rss))?[_ (\[]*"
    r"(?P<unit>b|bytes|[kmg]i?b)?[)\]]*"
)
_LABELS = re.compile(r"\{[^{}]*\}\s*$")
_METRIC = re.compile(r"__name__=\"(\w+)\"")
_PREFIX = re.compile(
    r"(?:(?:go_)?mem_?stats?_|(?:runtime|memory|mem|proc|process)_|go_(?=goroutines\b)"
    r"|container[ _]|pod[ _])"
)
_NUMBER = re.compile(rb"\d{1,15}(?:\.\d{1,9})?")


def quantity_of(name: str) -> tuple[str, int | None]:
    """Return the quantity of a column, empty if another, and the unit in its name, if any."""
    bare = bare_name(name).replace(".", "_").replace("-", "_")
    short = _PREFIX.sub("", bare, count=1)
    named = _NAME.fullmatch(short)
    if named is None:
        return "", None
    quantity = _QUANTITIES.get(named[1].replace("_", "").replace(" ", ""), "")
    if quantity == "time" and short != bare:
        return "", None  # `process_time`, of the CPU
    return quantity, None if named[2] is None else _UNITS[named[2]]


def unit_of_memory(name: str) -> tuple[bool, int | None]:
    """Whether a column is only called memory, such as `api-0 memory`; and the unit in its name."""
    named = _MEMORY.fullmatch(bare_name(name))
    unit = None if named is None or named["unit"] is None else _UNITS[named["unit"]]
    return named is not None, unit


def bare_name(name: str) -> str:
    """Return the name of a column without labels and quotation marks, in small letters.

    It is empty if it is too long for a name.
    """
    bare = name.strip().strip('"').replace('""', '"').replace("\xa0", " ")
    metric = _METRIC.search(bare)
    bare = metric[1].lower() if metric else _LABELS.sub("", bare).strip().lower()
    return bare if len(bare) <= MAX_NAME else ""


def names_in(head: bytes, separator: bytes) -> list[str]:
    """Return the names in a line; a separator in quotation marks or braces is part of a name."""
    text = head.decode("utf-8", "replace").replace("\r", " ")  # csv refuses it in a line
    cells = next(csv.reader([text], delimiter=separator.decode(), skipinitialspace=True), [])
    names: list[str] = []
    for cell in cells:
        if names and names[-1].count("{") > names[-1].count("}"):
            names[-1] += separator.decode() + cell
        else:
            names.append(cell)
    return names


def are_ambiguous(names: Sequence[str], kinds: Sequence[str]) -> bool:
    """Whether two columns of a quantity have the same name: of two processes, or by mistake."""
    known = [bare_name(name) for name, kind in zip(names, kinds, strict=True) if kind]
    return len(set(known)) < len(known)


def first_of_each(kinds: Sequence[str]) -> list[str]:
    """Return the quantities without repetitions: of `alloc` and `heap_alloc` the first counts."""
    return [kind if kind not in kinds[:place] else "" for place, kind in enumerate(kinds)]


def unit_of(kind: str, cells: Sequence[bytes]) -> int | None:
    """The unit of a column without one in its name; None if its numbers can be of several."""
    bare = [cell for cell in map(bytes.strip, cells) if _NUMBER.fullmatch(cell)]
    if not bare or kind in COUNTS:
        return 1
    if kind in _NEVER_SMALL and not all(float(cell) >= LEAST_HEAP for cell in bare if float(cell)):
        return None
    if kind != "rss":
        has_units = len(bare) < sum(map(bool, map(bytes.strip, cells)))
        return None if has_units or not all(cell.isdigit() for cell in bare) else 1
    sizes = [float(cell) for cell in bare if float(cell)]
    are_pages = all(size % PAGE == 0 for size in sizes)
    return 1 if are_pages or any(size % PAGE_KIB for size in sizes) else None
