r"""runtime.MemStats in a program's own words: field name, separator, number, unit.

Printed by    programs, into their logs, on one line or one field per line:
                  Alloc = 5 MiB   TotalAlloc = 12 MiB   Sys = 20 MiB   NumGC = 3
                  2026-11-20T03:53:49Z HeapAlloc: 5,242,880, HeapSys: 12,582,912, …
                  heap_alloc=5242880 heap_sys=12582912 num_gc=3
                  # HeapAlloc = 5242880       the end of heap?debug=1, alone
                  "HeapAlloc": 5242880,       JSON without braces, cut, or with a trailing comma
                  Alloc: 5242880, BySize: [{ …   an object as a JavaScript console prints it
                  Allocated bytes  5,242,880  the memory page of gopls and similar tools
                  heap allocated .... 46.4Mb
                  after 3: Alloc: 5242880, Idle: 1048576, InUse: 6291456, Objects: 99
Recognised    by three different fields, of which one is a size, and one has a name that only Go
              uses. Short names count if several lines have the same ones: Alloc and at least two
              more. HeapAlloc and Sys suffice, too, and so does `HeapAlloc=…` if the text has no
              larger dump. Other forms are rewritten first, see `plain_words`.
Several       A repeated field begins another dump. Which field comes first in a dump is known by
              what precedes it: the start of a line, or other words, such as a time.
Sys           means HeapSys if the text defines it so, or if it equals HeapIdle plus HeapInuse.
Units         KB, MB and GB are multiples of 1024, as most helper functions compute them. Helpers
              that use 1000 print the same letters; then sizes are up to 7 % too large.
              Digits lost to rounding are unknown: the frame's dictionary has the resolution.
              Sizes without a unit that are too small to be bytes are not read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import TYPE_CHECKING

from gomem.errors import Damage, FormatError
from gomem.inputs.json_text import first_value, is_json, is_json_alone, whole_number
from gomem.inputs.memstats.columns import heads_of_tables, rows_apart
from gomem.inputs.memstats.field_names import COUNTS, FIELDS, NAMES, PAIRS, field_of, squeezed
from gomem.inputs.memstats.goroutine_counts import GOROUTINES
from gomem.inputs.memstats.grouped import (
    ANYBODYS,
    LEAST_SYS_BYTES,
    MIN_FIELDS,
    SIZES,
    Field,
    dumps_of,
    is_dump,
    is_lone,
    lines_of,
    whole_dumps,
)
from gomem.inputs.memstats.logged_at import clock_at_start, time_beside
from gomem.inputs.memstats.plain_words import plain_words
from gomem.inputs.memstats.rows import columns_apart, lines_of_rows
from gomem.inputs.text_lines import LineNumbers
from gomem.units import GIB, KIB, MIB, TIB

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime

# The definition of HeapSys in Go's documentation, which people print as `sys`.
HEAP_SYS = re.compile(rb"\bsys\b[\"'`* :=-]{1,9}bytes of heap memory obtained", re.IGNORECASE)
MIN_SUMS = 2  # dumps whose Sys equals HeapIdle plus HeapInuse
LEAST_RSS_SHARE = 32  # a number below 1/32 of Go's size is RSS in KiB or pages
FIRST_LAST_GC = 10**18  # in 2001; a smaller number is not a time in nanoseconds
HEAD_BYTES = 1 << 20
UNITS = {"": 1, "B": 1, "K": KIB, "M": MIB, "G": GIB, "T": TIB}


_UNIT = rb"(?:bytes|[KMGT]i?B?|B)"
_BEFORE = (
    rb"(?:(?<![A-Za-z0-9_-])|(?<=\bgo_)|(?<=memstats_)|(?<=mem_stats_)|(?<=\bmem_)|(?<=runtime_))"
    rb"(?<!max[ _])(?<!peak[ _])(?<!min[ _])(?<!avg[ _])(?<!delta[ _])"
)
_BEHIND = (
    rb"(?:_?(?P<named>(?-i:[Bb]ytes|[KMGT]i?B|_[kmgt]i?b)))?"
    rb"[\"'`*]*+(?:[ \t]*+[(\[](?P<before>" + _UNIT + rb")[)\]])?"
    rb"(?P<sign>[ \t]*+(?:=>|->|[=:|]{1,2}|\.{3,40})[ \t]*+|[ \t]++)[\"'`*]*+"
    rb"(?P<number>\d{1,3}(?:[,_']\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?(?:e[+-]?\d+)?)"
    rb"(?:(?P<unit>" + _UNIT + rb")|[ \t]+(?P<apart>bytes|[KMGT]i?B|B|(?-i:[KMGT])(?=[\s,;|]|\Z)))?"
    rb"(?: */ *(?P<second>\d+))?(?![\w%]|\.\d|[-:/]\d)"
)
_FIELD = re.compile(_BEFORE + rb"(?P<name>" + NAMES.encode() + rb")" + _BEHIND, re.IGNORECASE)
_RSS = re.compile(
    _BEFORE + rb"(?P<name>(?:vm|process[ _-]?)?rss|resident(?:[ _-](?:set|memory))?(?:[ _-]size)?)"
    + _BEHIND,
    re.IGNORECASE,
)  # fmt: skip
# `goroutines 506, HeapAlloc 3723080`, in the line of a dump without other signs.
_GOROUTINES_BARE = re.compile(rb"(?<![\w.])goroutines[ \t]+(\d{1,9})(?=[,;|\s]|\Z)", re.IGNORECASE)
# `go.memstats.sys 71303168`, as in a column, also behind a prefix; Graphite adds the time.
_COLUMN = re.compile(rb"(?:.*(?:[|>\]:]|std(?:out|err) F) +)?\s*[\w.]+\s+\d+(?:\s+1\d{9})?\s*")
_LIST_ROW = re.compile(rb"[\w.]+(?:\s*[:=]\s*|\s+)[\d.]+")
_DURATION = re.compile(rb"[ \t]*(?:[mn\xc2\xb5\xceu]{1,2}s|secs?|seconds?|s|mins?)\b")
_OTHER_WORDS = re.compile(rb"[^\s,;|{}()\[\]\"'#>*]")


@dataclass
class WordsDump:
    """A dump in words."""

    values: dict[str, int | float]
    place: str
    # The resolution in bytes of each rounded field.
    steps: dict[str, int] = field(default_factory=dict)
    time: datetime | None = None  # the time in its line, or in the text before it
    time_of_day: str = ""  # at the start of its line, if it has no more
    # RSS in bytes, and its resolution, if the same lines have it.
    rss: tuple[int, int] | None = None
    goroutines: int | None = None  # number of goroutines, if the same lines have it
    begins: bool = False  # whether it is from another process than the previous dump


def looks_like_in_words(data: bytes) -> bool:
    """Whether a text has enough MemStats fields with numbers to form a dump."""
    text = plain_words(data[:HEAD_BYTES]) if _may_have_dumps(data) else b""
    dumps = list(dumps_of(list(_fields(text))))
    return any(map(is_dump, dumps)) or any(is_lone(fields, text) for fields in dumps)


def lines_in_words(data: bytes) -> set[int]:
    """Return the lines, from 1, of dumps in words, and the header of a table of them."""
    if not _may_have_dumps(data):
        return set()
    text = plain_words(data)
    lines = LineNumbers(text)
    dumps = filter(is_dump, dumps_of(list(_fields(text))))
    found: set[int] = set()
    for fields in dumps:
        own = [lines.at(size.start) for size in fields]
        found |= {*own, own[0] - 1} if _heading(text, fields[0].start) else {*own}
    return found | heads_of_tables(data) | lines_of_rows(data)


def _heading(text: bytes, start: int) -> bytes:
    """Return the line above a dump's first, if it begins with a time of day; else empty."""
    begin = text.rfind(b"\n", 0, start) + 1
    above = text[text.rfind(b"\n", 0, max(0, begin - 1)) + 1 : begin]
    return above if clock_at_start(above) else b""


