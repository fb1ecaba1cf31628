"""Goroutines that a person abridged: one stack, with a placeholder as its number, stands for all.

Form          goroutine NNNNN [chan send, 49 minutes]:
              main.(*queue).push(...) queue.go:66
The text above can have the same stack once more, with its creator; the text around it can count
goroutines by state (`305 chan send`). Then the stack stands for as many as that state has.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from gomem.inputs.goroutines.by_state import counted_states
from gomem.inputs.goroutines.parse import HEADLESS
from gomem.inputs.pprof.calls.names import of_the_runtime

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gomem.errors import Damage
    from gomem.inputs.goroutines.parse import Dumped, Waiting

MAX_BYTES = 1 << 20  # a text that a person wrote is shorter
_PLACEHOLDER = re.compile(
    rb"^([ \t]*goroutine )(?:[Nn]{1,8}|[Xx]{2,8}|#{1,8}|\?{2,8}|\*{1,8}|\.{2,3}|\xe2\x80\xa6"
    rb"|<\w{1,20}>)(?= \[[a-zA-Z][^\]\n]{1,200}\]:[ \t]*$)",
    re.MULTILINE,
)
_CREATED = re.compile(rb"^[ \t]*created by (\S+)", re.MULTILINE)


def with_numbers(data: bytes) -> bytes:
    """Return the text with a number in each header that has a placeholder."""
    if len(data) > MAX_BYTES or b"goroutine " not in data:
        return data
    return _PLACEHOLDER.sub(rb"\g<1>1", data)


def completed(
    found: Dumped, damaged: Sequence[Damage], *, plain: bytes, whole: bytes
) -> tuple[Dumped, tuple[Damage, ...], bool]:
    """Return the goroutines with what the text says elsewhere of one that stands for all.

    With the damage that is left, and whether the stack above is its own.
    """
    begun = _PLACEHOLDER.search(plain) if len(plain) <= MAX_BYTES else None
    if begun is None:
        return found, tuple(damaged), False
    above, left = plain[: begun.start()], tuple(damaged)
    creator = _CREATED.search(above)
    goroutines = found.goroutines
    is_same = creator is not None and len(goroutines) == 1 and _is_same(above, *goroutines)
    if creator is not None and is_same:
        name = creator[1].decode("utf-8", "backslashreplace")
        alike = {
            replace(waiting, created_by=waiting.created_by or name): count
            for waiting, count in goroutines.items()
        }
        goroutines = Counter(alike)
        left = tuple(fault for fault in damaged if fault.what != HEADLESS)
    counted = counted_states(whole[:MAX_BYTES])
    states = Counter(waiting.state for waiting in goroutines)
    times = {state: counted.get(state, 1) for state, stacks in states.items() if stacks == 1}
    scaled = {waiting: times.get(waiting.state, count) for waiting, count in goroutines.items()}
    placed = found.placed
    if len(scaled) == 1 and len(placed) == 1:
        placed = Counter(dict.fromkeys(placed, sum(scaled.values())))
    return replace(found, goroutines=Counter(scaled), placed=placed), left, is_same


def _is_same(above: bytes, waiting: Waiting) -> bool:
    """Whether a stack in the text above has the same innermost function outside the runtime."""
    own = next((name for name in waiting.stack if not of_the_runtime(name)), "")
    return bool(own) and own.encode() + b"(" in above
