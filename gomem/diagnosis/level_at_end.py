"""Goroutines and working sets that stopped rising: level at the end, fallen, or waits that end."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, TypeVar

from gomem.analysis.memory.ledger_change import MIN_BYTES, MIN_SHARE
from gomem.causes.memory_rise import working_set_level
from gomem.facts.goroutines import GoroutineCount, level_of
from gomem.text import Count, Function, MomentName, Rate, Seconds, Text, text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gomem.diagnosis.diagnosis import Diagnosis

_Reading = TypeVar("_Reading")
MANY = 100  # goroutines: of fewer, it is not worth saying that they are as many as before
LEVEL_SHARE = 0.05  # of the last number: the others of a level differ by less
MIN_READINGS = 3  # for a direction, or a level


def alike_at_the_end(
    readings: Sequence[_Reading], is_alike: Callable[[_Reading, _Reading], bool]
) -> int:
    """Return how many readings at the end are about the same as the last."""
    last = readings[-1]
    return sum(1 for _ in takewhile(lambda each: is_alike(each, last), reversed(readings)))


def starts_words(diagnosis: Diagnosis) -> Text:
    """Say that goroutines where most wait have been woken within a minute, or when they started."""
    waiting, starts = diagnosis.facts.goroutines.waiting, diagnosis.facts.goroutine_starts
    if starts is None or waiting is None:
        return Text()
    if starts.woken:
        words = (
            "Waits in {} end: {} began to wait less than a minute ago, and some of these are older "
            "than others that have waited for minutes."
        )
        return text(words, Function(waiting.function), Count(starts.woken, "goroutine"))
    if not starts.are_in_one_go:
        return Text()
    words = (
        "Their IDs ({} to {}) are nearly consecutive{}: they were started together, as a pool of "
        "workers or in one burst."
    )
    ends = Count(starts.numbers[0]), Count(starts.numbers[-1])
    since = text(", and none of them is among the last {}", Count(starts.since))
    return text(words, *ends, since if starts.since >= MANY else "")


def level_count_words(diagnosis: Diagnosis) -> Text:
    """Say that each snapshot has about as many goroutines; empty for few of them, or for one."""
    counts = diagnosis.facts.goroutine_counts
    if len(counts) < 2 or counts[-1].goroutines < MANY or _level_from(counts) is not counts[0]:
        return Text()
    least, most = (end(count.goroutines for count in counts) for end in (min, max))
    snapshots = Count(len(counts), "snapshot")
    if least == most:
        return text("The number is the same in {}.", snapshots)
    return text("The number is level: {} to {} in {}.", Count(least), Count(most), snapshots)


def peak_and_level(counts: Sequence[GoroutineCount]) -> Text:
    """The highest or lowest number in between, and since when the number is level, if it is."""
    highest = max(counts, key=lambda count: count.goroutines)
    lowest = min(counts, key=lambda count: count.goroutines)
    ends = counts[0].goroutines, counts[-1].goroutines
    peak, level, since = Text(), Text(), _level_from(counts)
    if highest.goroutines > (1 + LEVEL_SHARE) * max(ends):
        at = MomentName(highest.moment)
        peak = text(" (peak {} at {})", Count(highest.goroutines), at)
    elif lowest.goroutines < (1 - LEVEL_SHARE) * min(ends):
        peak = text(" (only {} at {})", Count(lowest.goroutines), MomentName(lowest.moment))
    if since is not counts[-1] and since is not counts[0]:
        level = text(", and have been level since {}", MomentName(since.moment))
    return peak + level


def _level_from(counts: Sequence[GoroutineCount]) -> GoroutineCount:
    """The first count of those at the end that are about the same."""

    def is_alike(count: GoroutineCount, last: GoroutineCount) -> bool:
        return abs(count.goroutines - last.goroutines) <= LEVEL_SHARE * last.goroutines

    return counts[-alike_at_the_end(counts, is_alike)]


def trend_words(diagnosis: Diagnosis, sizes: Sequence[int]) -> tuple[Text, bool]:
    """Say how sizes ended, to follow the first of them; and whether they rise no longer."""
    level = working_set_level(diagnosis.case)
    is_timed = len(level) == len(sizes) and all(
        moment.time is not None for moment in diagnosis.case.facts.of_last_process
    )
    rise = (level if is_timed else level_of("", [(None, float(size)) for size in sizes])).rise
    if rise is None or rise.readings < MIN_READINGS:
        return Text(), False
    stable = alike_at_the_end(sizes, _is_same_size)
    if MIN_READINGS <= stable < len(sizes):
        return text(", and is level in the last {}", Count(stable)), not rise.goes_on
    if not rise.goes_on or rise.shape != "ramp":
        return Text(), not rise.goes_on
    if not is_timed:
        return Text(", and it grows"), False
    rate, seconds = Rate(rise.rate, rise.low, rise.high), Seconds(rise.seconds)
    return text(", and over these {} it grows by {}", seconds, rate), False


def _is_same_size(size: int, last: int) -> bool:
    return abs(size - last) < max(MIN_BYTES, MIN_SHARE * max(size, last))
