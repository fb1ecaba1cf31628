"""A document on standard output: as wide and as colourful as the terminal allows."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gomem.views.document import Document


def terminal_text(document: Document) -> str:
    """The document as text; plain and of the usual width if this is no terminal."""
    from gomem.views.writers.text import write_text

    if not sys.stdout.isatty():
        return write_text(document)
    width = shutil.get_terminal_size().columns
    return write_text(document, width=width, color="NO_COLOR" not in os.environ)
