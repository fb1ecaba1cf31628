"""How far loading is, in a cell of a notebook: one line, which comes late and goes at the end.

Only a kernel that somebody works in shows it: a page that is run from its first cell to its last
sets `UNWATCHED`, so that it has the same bytes however long that takes.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SHOWN_AFTER_SECONDS = 1.0  # what is done by then needs no words
SHOWN_EVERY_SECONDS = 0.2
UNWATCHED = "GOMEM_UNWATCHED"  # in the environment of a kernel that nobody looks at


@contextmanager
def watched_in_a_notebook() -> Iterator[Callable[[str, int, int], None] | None]:
    """A callback for `load`, or None where no cell of a notebook shows what it says."""
    # What is not loaded runs no kernel, and is not loaded for this.
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if ipython is None or not hasattr(shell, "kernel") or UNWATCHED in os.environ:
        yield None
        return
    line = _Line(ipython.display.display)
    try:
        yield line.say
    finally:
        line.end()


class _Line:
    """One line of a cell's output, rewritten now and then."""

    def __init__(self, display: Callable[..., Any]) -> None:
        self._display = display
        self._handle: Any = None
        self._due = monotonic() + SHOWN_AFTER_SECONDS

    def say(self, name: str, number: int, total: int) -> None:
        if monotonic() < self._due:
            return
        words = {"text/plain": f"reading {name}: {number} of {total}"}
        if self._handle is None:
            self._handle = self._display(words, raw=True, display_id=True)
        else:
            self._handle.update(words, raw=True)
        self._due = monotonic() + SHOWN_EVERY_SECONDS

    def end(self) -> None:
        if self._handle is not None:
            self._handle.update({"text/plain": ""}, raw=True)
