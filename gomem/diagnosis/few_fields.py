"""What MemStats say of which only some fields are there, as a program's own log has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from gomem.causes.commands import TAKE_HEAP_PROFILE, TAKE_SMAPS
from gomem.text import Bytes, MomentName, Seconds, Text, joined, text
from gomem.units import MIB

if TYPE_CHECKING:
    from gomem.diagnosis.diagnosis import Diagnosis

# Fields that say how large the heap is, the nearest to the objects first, and what each is.
LEVELS = {
    "HeapAlloc": "live objects and garbage not yet collected",
    "HeapInuse": "spans with objects, live or garbage, and their free slots",
    "HeapSys": "heap that Go reserved, in use and idle",
    "Sys": "all that Go reserved: heap, stacks, runtime",
}
WHAT_NEXT = text(
    "{} It says who holds the heap. {} It says what is in RSS.", TAKE_HEAP_PROFILE, TAKE_SMAPS
)


def by_few_fields(diagnosis: Diagnosis) -> tuple[Text, bool, Text] | None:
    """The heap and its bound on RSS; whether it grew by a fifth; and the next step."""
    stats = diagnosis.capture.memstats
    level = next((name for name in LEVELS if stats[name].notna().any()), None)
    if level is None:
        return None
    known = stats[stats[level].notna()]
    first, last = known.iloc[0], known.iloc[-1]
    grew = _grew(first, last, level, diagnosis.thresholds.rise_ratio)
    sentences = (_of_level(first, last, level), _of_idle(last), _of_sys(last))
    return joined(" ", filter(None, sentences)), grew, WHAT_NEXT


def _grew(first: pd.Series, last: pd.Series, level: str, ratio: float) -> bool:
    before, after = int(first[level]), int(last[level])
    return after - before >= MIB and after >= ratio * before


def _of_level(first: pd.Series, last: pd.Series, level: str) -> Text:
    """The heap at the last dump, and at the first if there are several."""
    size = Bytes(int(last[level]))
    if first["moment"] == last["moment"]:
        return text("{} is {}: {}.", level, size, LEVELS[level])
    before = Bytes(int(first[level]))
    within = Text()
    if not pd.isna(first["time"]) and first["time"] < last["time"]:
        within = text(" in {}", Seconds((last["time"] - first["time"]).total_seconds()))
    began = text("{} at {}", before, MomentName(first["moment"]))
    ended = text("{} at {}", size, MomentName(last["moment"]))
    return text("{} went from {} to {}{}.", level, began, ended, within)


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
