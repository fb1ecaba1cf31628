"""Groups MemStats fields in a text into dumps: where does the next begin, and is the last one cut?

A repeated field begins another dump. So does the field that usually comes first, which is known by
the text before it: the start of a line, or other words. Go defines Alloc and HeapAlloc as equal, so
another value of either before a repeated field begins one, too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from gomem.errors import Damage

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

SIZES = (
    "TotalAlloc", "HeapAlloc", "HeapSys", "HeapIdle", "HeapInuse", "HeapReleased", "StackInuse",
    "StackSys", "MSpanInuse", "MSpanSys", "MCacheInuse", "MCacheSys", "BuckHashSys", "GCSys",
    "OtherSys", "NextGC", "Alloc", "Sys",
)  # fmt: skip
ANYBODYS = frozenset({"Alloc", "Sys", "Lookups", "Mallocs", "Frees"})  # used by other programs, too
EQUAL = {"Alloc": "HeapAlloc", "HeapAlloc": "Alloc"}  # by definition
MIN_FIELDS = 3
MAX_WORDS = 4  # other words in a line with a single size; with more, it is a sentence
# Unambiguous names: one of them is enough if a separator such as `=` and a size follow.
LONE = frozenset({"HeapAlloc", "HeapInuse", "HeapSys", "HeapIdle", "HeapReleased"})
PAIR = frozenset({"HeapAlloc", "Sys"})  # enough together if both have units
SORTED = frozenset({"Alloc", "BuckHashSys"})  # the first of a sorted dump, before BySize
LEAST_SYS_BYTES = 1 << 16  # every Go process has more; a smaller number has some larger unit
NEWLINE = b"\n"
_PAIRS = re.compile(rb"(?<![\w.-])[\w.-]++[ \t]*+(?:[=:]|\.{3,40})[ \t]*\S+")
_LONG_WORD = re.compile(rb"[A-Za-z]{2,}")


@dataclass(frozen=True, slots=True)
class Field:
    """A field with its number, in a text."""

    name: str
    value: int | float
    step: int  # resolution of the number in bytes; 1 if it is exact
    has_unit: bool
    start: int
    end: int
    is_signed: bool = False  # whether a separator such as `=` is between name and number
    apart: int = 0  # weight of the separator before it: a line's end, other words


def dumps_of(fields: Sequence[Field]) -> Iterator[list[Field]]:
    """Yield the fields of each dump."""
    dump: dict[str, Field] = {}
    head = _head(fields)
    for size, later in pairwise([*fields, None]):
        assert size is not None
        is_other = later is not None and later.name in dump and _differs(dump, size)
        if dump and (size.name in dump or size.name == head or is_other):
            yield [*dump.values()]
            dump = {}
        dump[size.name] = size
    if dump:
        yield [*dump.values()]


def _differs(dump: Mapping[str, Field], size: Field) -> bool:
    """Whether the field that equals a field by definition has another value in a dump."""
    same = dump.get(EQUAL.get(size.name, ""))
    return same is not None and abs(same.value - size.value) > same.step + size.step


def _head(fields: Sequence[Field]) -> str | None:
    """Return the field that dumps begin with, if the text before it shows this; else None."""
    # So dumps are split correctly even if the text begins within one, such as the end of a log.
    if len({size.name for size in fields}) == len(fields):
        return None
    apart: dict[str, list[int]] = {}
    for size in fields[1:]:
        apart.setdefault(size.name, []).append(size.apart)
    usual = {name: sum(found) / len(found) for name, found in apart.items()}
    first, *others = sorted(usual, key=lambda name: -usual[name])
    return first if not others or usual[first] > usual[others[0]] else None


def whole_dumps(
    groups: Sequence[list[Field]], text: bytes, source: str, damage: list[Damage]
) -> Iterator[list[Field]]:
    """Yield the groups of fields that are dumps, including a last one that is cut."""
    last: list[Field] | None = None
    has_dumps = any(map(is_dump, groups))
    for number, fields in enumerate(groups):
        is_last = number == len(groups) - 1
        names = {size.name for size in fields}
        missing = set() if last is None else {size.name for size in last} - names
        is_cut = is_last and bool(missing) and _ends_early(text, fields, last or [])
        if is_cut:
            where = f"line {text.count(NEWLINE, 0, fields[0].start) + 1}"
            what = f"the last reading is cut: {', '.join(sorted(missing))} missing"
            damage.append(Damage(source, where, what))
        is_alone = not has_dumps and is_lone(fields, text)
        if is_alone or is_dump(fields) or (is_cut and len(fields) > 1):
            yield fields
            last = fields


def _ends_early(text: bytes, fields: Sequence[Field], before: Sequence[Field]) -> bool:
    """Whether a text ends within a dump that begins with the same fields as the previous one."""
    names = [size.name for size in before]
    is_begun = [size.name for size in fields] == names[: len(fields)]
    return is_begun and b"\n" not in text[fields[-1].end :].rstrip()


def is_dump(fields: Sequence[Field]) -> bool:
    names = {size.name for size in fields}
    if names == PAIR:
        return all(size.has_unit for size in fields)
    if names == SORTED:
        return True
    return len(names) >= MIN_FIELDS and not names <= ANYBODYS and not names.isdisjoint(SIZES)


def is_lone(fields: Sequence[Field], text: bytes) -> bool:
    """Whether it is a heap size after a separator, in bytes or with a unit, not in a sentence."""
    is_size = any(
        size.name in LONE and size.is_signed and (size.has_unit or size.value >= LEAST_SYS_BYTES)
        for size in fields
    )
    line = lines_of(text, fields[0].start, fields[-1].end) if is_size else b""
    return is_size and len(_LONG_WORD.findall(_PAIRS.sub(b"", line))) <= MAX_WORDS


def lines_of(text: bytes, start: int, end: int) -> bytes:
    """Return the lines that contain a piece of a text."""
    begin, stop = text.rfind(b"\n", 0, start) + 1, text.find(b"\n", end)
    return text[begin : len(text) if stop < 0 else stop]
