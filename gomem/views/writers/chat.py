"""A document's first screen in eight lines, for a chat: plain text that no phone cuts.

The lines: what it is of and how it stands, what was found, the size and its change, the largest
parts, what to do, and how many files say so. What a document does not have is left out.
"""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

from gomem.views.document import Bars
from gomem.views.writers.text import readable

if TYPE_CHECKING:
    from gomem.views.document import Document

WIDTH, MAX_LINES = 80, 8
HEADLINE_LINES = 2
LONGEST_WORD = 60  # a function's name can be longer than a line, and its end tells most
_LONG_WORD = re.compile(r"\S{61,}")
SHOWN_PARTS = 3
FILES = "Files"


def write_chat(document: Document) -> str:
    """Write at most eight lines of at most 80 columns; a command is cut nowhere."""
    verdict = document.verdict
    if verdict is None:
        return f"{readable(document.title)}\n"
    lines = _wrapped(f"{document.title}: {verdict.label.upper()}", 1)
    lines += _wrapped(verdict.sentence, HEADLINE_LINES)
    if verdict.size is not None:
        lines += _wrapped(f"{verdict.size.value} {verdict.size.name}", 1)
    lines += _wrapped(", ".join(_parts(document)), 1)
    step = next((step.text for step in verdict.steps if step.is_command), "")
    if step:
        lines.append(readable(f"Next: {step}"))
    elif verdict.steps:
        lines += _wrapped(f"Next: {verdict.steps[0].text}", MAX_LINES - 1 - len(lines))
    counted = dict(document.facts).get(FILES)
    if counted:
        lines.append(f"{readable(counted)} {'file' if counted == '1' else 'files'} read.")
    return "\n".join(lines[:MAX_LINES]) + "\n"


def _parts(document: Document) -> list[str]:
    """The first rows of the picture: by owner, or by function, each with its size."""
    bars = next((block for block in document.opening if isinstance(block, Bars)), None)
    if bars is None:
        return []
    keys = [key for key in bars.keys if not key.is_finer and key.colour]
    if not keys:
        return [f"{bar.name} {bar.value}" for bar in bars.bars[:SHOWN_PARTS]]
    return [
        f"{key.name} {key.values[-1]}" + (f" ({key.change})" if key.change else "")
        for key in keys[:SHOWN_PARTS]
    ]


def _wrapped(line: str, at_most: int) -> list[str]:
    """A line on at most so many; what does not fit ends in an ellipsis."""
    short = _LONG_WORD.sub(lambda word: f"…{word[0][1 - LONGEST_WORD :]}", readable(line))
    return textwrap.wrap(
        short, WIDTH, max_lines=max(1, at_most), placeholder=" …", break_on_hyphens=False
    )
