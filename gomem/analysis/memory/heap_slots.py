"""How many free slots of spans in use lie beyond the heap goal?

Allocation fills free slots up to the goal. HeapInuse beyond both HeapAlloc and the goal is not
needed even just before the next collection: the heap is fragmented.
"""

from gomem.units import MIB

LEAST_GOAL_BYTES = 4 * MIB  # with GOGC=100 (runtime/mgcpacer.go): a lower goal tells nothing


def slots_beyond(in_use: float, allocated: float, goal: float) -> int:
    """Return bytes of free slots beyond a goal, from HeapInuse and HeapAlloc in bytes."""
    return int(max(0, in_use - max(allocated, goal)))
