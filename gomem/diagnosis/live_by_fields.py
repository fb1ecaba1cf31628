"""How much of the heap is live, as far as a few fields of MemStats say it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pandas as pd

from gomem.text import Bytes, MomentName, Text, joined, text
from gomem.units import MIB

if TYPE_CHECKING:
    from gomem.diagnosis.diagnosis import Diagnosis

LEAST_GOAL_BYTES = 4 * MIB  # with GOGC=100 (runtime/mgcpacer.go): a lower goal tells nothing
FREED = (
    "Nearly all of that is not live: it is freed heap, which the runtime returns to the OS over "
    "minutes, or goroutine stacks."
)


def live_words(diagnosis: Diagnosis, known: pd.DataFrame, level: str) -> Text:
    """What the last GC left, by the goal of the next; and whether a rise can be all garbage."""
    said = (_by_goal(diagnosis, known.iloc[-1]), _without_a_gc(diagnosis, known, level))
    return joined(" ", filter(None, said))


def _by_goal(diagnosis: Diagnosis, last: pd.Series) -> Text:
    """The live heap that the goal was computed from; empty for the least goal, or a limit's."""
    setting, limit = diagnosis.facts.settings.gogc, diagnosis.facts.settings.memory_limit
    gogc, goal = float(setting.value), last["NextGC"]
    is_limited = limit is not None and math.isfinite(float(limit.value))
    if pd.isna(goal) or not 0 < gogc < math.inf or is_limited or goal <= LEAST_GOAL_BYTES * gogc:
        return Text()
    how = "" if setting.is_stated else ", inferred" if setting.is_inferred else ", assumed"
    words = "By the heap goal of {} (NextGC) and GOGC {}, about {} were live after the last GC."
    stated = text("{}{}", f"{100 * gogc:.0f}", how)
    return text(words, Bytes(int(goal)), stated, Bytes(int(goal / (1 + gogc))))


def _without_a_gc(diagnosis: Diagnosis, known: pd.DataFrame, level: str) -> Text:
    """Say that no GC ran during a rise, so that all of it can be garbage."""
    last = known.iloc[-1]
    same = known[known["NumGC"] == last["NumGC"]]
    if len(same) < 2:
        return Text()
    first = same.iloc[0]
    risen = last[level] - first[level]
    if not diagnosis.thresholds.has_grown(int(first[level]), int(last[level])):
        return Text()
    words = "No GC ran since {}: how much of the {} allocated since is live is unknown."
    return text(words, MomentName(first["moment"]), Bytes(int(risen)))


def freed_words(diagnosis: Diagnosis, last: pd.Series) -> Text:
    """Say that what Go reserved is mostly not live, if no field has the idle heap."""
    limits = diagnosis.thresholds
    if pd.isna(last["Sys"]) or pd.isna(last["HeapAlloc"]) or pd.notna(last["HeapReleased"]):
        return Text()
    if pd.notna(last["HeapIdle"]) or pd.notna(last["HeapInuse"]) or last["Sys"] < limits.kept_bytes:
        return Text()
    is_freed = last["HeapAlloc"] <= (1 - limits.nearly_all_share) * last["Sys"]
    return Text(FREED) if is_freed else Text()
