"""Can all that RSS rose by be garbage, by the last reading of a few fields of MemStats?"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gomem.facts.settings import sets_limit

if TYPE_CHECKING:
    from gomem.analysis.memory.account import Account
    from gomem.facts.capture import CaptureFacts


def goal_ahead(account: Account, facts: CaptureFacts) -> int | None:
    """Return the heap goal, if as much was allocated since the last GC as RSS rose by; else None.

    The goal is the live heap of the last GC and GOGC's part of it, unless a memory limit sets it.
    Complete MemStats divide RSS, and are compared instead.
    """
    last, gogc = facts.by_moment.get(account.last.moment), float(facts.settings.gogc.value)
    is_limited = sets_limit(facts.settings.memory_limit)
    if last is None or last.memstats is not None or is_limited or account.quantity != "rss":
        return None
    size, goal = last.told("HeapAlloc"), last.told("NextGC")
    if size is None or goal is None or not size < goal or not 0 < gogc < math.inf:
        return None
    since = size - goal / (1 + gogc)
    return goal if 0 < account.change_bytes <= since else None