def _may_have_dumps(data: bytes) -> bool:
    """Whether a search for fields is worthwhile."""
    lower = data[:HEAD_BYTES].lower()
    if b"\0" in lower[:4096] or (b"alloc" not in lower and b"heap" not in lower):
        return False
    return _may_be_json(data)


def has_more_in_words(data: bytes) -> bool:
    """Whether the lines of a dump in words also have RSS or the number of goroutines."""
    head = plain_words(data[:HEAD_BYTES]) if _may_have_dumps(data) else b""
    if not any(form.search(head) for form in (_RSS, GOROUTINES, _GOROUTINES_BARE)):
        return False
    try:
        dumps, _ = parse_in_words(data[:HEAD_BYTES], source="")
    except FormatError:
        return False
    return any(dump.rss is not None or dump.goroutines is not None for dump in dumps)


def _may_be_json(data: bytes) -> bool:
    """Whether a text is not JSON, or a JSON object that has the fields itself."""
    known, value = first_value(data) if is_json_alone(data) else (False, None)
    if not known:
        return True
    names = {field_of(str(key)) for key in value} if isinstance(value, dict) else set()
    return len(names - {None}) >= MIN_FIELDS


def parse_in_words(data: bytes, *, source: str) -> tuple[list[WordsDump], list[Damage]]:
    """Parse every dump in a text, and the damage; FormatError if there is none."""
    plain = plain_words(data)
    damage: list[Damage] = []
    dumps: list[WordsDump] = []
    lines, ended, is_above = LineNumbers(plain), 0, False
    apart = rows_apart(data) | columns_apart(data)
    for fields in whole_dumps(list(dumps_of(list(_fields(plain)))), plain, source, damage):
        start, end = ends = fields[0].start, fields[-1].end
        line = lines.at(start)
        place = f"line {line}"
        dump = WordsDump({size.name: size.value for size in fields}, place)
        dump.steps = {size.name: size.step for size in fields if size.step > 1}
        beside = lines_of(plain, start, end)
        is_above = is_above if dumps else _count_above(plain, start) is not None
        dump.rss = _rss_beside(beside, fields) or _rss_beside(_line_of_rss(plain, *ends), fields)
        dump.goroutines = _goroutines_beside(plain, start, end, is_above=is_above)
        dump.begins = line in apart
        clock = clock_at_start(beside) or clock_at_start(_heading(plain, start))
        since = plain.rfind(b"\n", 0, start) + 1 if clock else max(ended, start - 2000)
        dump.time, ended = time_beside(plain, max(ended, since), start, end)
        dump.time_of_day = "" if dump.time else clock
        if _is_in_no_unit(fields):
            what = "sizes without a unit, and too small for bytes; print bytes, or the unit"
            damage.append(Damage(source, place, what))
            continue
        dumps.append(dump)
    if not dumps:
        for fault in damage:
            raise FormatError(source, fault.where, fault.what)
        raise FormatError(source, "", "no MemStats in it: too few of their fields with a number")
    is_quoted = b'{"Alloc"' in b"".join(plain.split())  # from expvar, after HTTP headers
    is_open = data.count(b"{") > data.count(b"}") and b"}" not in plain[ended:]
    is_object = is_json(data) or is_quoted or b"BySize: [" in data  # of a JavaScript console
    if is_object and is_open:
        what = "ends within MemStats: it is cut, and fields are missing"
        damage.append(Damage(source, dumps[-1].place, what))
    if HEAP_SYS.search(plain) or _are_sums(dumps):
        dumps = [replace(dump, values=_with_heap_sys(dump.values)) for dump in dumps]
    return [_with_alloc(dump) for dump in dumps], damage


