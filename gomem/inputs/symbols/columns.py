"""Symbols as columns: arrays and lists of equal length."""

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
    # For functions in Go's own table: whether each is a compiler-generated wrapper, and of what.
    is_wrapper: list[bool | None] = field(default_factory=list)
    wraps: list[str | None] = field(default_factory=list)


class Overlapping(ValueError):  # noqa: N818 - what the texts are there
    """Texts overlap, which no linker writes: reading them could take forever."""


def texts_at(data: bytes, start: NDArray[np.int64]) -> list[str]:
    """Return the texts at some positions, each up to a zero byte; empty outside the data.

    Raises Overlapping if their total length would exceed that of the data.
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
