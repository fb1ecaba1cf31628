"""Which words of a goroutine's stack keep an object alive?

A dump lists the pointers of a frame. If a struct on the stack is passed by address, the list has
only the pointer to the struct. So pointers into the stack are followed. The struct is assumed to
extend to the next known variable, and all its words are assumed to be pointers. All other words of
a frame are remains of earlier calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from gomem.inputs.heapdump.table import HeapDump


def stack_words(dump: HeapDump) -> pd.DataFrame:
    """Return the stack words that keep an object alive: those listed, and all of such structs."""
    roots, frames = dump.roots, dump.frames
    words = roots[roots["kind"] == "frame"]
    start = frames["sp"].to_numpy()[words["owner"].to_numpy()]
    address = start + words["offset"].to_numpy().astype(np.uint64)
    target, holds = words["address"].to_numpy(), words["declared"].to_numpy().copy()
    is_known = np.zeros(len(words), np.bool_)  # whether the word's target has been followed
    sp = np.sort(frames["sp"].to_numpy())
    end = sp + frames["size"].to_numpy()[np.argsort(frames["sp"].to_numpy())].astype(np.uint64)
    bounds = np.unique(np.concatenate([address[holds], end]))
    while True:
        fresh = np.flatnonzero(holds & ~is_known)
        is_known[fresh] = True
        begins = np.unique(target[fresh])
        begins = begins[_in_frame(sp, end, begins)]
        if not len(begins):
            return words[holds]
        bounds = np.unique(np.concatenate([bounds, begins]))
        stop = bounds[np.minimum(np.searchsorted(bounds, begins, side="right"), len(bounds) - 1)]
        place = np.searchsorted(begins, address, side="right") - 1
        inside = (place >= 0) & (address < stop[np.maximum(place, 0)])
        holds |= inside


def _in_frame(
    sp: NDArray[np.uint64], end: NDArray[np.uint64], address: NDArray[np.uint64]
) -> NDArray[np.bool_]:
    place = np.searchsorted(sp, address, side="right") - 1
    if not len(sp):
        return np.zeros(len(address), np.bool_)
    return (place >= 0) & (address < end[np.maximum(place, 0)])
