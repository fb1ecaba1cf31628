"""How much of the heap is live, as far as MemStats say it: by a few fields, or without a GC."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pandas as pd

from gomem.analysis.memory.heap_slots import LEAST_GOAL_BYTES
from gomem.causes.commands import TAKE_AFTER_GC
from gomem.diagnosis.live_level import live_level_words
from gomem.facts.settings import sets_limit
from gomem.text import Bytes, Count, MomentName, Text, joined, text

if TYPE_CHECKING:
    from gomem.diagnosis.diagnosis import Diagnosis

LEVELS = ("HeapInuse", "HeapAlloc")  # the first that both ends have
MIN_GCS = 3  # that could have freed something
AFTER_A_GC = text("See what is live, after a GC: {}.", TAKE_AFTER_GC)
FREED = (
    "Nearly all of that is not live: it is freed heap, which the runtime returns to the OS over "
    "minutes, or goroutine stacks."
)


def live_words(diagnosis: Diagnosis, known: pd.DataFrame, level: str) -> Text:
    """What the last GC left, by the goal of the next; and whether a rise can be all garbage."""
    said = (_by_goal(diagnosis, known.iloc[-1]), _without_a_gc(diagnosis, known, level))
    return joined(" ", filter(None, said))


def _by_goal(diagnosis: Diagnosis, last: pd.Series) -> Text:
    """The live heap that the goal was computed from; empty for the least goal, or a limit's.

    A heap that is at its goal in each reading, with many GCs in between, is live nearly as a whole.
    """
    counters = diagnosis.facts.counters
    is_enough = counters is not None and counters.cycles >= diagnosis.thresholds.enough_cycles
    if counters is not None and is_enough and counters.is_always_collecting:
        words = (
            "HeapAlloc is at the heap goal of {} (NextGC) in the last readings, with {} in "
            "between: nearly all of it is live."
        )
        return text(words, Bytes(counters.goal_bytes), Count(counters.cycles, "GC"))
    settings = diagnosis.facts.settings
    setting, is_limited = settings.gogc, sets_limit(settings.memory_limit)
    gogc, goal = float(setting.value), last["NextGC"]
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


def hardly_freed_words(diagnosis: Diagnosis, last: pd.Series) -> Text:
    """Say that the GCs have freed hardly any of what was allocated since the start; else empty."""
    limits, allocated = diagnosis.thresholds, last["TotalAlloc"]
    held = last[["HeapAlloc", "Alloc"]].max()  # equal by definition
    if pd.isna(allocated) or pd.isna(held) or pd.isna(last["NumGC"]) or last["NumGC"] < MIN_GCS:
        return Text()
    freed = max(0, int(allocated - held))
    if allocated < limits.spike_bytes or freed > (1 - limits.nearly_all_share) * allocated:
        return Text()
    words = (
        "{} freed {} of the {} allocated since the start: nearly all of it is still there, as in a "
        "program that has loaded its data, or in a leak."
    )
    return text(words, Count(int(last["NumGC"]), "GC"), Bytes(freed), Bytes(int(allocated)))


def freed_words(diagnosis: Diagnosis, last: pd.Series) -> Text:
    """Say that what Go reserved is mostly not live, if no field has the idle heap."""
    limits = diagnosis.thresholds
    if pd.isna(last["Sys"]) or pd.isna(last["HeapAlloc"]) or pd.notna(last["HeapReleased"]):
        return Text()
    if pd.notna(last["HeapIdle"]) or pd.notna(last["HeapInuse"]) or last["Sys"] < limits.kept_bytes:
        return Text()
    is_freed = last["HeapAlloc"] <= (1 - limits.nearly_all_share) * last["Sys"]
    return Text(FREED) if is_freed else Text()


def risen_without_gc(diagnosis: Diagnosis) -> Text:
    """Say that the heap rose and no GC ran in the last readings; empty if one did.

    All that came since can be garbage, or all of it live: nothing has looked. A log of the GC would
    have the live heap of its own. Where the last GCs found a level live heap, it is most likely
    garbage.
    """
    moments = diagnosis.case.facts.of_last_process
    known = [moment for moment in moments if moment.told("NumGC") is not None]
    same = [moment for moment in known if moment.told("NumGC") == known[-1].told("NumGC")]
    if len(same) < 2 or diagnosis.collector is not None or live_level_words(diagnosis, same[-1]):
        return Text()
    first, last = ends = same[0], same[-1]
    sizes = {name: [m.told(name) for m in (known[0], first, last)] for name in LEVELS}
    name = next((name for name in LEVELS if None not in sizes[name]), None)
    began, before, after = (0, 0, 0) if name is None else (size or 0 for size in sizes[name])
    if name is None or not diagnosis.thresholds.has_grown(began, after):
        return Text()
    count = text("NumGC {}", Count(last.told("NumGC")))
    where = [MomentName(moment.name) for moment in ends]
    if not diagnosis.thresholds.has_grown(before, after):
        goal = last.told("NextGC")
        until = text(" until the next GC (heap goal {})", Bytes(goal)) if goal else Text()
        words = (
            "No GC ran from {} to {} ({} at both): {} is {}, and how much of it is live is "
            "unknown{}."
        )
        return text(words, *where, count, name, Bytes(after), until)
    words = (
        "No GC ran from {} to {} ({} at both), and {} rose from {} to {}: how much of the rise is "
        "live is unknown.{}"
    )
    lag = " A heap profile shows the heap at the last GC, so it does not show the rise."
    profiles = diagnosis.capture.heap_profiles
    return text(words, *where, count, name, Bytes(before), Bytes(after), lag if profiles else "")


def was_as_large_before(diagnosis: Diagnosis) -> bool:
    """Whether the heap was as large as in the last reading before the last GC, which freed it."""
    known = [m for m in diagnosis.case.facts.of_last_process if m.told("NumGC") is not None]
    count = known[-1].told("NumGC") if known else None
    before = [moment for moment in known if moment.told("NumGC") != count]
    name = next((name for name in LEVELS if known and known[-1].told(name) is not None), None)
    if name is None:
        return False
    most = max((moment.told(name) or 0 for moment in before), default=0)
    return (known[-1].told(name) or 0) <= most
