"""Format base units for people. Only views and messages use this module; frames hold base units."""

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

MIN_BRIEF = 0.005  # the smallest fraction that rounds to one per cent

TABLE_DIGITS = 3
MIN_DIGITS = 2  # of a rate
MIN_RATE = 0.5  # bytes per second: less rounds to none
THREEFOLD = 2.0  # from here on, a change is clearer as a multiple than in per cent
UNKNOWN = "unknown"

BYTE_UNITS = {"B": 1, "KiB": KIB, "MiB": MIB, "GiB": GIB, "TiB": TIB}
_BYTE_STEPS = tuple((step, unit) for unit, step in reversed(BYTE_UNITS.items()) if step > 1)
_LARGE_UNITS = frozenset({"GiB", "TiB"})
_SECOND_STEPS = (
    (86400.0, "d"),
    (3600.0, "h"),
    (60.0, "min"),
    (1.0, "s"),
    (MILLISECOND, "ms"),
    (MICROSECOND, "µs"),
    (NANOSECOND, "ns"),
)


def format_bytes(value: float | None, *, brief: bool = False) -> str:
    """Format bytes with a binary prefix: `212 MiB`, `-1.50 KiB`; brief: `41 MiB`, `1.24 GiB`."""
    if is_unknown(value):
        return UNKNOWN
    assert value is not None
    return _scaled(value, _BYTE_STEPS, brief=brief) or f"{value:.0f} B"


def format_change(value: float | None) -> str:
    """Format bytes with their sign: `+3.00 MiB`, `-17 B`, `0 B`."""
    text = format_bytes(value)
    return f"+{text}" if not is_unknown(value) and value is not None and value > 0 else text


def format_rate(
    value: float | None,
    low: float | None = None,
    high: float | None = None,
    *,
    brief: bool = False,
    signed: bool = False,
) -> str:
    """Format bytes per second: `1.23 MiB/s`; with an interval, only the digits that it leaves.

    The last digit is of the size of half the interval: 1.234 MiB/s from 1.1 to 1.3 is `1.2 MiB/s`.
    But it never has only one: 1.4 would read as 1.
    """
    if is_unknown(value) or value is None:
        return UNKNOWN
    digits = _certain_digits(value, low, high)
    if digits < TABLE_DIGITS:
        step = next((step for step, _ in _BYTE_STEPS if abs(value) >= step), 1)
        value, brief = float(f"{value / step:.{digits - 1}e}") * step, True
    if abs(value) < MIN_RATE:
        return "0 B/s"
    sign = "+" if signed and value > 0 else ""
    return f"{sign}{format_bytes(value, brief=brief)}/s"


def _certain_digits(value: float, low: float | None, high: float | None) -> int:
    """How many digits of a value its interval leaves: at least two, at most those of a table."""
    if is_unknown(low) or is_unknown(high) or low is None or high is None or not value:
        return TABLE_DIGITS
    error = abs(high - low) / 2
    if not math.isfinite(error):
        return MIN_DIGITS
    if not error:
        return TABLE_DIGITS
    places = math.floor(math.log10(abs(value))) - math.floor(math.log10(error)) + 1
    return max(MIN_DIGITS, min(TABLE_DIGITS, places))


def format_seconds(value: float | None, *, brief: bool = False) -> str:
    """Format seconds in the largest unit that fits: `1.20 ms`; brief: `1.2 ms`, `3 min`."""
    if is_unknown(value):
        return UNKNOWN
    assert value is not None
    return _scaled(value, _SECOND_STEPS, brief=brief) or ("0 s" if value == 0 else f"{value:.3g} s")


def format_age(value: float | None, *, brief: bool = False) -> str:
    """Format seconds in the largest unit that fits, rounded down to two digits: `3.9 d`."""
    if is_unknown(value):
        return UNKNOWN
    assert value is not None
    for step, unit in _SECOND_STEPS:
        if value >= step:
            tenths = math.floor(round(10 * value / step, 6))
            return f"{tenths // 10 if tenths >= 100 or not tenths % 10 else tenths / 10} {unit}"
    return format_seconds(value, brief=brief)


def format_fraction(value: float | None, *, brief: bool = False) -> str:
    """Format a fraction as per cent: `0.123` is `12.3 %`; brief: `12 %`, `<1 %` or `>99 %`."""
    if is_unknown(value):
        return UNKNOWN
    assert value is not None
    if not brief:
        return f"{100 * value:.1f} %"
    if 0 < abs(value) < MIN_BRIEF:
        return "<1 %"
    return ">99 %" if 1 - MIN_BRIEF < value < 1 else f"{100 * value:.0f} %"


def format_most(value: float | None, *, brief: bool = False) -> str:
    """Format the upper bound of a fraction, rounded up to whole per cents: `0.132` is `14 %`."""
    if is_unknown(value) or value is None or value < MIN_BRIEF:
        return format_fraction(value, brief=brief)
    return f"{math.ceil(round(100 * value, 6))} %"


def format_relative(change: float | None, *, brief: bool = False) -> str:
    """Format a change relative to its base: `-92.9 %`; from three times the base on, `×18.2`."""
    if is_unknown(change) or change is None:
        return UNKNOWN
    if change < THREEFOLD:
        shown = f"{100 * change:+.{0 if brief else 1}f}"
        return f"{shown if float(shown) else shown[1:]} %"  # no sign before 0
    return f"×{1 + change:.{2 if brief else 3}g}" if change < 99 else f"×{1 + change:.0f}"


def format_count(value: float | None) -> str:
    """Format a count with thin spaces between groups of three: `12 345`."""
    if is_unknown(value):
        return UNKNOWN
    assert value is not None
    return f"{value:,.0f}".replace(",", "\u202f")


def format_value(value: float | str, unit: str) -> str:
    """Format a value in its base unit (`B`, `B/s`, `s`, `fraction`, `count`) for people."""
    if isinstance(value, str):
        return value
    if unit == "B/s":
        return format_rate(value)
    written = {"B": format_bytes, "s": format_seconds, "fraction": format_fraction}.get(unit)
    if written is not None:
        return written(value)
    return format_count(value) if isinstance(value, int) else f"{value:g}"


def is_digits(text: str) -> bool:
    """Return whether a text consists of ASCII digits, as in numbers that programs print."""
    return text.isascii() and text.isdigit()


def minus(text: str) -> str:
    """Replace the hyphen of a number by a minus sign."""
    return text.replace("-", "\u2212")


def is_unknown(value: object) -> bool:
    """Return whether a cell of a frame is missing: None, NaN or pandas' NA."""
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return True
    return isinstance(value, float) and math.isnan(value)


def _scaled(value: float, steps: tuple[tuple[float, str], ...], *, brief: bool) -> str:
    """Format a value in the largest unit that gives at least one; empty below the smallest.

    In tables it has three digits. In prose it has two, or three if the unit is large, without
    trailing zeros; whole numbers are printed in full.
    """
    for step, unit in steps:
        text = _rounded(value / step, 2 if brief and unit not in _LARGE_UNITS else 3)
        if abs(float(text)) >= 1:
            short = text.rstrip("0").rstrip(".") if brief and "." in text else text
            return f"{short} {unit}"
    return ""


def _rounded(value: float, digits: int) -> str:
    """Round to a number of significant digits, and keep all digits before the decimal point."""
    if not value:
        return "0"
    rounded = abs(float(f"{value:.{digits - 1}e}"))
    return f"{value:.{max(0, digits - 1 - math.floor(math.log10(rounded)))}f}"
