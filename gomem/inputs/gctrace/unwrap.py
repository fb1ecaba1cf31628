"""A program's output without its wrapper, a piece of the log at a time, and whose line is whose."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gomem.errors import Damage

NEWLINE = 10
# Wall times as log collectors write them: RFC 3339 with a zone, or microseconds since 1970.
_FRACTION = re.compile(r"[.,](\d{1,9})\d*")  # to nanoseconds, behind a point
NAT = np.datetime64("NaT")
MICROSECOND_DIGITS = 16
# Outside of these years 64 bits of nanoseconds do not hold a time, and NumPy would wrap around.
_EARLIEST, _LATEST = np.datetime64("1678-01-01", "s"), np.datetime64("2262-01-01", "s")
# The wall times, as written, of some lines of a piece, counted from 0: asked for only where there
# is an event.
Stamps = Callable[[np.ndarray], list[str | None]]


def listed(stamps: list[str | None], then: Stamps | None = None) -> Stamps:
    """Stamps that were read with their lines, and behind them those of a later piece."""

    def at(lines: np.ndarray) -> list[str | None]:
        later = lines[lines >= len(stamps)] - len(stamps)
        found = [stamps[line] for line in lines[lines < len(stamps)]]
        return found + (then(later) if then else [None] * len(later))

    return at


def prefixed(piece: bytes, prefix: re.Pattern[bytes]) -> Stamps:
    """Stamps that still stand in front of their lines."""

    def at(lines: np.ndarray) -> list[str | None]:
        ends = np.flatnonzero(np.frombuffer(piece, np.uint8) == NEWLINE) + 1
        starts = np.concatenate(([0], ends))[lines].tolist()
        found = (prefix.match(piece, start) for start in starts)
        return [one["time"].decode() if one and one["time"] else None for one in found]

    return at


@dataclass(frozen=True)
class Unwrapped:
    """A piece of a program's output, with what its wrapper knew of each line."""

    text: bytes = b""  # the output
    wrapper: str | None = None  # which wrapper was taken off; None if there was none
    # The line of the log, from 1, that each line of `text` began in.
    numbers: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    # Wall time of each line as written, if the wrapper writes it with its zone.
    stamps: Stamps | None = None
    damage: tuple[Damage, ...] = ()  # lines that the wrapper does not explain

    def place_of(self, line: int) -> str:
        """Where damage says that a line is."""
        return f"line {self.numbers[line]}"

    def times_of(self, lines: np.ndarray) -> np.ndarray:
        """Wall times (UTC, ns) of lines of `text`, in order; NaT where unknown."""
        if self.stamps is None:
            return np.full(len(lines), np.datetime64("NaT"), "datetime64[ns]")
        return parse_stamps(self.stamps(lines))

    def after(self, lines: int, size: int) -> Unwrapped:
        """What is left when so many lines, of so many bytes, are done with."""
        left = np.arange(lines, len(self.numbers))
        stamps = None if self.stamps is None else listed(self._stamps_at(left))
        return Unwrapped(self.text[size:], self.wrapper, self.numbers[lines:], stamps)

    def followed_by(self, later: Unwrapped) -> Unwrapped:
        """Both together; the later has no number for a line of this one that it goes on in."""
        if not self.text:
            return later
        numbers = np.concatenate((self.numbers, later.numbers))
        stamps = later.stamps or self.stamps
        if stamps is not None:
            stamps = listed(self._stamps_at(np.arange(len(self.numbers))), later.stamps)
        return Unwrapped(self.text + later.text, later.wrapper, numbers, stamps, later.damage)

    def _stamps_at(self, lines: np.ndarray) -> list[str | None]:
        return [None] * len(lines) if self.stamps is None else self.stamps(lines)


def parse_stamps(stamps: Sequence[str | None]) -> np.ndarray:
    """Times of many lines as UTC, in nanoseconds; NaT where there is none."""
    # A collector writes all its stamps alike, so that as a rule they are read together.
    try:
        return _times(stamps)
    except pa.ArrowInvalid:
        return np.array([parse_stamp(stamp) for stamp in stamps], "datetime64[ns]")


def parse_stamp(stamp: str | None) -> np.datetime64:
    """An RFC 3339 time, or microseconds since 1970, as UTC; NaT for anything else."""
    if stamp is not None and stamp.isdecimal():
        known = len(stamp) <= MICROSECOND_DIGITS and int(stamp) // 10**6 < _LATEST.astype(int)
        return np.datetime64(int(stamp), "us").astype("datetime64[ns]") if known else NAT
    try:
        (time,) = _times([None if stamp is None else _FRACTION.sub(r".\1", stamp)])
    except pa.ArrowInvalid:
        return NAT
    return time


def _times(stamps: Sequence[str | None]) -> np.ndarray:
    """RFC 3339 times as UTC, NaT outside of these years; ArrowInvalid where one is none."""
    column = pa.array(stamps, pa.string()).cast(pa.timestamp("ns", "UTC"))
    times = column.to_numpy(zero_copy_only=False)
    return np.where((times >= _EARLIEST) & (times < _LATEST), times, NAT)
