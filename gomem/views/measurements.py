"""Format measured values: a value in its unit, a difference, a spread, a p, a count.

Units are those of benchmarks (`sec/op`, `B/s`, `allocs/op`) and of levels (`B`, `fraction`).
"""

from __future__ import annotations

import math

from gomem.units import (
    UNKNOWN,
    format_bytes,
    format_count,
    format_fraction,
    format_seconds,
    is_unknown,
)


def format_value(value: float | None, unit: str) -> str:
    """Format a measurement with its prefix, without the denominator: `196 ns` for `sec/op`."""
    if is_unknown(value) or value is None:
        return UNKNOWN
    words = unit.partition("/")[0].split("-")
    if "sec" in words or "s" in words:
        return format_seconds(value)
    if "B" in words or "bytes" in words:
        return format_bytes(value)
    if unit == "fraction":
        return format_fraction(value)
    return format_count(value) if value == round(value) or value >= 1e4 else f"{value:.4g}"


def format_level(value: float | None, unit: str) -> str:
    """Format a level with its whole unit, for use among other units: `1.20 GiB/s`."""
    text = format_value(value, unit)
    return f"{text}/s" if unit.endswith("/s") and text != UNKNOWN else text


def format_difference(difference: float, unit: str) -> str:
    """Format a difference of two levels with its sign; fractions in percentage points."""
    if unit == "fraction":
        return f"{100 * difference:+.1f} pp"
    return f"{'+' if difference > 0 else ''}{format_level(difference, unit)}"


def format_p(p: float | None) -> str:
    """Format as `p=0.030`, or `p<0.001` for all smaller values."""
    if is_unknown(p) or p is None:
        return "p unknown"
    return "p<0.001" if p < 0.001 else f"p={p:.3f}"


def format_n(before: int, after: int) -> str:
    """Format the number of measurements: `n=10`, or `n=10+9` if the sides differ."""
    return f"n={before}" if before == after else f"n={before}+{after}"


def format_spread(median: float, low: float | None, high: float | None) -> str:
    """Format the farther end of a median's interval, in percent of the median: `± 3 %`.

    Empty if the interval is unknown, or its end is farther away than the median's size; then the
    ends are more informative than a percentage.
    """
    if is_unknown(low) or is_unknown(high) or low is None or high is None:
        return ""
    if low == high:
        return "± 0 %"
    share = max(high - median, median - low) / abs(median) if median else math.inf
    return f"± {100 * share:.0f} %" if share <= 1 else ""
