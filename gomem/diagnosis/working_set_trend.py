"""How a container's working set went over its readings: level at the end, or still growing."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

from gomem.analysis.memory.ledger_change import MIN_BYTES, MIN_SHARE
from gomem.causes.grown_in_one_file import working_set_level
from gomem.facts.goroutines import level_of
from gomem.text import Count, Rate, Text, text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gomem.diagnosis.diagnosis import Diagnosis

MIN_READINGS = 3  # for a direction, or a level


def trend_words(diagnosis: Diagnosis, sizes: Sequence[int]) -> tuple[Text, bool]:
    """Say how sizes ended, to follow the first of them; and whether they rise no longer."""
    level = working_set_level(diagnosis.case)
    is_timed = len(level) == len(sizes) and all(
        moment.time is not None for moment in diagnosis.case.facts.of_last_process
    )
    rise = (level if is_timed else level_of("", [(None, float(size)) for size in sizes])).rise
    if rise is None or rise.readings < MIN_READINGS:
        return Text(), False
    stable = _stable_at_the_end(sizes)
    if MIN_READINGS <= stable < len(sizes):
        return text(", and is level in the last {}", Count(stable)), not rise.goes_on
    if not rise.goes_on or rise.shape != "ramp":
        return Text(), not rise.goes_on
    rate = text(" by {}", Rate(rise.rate, rise.low, rise.high)) if is_timed else Text()
    return text(", and it grows{}", rate), False


def _stable_at_the_end(sizes: Sequence[int]) -> int:
    """How many readings at the end are about as large as the last."""
    last = sizes[-1]

    def is_alike(size: int) -> bool:
        return abs(size - last) < max(MIN_BYTES, MIN_SHARE * max(size, last))

    return sum(1 for _ in takewhile(is_alike, reversed(sizes)))
