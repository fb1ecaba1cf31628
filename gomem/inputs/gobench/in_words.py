"""Results of benchmarks that somebody set in a list of their own, which gomem names.

Form          Before the change:
              - Parse: 306,275 ns/op, 54,724 B/op, 93 allocs/op
              After the change:
              - Parse: 296,105 ns/op, 4,232 B/op, 27 allocs/op
"""

from __future__ import annotations

import re

from gomem.text import Count, Quoted, Text, joined, text

SHOWN = 4  # changes
MEMORY = ("B/op", "allocs/op")  # units, the first with most to say of memory
_RESULT = re.compile(
    r"\s*(?:[-*+] +)?[`*]*([^\s:`*][^:\n`*]{0,60}?)[`*]*:\s+[`*]*(\d[^\n]*/op\b.*)"
)
_VALUE = re.compile(r"(\d[\d,]{0,20}(?:\.\d+)?) ?([A-Za-z]{1,6}/op)\b")
_SIDE = re.compile(r"\W*(before|after|old|new)\b[^\n\d/]{0,40}", re.IGNORECASE)
_FIRST = frozenset({"before", "old"})


def bench_words(data: bytes) -> Text | None:
    """What such a list says, with what changed where it has two sides; None where there is none."""
    sides: dict[bool, dict[tuple[str, str], float]] = {True: {}, False: {}}
    is_first, count = True, 0
    for line in data.decode("utf-8", "replace").split("\n"):
        if (row := _RESULT.fullmatch(line)) is not None:
            count += 1
            for number, unit in _VALUE.findall(row[2]):
                sides[is_first][row[1], unit] = float(number.replace(",", ""))
        elif (side := _SIDE.fullmatch(line)) is not None:
            is_first = side[1].lower() in _FIRST
    if not count:
        return None
    old, new = sides[True], sides[False]
    both = [key for key in old if key in new and key[1] in MEMORY]
    both.sort(key=lambda key: MEMORY.index(key[1]))
    said = joined(", ", (_change(*key, old[key], new[key]) for key in both[:SHOWN]))
    words = "it lists {} of benchmarks in words of its own{}"
    return text(words, Count(count, "result"), text(", which say: {}", said) if both else "")


def _change(name: str, unit: str, old: float, new: float) -> Text:
    """Both values of a benchmark, and by how much they differ."""
    change = f" ({100 * (new / old - 1):+.0f} %)" if old else ""
    return text("{} {} to {} {}{}", Quoted(name), f"{old:,.15g}", f"{new:,.15g}", unit, change)
