"""Which objects are the scheduler's processors, the P's, below which timers hang?

A P has two slices of buffers in itself, `deferpool` and `sudogcache`, which the runtime never
makes larger: no other object points into itself at these distances. So were the P's of 64 bits
from Go 1.18 to 1.27; of others, none is found.
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
MAX_HEADER_BYTES = 8  # of an object, before what it holds


def processors_in(objects: Objects, target: IntArray, inside: IntArray) -> IntArray:
    """Rows of the P's, by where each pointer in an object leads: a row, and how far inside."""
    is_own = (target == objects.source) & (inside - objects.offset == BUFFER_BEHIND)
    row, offset = objects.source[is_own], objects.offset[is_own]
    both = np.isin(_places(row, offset + SLICES_APART), _places(row, offset))
    return np.unique(row[both])


def _places(row: IntArray, offset: IntArray) -> IntArray:
    """Rows and offsets as one number each."""
    return (row << 32) + offset


def merely_points_at(
    processors: IntArray, objects: Objects, target: IntArray, inside: IntArray
) -> NDArray[np.bool_]:
    """Which pointers lead into a P from elsewhere, as from a timer to the list that it is in."""
    is_inner = (inside > MAX_HEADER_BYTES) & (target != objects.source)
    return is_inner & np.isin(target, processors)
