"""Which goroutine most likely holds the lock that others wait for?

No profile shows who holds a lock. But a lock is most often a field, used by the methods of its
type: a goroutine that is in a method of the same type and does not wait for the lock has passed it.
If such goroutines are few and all in one function, this function most likely holds the lock, while
it waits for something else: a channel, the network, another lock.

A goroutine that runs a type's main loop is also in a method of the type all the time, but holds no
lock while it waits for work. So a function other than the one in which most wait does not count if
its goroutine was started with that function, or sleeps.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_ROOTS = frozenset({"main.main", "runtime.main", "runtime.goexit"})
_CLOSURE = re.compile(r"\.func[0-9.]+$|\.gowrap[0-9]+$")
_METHODS = re.compile(r".*\.\(\*?[^()]+\)\.")


def lock_holder(
    waiting_in: str, goroutines: Iterable[tuple[str, bool, int]], waiters_per_holder: int
) -> str:
    """Return the method that most likely holds the lock; empty if nothing shows that.

    Args:
        waiting_in: The program's own function in which most goroutines wait for the lock.
        goroutines: For each group its stack with functions joined by `;`, innermost first, whether
            it waits for a lock, and the number of goroutines.
        waiters_per_holder: The minimum, see `Thresholds`.
    """
    methods = _METHODS.match(waiting_in)
    if methods is None:
        return ""
    waiters = 0
    passed: dict[str, int] = {}
    for stack, waits, count in goroutines:
        frames = stack.split(";")
        inside = [name for name in frames if name.startswith(methods[0])]
        if inside and waits:
            waiters += count
        elif inside and (inside[0] == waiting_in or not _is_loop(frames, methods[0])):
            passed[inside[0]] = passed.get(inside[0], 0) + count
    is_stuck = len(passed) == 1 and waiters_per_holder * sum(passed.values()) <= waiters
    return next(iter(passed)) if is_stuck else ""


def _is_loop(stack: list[str], methods: str) -> bool:
    """Whether a goroutine was begun for these methods, by `go` or main, or sleeps."""
    outermost = max(place for place, name in enumerate(stack) if name.startswith(methods))
    callers = [name for name in stack[outermost + 1 :] if name not in _ROOTS]
    begun_for_them = not callers or (len(callers) == 1 and _CLOSURE.search(callers[0]) is not None)
    return begun_for_them or "time.Sleep" in stack[:outermost]
