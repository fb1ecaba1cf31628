"""Labels of samples: which samples have a label, and the sum over the samples of each label.

A numeric label has one unit per key, as in `go tool pprof`: the first that the profile gives, else
`bytes` for `alignment` and `request`, else the key itself. A label with value 0 and no unit carries
no information and does not count.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from gomem.inputs.pprof.calls.filters import matches

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gomem.inputs.pprof.columns import PprofColumns

_RANGE = re.compile(r"([+-]?[0-9]+)([A-Za-z]+)?")
_PREFIXES = (("k", "kilo"), ("m", "mega"), ("g", "giga"), ("t", "tera"), ("p", "peta"))
_SIZES = (("b", "byte"), *((f"{k}b", f"{k}byte", f"{kilo}byte") for k, kilo in _PREFIXES))
_TIMES = {
    1.0: ("ns", "nanosecond"),
    1e3: ("us", "μs", "microsecond"),
    1e6: ("ms", "millisecond"),
    1e9: ("s", "sec", "second"),
    3600e9: ("hr", "hour"),
}
_UNITS = {
    **{name: ("size", 1024.0**power) for power, names in enumerate(_SIZES) for name in names},
    **{name: ("time", factor) for factor, names in _TIMES.items() for name in names},
}


def samples_with(columns: PprofColumns, expression: str) -> NDArray[np.bool_]:
    """Return which samples have a label that matches an expression, like pprof's `tagfocus`.

    The expression is `key=value`, or a value of any key. A number or a range, with or without units
    (`32kb`, `32kb:64kb`, `:1mb`, `1mb:`), matches numeric labels. Anything else is one or more
    patterns separated by commas, and matches text labels. With a key, any of the patterns must
    match a text of that key; without a key, each must match some `key:text` of the sample. Raises
    ValueError if RE2 rejects a pattern.
    """
    key, equals, value = expression.partition("=")
    if not equals:
        key, value = "", expression
    wanted = _range(value)
    if wanted is not None:
        return _with_number(columns, key, *wanted)
    found = [_with_text(columns, key, pattern) for pattern in value.split(",")]
    return np.logical_or.reduce(found) if key else np.logical_and.reduce(found)


def tags_of(columns: PprofColumns, values: NDArray[np.int64], total: int) -> list[tuple[Any, ...]]:
    """Sum the samples of each value of each label; returns rows of `frames.TAGS`."""
    # In pprof's order: keys by name; then the largest first; texts before numbers of the same size.
    labels, units, strings = columns.labels, units_of(columns), columns.strings
    rows = np.flatnonzero(_says_something(columns))
    same = _first_of_equal(strings)
    text = same[labels.text[rows]]
    number = np.where(text >= 0, 0, labels.number[rows])
    distinct, inverse = np.unique(
        np.stack([same[labels.key[rows]], text, number]), axis=1, return_inverse=True
    )
    sums = np.zeros(distinct.shape[1], np.int64)
    np.add.at(sums, inverse.reshape(-1), values[labels.sample[rows]])
    tags = [
        (strings[key], strings[text] if text >= 0 else None, number, value)
        for (key, text, number), value in zip(distinct.T.tolist(), sums.tolist(), strict=True)
    ]
    tags.sort(key=lambda tag: (tag[0], -abs(tag[3]), tag[1] is None, tag[1] or "", tag[2]))
    whole = total or math.nan
    return [
        (key, text, *((number, units[key]) if text is None else (None, None)), value, value / whole)
        for key, text, number, value in tags
    ]


def units_of(columns: PprofColumns) -> dict[str, str]:
    """Return the unit of each numeric label, by key."""
    labels, strings = columns.labels, columns.strings
    units: dict[str, str] = {}
    rows = np.flatnonzero(_says_something(columns) & (labels.text == 0))
    pairs = np.unique(np.stack([labels.key[rows], labels.unit[rows]]), axis=1, return_index=True)
    order = np.argsort(pairs[1])
    for key, unit in pairs[0].T[order].tolist():
        if unit:
            units.setdefault(strings[key], strings[unit])
    for key in sorted({strings[key] for key in pairs[0][0].tolist()} - units.keys()):
        units[key] = "bytes" if key in ("alignment", "request") else key
    return units


def _says_something(columns: PprofColumns) -> NDArray[np.bool_]:
    labels = columns.labels
    return (labels.text != 0) | (labels.number != 0) | (labels.unit != 0)


def _first_of_equal(strings: list[str]) -> NDArray[Any]:
    """Return the first equal string of each string; -1 for string 0, which means none."""
    first: dict[str, int] = {}
    same = [first.setdefault(text, index) for index, text in enumerate(strings[1:], 1)]
    return np.array([-1, *same], np.int64)


def _with_text(columns: PprofColumns, key: str, pattern: str) -> NDArray[np.bool_]:
    labels, strings = columns.labels, columns.strings
    rows = np.flatnonzero(labels.text != 0)
    pairs, inverse = np.unique(
        np.stack([labels.key[rows], labels.text[rows]]), axis=1, return_inverse=True
    )
    named = [(strings[name], strings[text]) for name, text in pairs.T.tolist()]
    shown = [text if key else f"{name}:{text}" for name, text in named]
    found = matches(shown, pattern) & np.array([key in ("", name) for name, _ in named], np.bool_)
    samples = np.zeros(len(columns.value), np.bool_)
    samples[labels.sample[rows[found[inverse.reshape(-1)]]]] = True
    return samples


def _with_number(
    columns: PprofColumns, key: str, low: float, high: float, unit: str
) -> NDArray[np.bool_]:
    labels, strings, units = columns.labels, columns.strings, units_of(columns)
    rows = np.flatnonzero((labels.text == 0) & _says_something(columns))
    samples = np.zeros(len(columns.value), np.bool_)
    for index in np.unique(labels.key[rows]).tolist():
        name = strings[index]
        factor = _factor(units[name], unit)
        if key in ("", name) and factor is not None:
            of_key = rows[labels.key[rows] == index]
            number = labels.number[of_key] * factor
            samples[labels.sample[of_key[(number >= low) & (number <= high)]]] = True
    return samples


def _range(text: str) -> tuple[float, float, str] | None:
    """Parse a number or a range of numbers: bounds and their unit; None if it is neither."""
    ends = list(_RANGE.finditer(text))[:2]
    if not ends:
        return None
    number, unit = int(ends[0][1]), ends[0][2] or ""
    if len(ends) == 1:
        bounds = {
            ends[0][0]: (number, number),
            f"{ends[0][0]}:": (number, np.inf),
            f":{ends[0][0]}": (-np.inf, number),
        }.get(text)
        return None if bounds is None else (*bounds, unit)
    factor = _factor(ends[1][2] or "", unit)
    if text != f"{ends[0][0]}:{ends[1][0]}" or factor is None:
        return None
    return number, int(ends[1][1]) * factor, unit


def _factor(unit: str, other: str) -> float | None:
    """Return the factor between two units; None if they measure different things."""
    # A unit of neither size nor time matches any other unit, as in pprof.
    known, wanted = _UNITS.get(_plain(unit)), _UNITS.get(_plain(other))
    if known is None:
        return 1.0
    return known[1] / wanted[1] if wanted is not None and known[0] == wanted[0] else None


def _plain(unit: str) -> str:
    lower = unit.lower()
    return lower.removesuffix("s") if len(lower) > 2 else lower
