"""Signs that goroutines do not pile up: their number is level, came back, or their waits end."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

from gomem.causes.one_dump import waits_end
from gomem.text import Count, Function, MomentName, Text, text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.facts.goroutines import GoroutineCount

MANY = 100  # goroutines: of fewer, it is not worth saying that they are as many as before
LEVEL_SHARE = 0.05  # of the last number: the others of a level differ by less


def waits_end_words(diagnosis: Diagnosis, last: GoroutineCount) -> Text:
    """Say that goroutines which wait where most do have been woken within a minute."""
    waiting = diagnosis.facts.goroutines.waiting
    fresh = waits_end(last, waiting, diagnosis.capture)
    if not fresh or waiting is None:
        return Text()
    words = (
        "Waits in {} end: {} began to wait less than a minute ago, and some of these are older "
        "than others that have waited for minutes."
    )
    return text(words, Function(waiting.function), Count(fresh, "goroutine"))


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
    """The highest number between the first and last, and since when it is level, if it is."""
    highest = max(counts, key=lambda count: count.goroutines)
    ends = counts[0].goroutines, counts[-1].goroutines
    peak, level, since = Text(), Text(), _level_from(counts)
    if highest.goroutines > (1 + LEVEL_SHARE) * max(ends):
        at = MomentName(highest.moment)
        peak = text(" (peak {} at {})", Count(highest.goroutines), at)
    if since is not counts[-1] and since is not counts[0]:
        level = text(", and have been level since {}", MomentName(since.moment))
    return peak + level


def _level_from(counts: Sequence[GoroutineCount]) -> GoroutineCount:
    """The first count of those at the end that are about the same."""
    last = counts[-1].goroutines

    def is_alike(count: GoroutineCount) -> bool:
        return abs(count.goroutines - last) <= LEVEL_SHARE * last

    *_, since = takewhile(is_alike, reversed(counts))
    return since
