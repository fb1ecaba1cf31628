"""Format numbers by unit: each is a cell with the exact value behind it.

Unknown values are a dash, never 0.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

from gomem.text import text
from gomem.units import (
    format_bytes,
    format_change,
    format_count,
    format_fraction,
    format_rate,
    format_seconds,
    is_unknown,
    minus,
)
from gomem.views.document import Cell

if TYPE_CHECKING:
    from collections.abc import Callable

NOTHING = Cell("–")
LONG_SECONDS = 600.0  # from here on a log's time is in hours and minutes


def _known(cell: Callable[..., Cell]) -> Callable[..., Cell]:
    """Wrap a cell function to return a dash for an unknown value."""

    @wraps(cell)
    def shown(value: Any, *more: Any) -> Cell:
        return NOTHING if is_unknown(value) else cell(value, *more)

    return shown


def grouped(value: float) -> str:
    """Format all digits in groups of three, separated by thin spaces."""
    return f"{value:,}".replace(",", "\u202f")


@_known
def bytes_cell(size: float, note: str = "") -> Cell:
    """Bytes."""
    return Cell(minus(format_bytes(size)), minus(f"{grouped(int(size))} B"), note)


@_known
def change_cell(size: float) -> Cell:
    """A change in bytes, with its sign."""
    return Cell(minus(format_change(size)), minus(f"{int(size):+,} B".replace(",", "\u202f")))


@_known
def seconds_cell(seconds: float) -> Cell:
    """Seconds."""
    return Cell(format_seconds(seconds), f"{seconds:g} s")


@_known
def fraction_cell(fraction: float) -> Cell:
    """A fraction in percent."""
    return Cell(minus(format_fraction(fraction)))


@_known
def count_cell(count: int) -> Cell:
    """A count."""
    return Cell(format_count(count))


@_known
def rate_cell(per_second: float) -> Cell:
    """Bytes per second."""
    return Cell(format_rate(per_second), minus(f"{per_second:.0f} B/s"))


@_known
def slope_cell(per_second: float, low: float | None = None, high: float | None = None) -> Cell:
    """Growth in bytes per second, with its sign and the digits that its interval leaves."""
    return Cell(
        minus(format_rate(per_second, low, high, signed=True)), minus(f"{per_second:.0f} B/s")
    )


@_known
def cores_cell(cores: float) -> Cell:
    """CPU in cores: seconds of CPU per second."""
    return Cell(f"{cores:.3f}", f"{cores:g} cores")


@_known
def time_cell(time: Any) -> Cell:
    """A time in UTC, to the second."""
    return Cell(f"{time:%Y-%m-%d %H:%M:%S} UTC", time.isoformat())


@_known
def narrow_time_cell(time: Any) -> Cell:
    """A time in UTC on two lines, for a narrow column."""
    return Cell(f"{time:%H:%M:%S}", time.isoformat(), f"{time:%Y-%m-%d} UTC")


@_known
def clock_cell(seconds: float) -> Cell:
    """A time on a log's clock: `12.345 s`, from 10 min on `1:02:03`."""
    if seconds < LONG_SECONDS:
        return Cell(f"{seconds:.3f} s")
    minutes, rest = divmod(int(seconds), 60)
    return Cell(f"{minutes // 60}:{minutes % 60:02}:{rest:02}", f"{seconds:.3f} s")


def kind_cell(kind: str, looks_like: str) -> Cell:
    """The kind of a file; for an unknown kind, that it was not read and what it looks like."""
    return Cell(kind or (text("not read: {}", looks_like) if looks_like else "not readable"))


def between(low: float | None, high: float | None, cell: Callable[..., Cell]) -> Cell:
    """An interval; an unknown end is left open."""
    if is_unknown(low):
        return NOTHING if is_unknown(high) else Cell(f"≤ {cell(high).text}")
    if is_unknown(high):
        return Cell(f"≥ {cell(low).text}")
    ends = (cell(low), cell(high))
    exact = f"{ends[0].exact} to {ends[1].exact}" if ends[0].exact and ends[1].exact else ""
    return Cell(f"{ends[0].text} to {ends[1].text}", exact)
