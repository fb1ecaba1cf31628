"""Which objects are the P's, the scheduler's processors, which hold the timers?

A P has two slices, `deferpool` and `sudogcache`, whose buffers are in the P itself and never grow.
No other object points into itself at these distances. This holds for 64-bit P's from Go 1.18 to
1.27; on other platforms, no P is found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gomem.inputs.heapdump.columns import Objects

    IntArray = NDArray[np.int64]

BUFFER_BEHIND = 24  # bytes from such a slice to its buffer
SLICES_APART = 2376  # bytes from the first slice to the second
MAX_HEADER_BYTES = 8  # before the contents of an object


def processors_in(objects: Objects, target: IntArray, inside: IntArray) -> IntArray:
    """Find the rows of P's.

    `target` and `inside` say where each pointer of an object leads: to a row, and an offset in it.
    """
    is_own = (target == objects.source) & (inside - objects.offset == BUFFER_BEHIND)
    row, offset = objects.source[is_own], objects.offset[is_own]
    both = np.isin(_places(row, offset + SLICES_APART), _places(row, offset))
    return np.unique(row[both])


def _places(row: IntArray, offset: IntArray) -> IntArray:
    """Encode each row and offset as one number."""
    return (row << 32) + offset


def merely_points_at(
    processors: IntArray, objects: Objects, target: IntArray, inside: IntArray
) -> NDArray[np.bool_]:
    """Find pointers into a P from other objects, such as a timer's pointer to its list."""
    is_inner = (inside > MAX_HEADER_BYTES) & (target != objects.source)
    return is_inner & np.isin(target, processors)
