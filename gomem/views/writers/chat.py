"""A document's first screen in eight lines for a chat: plain text that fits on a phone.

The lines: subject and severity, finding, size and its change, largest parts, next step, and number
of files. Lines without data are left out.
"""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

from gomem.views.document import Bars
from gomem.views.writers.text import readable

if TYPE_CHECKING:
    from gomem.views.document import Document, Verdict

WIDTH, MAX_LINES = 80, 8
HEADLINE_LINES = 2
LONGEST_WORD = 60  # a function's name can be longer than a line, and its end tells most
_LONG_WORD = re.compile(r"\S{61,}")
SHOWN_PARTS = 3
FILES = "Files"
CUT = " …"
_IMPORT_PATH = re.compile(
    r"(?<![\w./~-])[\w-]+(?:\.[\w-]+)+/(?:[\w.~+-]+/)*(?=[\w~-][\w.~-]*\.[\w(])"
)
_FUNCTION = re.compile(
    r"[\w-]*[A-Za-z_][\w-]*\.(?:\([^)\s]*\)\.)?[A-Za-z_][\w.]*(?: \([^()]*\))?"
)  # with its share


def write_chat(document: Document) -> str:
    """Write at most eight lines of at most 80 columns; a command is cut nowhere."""
    verdict = document.verdict
    if verdict is None:
        return f"{readable(document.title)}\n"
    title = _wrapped(f"{document.title}: {verdict.label.upper()}", 1)
    below = _below(document, verdict)
    headline = _headline(verdict.sentence, MAX_LINES - len(title) - len(below))
    return "\n".join((title + headline + below)[:MAX_LINES]) + "\n"


def _headline(sentence: str, room: int) -> list[str]:
    """The sentence on two lines; on more of those left where a function's name would be cut off.

    What does not fit loses its import paths first: `…/handlers.(*Router).Serve`.
    """
    lines = _wrapped(sentence, HEADLINE_LINES)
    is_cut = bool(lines) and lines[-1].endswith(CUT.strip())
    if not is_cut and _LONG_WORD.search(sentence) is None:
        return lines
    short = _without_paths(sentence)
    names = _FUNCTION.findall(short)
    for most in range(HEADLINE_LINES, max(room, HEADLINE_LINES) + 1):
        lines = _wrapped(short, most)
        if all(name in " ".join(lines) for name in names):
            break
    return lines


def _without_paths(line: str) -> str:
    """Functions by their package's last name, where a line is too long for their import path."""
    return _IMPORT_PATH.sub("…/", readable(line))


def _below(document: Document, verdict: Verdict) -> list[str]:
    """What stands below the headline."""
    lines: list[str] = []
    if verdict.size is not None:
        lines += _wrapped(f"{verdict.size.value} {verdict.size.name}", 1)
    lines += _wrapped(_without_paths(", ".join(_parts(document))), 1)
    step = next((step.text for step in verdict.steps if step.is_command), "")
    if step:
        lines.append(readable(f"Next: {step}"))
    elif verdict.steps:
        room = MAX_LINES - 2 - HEADLINE_LINES - len(lines)
        lines += _wrapped(f"Next: {verdict.steps[0].text}", room)
    counted = dict(document.facts).get(FILES)
    if counted:
        lines.append(f"{readable(counted)} {'file' if counted == '1' else 'files'} read.")
    return lines


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
        short, WIDTH, max_lines=max(1, at_most), placeholder=CUT, break_on_hyphens=False
    )
