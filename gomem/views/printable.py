"""Foreign text, made visible: no name of a file can steer a terminal or turn a line around."""

from __future__ import annotations

import re
import unicodedata

_HARMLESS = re.compile(r"[\x20-\x7e\u00a0\u202f]*")


def printable(text: str) -> str:
    r"""A text with escapes for what has no look of its own.

    These are control characters, line breaks among them, marks that change the direction of
    writing, and code points that stand for nothing: `\x1b`, `\n`, `\u202e`.
    """
    if _HARMLESS.fullmatch(text):
        return text
    return "".join(one if _is_visible(one) else repr(one)[1:-1] for one in text)


def _is_visible(character: str) -> bool:
    """Spaces of any width count as visible; what separates lines or paragraphs does not."""
    return character.isprintable() or unicodedata.category(character) == "Zs"
