"""What a command's messages hide. With --redact they go with its output, and hide what that hides.

A message is a text (see `gomem.text`): the type of each part says whether it may be shown. So a
path, or a value from the command line, has to be a part of its own.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from gomem.views.share import Hidden

OPTION = "--redact"
# None where nothing is: most messages need no module of views.
_HIDDEN: ContextVar[Hidden | None] = ContextVar("hidden", default=None)


@contextmanager
def redacting(arguments: list[str]) -> Iterator[None]:
    """Hide names in messages while a command with these arguments runs, if it is asked to.

    That is known before they are parsed, as they may be wrong.
    """
    before = _HIDDEN.set(None)
    try:
        if OPTION in arguments:
            from gomem.views.share import Hidden

            hide(Hidden(redact=True))
        yield
    finally:
        _HIDDEN.reset(before)


def hide(hidden: Hidden) -> Hidden:
    """Let messages say from now on what an output says in the place of names, and return that."""
    if hidden.redact:
        _HIDDEN.set(hidden)
    return hidden


def is_redacting() -> bool:
    """Whether names are hidden."""
    return _HIDDEN.get() is not None


def called(path: Path, name: str) -> str:
    """What a capture is called that may not be named; a single file keeps its own name."""
    from gomem.sources.paths import ARCHIVE_SUFFIXES

    if path.is_dir():
        return name
    last = path.name.lower()
    ending = next((ending for ending in ARCHIVE_SUFFIXES if last.endswith(ending)), "")
    return f"{name}{ending}" if ending else path.name


def shown(message: str) -> str:
    """A message as it may be printed."""
    hidden = _HIDDEN.get()
    return str(message) if hidden is None else hidden.text(message)
