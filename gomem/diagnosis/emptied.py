"""Few objects that need as much heap as many did: a map or slice that was emptied, and kept.

Deleting from a map frees the objects that its entries refer to, but never its table (Go 1.24's
Swiss tables, too, only grow); `s[:0]` keeps the whole array. So HeapObjects falls, and HeapAlloc
stays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from gomem.text import Bytes, Count, MomentName, Text, text

if TYPE_CHECKING:
    from gomem.diagnosis.diagnosis import Diagnosis

FIELDS = ["HeapAlloc", "HeapObjects", "NumGC"]
_WORDS = (
    "HeapObjects fell from {} at {} to {} at {}, and HeapAlloc is still {}: {} each. A map or "
    "slice that was emptied keeps its memory: replace it with a new one."
)


def emptied_words(diagnosis: Diagnosis) -> Text:
    """Say that the heap stayed although nearly all objects are gone; empty if it did not."""
    read = [(moment.name, moment.any_memstats) for moment in diagnosis.facts.of_last_process]
    known = [(name, stats[FIELDS].astype(float)) for name, stats in read if _has_fields(stats)]
    if not known[1:]:
        return Text()
    (then, most), (now, last) = max(known, key=lambda each: each[1]["HeapObjects"]), known[-1]
    limits = diagnosis.thresholds
    is_emptied = last["HeapObjects"] <= limits.emptied_objects_share * most["HeapObjects"]
    is_kept = last["HeapAlloc"] >= max(
        limits.growth_few_bytes, limits.most_share * most["HeapAlloc"]
    )
    if not (is_emptied and is_kept and last["NumGC"] > most["NumGC"]):
        return Text()
    each = last["HeapAlloc"] / max(1.0, last["HeapObjects"])
    objects = (Count(round(size["HeapObjects"])) for size in (most, last))
    before, after = objects
    size = Bytes(round(last["HeapAlloc"]))
    return text(
        _WORDS, before, MomentName(then), after, MomentName(now), size, Bytes(round(each))
    )


def _has_fields(stats: pd.Series | None) -> bool:
    return stats is not None and bool(stats.reindex(FIELDS).notna().all())
