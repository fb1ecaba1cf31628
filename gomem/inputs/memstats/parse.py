"""runtime.MemStats as JSON (one object or several, an array, expvar's /debug/vars) or from fmt.

`in_words` reads MemStats that programs print in their own words.

Printed by    json.Marshal of the struct, and expvar's handler.
Described in  the runtime's mstats.go; the set of fields has not changed since Go 1.8.
Quirks        NextGC is 2^64-1 or close to it with GOGC=off: this means no goal.
              Before 1.8 there is no NumForcedGC; Lookups is 0 since 1.11.
              PauseNs and PauseEnd are rings of 256: the newest is at (NumGC+255)%256.
              GCCPUFraction can be the integer 0.
              BySize has 61 classes; larger objects are in none of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from gomem.errors import Damage, FormatError, excerpt
from gomem.inputs.json_text import describe_json, first_value, json_values
from gomem.inputs.memstats.in_words import parse_in_words
from gomem.inputs.memstats.printed import looks_like_printed, printed_values
from gomem.inputs.memstats.telemetry import fields_of_gauges

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

COUNTERS = (
    "Alloc", "TotalAlloc", "Sys", "Lookups", "Mallocs", "Frees",
    "HeapAlloc", "HeapSys", "HeapIdle", "HeapInuse", "HeapReleased", "HeapObjects",
    "StackInuse", "StackSys", "MSpanInuse", "MSpanSys", "MCacheInuse", "MCacheSys",
    "BuckHashSys", "GCSys", "OtherSys", "NextGC", "LastGC", "PauseTotalNs",
    "NumGC", "NumForcedGC",
)  # fmt: skip
REQUIRED = frozenset({"HeapAlloc", "HeapSys", "Sys"})
NO_GOAL_FROM = 2**60  # no machine has an exbibyte, so this means no goal
CLASS = ("Size", "Mallocs", "Frees")  # fields of BySize
RING = 256
# Invariants of every release since Go 1.5: the world is stopped while the runtime counts.
IDENTITIES = {
    "Sys": "HeapSys + StackSys + MSpanSys + MCacheSys + BuckHashSys + GCSys + OtherSys",
    "HeapSys": "HeapInuse + HeapIdle",
    "HeapObjects": "Mallocs - Frees",
    "HeapAlloc": "Alloc",
}
HEAD_BYTES = 1 << 16  # of a cut text, searched for field names


@dataclass(frozen=True, slots=True)
class MemStatsDumps:
    """Dumps in the file's order, one array per field, all of the same length."""

    # Bytes, counts or nanoseconds by Go's names; masked if a dump lacks one.
    counters: dict[str, np.ma.MaskedArray]
    gc_cpu_fraction: np.ndarray  # GCCPUFraction; NaN if a dump lacks it
    place: list[str]  # start of each dump: `line 3`, or empty if there is only one
    # A row per pause in the ring: dump, GC number, end and length in ns.
    pauses: np.ndarray = field(default_factory=lambda: np.empty((0, 4), np.int64))
    # A row per entry of BySize: dump, Size, Mallocs, Frees.
    size_classes: np.ndarray = field(default_factory=lambda: np.empty((0, 4), np.int64))
    # For dumps in words: the time before each, and the resolution in bytes of rounded fields.
    times: list[datetime | None] = field(default_factory=list)
    times_of_day: list[str] = field(default_factory=list)  # of those without a time; else empty
    steps: dict[str, int] = field(default_factory=dict)
    # For dumps in words: RSS in bytes and its resolution, if the same lines have it.
    rss: list[tuple[int, int] | None] = field(default_factory=list)
    # the number of goroutines, if the same lines have it
    goroutines: list[int | None] = field(default_factory=list)
    # For dumps in words: whether each is from another process than the previous one.
    begins: list[bool] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.place)


def is_memstats(value: object) -> bool:
    """Whether a decoded JSON value is a dump."""
    return isinstance(value, dict) and value.keys() >= REQUIRED


