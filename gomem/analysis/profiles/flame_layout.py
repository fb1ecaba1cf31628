"""Where does each frame of a flame graph lie?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def flame_layout(parent: IntArray, depth: IntArray, width: FloatArray) -> dict[str, FloatArray]:
    """Place each frame below its caller (-1 for frame 0, the whole), the widest call first.

    Calls are together at most as wide as their caller. `start` and `width` are fractions of the
    whole; `order` lists the frames' numbers, each caller before its calls.
    """
    calls: list[list[int]] = [[] for _ in width]
    for frame in np.argsort(-width, kind="stable").tolist():
        if parent[frame] >= 0:
            calls[parent[frame]].append(frame)
    start = np.zeros(len(width))
    order: list[int] = []
    waiting = [0]
    while waiting:
        frame = waiting.pop()
        order.append(frame)
        place = start[frame]
        for call in calls[frame]:
            start[call] = place
            place += width[call]
        waiting += reversed(calls[frame])
    whole = width[0] or 1.0
    return {
        "start": start / whole,
        "width": width / whole,
        "depth": depth.astype(np.float64),
        "order": np.array(order, np.float64),
    }