def _are_sums(dumps: Sequence[WordsDump]) -> bool:
    """Whether the value called Sys is HeapSys in each dump; Go's Sys includes runtime memory."""
    sums = [
        abs(values["Sys"] - values["HeapIdle"] - values["HeapInuse"])
        <= 2 * dump.steps.get("Sys", 1)
        for dump in dumps
        if (values := dump.values).keys() >= {"Sys", "HeapIdle", "HeapInuse"}
        and dump.steps.get("Sys", 1) <= MIB
    ]
    return len(sums) >= MIN_SUMS and all(sums)


def _with_heap_sys(values: dict[str, int | float]) -> dict[str, int | float]:
    if "HeapSys" in values:
        return values
    return {("HeapSys" if name == "Sys" else name): size for name, size in values.items()}


def _fields(text: bytes) -> Iterator[Field]:
    """Yield the fields with a number, in the text's order."""
    ended, have_units, stop = 0, False, len(text.rstrip())
    for size in _matched(text):
        is_bare = not size.has_unit and size.name in SIZES and size.value < LEAST_SYS_BYTES
        if have_units and is_bare and size.end == stop:
            continue  # cut before its unit
        have_units |= size.step > 1
        between = text[ended : size.start]
        lines, words = b"\n" in between, _OTHER_WORDS.search(between) is not None
        yield replace(size, apart=2 * lines + words)
        ended = size.end


