"""When did the goroutines at one place start, and do their waits end? By the numbers in a dump.

The runtime numbers goroutines in the order in which they start. Each P takes 16 numbers at once
(newproc1 in proc.go), and a P that rests keeps the rest of its 16 for later. So all but a few for
each P were started in the order of their numbers, and a handful of goroutines shows nothing.

In one go     Nearly all numbers between theirs are theirs, too: nothing else was started meanwhile.
              The workers of a pool begin like that. So do goroutines that are started one by one
              where nothing else starts any; but then the older ones have waited for longer, or the
              numbers turn back again and again. A dump has goroutines in the order of their starts,
              so that happens where the next is started on another P. A loop keeps its P.
All along     Theirs are as many among the newest numbers as among the oldest: more keep coming.
Woken         Where each waits forever, those that wait since less than a minute are the last ones
              started. Older ones among them have been woken, and wait again.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gomem.analysis.series.goroutine_growth import waiting_in

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from gomem.inputs.goroutines.parse import Waiting as Alike

MIN_EACH = 10  # goroutines: fewer can be numbered out of order
OLD = 0.75  # quantile of the numbers of those that have waited for longer
MIN_NUMBERS = 100  # goroutines, and numbers since theirs: ten P's batches are no more
MOST = 0.05, 0.95  # quantiles of their numbers: a few can have been started at another time
ONE_GO = 0.9  # of the numbers between those quantiles: nothing else was started meanwhile
PARTS = 5  # of all numbers so far; where goroutines come all along, each part has some
MANY_TURNS = 0.02  # of the goroutines: those that the kernel moves to another P in a loop are less
ALL_ALONG = 0.5  # of an even part
# Rank correlation of numbers and waits; 0 for workers that are woken by chance.
OLDER_WAIT_LONGER = -0.8


@dataclass(frozen=True, eq=False)
class Starts:
    """The numbers of the goroutines at one place."""

    numbers: NDArray[np.int64]  # in order
    minutes: NDArray[np.int64]  # how long each has waited, in full minutes
    highest: int  # the highest of all goroutines in the dump
    turns: int  # how often a number in the dump's order is below the one before
    woken: int  # how many began to wait within a minute, if waits there end; else 0

    @property
    def since(self) -> int:
        """How many numbers the runtime has given away since the last of theirs."""
        return self.highest - int(self.numbers[-1])

    @property
    def are_in_one_go(self) -> bool:
        """Whether hardly any other goroutine was started between them, and their waits allow it."""
        if len(self.numbers) < MIN_NUMBERS or self._came_one_by_one:
            return False
        low, high = np.quantile(self.numbers, MOST, method="nearest")
        there = np.count_nonzero((self.numbers >= low) & (self.numbers <= high))
        return bool(there >= ONE_GO * (high - low + 1))

    @property
    def _came_one_by_one(self) -> bool:
        if self.turns > MANY_TURNS * len(self.numbers):
            return True
        waits, ranks = np.unique(self.minutes, return_inverse=True)
        order = np.arange(len(ranks))
        return bool(len(waits) > 1 and np.corrcoef(order, ranks)[0, 1] <= OLDER_WAIT_LONGER)

    @property
    def come_all_along(self) -> bool:
        """Whether theirs are among all numbers so far, the newest too, as often as any others."""
        if len(self.numbers) < MIN_NUMBERS or self.are_in_one_go:
            return False
        parts, _ = np.histogram(self.numbers, bins=PARTS, range=(0, self.highest + 1))
        return bool(parts.min() >= ALL_ALONG * len(self.numbers) / PARTS)


def starts_at(numbers: Mapping[Alike, list[int]], function: str) -> Starts | None:
    """Return when the goroutines that wait in a function started; None without any there.

    Args:
        numbers: The numbers of identical goroutines in a dump.
        function: The function in which they wait, as `goroutine_growth` names it.
    """
    here = [alike for alike in numbers if waiting_in(";".join(alike.stack)) == function]
    if not here:
        return None
    found = np.concatenate([np.array(numbers[alike], np.int64) for alike in here])
    minutes = np.repeat(
        [alike.minutes or 0 for alike in here], [len(numbers[alike]) for alike in here]
    )
    order = np.argsort(found, kind="stable")
    highest = max(map(max, numbers.values()))
    turns = sum(int(np.count_nonzero(np.diff(numbers[alike]) < 0)) for alike in here)
    return Starts(found[order], minutes[order], highest, turns, _woken(numbers, here))


def _woken(numbers: Mapping[Alike, list[int]], here: list[Alike]) -> int:
    """Return how many of a state began to wait within a minute, if some were woken; else 0.

    Half of these are then older than a quarter of those that have waited there for longer.
    """
    fresh, old = defaultdict[str, list[int]](list), defaultdict[str, list[int]](list)
    for alike in here:
        (fresh if alike.minutes is None else old)[alike.state] += numbers[alike]
    found = [len(fresh[state]) for state in fresh if _are_older(fresh[state], old[state])]
    return max(found, default=0)


def _are_older(fresh: list[int], old: list[int]) -> bool:
    if min(len(fresh), len(old)) < MIN_EACH:
        return False
    return bool(np.median(fresh) < np.quantile(old, OLD))
