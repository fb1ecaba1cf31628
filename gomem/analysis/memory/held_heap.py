"""What does the heap hold from moment to moment, and does that grow?

HeapAlloc counts what is in use together with garbage that no collection has found yet, so by itself
it goes up and down. What a collection marked does not: runtime/metrics has it since Go 1.21
(`/gc/heap/live:bytes`), and before that the goal of the next cycle tells it, which is what was
marked and GOGC per cent of it. Where GOGC is not known it is taken for 100; a wrong one changes the
size, not the direction.

Of a program that only adds, HeapAlloc is the more exact: marks are as old as the last collection.
So both are looked at. HeapAlloc alone proves nothing until collections have run in between, and
their marks have risen as well. A mark is renewed by a collection alone: what rises among moments
between which none ran may all be garbage. So it takes as many marks as it takes moments: five to be
sure, three or four if what rises does so in a line; two show a difference and no direction.

How much is held lies between the two. What HeapAlloc has beyond the marks was allocated since. Of
what was allocated between two marks as much stayed as the marks grew by: held is a line from mark
to mark over TotalAlloc, and goes on behind the last as it went before it, or in all, whichever is
less. So a program that only adds holds all of HeapAlloc, and one that has filled holds its last
mark, however far HeapAlloc rises until the next collection.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from gomem.analysis.series.trends import FEWEST, HALF, MOVES, SURE_FROM, Trend, is_steady, trend_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

GOGC_BY_DEFAULT = 1.0
# Of what HeapAlloc grew by, the marks must have grown by this share. Of a program that only adds,
# each collection doubles them: after two they have grown by 3/7 of the most that HeapAlloc can have
# until the third.
FOLLOWS = 0.25
LATE_COLLECTIONS = 2  # since marks stay: one may find what filled before


@dataclass(frozen=True)
class HeldHeap:
    """The heap over the moments of a capture.

    Attributes:
        allocated: HeapAlloc.
        marked: What collections marked, in bytes; None if nothing says.
        marked_field: Where that is from: `/gc/heap/live:bytes` or NextGC.
        collections: From the first moment to the last.
        late_collections: Since marks came within a tenth of their range of what they are at last.
        marks: How many different marks the moments show: those between which no collection ran
            show the same. Where MemStats were read a little before the metrics, one may lie
            between that these have and NumGC has not.
        held: The marks, and what stays of what was allocated between and since; None if the moments
            do not say what was allocated in all, or what collections marked.
    """

    allocated: Trend
    marked: Trend | None
    marked_field: str
    collections: int
    late_collections: int
    marks: int
    held: Trend | None = None

    @property
    def rising(self) -> Trend | None:
        """What surely rises: HeapAlloc, or what is held of it, if its marks follow; else these."""
        if self.marked is None or self.marks < SURE_FROM or self._has_filled:
            return None
        if self._told.slows:
            return None
        if self._told.rises and self._marks_follow:
            return self.allocated
        return self.marked if self.marked.rises else None

    @property
    def may_be_rising(self) -> Trend | None:
        """HeapAlloc, if what is held rises in a line, by few moments or by few marks."""
        if not FEWEST <= self.marks < SURE_FROM or not self._marks_follow or self._has_filled:
            return None
        told = self._told
        rises = told.rises and is_steady(told.slope, told.low) and not told.slows
        return self.allocated if rises or self.allocated.may_rise else None

    @property
    def without_direction(self) -> Trend | None:
        """HeapAlloc, if it rises, but the moments show too few marks for a direction."""
        if self.marks >= SURE_FROM or self.may_be_rising is not None:
            return None
        if not self._marks_follow or self._has_filled:
            return None
        return self.allocated if self.allocated.rises or self.allocated.may_rise else None

    @property
    def _told(self) -> Trend:
        """What says best how much is held."""
        return self.allocated if self.held is None else self.held

    @property
    def _marks_follow(self) -> bool:
        return self.marked is not None and self.marked.grown >= FOLLOWS * self.allocated.grown

    @property
    def stopped(self) -> bool:
        """Whether it has filled and then stayed, by HeapAlloc or by marks of late collections."""
        if self.allocated.moments < SURE_FROM or self.rising is not None:
            return False
        return self.allocated.shape == "plateau" or self._has_filled

    @property
    def _has_filled(self) -> bool:
        """Whether what is held rose and then stayed, as collections say that ran since.

        That it has stayed for long, its slope says: it gives less than half of what it rose by.
        """
        held = self.held
        if held is not None and held.shape in {"plateau", "step"}:
            span = held.moments - 1 if held.seconds is None else held.seconds
            if held.slope * span < HALF * held.grown:
                return True
        marked = self.marked is not None and self.marked.shape == "plateau"
        return marked and self.late_collections >= LATE_COLLECTIONS


def held_heap(
    stats: pd.DataFrame,
    seconds: FloatArray | None = None,
    live_bytes: FloatArray | None = None,
    gogc: float | None = None,
) -> HeldHeap | None:
    """Measure what the heap holds over the moments.

    Where NumGC falls, another process began: the moments since the last one are measured.

    Args:
        stats: A row for each moment, in order, with `HeapAlloc`, `NextGC` and `NumGC`, and with
            `TotalAlloc` if that is known.
        seconds: When each moment was; None if only their order is known.
        live_bytes: `/gc/heap/live:bytes` of each, missing where a moment does not say; None if
            none does. What enough of them say is better than what the goals of all do, which follow
            from stacks and globals, too.
        gogc: As a fraction, if it is known.

    Returns:
        None if there are fewer than two moments of different times, or one says nothing.
    """
    wanted = ["HeapAlloc", "NextGC", "NumGC", "TotalAlloc"]
    values = stats.reindex(columns=wanted).astype("Float64").to_numpy(np.float64, na_value=np.nan)
    fields = pd.DataFrame(values, columns=wanted)
    if fields[["HeapAlloc", "NumGC"]].isna().any(axis=None):
        return None
    began = int(fields.index[fields["NumGC"].diff() < 0].max()) if _restarted(fields) else 0
    fields = fields.iloc[began:]
    seconds, live_bytes = (None if one is None else one[began:] for one in (seconds, live_bytes))
    allocated = trend_of(fields["HeapAlloc"].to_numpy(), seconds)
    if allocated is None:
        return None
    marks = fields["NextGC"].to_numpy() / (1 + (gogc or GOGC_BY_DEFAULT))
    said = np.ones(len(marks), bool)
    if live_bytes is not None and _are_enough(~np.isnan(live_bytes)):
        marks, said = live_bytes, ~np.isnan(live_bytes)
    else:
        live_bytes = None
    return HeldHeap(
        allocated=allocated,
        marked=_trend_where(said, marks, seconds),
        marked_field="NextGC" if live_bytes is None else "/gc/heap/live:bytes",
        collections=int(fields["NumGC"].iloc[-1] - fields["NumGC"].iloc[0]),
        late_collections=_since_they_stay(marks[said], fields["NumGC"].to_numpy()[said]),
        marks=max(
            int(fields["NumGC"].nunique()), 0 if live_bytes is None else len(np.unique(marks[said]))
        ),
        held=_held(fields, marks, seconds),
    )


def _are_enough(said: NDArray[np.bool_]) -> bool:
    """Whether all moments say it, or enough to be sure of a trend."""
    return bool(said.all() or said.sum() >= SURE_FROM)


def _trend_where(
    said: NDArray[np.bool_], marks: FloatArray, seconds: FloatArray | None
) -> Trend | None:
    """The trend of those moments that say what was marked; None where a goal is not known."""
    times = np.arange(len(marks), dtype=np.float64) if seconds is None else seconds
    if np.isnan(marks[said]).any():
        return None
    return trend_of(marks[said], None if seconds is None and said.all() else times[said])


def _held(fields: pd.DataFrame, marks: FloatArray, seconds: FloatArray | None) -> Trend | None:
    """The marks, and as much of what was allocated in between as stayed there."""
    total = fields["TotalAlloc"].to_numpy()
    since = np.maximum(fields["HeapAlloc"].to_numpy() - marks, 0.0)
    by_then = np.maximum.accumulate(total - since)  # what was allocated when it was marked
    if np.isnan(marks).any() or not by_then[-1] > by_then[0]:
        return None
    renewed = np.flatnonzero(np.diff(marks, prepend=np.nan) != 0)
    x, y = by_then[renewed], marks[renewed]
    behind = np.maximum(total - x[-1], 0.0)
    return trend_of(np.interp(total, x, y) + _stays(x, y) * behind, seconds)


def _stays(allocated: FloatArray, marks: FloatArray) -> float:
    """Of what is allocated behind the last mark, the share that stays: the least that is known.

    As much as stayed before the last mark, or in all, whichever is less: what fills stays no
    longer, and a burst that a mark meets does not stay.
    """
    if len(marks) < 2:
        return 0.0
    shares = [
        (marks[-1] - marks[first]) / (allocated[-1] - allocated[first])
        for first in (0, -2)
        if allocated[-1] > allocated[first]
    ]
    return float(np.clip(min(shares, default=0.0), 0.0, 1.0))


def _since_they_stay(marks: FloatArray, collections: FloatArray) -> int:
    """How many collections ran since marks came near what they are at last, and stayed there."""
    known = ~np.isnan(marks)
    if not known.any():
        return 0
    marks, collections = marks[known], collections[known]
    near = np.abs(marks - marks[-1]) <= MOVES * (marks.max() - marks.min())
    elsewhere = np.flatnonzero(~near)
    first = int(elsewhere[-1]) + 1 if len(elsewhere) else 0
    return int(collections[-1] - collections[first])


def _restarted(fields: pd.DataFrame) -> bool:
    return bool((fields["NumGC"].diff() < 0).any())
