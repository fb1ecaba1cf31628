"""Did the sides allocate as much, with another number of GCs?

Then what decides when a GC runs differs: GOGC, GOMEMLIMIT, or the live heap. That shows without any
file that states a setting. Counters are of MemStats, since the start of each process.
"""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

import pandas as pd

from gomem.causes.thresholds import Thresholds
from gomem.comparison.settings import GOGC, GOMEMLIMIT
from gomem.text import Bytes, Count, Text, text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gomem.diagnosis.diagnosis import Diagnosis

USUAL = Thresholds()
COUNTED = ("TotalAlloc", "NumGC", "NextGC")


def same_work_words(
    settings: pd.DataFrame, before: Sequence[Diagnosis], after: Sequence[Diagnosis]
) -> Text:
    """Say that the same allocation took fewer GCs, or more; empty if a known setting says why."""
    if settings["name"].isin([GOGC, GOMEMLIMIT]).any():
        return Text()
    sides = [[_last(side, name) for name in COUNTED] for side in (before, after)]
    known = [[value for value in side if value is not None] for side in sides]
    if known != sides:
        return Text()
    allocated, counts, goals = zip(*known, strict=True)
    (least, most), (fewer, more) = sorted(allocated), sorted(counts)
    # The GC that was due at either end can have run, or not.
    if most > USUAL.same_work_ratio * least or more - 1 < USUAL.other_pace_ratio * (fewer + 1):
        return Text()
    words = (
        "Both sides allocated about {} since the start, with {} before and {} after: the heap goal "
        "(NextGC) is {} before and {} after, so GOGC, GOMEMLIMIT or the live heap differs."
    )
    gcs = (Count(round(count), "GC") for count in counts)
    return text(words, Bytes(most), *gcs, *map(Bytes, goals))


def _last(side: Sequence[Diagnosis], name: str) -> float | None:
    """A counter at the last snapshot that has it: the median over the runs."""
    last = [
        next((m.memstats[name] for m in reversed(run.moments) if m.memstats is not None), None)
        for run in side
    ]
    known = [float(value) for value in last if value is not None and not pd.isna(value)]
    return median(known) if known and len(known) == len(last) else None
