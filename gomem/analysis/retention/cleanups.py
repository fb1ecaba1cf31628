"""Which objects are closures made by runtime.AddCleanup, and what do they retain?

A dump has no record of cleanups. Go 1.24 and 1.25 make a closure for each cleanup, which refers to
the cleanup's function and argument. Since Go 1.26 the closure refers to neither, so memory that the
argument retains appears unreachable. After a cleanup ran or was stopped, its closure counts until a
collection frees it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gomem.inputs.heapdump.table import HeapDump

MADE_BY_ADD = re.compile(r"runtime\.AddCleanup\[.*\]\.func[0-9]+")
UNKNOWN = "runtime.AddCleanup"  # the name of a cleanup whose function is unknown


def cleanup_closures(dump: HeapDump, functions: dict[int, str]) -> NDArray[np.int64]:
    """Return the rows of objects that are closures made by AddCleanup, found by function names."""
    made = [address for address, name in functions.items() if MADE_BY_ADD.fullmatch(name)]
    return np.flatnonzero(np.isin(dump.columns.objects.first_word, np.array(made, np.uint64)))


def cleanups(dump: HeapDump, functions: dict[int, str], values: dict[int, str]) -> dict[int, str]:
    """Return the function of each cleanup, by the row of its closure; some closures have none.

    `functions` are by entry address, `values` by the words to which function values point.
    """
    objects = dump.columns.objects
    closures = cleanup_closures(dump, functions)
    chosen = np.flatnonzero(np.isin(objects.source, closures))
    # If Go 1.25 moved a cleanup to the heap, it is a pointer in a separate object.
    found, _ = dump.find(objects.target[chosen])
    first = np.flatnonzero((objects.offset == 0) & np.isin(objects.source, found[found >= 0]))
    moved = dict(zip(objects.source[first].tolist(), objects.target[first].tolist(), strict=True))
    said: dict[int, str] = {}
    pairs = zip(objects.source[chosen].tolist(), objects.target[chosen].tolist(), found.tolist(),
                strict=True)  # fmt: skip
    for closure, address, target in pairs:  # in the order of each closure's words
        name = values.get(address, "")
        if target >= 0:
            name = functions.get(int(objects.first_word[target]), "")
            name = name or values.get(moved.get(target, 0), "")
        if name or target >= 0:
            said[closure] = said.get(closure, "") or name
    return {closure: name or UNKNOWN for closure, name in said.items()}
