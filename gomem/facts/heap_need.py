"""How much heap the live objects need: themselves, and garbage until the next collection."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gomem.analysis.profiles.published import IN_USE, total_bounds
from gomem.facts.profiles import that_count

if TYPE_CHECKING:
    from gomem.facts.capture import CaptureFacts


@dataclass(frozen=True)
class HeapNeed:
    """The live heap, and the heap at which the next collection starts.

    Attributes:
        live_bytes: What the last GC of the log left, or the live objects of the last heap profile.
        most_bytes: The heap goal, in the log, or of the profile's upper sampling limit by GOGC.
        is_of_log: Whether a GC log has both.
    """

    live_bytes: int
    most_bytes: float
    is_of_log: bool


def heap_needs_of(facts: CaptureFacts) -> list[HeapNeed]:
    """Return what the log and the last heap profile say; empty without either."""
    return [need for need in (_of_log(facts), _of_profile(facts)) if need is not None]


def _of_log(facts: CaptureFacts) -> HeapNeed | None:
    log = facts.collector
    live = None if log is None else log.cost.heap_live_last_bytes
    if log is None or live is None:
        return None
    return HeapNeed(live, max(live, log.cost.heap_goal_bytes or 0), is_of_log=True)


def _of_profile(facts: CaptureFacts) -> HeapNeed | None:
    usable = [*that_count(IN_USE, facts.profiles.by_moment).values()]
    if not usable:
        return None
    total, bounds = usable[-1].total(IN_USE), total_bounds(usable[-1])
    gogc = float(facts.settings.gogc.value)
    most = float(total if bounds is None else bounds[1])
    room = 1 + (gogc if math.isfinite(gogc) else 0)
    return HeapNeed(int(total), most * room, is_of_log=False)
