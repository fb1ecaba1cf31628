"""Write a document in a format; text on a terminal has the terminal's width and colours."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING

from gomem.units import is_digits

if TYPE_CHECKING:
    from pathlib import Path

    from gomem.views.document import Document


def terminal_text(document: Document, target: Path | None = None) -> str:
    """Return a document as text, with the terminal's width and colours.

    Without a terminal, the text is plain, and as wide as COLUMNS says, or else 100 columns; in a
    file it is always 100 columns wide.
    """
    from gomem.views.writers.text import write_text

    if target is not None:
        return write_text(document)
    if not sys.stdout.isatty():
        return write_text(document, width=_width_without_terminal())
    return write_text(document, width=_width(), color=_has_colors())


def written_as(chosen: str, document: Document, target: Path | None) -> str:
    """Return a document as `html`, `md` or `text`; text has the terminal's width."""
    if chosen == "html":
        from gomem.views.writers.html import write_html

        return write_html(document)
    if chosen == "md":
        from gomem.views.writers.markdown import write_markdown

        return write_markdown(document)
    return terminal_text(document, target)


def terminal_summary(document: Document, more: str) -> str:
    """Return a document as text: on a terminal the first screen, elsewhere the whole document.

    Args:
        document: The document.
        more: A sentence on how to see the rest.
    """
    from gomem.views.writers.summary import write_summary

    if not sys.stdout.isatty():
        return terminal_text(document)
    return write_summary(document, width=_width(), color=_has_colors(), more=more)


def _width() -> int:
    return shutil.get_terminal_size().columns


def _width_without_terminal() -> int:
    from gomem.views.writers.text import WIDTH

    columns = os.environ.get("COLUMNS", "")
    return int(columns) if is_digits(columns) and int(columns) else WIDTH


def _has_colors() -> bool:
    return "NO_COLOR" not in os.environ
