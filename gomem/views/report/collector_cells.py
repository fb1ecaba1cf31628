"""Cells of the tables about the collector: times on the log's clock, rates, cores, bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.units import format_bytes, is_unknown
from gomem.views.document import Cell
from gomem.views.report.tables import (
    NOTHING,
    bytes_cell,
    count_cell,
    fraction_cell,
    seconds_cell,
)

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "NOTHING",
    "between",
    "bytes_cell",
    "clock_cell",
    "cores_cell",
    "count_cell",
    "fraction_cell",
    "rate_cell",
    "seconds_cell",
]


def clock_cell(seconds: float | None) -> Cell:
    """A time on the log's clock: `12.345 s`, from 10 min on `1:02:03`."""
    if seconds is None or is_unknown(seconds):
        return NOTHING
    if seconds < 600:
        return Cell(f"{seconds:.3f} s")
    minutes, rest = divmod(int(seconds), 60)
    return Cell(f"{minutes // 60}:{minutes % 60:02}:{rest:02}", f"{seconds:.3f} s")


def rate_cell(per_second: float | None) -> Cell:
    """Bytes a second."""
    if per_second is None or is_unknown(per_second):
        return NOTHING
    return Cell(f"{format_bytes(per_second)}/s", f"{per_second:.0f} B/s")


def cores_cell(cores: float | None) -> Cell:
    """CPU as cores: seconds of CPU a second."""
    if cores is None or is_unknown(cores):
        return NOTHING
    return Cell(f"{cores:.3f}", f"{cores:g} cores")


def between(low: float | None, high: float | None, cell: Callable[[float | None], Cell]) -> Cell:
    """An interval; an end that nobody knows is left open."""
    unknown = [end is None or is_unknown(end) for end in (low, high)]
    if all(unknown):
        return NOTHING
    if unknown[1]:
        return Cell(f"from {cell(low).text}")
    if unknown[0]:
        return Cell(f"up to {cell(high).text}")
    return Cell(f"{cell(low).text} to {cell(high).text}")
