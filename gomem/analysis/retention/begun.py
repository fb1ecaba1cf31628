"""With which function did a goroutine begin, and whose frame is a frame?

Of `go f(x)` the goroutine begins with a wrapper that the compiler made, and the dump names no
function that was inlined into it. The executable says which function the wrapper was made for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.inputs.heapdump.table import BEGIN

if TYPE_CHECKING:
    import pandas as pd

    from gomem.inputs.heapdump.table import HeapDump


def wrappers_in(symbols: pd.DataFrame | None, bias: int) -> dict[int, str]:
    """By the address at which a wrapper begins, what it was made for; empty if not known."""
    if symbols is None:
        return {}
    rows = symbols[symbols["is_wrapper"].fillna(False).astype(bool)]
    pairs = zip(rows["address"].tolist(), rows["wraps"].fillna(""), strict=True)
    return {address + bias: name for address, name in pairs}


def begun_with(dump: HeapDump, wrappers: dict[int, str]) -> tuple[list[str], list[str]]:
    """The function of each goroutine, and that of each frame.

    A goroutine that began with a wrapper began with what that was made for, or else with what it
    called. A wrapper's frame is that of the function that was inlined into it.
    """
    goroutine = dump.frames["goroutine"].tolist()
    entry, called = dump.frames["entry"].tolist(), dump.frames["function"].tolist()
    functions, frames = dump.goroutines["function"].tolist(), list(called)
    began_in_wrapper = [False] * len(functions)
    is_settled = [False] * len(functions)
    for row in reversed(range(len(entry))):  # of each goroutine from where it began
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
