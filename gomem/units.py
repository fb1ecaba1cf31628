"""Base units to text that people read. Only views and messages use it; frames hold base units."""

from __future__ import annotations

import math

KIB = 1 << 10
MIB = 1 << 20
GIB = 1 << 30
TIB = 1 << 40
ADDRESS_SPACE_BYTES = 1 << 57  # with five levels of page tables; no machine has a larger one

NANOSECOND = 1e-9
MICROSECOND = 1e-6
MILLISECOND = 1e-3

THREEFOLD = 2.0  # of a change: a larger per cent says less than how many times it is
UNKNOWN = "unknown"

BYTE_UNITS = {"B": 1, "KiB": KIB, "MiB": MIB, "GiB": GIB, "TiB": TIB}
_BYTE_STEPS = tuple((step, unit) for unit, step in reversed(BYTE_UNITS.items()) if step > 1)
_SECOND_STEPS = (
    (86400.0, "d"),
    (3600.0, "h"),
    (60.0, "min"),
    (1.0, "s"),
    (MILLISECOND, "ms"),
    (MICROSECOND, "µs"),
    (NANOSECOND, "ns"),
)


def format_bytes(value: float | None) -> str:
    """Bytes with a binary prefix and three significant digits: `212 MiB`, `-1.50 KiB`, `17 B`."""
    if is_unknown(value):
        return UNKNOWN
    assert value is not None
    for step, prefix in _BYTE_STEPS:
        if abs(value) >= step:
            return f"{_three_digits(value / step)} {prefix}"
    return f"{value:.0f} B"


def format_change(value: float | None) -> str:
    """Bytes with their sign: `+3.00 MiB`, `-17 B`, `0 B`."""
    text = format_bytes(value)
    return f"+{text}" if not is_unknown(value) and value is not None and value > 0 else text


def format_seconds(value: float | None) -> str:
    """Seconds in the unit that keeps three digits: `1.20 ms`, `3.00 min`."""
    if is_unknown(value):
        return UNKNOWN
    assert value is not None
    for step, unit in _SECOND_STEPS:
        if abs(value) >= step:
            return f"{_three_digits(value / step)} {unit}"
    return "0 s" if value == 0 else f"{value:.3g} s"


def format_fraction(value: float | None) -> str:
    """A fraction as per cent: `0.123` is `12.3 %`."""
    if is_unknown(value):
        return UNKNOWN
    assert value is not None
    return f"{100 * value:.1f} %"


def format_relative(change: float | None) -> str:
    """A change relative to what was: `-92.9 %`; from three times as much on, `×18.2`."""
    if is_unknown(change) or change is None:
        return UNKNOWN
    if change < THREEFOLD:
        return f"{100 * change:+.1f} %"
    return f"×{1 + change:.3g}" if change < 99 else f"×{1 + change:.0f}"


def format_count(value: float | None) -> str:
    """A count with thin groups of three: `12 345`."""
    if is_unknown(value):
        return UNKNOWN
    assert value is not None
    return f"{value:,.0f}".replace(",", "\u202f")


def format_value(value: float | str, unit: str) -> str:
    """A value as people read it, by its unit; words stay as they are.

    Args:
        value: In the base unit.
        unit: One of the data dictionary's, such as `B`, `B/s`, `s`, `fraction` or `count`.
    """
    if isinstance(value, str):
        return value
    if unit == "B":
        return format_bytes(value)
    if unit == "B/s":
        return f"{format_bytes(value)}/s"
    if unit == "s":
        return format_seconds(value)
    if unit == "fraction":
        return format_fraction(value)
    return format_count(value) if isinstance(value, int) else f"{value:g}"


def minus(text: str) -> str:
    """A number with a minus sign in place of the hyphen."""
    return text.replace("-", "\u2212")


def is_unknown(value: object) -> bool:
    """Whether a cell of a frame is missing: None, NaN or pandas' NA."""
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return True
    return isinstance(value, float) and math.isnan(value)


def _three_digits(value: float) -> str:
    decimals = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:.{decimals}f}"
