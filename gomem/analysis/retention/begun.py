"""What did a goroutine begin with, who started it, and to which function does a frame belong?

For `go f(x)`, the goroutine begins with a wrapper made by the compiler, and the dump does not name
functions inlined into the wrapper. The symbols of the executable say for which function a wrapper
was made.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from gomem.inputs.heapdump.table import BEGIN, HeapDump

if TYPE_CHECKING:
    import pandas as pd


MAX_STARTERS = 2  # functions named as starters of a function's goroutines


def wrappers_in(symbols: pd.DataFrame | None, bias: int) -> dict[int, str]:
    """Return the functions for which wrappers were made, by the wrapper's start address.

    Empty without symbols.
    """
    if symbols is None:
        return {}
    rows = symbols[symbols["is_wrapper"].fillna(False).astype(bool)]
    pairs = zip(rows["address"].tolist(), rows["wraps"].fillna(""), strict=True)
    return {address + bias: name for address, name in pairs}


def begun_with(dump: HeapDump, wrappers: dict[int, str]) -> tuple[list[str], list[str]]:
    """Return the function with which each goroutine began, and the function of each frame.

    If a goroutine began with a wrapper, its function is the one that the wrapper was made for, or
    else the one that the wrapper called. The frame of a wrapper belongs to the function inlined
    into the wrapper.
    """
    goroutine = dump.frames["goroutine"].tolist()
    entry, called = dump.frames["entry"].tolist(), dump.frames["function"].tolist()
    functions, frames = dump.goroutines["function"].tolist(), list(called)
    began_in_wrapper = [False] * len(functions)
    is_settled = [False] * len(functions)
    for row in reversed(range(len(entry))):  # from where each goroutine began
        of, wraps = goroutine[row], wrappers.get(entry[row])
        if wraps and not (row and goroutine[row - 1] == of and called[row - 1] == wraps):
            frames[row] = wraps
        if is_settled[of] or called[row] in BEGIN:
            continue
        if wraps or (wraps is None and began_in_wrapper[of]):
            functions[of] = wraps or called[row]
        is_settled[of] = wraps != ""
        began_in_wrapper[of] = True
    return functions, frames


def started_by(dump: HeapDump, begun: list[str], functions: dict[int, str]) -> dict[str, str]:
    """Return the functions that started goroutines, by the function that the goroutines began with.

    The most frequent comes first. `functions` has all functions by entry address; a call belongs to
    the function with the nearest entry below.
    """
    entries = np.array(sorted(functions), np.uint64)
    creation = dump.goroutines["creation_pc"].to_numpy()
    place = np.searchsorted(entries, creation, side="left") - 1  # it is after the call
    starters: dict[str, Counter[str]] = {}
    for function, row, address in zip(begun, place.tolist(), creation.tolist(), strict=True):
        if row >= 0 and address:
            name = functions[int(entries[row])]
            starters.setdefault(function, Counter())[name] += 1
    return {
        function: " and ".join(
            [
                *(name for name, _ in names.most_common(MAX_STARTERS)),
                *([f"{len(names) - MAX_STARTERS} more"] if len(names) > MAX_STARTERS else []),
            ]
        )
        for function, names in starters.items()
    }
