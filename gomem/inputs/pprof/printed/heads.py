"""Heads of `go tool pprof -top` without their rows; gomem only reports them.

Form          lib/store                       the name of a package or file, added by a script
              Showing nodes accounting for -290.14MB, 0.15% of 190493.35MB total
A negative size shows that a profile was subtracted (`-base`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gomem.inputs.pprof.printed.lines import SHOWN, SHOWN_CUT, amount_of
from gomem.inputs.resemblance import Resemblance
from gomem.inputs.text_lines import decoded
from gomem.text import Count, Quoted, Text, joined, text

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMED = 4  # heads
_ABOVE = re.compile(r"\s*([A-Za-z][\w./:-]{0,100})\s*")
_ASK = (
    "the rows below the head say which functions have it: go tool pprof -top -base OLD NEW; "
    "gomem compare OLD NEW reads both profiles"
)


def heads_of_pprof(head: bytes, _: str) -> Resemblance | None:
    """Describe the sums that the heads of tables say, largest first; None without any."""
    found = list(_heads(decoded(head).split("\n")))
    if not found:
        return None
    found.sort(key=lambda shown: -abs(shown[0]))
    is_difference = any(value < 0 for value, _ in found)
    of = Text(", of differences between two profiles") * is_difference
    words = "{} of go tool pprof without rows{}: {}"
    said = joined(", ", (words for _, words in found[:NAMED]))
    more = f", and {len(found) - NAMED} more" * (len(found) > NAMED)
    what = text("{}{}", text(words, Count(len(found), "head"), of, said), more)
    return Resemblance(what, _ASK)


def _heads(lines: list[str]) -> Iterator[tuple[int, Text]]:
    """Yield the size of each head, and its words, with the name in the line above."""
    above, last = "", next((place for place in reversed(range(len(lines))) if lines[place]), 0)
    for place, line in enumerate(lines):
        cut = SHOWN_CUT.match(line) if place == last else None  # by the end of the text
        if shown := SHOWN.fullmatch(line) or cut:
            size, total = (shown[1], shown[3]) if shown[1] else (shown[4], shown[5])
            name = _ABOVE.fullmatch(above)
            whose = text("{} ", Quoted(name[1])) if name else Text()
            yield amount_of(size).value, text("{}{} of {}", whose, Quoted(size), Quoted(total))
        above = line
