"""A document's first screen in eight lines for a chat: plain text that fits on a phone.

The lines: subject and severity, finding, size and its change, largest parts, next step, and number
of files. Lines without data are left out.
"""

from __future__ import annotations

import re
import textwrap

from gomem.views.document import Bars, Document, Verdict
from gomem.views.writers.text import readable

WIDTH, MAX_LINES = 80, 8
HEADLINE_LINES = 2
LONGEST_WORD = 60  # a longer function name is cut at its start, because its end is more informative
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
    """Write at most eight lines of at most 80 columns; commands are never cut."""
    verdict = document.verdict
    if verdict is None:
        return f"{readable(document.title)}\n"
    title = _wrapped(f"{document.title}: {verdict.label.upper()}", 1)
    below = _below(document, verdict)
    headline = _headline(verdict.sentence, MAX_LINES - len(title) - len(below))
    return "\n".join((title + headline + below)[:MAX_LINES]) + "\n"


def _headline(sentence: str, room: int) -> list[str]:
    """The sentence on two lines, or on more free lines if a function's name would be cut.

    A text that is too long first loses import paths: `…/handlers.(*Router).Serve`.
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
    """Functions without import paths, if the line is too long."""
    return _IMPORT_PATH.sub("…/", readable(line))


def _below(document: Document, verdict: Verdict) -> list[str]:
    """The lines below the headline."""
    lines: list[str] = []
    if verdict.number:
        lines += _wrapped(verdict.number, 1)
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
    """The first rows of the picture: by owner or by function, each with its size."""
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
    """Wrap to at most `at_most` lines, ending in an ellipsis if there is more."""
    short = _LONG_WORD.sub(lambda word: f"…{word[0][1 - LONGEST_WORD :]}", readable(line))
    return textwrap.wrap(
        short, WIDTH, max_lines=max(1, at_most), placeholder=CUT, break_on_hyphens=False
    )
