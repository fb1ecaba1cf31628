"""Which snapshots are of the last process? A restart, or another build, makes changes meaningless.

A process keeps its PID, and its counters never fall. Two snapshots with the same number of
collections have the same last collection.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gomem.facts.moment import MomentFacts

COUNTERS = ("NumGC", "TotalAlloc", "Mallocs", "PauseTotalNs")
LAST_GC = "LastGC"
ROUNDING = 0.99  # a log can print a counter rounded up
NEAR = pd.Timedelta("10ms")  # a page of metrics rounds times


def of_last_process(moments: Sequence[MomentFacts]) -> Sequence[MomentFacts]:
    """Return the snapshots since the process last changed, as far as their files show it."""
    began, pid, counters = 0, None, None
    for place, moment in enumerate(moments):
        known = _counters(moment)
        is_other = pid is not None and moment.pid is not None and moment.pid != pid
        if is_other or (known is not None and counters is not None and _fell(counters, known)):
            began, pid, counters = place, None, None
        pid = pid if moment.pid is None else moment.pid
        counters = counters if known is None else known
    return moments[began:]


def _counters(moment: MomentFacts) -> pd.Series | None:
    stats = moment.any_memstats
    return None if stats is None else stats.reindex([*COUNTERS, LAST_GC])


def _fell(before: pd.Series, after: pd.Series) -> bool:
    """Whether a counter fell, or a collection has two times; missing values say nothing."""
    both = [name for name in COUNTERS if pd.notna(before[name]) and pd.notna(after[name])]
    if any(after[name] < ROUNDING * before[name] for name in both):
        return True
    ends = before[LAST_GC], after[LAST_GC]
    is_same = "NumGC" in both and before["NumGC"] == after["NumGC"] > 0
    return bool(is_same and not any(map(pd.isna, ends)) and abs(ends[1] - ends[0]) > NEAR)
