"""Did the sides allocate as much, with another number of GCs?

Then what decides when a GC runs differs: GOGC, GOMEMLIMIT, or the live heap. That shows without any
file that states a setting. Counters are of MemStats, since the start of each process.
"""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

import pandas as pd

from gomem.causes.finding import Severity
from gomem.causes.thresholds import Thresholds
from gomem.diagnosis.findings import DATA_PREFIX
from gomem.text import Bytes, Count, Text, text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.facts.moment import MomentFacts

USUAL = Thresholds()
COUNTED = ("TotalAlloc", "NumGC", "NextGC")


def since_baseline(diagnosis: Diagnosis) -> Text:
    """Say so of a capture and its baseline, unless files state GOGC or a warning says why."""
    causes = (each for each in diagnosis.findings if not each.code.startswith(DATA_PREFIX))
    is_warned = any(each.severity >= Severity.WARNING for each in causes)
    if diagnosis.baseline is None or is_warned:
        return Text()
    sides = diagnosis.baseline, diagnosis
    if all(side.facts.settings_stated.gogc is not None for side in sides):
        return Text()
    return same_work_words([diagnosis.baseline], [diagnosis])


def same_work_words(before: Sequence[Diagnosis], after: Sequence[Diagnosis]) -> Text:
    """Say that the same allocation took fewer GCs, or more; empty if it did not."""
    sides = [[median_of_last(side, _counter(name)) for name in COUNTED] for side in (before, after)]
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


def median_of_last(
    side: Sequence[Diagnosis], told: Callable[[MomentFacts], float | None]
) -> float | None:
    """The value of the last snapshot that has it: the median over the runs; None without all."""
    last = [
        next((value for m in reversed(run.moments) if (value := told(m)) is not None), None)
        for run in side
    ]
    known = [float(value) for value in last if value is not None and not pd.isna(value)]
    return median(known) if known and len(known) == len(last) else None


def _counter(name: str) -> Callable[[MomentFacts], float | None]:
    return lambda moment: None if moment.memstats is None else moment.memstats[name]