def _matched(text: bytes) -> Iterator[Field]:
    """Yield the fields with a number; both fields of a pair have the same position."""
    for match in _FIELD.finditer(text):
        name = FIELDS[squeezed(match["name"].decode())]
        is_common = name in ANYBODYS and match["name"].islower() and not match["sign"].strip()
        if is_common and not _is_alone(text, match):
            continue  # `sys 0.3`, which many programs print
        if name in COUNTS and _DURATION.match(text, match.end()):
            continue  # `PauseTotalNs: 106 ms`
        if match.end() == len(text) and _may_be_cut(text, match.start()):
            continue
        number = re.sub(rb"[,_']", b"", match["number"])
        if name in PAIRS:
            if match["second"] and number.isdigit():  # bytes are whole
                for part, size in (("Inuse", number), ("Sys", match["second"])):
                    yield Field(f"{name}{part}", int(size), 1, True, match.start(), match.end())
            continue
        unit = next(filter(None, match.group("unit", "apart", "before", "named")), b"").decode()
        read = _number(name, number.decode(), unit.strip("_"))
        if read is not None:
            is_signed = bool(match["sign"].strip())
            yield Field(name, *read, bool(unit), match.start(), match.end(), is_signed)


def _is_alone(text: bytes, match: re.Match[bytes]) -> bool:
    """Whether a name and a size fill a line: `go.memstats.sys 71303168`, as in a column."""
    line = lines_of(text, *match.span())
    return _COLUMN.fullmatch(line) is not None and len(match["number"]) >= len(str(LEAST_SYS_BYTES))


def _may_be_cut(text: bytes, start: int) -> bool:
    """Whether a number at the end of a file may be cut, in output of a program, not in prose."""
    before = text[text.rfind(b"\n", 0, start) + 1 : start].lstrip()
    return before.startswith((b"#", b'"', b"{"))


def _number(name: str, number: str, unit: str) -> tuple[int | float, int] | None:
    """Return a value in its base unit, and its resolution in bytes; None if it is impossible."""
    factor = UNITS["" if unit.lower() == "bytes" else unit[:1].upper()]
    if name == "GCCPUFraction":
        value = float(number)
        return (value, 1) if value <= 1 and not unit else None
    if name in COUNTS:
        value = whole_number(number) if number.isdigit() else float(number)
        is_time = name != "LastGC" or value == 0 or value >= FIRST_LAST_GC
        return (int(value), 1) if value < 2**63 and is_time and not unit else None
    if "." in number and not unit and "e" not in number.lower():
        return None  # the unit is missing
    value = float(number) * factor if factor > 1 or not number.isdigit() else whole_number(number)
    if value >= 2**64:
        return None
    decimals = len(number.partition(".")[2])
    return round(value), max(1, round(factor / 10**decimals)) if "e" not in number.lower() else 1


