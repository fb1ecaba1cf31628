"""Which sizes and counts of a text's sentences are also in what was read, so that they are used."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from gomem.inputs.processes.row import rounded_size
from gomem.units import GIB, KIB, MIB

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pandas as pd

    from gomem.capture.moment import Artefact, Moment

MAX_ROWS = 50  # of a frame; of more, one is like any number
MAX_ERROR = 0.025  # of a size that is said with one digit
# What tools print as MB is of 2^20 bytes or of 10^6.
_BINARY = {"K": KIB / 1e3, "M": MIB / 1e6, "G": GIB / 1e9, "T": GIB * KIB / 1e12}
_ZEROS = re.compile(r"^[0-9]+?(0*) ?[A-Za-z]")  # of a whole number
_TIMES = {"k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6}
_COUNT = re.compile(r"([0-9][0-9 ,']*(?:\.[0-9]+)?) ?(k\b|m\b|thousand|million)?", re.IGNORECASE)


def sizes_apart(
    sizes: Sequence[str], artefacts: Iterable[Artefact], told: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return the sizes that are not those of an artefact, as far as they are rounded.

    A size that rounds another one of the text is the same size, also of those that are told.
    """
    known = np.array(_numbers(artefacts) if sizes else ())
    apart: dict[str, None] = {}
    for size in sizes:
        exact = next((other for other in (*told, *sizes) if _rounds(size, other)), size)
        if exact not in told and not any(_is_size_in(each, known) for each in (size, exact)):
            apart[exact] = None
    return tuple(apart)


def _rounds(size: str, other: str) -> bool:
    """Whether a size is another one with fewer digits: `380 MiB` of `379.39 MiB`."""
    coarse, exact = (rounded_size(each.replace("b", "B").encode()) for each in (size, other))
    if coarse is None or exact is None:
        return size == other
    zeros = _ZEROS.search(size)
    step = coarse.step_bytes * 10 ** len(zeros[1] if zeros else "")
    off = min(step / 2, MAX_ERROR * coarse.bytes)
    return exact.step_bytes < step and abs(exact.bytes - coarse.bytes) <= off


def counts_apart(
    counts: Sequence[str], artefacts: Iterable[Artefact], moments: Iterable[Moment]
) -> tuple[str, ...]:
    """Return the counts of goroutines that are not those of an artefact."""
    if not counts:
        return ()
    known = {*_numbers(artefacts), *(moment.goroutine_count or 0 for moment in moments)}
    return tuple(count for count in counts if count_of(count) not in known)


def _is_size_in(size: str, known: np.ndarray) -> bool:
    read = rounded_size(size.replace("b", "B").encode())
    if read is None:
        return False
    for factor in factors_of(size):
        said = read.bytes * factor
        off = min(read.step_bytes * factor * 0.51, MAX_ERROR * said)
        if np.any(np.abs(known - said) <= off):
            return True
    return False


def factors_of(size: str) -> tuple[float, float]:
    """Return what a size as written can be times what it says: kB of 1000 bytes, or of 1024."""
    unit = next((letter for letter in size.upper() if letter in _BINARY), "")
    return 1.0, _BINARY.get(unit, 1.0)


def count_of(words: str) -> float:
    """The last number of some words; -1 without one."""
    *_, (number, unit) = [("-1", ""), *_COUNT.findall(words)]
    return float(re.sub("[ ,']", "", number)) * _TIMES.get(unit.lower(), 1)


def _numbers(artefacts: Iterable[Artefact]) -> list[float]:
    found: list[float] = []
    for file in artefacts:
        if hasattr(file.parsed, "sample_type_names"):
            found += _of_profile(file)
            continue
        for frame in file.kind.frames:
            if (numbers := getattr(file.parsed, frame, None)) is not None:
                found += _in_frame(numbers)
    return found


def _of_profile(file: Artefact) -> Iterator[float]:
    profile = file.parsed
    for name in profile.sample_type_names:
        yield profile.total(name)
        if profile.printed is not None:
            yield profile.printed.shown.get(name, 0)
            yield from profile.top(name, n=MAX_ROWS)["flat"]


def _in_frame(frame: pd.DataFrame) -> list[float]:
    numbers = frame.select_dtypes("number")
    sums = [float(total) for total in numbers.sum()]
    rows = numbers if len(numbers) <= MAX_ROWS else numbers.head(0)
    return [*sums, *(float(value) for name in rows for value in rows[name].dropna())]
