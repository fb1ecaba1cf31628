"""What incomplete MemStats show, such as the fields in a program's own log."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from gomem.causes.commands import TAKE_HEAP_PROFILE, TAKE_SMAPS
from gomem.text import Bytes, Count, MomentName, Seconds, Text, joined, text
from gomem.units import MIB, is_unknown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.diagnosis.listed_memory import Told
    from gomem.facts.moment import MomentFacts

TOTAL_ALLOCATED = "/gc/heap/allocs:bytes"
# Without HeapAlloc, the first of these that is there is said: what each is of.
OTHER_FIELDS = {
    "HeapInuse": "spans with objects, and free slots in them",
    "HeapSys": "the heap's address space, in use or idle",
    "NextGC": "the heap goal of the next GC",
}
OTHER_METRICS = {
    "/memory/classes/heap/objects:bytes": "live objects and garbage not yet collected",
    "/gc/heap/live:bytes": "the live heap as the last GC marked it",
    "/gc/heap/goal:bytes": "the heap goal of the next GC",
}
WHAT_NEXT = text(
    "See what holds the heap: {}. See what is in RSS: {}.", TAKE_HEAP_PROFILE, TAKE_SMAPS
)


def by_few_fields(diagnosis: Diagnosis) -> tuple[Text, bool, Text] | None:
    """The heap and its bound on RSS; whether it grew by a fifth; and the next step."""
    stats = diagnosis.capture.memstats
    heap = stats["HeapAlloc"].fillna(stats["Alloc"])  # which Go defines as the same
    known = stats.assign(HeapAlloc=heap)[heap.notna()]
    if known.empty:
        return None
    first, last = known.iloc[0], known.iloc[-1]
    grew = _grew(first, last, diagnosis.thresholds.rise_ratio)
    sentences = (_of_heap(first, last), _of_idle(last), _of_sys(last))
    return joined(" ", filter(None, sentences)), grew, WHAT_NEXT


def by_other_fields(diagnosis: Diagnosis, _: MomentFacts | None) -> Told | None:
    """What the last page or dump says where it has no HeapAlloc; None where it says nothing."""
    stats = diagnosis.capture.memstats
    last = stats.iloc[-1] if len(stats) else pd.Series(dtype=object)
    rows = diagnosis.capture.metrics
    metrics = dict(zip(rows["name"], rows["value"], strict=True))  # the last of each
    known = {name: last.get(name) for name in (*OTHER_FIELDS, "HeapReleased", "Sys", "TotalAlloc")}
    sizes = {name: int(size) for name, size in known.items() if not is_unknown(size)}
    said = [_first_of(OTHER_FIELDS, sizes) or _first_of(OTHER_METRICS, metrics)]
    if {"HeapSys", "HeapInuse", "HeapReleased"} <= sizes.keys():
        idle = sizes["HeapSys"] - sizes["HeapInuse"]  # by MemStats' own identity
        said.append(_idle_words(idle, sizes["HeapReleased"]))
    if "Sys" in sizes:
        said.append(_sys_words(sizes["Sys"], sizes.get("HeapReleased")))
    allocated = sizes.get("TotalAlloc", metrics.get(TOTAL_ALLOCATED))
    if not any(said) and allocated:
        words = (
            "The program has allocated {} since it started; how much of that is live is unknown."
        )
        said.append(text(words, Bytes(allocated)))
    counts = diagnosis.facts.goroutine_counts
    if counts:
        said.append(text("It has {}.", Count(counts[-1].goroutines, "goroutine")))
    return (joined(" ", filter(None, said)), False, WHAT_NEXT) if any(said) else None


def _first_of(meanings: Mapping[str, str], sizes: Mapping[str, float]) -> Text:
    """The first of these sizes that is known, and what it is of."""
    name = next((name for name in meanings if sizes.get(name)), None)
    if name is None:
        return Text()
    return text("{} is {}: {}.", name, Bytes(sizes[name]), meanings[name])


def _grew(first: pd.Series, last: pd.Series, ratio: float) -> bool:
    before, after = int(first["HeapAlloc"]), int(last["HeapAlloc"])
    return after - before >= MIB and after >= ratio * before


def _of_heap(first: pd.Series, last: pd.Series) -> Text:
    """Allocated bytes at the last dump, and at the first if there are several."""
    size = Bytes(int(last["HeapAlloc"]))
    if first["moment"] == last["moment"]:
        return text("HeapAlloc is {}: live objects and garbage not yet collected.", size)
    before = Bytes(int(first["HeapAlloc"]))
    within = Text()
    if not pd.isna(first["time"]) and first["time"] < last["time"]:
        within = text(" in {}", Seconds((last["time"] - first["time"]).total_seconds()))
    began = text("{} at {}", before, MomentName(first["moment"]))
    ended = text("{} at {}", size, MomentName(last["moment"]))
    return text("HeapAlloc went from {} to {}{}.", began, ended, within)


def _of_idle(last: pd.Series) -> Text:
    """Idle heap that has not been returned to the OS."""
    if pd.isna(last["HeapIdle"]) or pd.isna(last["HeapReleased"]):
        return Text()
    return _idle_words(int(last["HeapIdle"]), int(last["HeapReleased"]))


def _idle_words(idle: int, released: int) -> Text:
    kept = Bytes(max(idle - released, 0))
    return text("{} of the heap is idle, {} of that not returned to the OS.", Bytes(idle), kept)


def _of_sys(last: pd.Series) -> Text:
    """How much of RSS can be Go's own."""
    if pd.isna(last["Sys"]):
        return Text()
    released = last["HeapReleased"]
    return _sys_words(int(last["Sys"]), None if pd.isna(released) else int(released))


def _sys_words(sys: int, released: int | None) -> Text:
    source = "Sys" if released is None else "Sys less HeapReleased"
    most = Bytes(sys - (released or 0))
    return text("At most {} of RSS is Go's heap and runtime ({}).", most, source)
