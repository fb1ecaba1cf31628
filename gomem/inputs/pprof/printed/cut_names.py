"""Rows whose function's name is cut: by a line that was wrapped, or by the end of the text.

The name of a Go function has a dot behind its last slash, and closes its brackets. If the next line
has the rest, as of a mail wrapped at 80 characters, the row is whole; the last row of a text is
damage: half a name is no function.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from gomem.inputs.pprof.printed.lines import AROUND, INLINED, LEGEND, ROW, SUM

if TYPE_CHECKING:
    from collections.abc import Sequence

WRAPPED = 2  # lines of the greatest width
BRACKETS = (("(", ")"), ("[", "]"))


def with_whole_names(texts: Sequence[str]) -> list[str]:
    """Return the lines with wrapped names joined, and the last row without half a name."""
    whole = list(texts)
    widths = Counter(map(len, texts))
    is_wrapped = widths[max(widths, default=0)] >= WRAPPED
    last = max((place for place, text in enumerate(texts) if text.strip()), default=-1)
    for place, text in enumerate(texts):
        row = ROW.fullmatch(text)
        is_full = is_wrapped and len(text) == max(widths)
        if row is None or not (is_full or _is_cut(row[row.lastindex or 0])):
            continue
        rest = texts[place + 1] if place < last else ""
        if place == last and not is_full:
            whole[place] = " ".join(text.split()[:2])
        elif _is_rest(rest) and not _is_cut(row[row.lastindex or 0] + rest.strip()):
            whole[place], whole[place + 1] = text.rstrip() + rest.strip(), ""
    return whole


def _is_cut(name: str) -> bool:
    """Whether a name is the beginning of a Go function's name."""
    bare = INLINED.sub("", name)
    if any(bare.count(opened) > bare.count(closed) for opened, closed in BRACKETS):
        return True
    path, _, last = bare.rpartition("/")
    return bool(path) and "." not in last and " " not in bare


def _is_rest(line: str) -> bool:
    """Whether a line can be the rest of a name."""
    is_one_word = len(INLINED.sub("", line).split()) == 1
    return is_one_word and not any(form.match(line) for form in (AROUND, LEGEND, SUM))
