"""Show the progress of loading in a notebook cell: one line, which appears late and is removed.

Only an interactive kernel shows the line. A notebook that is run as a whole sets `UNWATCHED`, so
that its output has the same bytes however long loading takes.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SHOWN_AFTER_SECONDS = 1.0  # shorter work needs no progress
SHOWN_EVERY_SECONDS = 0.2
UNWATCHED = "GOMEM_UNWATCHED"  # set in the environment of a non-interactive kernel


@contextmanager
def watched_in_a_notebook() -> Iterator[Callable[[str, int, int], None] | None]:
    """Yield a progress callback for `load`, or None outside of a notebook cell."""
    # If IPython is not imported, there is no kernel, and it need not be imported.
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
    """One line of a cell's output, rewritten at intervals."""

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