def _goroutines_beside(text: bytes, start: int, end: int, *, is_above: bool) -> int | None:
    """Return the number in the lines of a dump, or next to them if each field has a line."""
    count = _only(GOROUTINES, lines_of(text, start, end))
    if count is None and b"\n" not in text[start:end]:
        count = _only(_GOROUTINES_BARE, lines_of(text, start, end))
    if count is not None or b"\n" not in text[start:end]:
        return count
    stop = text.find(b"\n", end)
    behind = start if stop < 0 else stop + 1
    if is_above:
        return _count_above(text, start)
    return _only(GOROUTINES, lines_of(text, start, behind))


def _count_above(text: bytes, start: int) -> int | None:
    """Return the number of goroutines in the line above; None without it."""
    above = text.rfind(b"\n", 0, start)
    return None if above < 0 else _only(GOROUTINES, lines_of(text, above, above))


def _only(pattern: re.Pattern[bytes], lines: bytes) -> int | None:
    """Return the number that a pattern matches; None if there is none, or several."""
    found = pattern.findall(lines)
    return int(found[0]) if len(found) == 1 else None


def _rss_beside(lines: bytes, fields: Sequence[Field]) -> tuple[int, int] | None:
    """Return RSS in the lines of a dump, with its resolution; None if there is none, or several."""
    found = list(_RSS.finditer(lines))
    if len(found) != 1:
        return None
    number = re.sub(rb"[,_']", b"", found[0]["number"]).decode()
    unit = next(filter(None, found[0].group("unit", "apart", "before", "named")), b"").decode()
    read = _number("Sys", number, unit.strip("_"))
    of_go = max((size.value for size in fields if size.name in SIZES[1:]), default=0)
    is_in_bytes = read is not None and LEAST_RSS_SHARE * read[0] >= of_go
    return (int(read[0]), read[1]) if read is not None and (unit or is_in_bytes) else None


def _line_of_rss(text: bytes, start: int, end: int) -> bytes:
    """Return the lines of a dump's paragraph that has RSS and nothing else; else nothing."""
    begin, stop = text.rfind(b"\n\n", 0, start), text.find(b"\n\n", end)
    paragraph = (text[max(begin, 0) : start], text[end : len(text) if stop < 0 else stop])
    if any(map(_FIELD.search, paragraph)):
        return b""  # of another dump
    above, below = (part.split(b"\n") for part in paragraph)
    apart = (above[:-1][::-1], below[1:])  # from the dump on, as far as it is one list
    sides = ((line.strip(b" \t\r-*`") for line in lines) for lines in apart)
    found = (line for side in sides for line in takewhile(_is_of_list, side))
    return b"\n".join(line for line in found if _RSS.fullmatch(line))


def _is_of_list(line: bytes) -> bool:
    return bool(_RSS.fullmatch(line) or _LIST_ROW.fullmatch(line))


def _is_in_no_unit(fields: Iterable[Field]) -> bool:
    """Whether sizes have an unknown unit."""
    sizes = [size for size in fields if size.name in SIZES]
    whole = max((size.value for size in sizes), default=0)
    return bool(sizes) and whole < LEAST_SYS_BYTES and not any(size.has_unit for size in sizes)


def _with_alloc(dump: WordsDump) -> WordsDump:
    """Add the missing one of HeapAlloc and Alloc, which Go defines as equal."""
    for name, other in (("HeapAlloc", "Alloc"), ("Alloc", "HeapAlloc")):
        if other in dump.values and name not in dump.values:
            dump.values[name] = dump.values[other]
            dump.steps |= {name: dump.steps[other]} if other in dump.steps else {}
    return dump
