"""runtime/metrics as flat JSON: `{"/memory/classes/heap/free:bytes": 1064960, …}`, or as lines.

Printed by    programs; the package has no dump format of its own. A line is a name, and a number
              after a blank, `=` or `:`; a histogram's is another text, and is not read. A name that
              occurs again begins another reading.
Described in  the package's description.go, which lists each name with its unit.
Quirks        /gc/gomemlimit is 2^63-1 when unset, /gc/gogc 2^64-1 when off: no limit, not a size.
              Histograms come as `{"counts": […], "buckets": […]}`. Their outer bounds are infinite,
              which JSON cannot write, so they are the strings "-Inf" and "+Inf".
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from gomem.errors import Damage, FormatError, excerpt
from gomem.inputs.json_text import describe_json, first_value, json_values
from gomem.text import Quoted, text

_LINE = re.compile(
    rb"\s*\"?(?P<name>/[A-Za-z0-9/.-]{1,200}:[A-Za-z0-9*/-]{1,100})\"?(?:[ \t]*[=:,][ \t]*|[ \t]+)"
    rb"(?P<value>[-+]?\d{1,30}(?:\.\d{0,30})?(?:[eE][-+]?\d{1,3})?)?(?P<rest>[^\n]*)"
)
MIN_NAMES = 3  # lines
OTHERS = 10  # lines of metrics for each other line
NAME = re.compile(r"/[a-z0-9/.-]+:[a-z0-9*/-]+", re.IGNORECASE)
HEAD_BYTES = 1 << 16  # of a cut text, searched for names
WANTED = ("/memory/classes/total:bytes",)
CPU_CLASSES = "/cpu/classes/"
MOST = 2.0**65  # an upper bound of all numbers: 64 bits set to 1 mean no limit
NO_LIMIT = {"/gc/gomemlimit:bytes": 2**63 - 1, "/gc/gogc:percent": 2**64 - 1}


@dataclass(frozen=True, slots=True)
class Metrics:
    """One reading: scalars by name (infinite if there is no limit), and histograms by name."""

    scalars: dict[str, float] = field(default_factory=dict)
    # The bounds (one more than counts), and the counts.
    histograms: dict[str, tuple[list[float], list[int]]] = field(default_factory=dict)


def is_metrics(value: object) -> bool:
    """Whether a decoded JSON value is a reading: an object whose keys are mostly metric names."""
    if not isinstance(value, dict) or not value:
        return False
    named = sum(isinstance(key, str) and NAME.fullmatch(key) is not None for key in value)
    return named * 2 > len(value)


def looks_like_readings(data: bytes) -> bool:
    """Whether the first JSON value is a reading; in a cut text, whether it has metric names."""
    known, value = first_value(data)
    return is_metrics(value) if known else b'"/memory/classes/' in data[:HEAD_BYTES]


def looks_like_lines(data: bytes) -> bool:
    """Whether nearly all of the first lines are a metric's name and its value."""
    lines = data[:HEAD_BYTES].split(b"\n")
    filled = [line for line in lines if line.strip() and not line.lstrip().startswith(b"#")]
    if not filled or b":" not in filled[0]:
        return False
    named = sum(_LINE.fullmatch(line) is not None for line in filled)
    return named >= MIN_NAMES and (len(filled) - named) * OTHERS <= named


def parse_lines(data: bytes, *, source: str) -> tuple[list[Metrics], list[Damage]]:
    """Parse lines of a name and a number; FormatError if there are none."""
    readings: list[Metrics] = []
    found = Metrics()
    for line in data.split(b"\n"):
        metric = _LINE.fullmatch(line)
        if metric is None or metric["value"] is None or metric["rest"].strip():
            continue
        name, value = metric["name"].decode(), float(metric["value"])
        if name in found.scalars:
            readings.append(found)
            found = Metrics()
        least = -MOST if name.startswith(CPU_CLASSES) else 0
        if least <= value < MOST:
            is_unset = value == float(NO_LIMIT.get(name, -1))
            found.scalars[name] = math.inf if is_unset else value
    readings += [found] * bool(found.scalars)
    if not readings:
        raise FormatError(source, "", "no line is a name of runtime/metrics and a number")
    return readings, []


def parse_metrics(data: bytes, *, source: str) -> tuple[list[Metrics], list[Damage]]:
    """Parse every reading in a JSON text: one object, or one per line; FormatError if none."""
    values, damage = json_values(data, source)
    readings = [
        _reading(value, source, place, damage) for place, value in values if is_metrics(value)
    ]
    if not readings:
        for fault in damage:
            raise FormatError(source, fault.where, fault.what, fault.text)
        what = "JSON without runtime/metrics: " + describe_json(values, WANTED)
        raise FormatError(source, "", what)
    return readings, damage


def _reading(value: dict[str, Any], source: str, place: str, damage: list[Damage]) -> Metrics:
    reading = Metrics()
    for name, item in value.items():
        if NAME.fullmatch(name) is None:
            continue
        # CPU by class is estimated, and the program's own is what the other classes leave over.
        least = -MOST if name.startswith(CPU_CLASSES) else 0
        if type(item) in (int, float) and least <= item < MOST:
            reading.scalars[name] = math.inf if item == NO_LIMIT.get(name) else float(item)
        elif (histogram := _histogram(item)) is not None:
            reading.histograms[name] = histogram
        elif item is not None:
            what = text("{} is no number or histogram that can be", Quoted(name))
            damage.append(Damage(source, place, what, excerpt(repr(item)[:200])))
    return reading


def _histogram(item: object) -> tuple[list[float], list[int]] | None:
    if not isinstance(item, dict):
        return None
    lowered = {str(key).lower(): value for key, value in item.items()}
    counts, buckets = lowered.get("counts"), lowered.get("buckets")
    if not isinstance(counts, list) or not isinstance(buckets, list):
        return None
    are_counts = all(type(value) is int and 0 <= value < 2**63 for value in counts)
    if len(buckets) != len(counts) + 1 or not are_counts:
        return None
    try:
        bounds = [float(bound) for bound in buckets]
    except (TypeError, ValueError):
        return None
    return (bounds, counts) if all(low < high for low, high in pairwise(bounds)) else None
