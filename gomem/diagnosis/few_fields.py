"""What incomplete MemStats show, such as the fields in a program's own log."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from gomem.causes.commands import TAKE_HEAP_PROFILE, TAKE_SMAPS
from gomem.text import Bytes, MomentName, Seconds, Text, joined, text
from gomem.units import MIB

if TYPE_CHECKING:
    from gomem.diagnosis.diagnosis import Diagnosis

FIELDS = ("HeapAlloc", "HeapIdle", "HeapReleased", "Sys")
WHAT_NEXT = text(
    "See what holds the heap: {}. See what is in RSS: {}.", TAKE_HEAP_PROFILE, TAKE_SMAPS
)


def by_few_fields(diagnosis: Diagnosis) -> tuple[Text, bool, Text] | None:
    """The heap and its bound on RSS; whether it grew by a fifth; and the next step."""
    stats = diagnosis.capture.memstats
    known = stats[stats["HeapAlloc"].notna()]
    if known.empty:
        return None
    first, last = known.iloc[0], known.iloc[-1]
    grew = _grew(first, last, diagnosis.thresholds.rise_ratio)
    sentences = (_of_heap(first, last), _of_idle(last), _of_sys(last))
    return joined(" ", filter(None, sentences)), grew, WHAT_NEXT


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
    kept = max(int(last["HeapIdle"] - last["HeapReleased"]), 0)
    whole = Bytes(int(last["HeapIdle"]))
    return text("{} of the heap is idle, {} of that not returned to the OS.", whole, Bytes(kept))


def _of_sys(last: pd.Series) -> Text:
    """How much of RSS can be Go's own."""
    if pd.isna(last["Sys"]):
        return Text()
    released = last["HeapReleased"]
    most = last["Sys"] if pd.isna(released) else last["Sys"] - released
    source = "Sys" if pd.isna(released) else "Sys less HeapReleased"
    return text("At most {} of RSS is Go's heap and runtime ({}).", Bytes(int(most)), source)
