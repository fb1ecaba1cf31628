"""What does the heap hold from moment to moment, and does that grow?

HeapAlloc counts what is in use together with garbage that no collection has found yet, so by itself
it goes up and down. What a collection marked does not: runtime/metrics has it since Go 1.21
(`/gc/heap/live:bytes`), and before that the goal of the next cycle tells it, which is what was
marked and GOGC per cent of it. Where GOGC is not known it is taken for 100; a wrong one changes the
size, not the direction.

Of a program that only adds, HeapAlloc is the more exact: marks are as old as the last collection.
So both are looked at. HeapAlloc alone proves nothing until collections have run in between, and
their marks have risen as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gomem.analysis.trends import SURE_FROM, Trend, trend_of

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

GOGC_BY_DEFAULT = 1.0
# Of what HeapAlloc grew by, the marks must have grown by this share. Of a program that only adds,
# each collection doubles them: after two they have grown by 3/7 of the most that HeapAlloc can have
# until the third.
FOLLOWS = 0.25
FEWEST_COLLECTIONS = 2  # between the first moment and the last: one may find what filled before


@dataclass(frozen=True)
class HeldHeap:
    """The heap over the moments of a capture.

    Attributes:
        allocated: HeapAlloc.
        marked: What collections marked, in bytes; None if nothing says.
        marked_field: Where that is from: `/gc/heap/live:bytes` or NextGC.
        collections: From the first moment to the last.
        late_collections: In the last third of that time.
    """

    allocated: Trend
    marked: Trend | None
    marked_field: str
    collections: int
    late_collections: float

    @property
    def rising(self) -> Trend | None:
        """What surely rises, and how: HeapAlloc if its marks follow, else the marks alone."""
        if self.marked is None or self.collections < FEWEST_COLLECTIONS:
            return None
        if self.allocated.rises and self.marked.grown >= FOLLOWS * self.allocated.grown:
            return self.allocated
        return self.marked if self.marked.rises else None

    @property
    def stopped(self) -> bool:
        """Whether it has filled and then stayed, by HeapAlloc or by marks of late collections."""
        if self.allocated.moments < SURE_FROM or self.rising is not None:
            return False
        marked = self.marked is not None and self.marked.shape == "plateau"
        renewed = self.late_collections >= FEWEST_COLLECTIONS
        return self.allocated.shape == "plateau" or (marked and renewed)


def held_heap(
    stats: pd.DataFrame,
    seconds: FloatArray | None = None,
    live_bytes: FloatArray | None = None,
    gogc: float | None = None,
) -> HeldHeap | None:
    """Measure what the heap holds over the moments.

    Where NumGC falls, another process began: the moments since the last one are measured.

    Args:
        stats: A row for each moment, in order, with `HeapAlloc`, `NextGC` and `NumGC`.
        seconds: When each moment was; None if only their order is known.
        live_bytes: `/gc/heap/live:bytes` of each; None if a moment does not say.
        gogc: As a fraction, if it is known.

    Returns:
        None if there are fewer than two moments of different times, or one says nothing.
    """
    fields = stats[["HeapAlloc", "NextGC", "NumGC"]].astype("float64").reset_index(drop=True)
    if fields[["HeapAlloc", "NumGC"]].isna().any(axis=None):
        return None
    began = int(fields.index[fields["NumGC"].diff() < 0].max()) if _restarted(fields) else 0
    fields = fields.iloc[began:]
    seconds, live_bytes = (None if one is None else one[began:] for one in (seconds, live_bytes))
    allocated = trend_of(fields["HeapAlloc"].to_numpy(), seconds)
    if allocated is None:
        return None
    goals = fields["NextGC"].to_numpy() / (1 + (gogc or GOGC_BY_DEFAULT))
    marks = goals if live_bytes is None else live_bytes
    return HeldHeap(
        allocated=allocated,
        marked=None if np.isnan(marks).any() else trend_of(marks, seconds),
        marked_field="NextGC" if live_bytes is None else "/gc/heap/live:bytes",
        collections=int(fields["NumGC"].iloc[-1] - fields["NumGC"].iloc[0]),
        late_collections=_in_last_third(fields["NumGC"].to_numpy(), seconds),
    )


def _in_last_third(counts: FloatArray, seconds: FloatArray | None) -> float:
    """How much a count has risen in the last third of the time."""
    times = np.arange(len(counts), dtype=np.float64) if seconds is None else seconds
    late = np.interp(times[0] + (times[-1] - times[0]) * 2 / 3, times, counts)
    return float(counts[-1] - late)


def _restarted(fields: pd.DataFrame) -> bool:
    return bool((fields["NumGC"].diff() < 0).any())
