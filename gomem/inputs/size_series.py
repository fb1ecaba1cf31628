"""Lines of a log or script that repeat one memory size: `alloc: 349264`, `VmRSS: (1; 2; +1)`.

gomem only reports them: the meaning and the unit of the number are unknown. Known are VmRSS, which
/proc/PID/status has in kB, and a cgroup's use in bytes, `18:05:37 MemoryCurrent=15622144`, which
has page cache too and is no RSS.
"""

from __future__ import annotations

import re
from collections import defaultdict

from gomem.inputs.resemblance import TAKE_HEAP_PROFILE, Resemblance
from gomem.text import Bytes, Count, Quoted, Text, text
from gomem.units import KIB, MIB

MIN_LINES = 4
_LINE = re.compile(
    rb"^[^\n]{0,80}?(?<![\w.])(?P<name>MemoryCurrent|memory\.(?:usage_in_bytes|current)"
    rb"|VmRSS|RSS|rss|[Hh]eap ?[Aa]lloc|[Aa]lloc"
    rb"|[Mm]em(?:ory)?(?:[ _-](?:usage|used|alloc))?)[\"'`*]*[ \t]*"
    rb"(?:[:=]|(?<=_in_bytes )|(?<=\.current ))[ \t]*[\"'(\[]{0,2}"
    rb"(?P<first>\d{1,15}(?:\.\d{1,6})?)(?P<unit> ?[kKMGT]i?[bB]\b)?"
    rb"(?! (?!bytes\b|is\b|was\b|as\b)[a-z]{2,20}s\b(?![:=]))"  # a number of things
    rb"(?:(?:; ?| ?-> ?| ?=> ?)(?P<then>\d{1,15}(?:\.\d{1,6})?)(?! ?[kKMGT]i?B))?(?![\w.]|-\d)",
    re.MULTILINE,
)
IN_KIB = "VmRSS"
CGROUP_USE = frozenset({"MemoryCurrent", "memory.usage_in_bytes", "memory.current"})
FIRST_GC = 4 * MIB  # the heap at which the first GC runs with GOGC=100
ALLOCATED = frozenset({"alloc", "heapalloc"})
_ASK = (
    "one size does not say what holds it: GODEBUG=gctrace=1 logs each GC with the live heap, "
    f"{TAKE_HEAP_PROFILE} says who allocated it"
)


def series_of_sizes(head: bytes, _: str) -> Resemblance | None:
    """Describe the repeated size with the most lines."""
    found: defaultdict[tuple[str, str], list[list[float]]] = defaultdict(list)
    for line in _LINE.finditer(head):
        unit = (line["unit"] or b"").strip().decode()
        sizes = [float(line["first"]), *([float(line["then"])] if line["then"] else [])]
        found[line["name"].decode(), unit].append(sizes)
    if not found:
        return None
    (name, unit), lines = max(found.items(), key=lambda series: len(series[1]))
    if len(lines) < MIN_LINES:
        return None
    sizes = [lines[0][0], *(line[-1] for line in lines[len(lines[0]) == 1 :])]
    return Resemblance(_words(name, unit, sizes, len(lines)), _ASK, is_evidence=True)


def _words(name: str, unit: str, sizes: list[float], count: int) -> Text:
    """Describe first and last size, and how much of a rise is in each half of the steps."""
    first, last, most = sizes[0], sizes[-1], max(sizes)
    halves = sizes[(len(sizes) - 1) // 2] - first, last - sizes[len(sizes) // 2]
    words = "{} of {}: from {} to {}"
    said = text(
        words, Count(count, "line"), Quoted(name), *(_size(s, name, unit) for s in (first, last))
    )
    if most > max(first, last):
        said = text("{}, at most {}", said, _size(most, name, unit))
    if last > first:
        rise = (_size(max(size, 0), name, unit) for size in (last - first, *halves))
        words = "{}; of the rise of {} the first half of the lines has {}, the second {}"
        said = text(words, said, *rise)
    is_small = name.lower().replace(" ", "") in ALLOCATED and not unit and most < FIRST_GC
    if is_small and most > FIRST_GC / KIB:
        said = text("{}; if in bytes, all are below 4 MiB, where Go's first GC runs", said)
    return said


def _size(size: float, name: str, unit: str) -> Text:
    """Return a size as printed; VmRSS in bytes, because its unit is known."""
    if name == IN_KIB and not unit:
        return text("{}", Bytes(round(size * KIB)))
    if name in CGROUP_USE and not unit:
        return text("{}", Bytes(round(size)))
    return text("{}", Quoted(f"{size:.15g}{' ' if unit else ''}{unit}"))