def find_memstats(value: object) -> dict[str, Any] | None:
    """Return the dump that a JSON value is or contains: under a key, as in expvar, or as gauges."""
    if not isinstance(value, dict):
        return None
    if is_memstats(value):
        return value
    inner = next((inner for inner in value.values() if is_memstats(inner)), None)
    return inner or fields_of_gauges(value) or None


def looks_like_memstats(data: bytes, _: str = "") -> bool:
    """Whether the text begins with a dump, or with JSON that contains one; it can be cut."""
    known, value = first_value(data)
    if looks_like_printed(data[:HEAD_BYTES]):
        return True
    if not known:
        return any(name in data[:HEAD_BYTES] for name in (b'"HeapAlloc"', b'"TotalAlloc"'))
    return find_memstats(value) is not None


def parse_memstats(data: bytes, *, source: str) -> tuple[MemStatsDumps, list[Damage]]:
    """Parse every MemStats dump, and the damage.

    The text is JSON (one object, several in a row, or an array), or was printed with %+v or %#v.
    Raises FormatError, with the keys found, if there is no dump.
    """
    read = printed_values if looks_like_printed(data[:HEAD_BYTES]) else json_values
    values, damage = read(data, source)
    dumps: list[dict[str, Any]] = []
    places: list[str] = []
    others: list[tuple[str, object]] = []
    for place, value in values:
        for item in value if isinstance(value, list) else [value]:
            if (dump := find_memstats(item)) is None:
                others.append((place, item))
            else:
                dumps.append(dump)
                places.append(place if len(values) > 1 else "")
    if not dumps:
        for first in damage:
            raise FormatError(source, first.where, first.what, first.text)
        raise FormatError(source, "", "JSON without MemStats: " + describe_json(others, REQUIRED))
    damage += [
        Damage(source, place, "not a MemStats dump: " + describe_json([(place, item)], REQUIRED))
        for place, item in others
    ]
    return _columns(dumps, places, source, damage), damage


def parse_memstats_in_words(data: bytes, *, source: str) -> tuple[MemStatsDumps, list[Damage]]:
    """Parse every dump that a program printed in its own words, and the damage.

    Fields that it does not print are unknown. Raises FormatError if there is no dump.
    """
    found, damage = parse_in_words(data, source=source)
    steps: dict[str, int] = {}
    for dump in found:
        steps |= {name: max(step, steps.get(name, 1)) for name, step in dump.steps.items()}
    dumps = [dict(dump.values) for dump in found]
    columns = _columns(dumps, [dump.place for dump in found], source, damage, steps)
    told = replace(
        columns,
        times=[dump.time for dump in found],
        times_of_day=[dump.time_of_day for dump in found],
        steps=steps,
        rss=[dump.rss for dump in found],
        goroutines=[dump.goroutines for dump in found],
        begins=[dump.begins for dump in found],
    )
    return told, damage


def _columns(
    dumps: list[dict[str, Any]],
    places: list[str],
    source: str,
    damage: list[Damage],
    steps: Mapping[str, int] = MappingProxyType({}),
) -> MemStatsDumps:
    counters = {}
    for name in COUNTERS:
        placed = zip(dumps, places, strict=True)
        counters[name] = masked([_counter(dump, name, source, at, damage) for dump, at in placed])
    damage += _breaches(counters, places, source, steps)
    for dump, place in zip(dumps, places, strict=True):
        damage += (Damage(source, place, what) for what in _broken_lists(dump))
    said = [dump.get("GCCPUFraction") for dump in dumps]
    fractions = [value if type(value) in (int, float) else np.nan for value in said]
    pauses = [row for number, dump in enumerate(dumps) for row in _pauses(number, dump)]
    classes = [row for number, dump in enumerate(dumps) for row in _size_classes(number, dump)]
    ring, sizes = (np.array(rows, np.int64).reshape(-1, 4) for rows in (pauses, classes))
    return MemStatsDumps(counters, np.array(fractions, np.float64), places, ring, sizes)


