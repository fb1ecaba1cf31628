"""A program's output without its wrapper, a piece of the log at a time, and whose line is whose."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np

from gomem.inputs.gctrace.wall_clock import parse_stamps

if TYPE_CHECKING:
    import re

    import pyarrow as pa

    from gomem.errors import Damage

NEWLINE = 10


class Stamps(Protocol):
    """The wall times of a piece's lines, as written: asked for only where there is an event."""

    def at(self, lines: np.ndarray) -> list[str | None]:
        """Those of some lines of the piece, counted from 0."""


@dataclass(frozen=True)
class ListedStamps:
    """Stamps that were read with their lines."""

    stamps: list[str | None]

    def at(self, lines: np.ndarray) -> list[str | None]:
        """Those of some lines."""
        return [self.stamps[line] for line in lines]


@dataclass(frozen=True)
class ColumnOfStamps:
    """Stamps as a column of JSON records."""

    column: pa.Array

    def at(self, lines: np.ndarray) -> list[str | None]:
        """Those of some lines."""
        import pyarrow as pa

        return self.column.take(pa.array(lines)).to_pylist()


@dataclass(frozen=True)
class PrefixedStamps:
    """Stamps that still stand in front of their lines."""

    piece: bytes
    prefix: re.Pattern[bytes]

    def at(self, lines: np.ndarray) -> list[str | None]:
        """Those of some lines."""
        ends = np.flatnonzero(np.frombuffer(self.piece, np.uint8) == NEWLINE) + 1
        starts = np.concatenate(([0], ends))[lines]
        return [self._at(int(start)) for start in starts]

    def _at(self, start: int) -> str | None:
        match = self.prefix.match(self.piece, start)
        return match["time"].decode() if match is not None and match["time"] else None


@dataclass(frozen=True)
class _Chained:
    first: list[str | None]
    then: Stamps | None

    def at(self, lines: np.ndarray) -> list[str | None]:
        later = lines[lines >= len(self.first)] - len(self.first)
        stamps = [self.first[line] for line in lines[lines < len(self.first)]]
        return stamps + (self.then.at(later) if self.then else [None] * len(later))


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

    def line_numbers_of(self, lines: np.ndarray) -> np.ndarray:
        """Lines of the log, from 1, for lines of `text`, from 0."""
        return self.numbers[lines]

    def place_of(self, line: int) -> str:
        """Where damage says that a line is."""
        return f"line {self.numbers[line]}"

    def times_of(self, lines: np.ndarray) -> np.ndarray:
        """Wall times (UTC, ns) of lines of `text`, in order; NaT where unknown."""
        if self.stamps is None:
            return np.full(len(lines), np.datetime64("NaT"), "datetime64[ns]")
        return parse_stamps(self.stamps.at(lines))

    def after(self, lines: int, size: int) -> Unwrapped:
        """What is left when so many lines, of so many bytes, are done with."""
        left = np.arange(lines, len(self.numbers))
        stamps = None if self.stamps is None else ListedStamps(self._stamps_at(left))
        return Unwrapped(self.text[size:], self.wrapper, self.numbers[lines:], stamps)

    def followed_by(self, later: Unwrapped) -> Unwrapped:
        """Both together; the later has no number for a line of this one that it goes on in."""
        if not self.text:
            return later
        numbers = np.concatenate((self.numbers, later.numbers))
        stamps: Stamps | None = later.stamps or self.stamps
        if stamps is not None:
            own = np.arange(len(self.numbers))
            stamps = _Chained(self._stamps_at(own), later.stamps)
        return Unwrapped(self.text + later.text, later.wrapper, numbers, stamps, later.damage)

    def _stamps_at(self, lines: np.ndarray) -> list[str | None]:
        return [None] * len(lines) if self.stamps is None else self.stamps.at(lines)
