"""Symbols as columns: arrays and lists of one length."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class SymbolColumns:
    """Symbols in the artefact's order."""

    address: NDArray[np.uint64] = field(default_factory=lambda: np.zeros(0, np.uint64))
    size: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    letter: list[str] = field(default_factory=list)
    name: list[str] = field(default_factory=list)
    # Of functions in Go's own table: whether the compiler made it to call another, and which.
    is_wrapper: list[bool | None] = field(default_factory=list)
    wraps: list[str | None] = field(default_factory=list)


class Overlapping(ValueError):  # noqa: N818 - what the texts are there
    """Texts lie in one another, which no linker writes: reading them could take for ever."""


def texts_at(data: bytes, start: NDArray[np.int64]) -> list[str]:
    """The texts that begin at some places and end before a zero byte; empty outside the data.

    Overlapping where together they would be longer than the data.
    """
    different, row = np.unique(start, return_inverse=True)
    left, texts = len(data), []
    for begin in different.tolist():
        stop = data.find(0, begin) if 0 <= begin < len(data) else begin
        left -= (stop if stop >= begin else len(data)) - begin
        if left < 0:
            raise Overlapping
        texts.append(data[begin:stop].decode("utf-8", "replace") if stop > begin else "")
    return [texts[number] for number in row.tolist()]
