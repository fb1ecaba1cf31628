"""Hide names in a command's messages: with --redact, the same names that its output hides.

A message is a text (see `gomem.text`): the type of each part says whether the part may be shown. So
a path, or a value from the command line, must be a separate part.
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
# None if nothing is hidden: most messages do not need the views.
_HIDDEN: ContextVar[Hidden | None] = ContextVar("hidden", default=None)


@contextmanager
def redacting(arguments: list[str]) -> Iterator[None]:
    """Hide names in messages while a command runs, if its arguments ask for redaction.

    The arguments are searched before they are parsed, because they can be invalid.
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
    """Replace names in messages as the output replaces them, from now on; return `hidden`."""
    if hidden.redact:
        _HIDDEN.set(hidden)
    return hidden


def is_redacting() -> bool:
    """Return whether messages hide names."""
    return _HIDDEN.get() is not None


def called(path: Path, name: str) -> str:
    """Return the redacted name of a capture; a single file keeps its name."""
    from gomem.sources.paths import ARCHIVE_SUFFIXES

    if path.is_dir():
        return name
    last = path.name.lower()
    ending = next((ending for ending in ARCHIVE_SUFFIXES if last.endswith(ending)), "")
    return f"{name}{ending}" if ending else path.name


def shown(message: str) -> str:
    """Return a message with hidden names replaced."""
    hidden = _HIDDEN.get()
    return str(message) if hidden is None else hidden.text(message)
