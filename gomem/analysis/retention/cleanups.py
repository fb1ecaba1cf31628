"""Which objects are functions that runtime.AddCleanup made, and what do they keep?

A dump has no record of cleanups. Go 1.24 and 1.25 make a closure of each, which refers to the
cleanup's function and to its argument. Since 1.26 that closure refers to neither, so that what the
argument keeps hangs below nothing. After a cleanup ran or was stopped, its closure counts until a
collection takes it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gomem.inputs.heapdump.table import HeapDump

MADE_BY_ADD = re.compile(r"runtime\.AddCleanup\[.*\]\.func[0-9]+")
UNKNOWN = "runtime.AddCleanup"  # what a cleanup is called whose function is not known


def cleanup_closures(dump: HeapDump, functions: dict[int, str]) -> NDArray[np.int64]:
    """Rows of the closures that AddCleanup made, by functions' names."""
    made = [address for address, name in functions.items() if MADE_BY_ADD.fullmatch(name)]
    return np.flatnonzero(np.isin(dump.columns.objects.first_word, np.array(made, np.uint64)))


def cleanups(dump: HeapDump, functions: dict[int, str], values: dict[int, str]) -> dict[int, str]:
    """The closures that refer to something, and the cleanup's function of each.

    `functions` by their entries, `values` by the words that function values point at.
    """
    objects = dump.columns.objects
    closures = cleanup_closures(dump, functions)
    chosen = np.flatnonzero(np.isin(objects.source, closures))
    # A cleanup that Go 1.25 moved to the heap is a pointer in an object of its own.
    found, _ = dump.find(objects.target[chosen])
    first = np.flatnonzero((objects.offset == 0) & np.isin(objects.source, found[found >= 0]))
    moved = dict(zip(objects.source[first].tolist(), objects.target[first].tolist(), strict=True))
    said: dict[int, str] = {}
    pairs = zip(objects.source[chosen].tolist(), objects.target[chosen].tolist(), found.tolist(),
                strict=True)  # fmt: skip
    for closure, address, target in pairs:  # of each closure in the order of its words
        name = values.get(address, "")
        if target >= 0:
            name = functions.get(int(objects.first_word[target]), "")
            name = name or values.get(moved.get(target, 0), "")
        if name or target >= 0:
            said[closure] = said.get(closure, "") or name
    return {closure: name or UNKNOWN for closure, name in said.items()}
