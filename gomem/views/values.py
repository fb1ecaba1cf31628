"""Numbers as people read them, by unit: each a cell with all its digits behind.

Unknown values are a dash, never 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gomem.text import text
from gomem.units import (
    format_bytes,
    format_change,
    format_count,
    format_fraction,
    format_seconds,
    is_unknown,
    minus,
)
from gomem.views.document import Cell

if TYPE_CHECKING:
    from collections.abc import Callable

NOTHING = Cell("–")
LONG_SECONDS = 600.0  # from here on a log's clock is read in hours and minutes


def grouped(value: float) -> str:
    """All digits, in thin groups of three."""
    return f"{value:,}".replace(",", "\u202f")


def bytes_cell(size: float | None, note: str = "") -> Cell:
    """Bytes."""
    if size is None or is_unknown(size):
        return NOTHING
    return Cell(minus(format_bytes(size)), minus(f"{grouped(int(size))} B"), note)


def kind_cell(kind: str, looks_like: str) -> Cell:
    """What a file is; of one of no known kind, that it was not read and what it looks like."""
    return Cell(kind or (text("not read: {}", looks_like) if looks_like else "not readable"))


def change_cell(size: float | None) -> Cell:
    """A change in bytes, with its sign."""
    if size is None or is_unknown(size):
        return NOTHING
    return Cell(minus(format_change(size)), minus(f"{int(size):+,} B".replace(",", "\u202f")))


def seconds_cell(seconds: float | None) -> Cell:
    """Seconds."""
    if seconds is None or is_unknown(seconds):
        return NOTHING
    return Cell(format_seconds(seconds), f"{seconds:g} s")


def fraction_cell(fraction: float | None) -> Cell:
    """A fraction as per cent."""
    if fraction is None or is_unknown(fraction):
        return NOTHING
    return Cell(minus(format_fraction(fraction)))


def count_cell(count: int | None) -> Cell:
    """A count."""
    return NOTHING if count is None or is_unknown(count) else Cell(format_count(count))


def rate_cell(per_second: float | None) -> Cell:
    """Bytes a second."""
    if per_second is None or is_unknown(per_second):
        return NOTHING
    return Cell(f"{format_bytes(per_second)}/s", minus(f"{per_second:.0f} B/s"))


def slope_cell(per_second: float | None) -> Cell:
    """Growth in bytes a second, with its sign."""
    if per_second is None or is_unknown(per_second):
        return NOTHING
    sign = "+" if per_second > 0 else ""
    return Cell(minus(f"{sign}{format_bytes(per_second)}/s"), minus(f"{per_second:.0f} B/s"))


def cores_cell(cores: float | None) -> Cell:
    """CPU as cores: seconds of CPU a second."""
    if cores is None or is_unknown(cores):
        return NOTHING
    return Cell(f"{cores:.3f}", f"{cores:g} cores")


def time_cell(time: Any) -> Cell:
    """A time in UTC, to the second."""
    if is_unknown(time):
        return NOTHING
    return Cell(f"{time:%Y-%m-%d %H:%M:%S} UTC", time.isoformat())


def narrow_time_cell(time: Any) -> Cell:
    """A time in UTC on two lines, for a narrow column."""
    if is_unknown(time):
        return NOTHING
    return Cell(f"{time:%H:%M:%S}", time.isoformat(), f"{time:%Y-%m-%d} UTC")


def clock_cell(seconds: float | None) -> Cell:
    """A time on a log's own clock: `12.345 s`, from 10 min on `1:02:03`."""
    if seconds is None or is_unknown(seconds):
        return NOTHING
    if seconds < LONG_SECONDS:
        return Cell(f"{seconds:.3f} s")
    minutes, rest = divmod(int(seconds), 60)
    return Cell(f"{minutes // 60}:{minutes % 60:02}:{rest:02}", f"{seconds:.3f} s")


def between(low: float | None, high: float | None, cell: Callable[[float | None], Cell]) -> Cell:
    """An interval; an unknown end is left open."""
    unknown = [end is None or is_unknown(end) for end in (low, high)]
    if all(unknown):
        return NOTHING
    if unknown[1]:
        return Cell(f"from {cell(low).text}")
    if unknown[0]:
        return Cell(f"up to {cell(high).text}")
    ends = (cell(low), cell(high))
    exact = f"{ends[0].exact} to {ends[1].exact}" if ends[0].exact and ends[1].exact else ""
    return Cell(f"{ends[0].text} to {ends[1].text}", exact)
