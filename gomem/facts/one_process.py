"""Which snapshots are of the last process? A restart, or another build, makes changes meaningless.

A process keeps its PID, and its counters never fall. Two snapshots with the same number of
collections have the same last collection.

A capture whose folders `before` and `after` are of two processes is two captures.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd

from gomem.capture.place import AFTER, BEFORE, place_of_word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gomem.capture.capture import Capture
    from gomem.facts.capture import CaptureFacts
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


def halves(facts: CaptureFacts) -> tuple[Capture, Capture] | None:
    """Return the captures of the folders for before and after; None if there are no two.

    The folder for before must have all snapshots of earlier processes.
    """
    capture, of_earlier = facts.capture, [moment.name for moment in facts.of_earlier_processes]
    folders = dict.fromkeys(name.partition("/")[0] for name in capture.by_moment)
    if len(folders) != 2 or not all("/" in name for name in capture.by_moment):
        return None
    early, late = sorted(folders, key=lambda folder: place_of_word(folder) or 0)
    if (place_of_word(early), place_of_word(late)) != (BEFORE, AFTER) or not of_earlier:
        return None
    if any(name.partition("/")[0] != early for name in of_earlier):
        return None
    return _part(capture, early), _part(capture, late)


def _part(capture: Capture, folder: str) -> Capture:
    """The capture of one folder; paths stay those of the whole."""

    def is_in(path: str) -> bool:
        return path.startswith(f"{folder}/")

    return replace(
        capture,
        name=f"{capture.name}/{folder}",
        by_moment={name: known for name, known in capture.by_moment.items() if is_in(name)},
        files=tuple(file for file in capture.files if is_in(file.source.name)),
        passed_over=tuple(source for source in capture.passed_over if is_in(source.name)),
        damaged=tuple(damage for damage in capture.damaged if is_in(damage.source)),
        looks={path: look for path, look in capture.looks.items() if is_in(path)},
        unread_evidence=tuple(path for path in capture.unread_evidence if is_in(path)),
    )
