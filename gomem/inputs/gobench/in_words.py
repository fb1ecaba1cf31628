"""Benchmark results in a list or table formatted by hand; gomem only reports them.

Lists         Before the change:
              - Parse: 306,275 ns/op, 54,724 B/op, 93 allocs/op
              After the change:
              - Parse: 296,105 ns/op, 4,232 B/op, 27 allocs/op
Tables        | Parse | 1402 ns, 62 allocs | 659 ns, 9 allocs |
No counts     BenchmarkParse-8    850 ns/op   160 B/op   2 allocs/op
No names      1000   850 ns/op   160 B/op   2 allocs/op     twice: before and after a change
Arrows        Parse-10   374.0 B/op  ->  326.0 B/op   -12.83% (p=0.000 n=20)
"""

from __future__ import annotations

import re

from gomem.text import Count, Quoted, Text, joined, text

TWO_SIDES = 2
SHOWN = 4  # changes shown
MEMORY = ("B/op", "allocs/op")  # units, the most informative on memory first
_RESULT = re.compile(
    r"\s*(?:[-*+] +)?[`*]*([^\s:`*|][^:\n`*|]{0,60}?)[`*]*:\s+[`*]*([0-9][^\n]*/op\b.*)"
)
_CELLS = re.compile(
    r"\s*\|\s*[`*]*([^\s|`*][^|\n`*]{0,60}?)[`*]*\s*\|([^|\n]{1,80}\ballocs[^|\n]{0,20})"
    r"\|([^|\n]{1,80}\ballocs[^|\n]{0,20})\|.*"
)
_ARROW = re.compile(r"\s*(\S{1,80})\s+([0-9][^>\n]{1,60}?)\s*(?:->|→|=>)\s*([0-9][^\n]{1,100})")
_NO_COUNT = re.compile(r"\s*Benchmark(\S{1,120})\s+([0-9][0-9.,]* ns/op\b.*)")
_NO_NAME = re.compile(r"\s*(?:[0-9]{1,12}[ \t]+)?([0-9][0-9.,]* ns/op\b[^|\n]*)")
_VALUE = re.compile(r"([0-9][0-9,]{0,20}(?:\.[0-9]+)?) ?(?:([A-Za-z]{1,6}/op)|(B|allocs))\b")
_SIDE = re.compile(r"\W*(before|after|old|new)\b[^\n0-9/]{0,40}", re.IGNORECASE)
_FIRST = frozenset({"before", "old"})
Sides = dict[bool, dict[tuple[str, str], float]]  # keyed by whether it is the first side


def bench_words(data: bytes) -> Text | None:
    """Summarise such results, with the changes if there are two sides; None without results."""
    sides: Sides = {True: {}, False: {}}
    is_first, count = True, 0
    for line in data.decode("utf-8", "replace").split("\n"):
        if (row := _RESULT.fullmatch(line) or _NO_COUNT.fullmatch(line)) is not None:
            count += _take(sides[is_first], row[1], row[2])
        elif (row := _CELLS.fullmatch(line) or _ARROW.fullmatch(line)) is not None:
            count += _take(sides[True], row[1], row[2]) and _take(sides[False], row[1], row[3])
        elif (side := _SIDE.fullmatch(line)) is not None:
            is_first = side[1].lower() in _FIRST
    if not count:
        return _without_names(data)
    old, new = sides[True], sides[False]
    both = [key for key in old if key in new and key[1] in MEMORY]
    both.sort(key=lambda key: MEMORY.index(key[1]))
    each = [_change(*key, old[key], new[key]) for key in both[:SHOWN]]
    alone = (old or new).items() if not (old and new) else ()
    each = each or [_alone(*key, value) for key, value in alone if key[1] == MEMORY[0]][:SHOWN]
    said = joined(", ", each)
    words = "it lists {} of benchmarks in words of its own{}"
    return text(words, Count(count, "result"), text(", which say: {}", said) if each else "")


def _without_names(data: bytes) -> Text | None:
    """Summarise results without names; of two, the second is compared with the first."""
    lines = data.decode("utf-8", "replace").split("\n")
    rows = [row[1] for row in map(_NO_NAME.fullmatch, lines) if row is not None]
    if not rows:
        return None
    said = Text()
    if len(rows) == TWO_SIDES:
        sides: Sides = {True: {}, False: {}}
        for is_first, row in zip((True, False), rows, strict=True):
            _take(sides[is_first], "", row)
        old, new = sides[True], sides[False]
        changes = (
            f"{key[1]} {100 * (new[key] / old[key] - 1):+.1f} %"
            for key in old
            if key in new and old[key]
        )
        said = text("; from the first to the second: {}", ", ".join(changes))
    words = "it lists {} of benchmarks without their names{}"
    return text(words, Count(len(rows), "result"), said)


def _take(side: dict[tuple[str, str], float], name: str, said: str) -> bool:
    """Add the values found in a text; return whether there are any."""
    found = _VALUE.findall(said)
    for number, unit, alone in found:
        side[name, unit or f"{alone}/op"] = float(number.replace(",", ""))
    return bool(found)


def _alone(name: str, unit: str, value: float) -> Text:
    return text("{} {} {}", Quoted(name), f"{value:,.15g}", unit)


def _change(name: str, unit: str, old: float, new: float) -> Text:
    """Return both values of a benchmark and their difference."""
    change = f" ({100 * (new / old - 1):+.0f} %)" if old else ""
    return text("{} {} to {} {}{}", Quoted(name), f"{old:,.15g}", f"{new:,.15g}", unit, change)