def masked(values: Sequence[int | None]) -> np.ma.MaskedArray:
    """Return numbers as an array, masked where they are None."""
    known = np.array([value or 0 for value in values], np.int64)
    return np.ma.MaskedArray(known, mask=[value is None for value in values])


def _breaches(
    counters: dict[str, np.ma.MaskedArray],
    places: list[str],
    source: str,
    steps: Mapping[str, int],
) -> list[Damage]:
    """Return damage for dumps with contradictory fields, which the runtime never prints."""
    found = []
    for whole, terms in IDENTITIES.items():
        parts = terms.replace("- ", "-").replace("+ ", "").split()
        rounded = sum(steps.get(part.lstrip("-"), 0) for part in (whole, *parts))
        total: Any = sum(
            -counters[part[1:]] if part[0] == "-" else counters[part] for part in parts
        )
        for row, place in enumerate(places):
            size, added = counters[whole][row], total[row]
            is_known = size is not np.ma.masked and added is not np.ma.masked
            if is_known and abs(size - added) > rounded:
                what = f"{whole} is {size}, and {terms} is {added}"
                found.append(Damage(source, place, f"{what}: a number of this dump is wrong"))
    return found


def _counter(
    dump: dict[str, Any], name: str, source: str, place: str, damage: list[Damage]
) -> int | None:
    value = dump.get(name)
    if value is None:
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if type(value) is not int or value < 0:
        damage.append(Damage(source, place, f"{name} is not a count", excerpt(repr(value))))
        return None
    if value >= NO_GOAL_FROM and name != "LastGC":
        if name != "NextGC":
            damage.append(Damage(source, place, f"{name} is larger than any machine", str(value)))
        return None
    return value if value < 2**63 else None


def _broken_lists(dump: dict[str, Any]) -> Iterator[str]:
    """Yield other values that are not numbers; they are dropped, and the counters are read."""
    if isinstance(dump.get("GCCPUFraction"), (str, list, dict)):
        yield "GCCPUFraction is not a fraction"
    for name in ("PauseNs", "PauseEnd"):
        ring = dump.get(name)
        if ring is not None and not (isinstance(ring, list) and all(map(_is_time, ring))):
            yield f"{name} is not a list of numbers: the pauses are unknown"
    classes = dump.get("BySize")
    if classes is not None and not (isinstance(classes, list) and all(map(_is_class, classes))):
        yield "BySize has an entry without its numbers, which is left out"


def _pauses(dump_number: int, dump: dict[str, Any]) -> list[tuple[int, int, int, int]]:
    """Return the ring's pauses, oldest first, without unused slots."""
    lengths, ends, number = dump.get("PauseNs"), dump.get("PauseEnd"), dump.get("NumGC")
    if not _is_ring(lengths) or not _is_ring(ends) or not _is_counter(number):
        return []
    assert isinstance(lengths, list)
    assert isinstance(ends, list)
    collections = range(max(1, number - RING + 1), number + 1)
    places = ((gc, (gc + RING - 1) % RING) for gc in collections)
    return [(dump_number, gc, ends[place], lengths[place]) for gc, place in places]


def _size_classes(dump_number: int, dump: dict[str, Any]) -> list[tuple[int, int, int, int]]:
    classes = dump.get("BySize")
    rows = []
    for entry in classes if isinstance(classes, list) else []:
        if _is_class(entry):
            size, mallocs, frees = (entry[name] for name in CLASS)
            rows.append((dump_number, size, mallocs, frees))
    return rows


def _is_class(entry: Any) -> bool:
    return isinstance(entry, dict) and all(_is_counter(entry.get(name)) for name in CLASS)


def _is_counter(value: Any) -> TypeGuard[int]:
    return type(value) is int and 0 <= value < NO_GOAL_FROM


def _is_ring(value: object) -> bool:
    if not isinstance(value, list) or len(value) != RING:
        return False
    return all(map(_is_time, value))


def _is_time(value: object) -> bool:
    return type(value) is int and 0 <= value < 2**63
