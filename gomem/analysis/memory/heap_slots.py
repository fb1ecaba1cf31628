"""How many free slots of spans in use lie beyond the heap goal?

Allocation fills free slots up to the goal. HeapInuse beyond both HeapAlloc and the goal is not
needed even just before the next collection: the heap is fragmented.
"""


def slots_beyond(in_use: float, allocated: float, goal: float) -> int:
    """Return bytes of free slots beyond a goal, from HeapInuse and HeapAlloc in bytes."""
    return int(max(0, in_use - max(allocated, goal)))
