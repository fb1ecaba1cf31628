"""RSS in a sentence beside other evidence: `the pod has an RSS of 7718Mi by top`.

It is read as VmRSS if the sentences name one such size, and none that it grew to, is limited to, or
had at another time. Whose it is, a sentence seldom says: the report says where it is from.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gomem.inputs.markdown import FENCE
from gomem.sources.artefact import SourcePart

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_LINE = 400
# Kinds of one time without RSS, and the log, beside which one size can stand.
BESIDE = frozenset({"pprof_text", "heap_text", "count_text", "goroutines", "gctrace"})
_SIZE = rb"[*_`~ ]{0,4}(\d{1,9}(?:\.\d{1,3})? ?[KMGT]i?)(?:B\b|(?<=i)\b)(?!/)"
_SAID = re.compile(
    rb"(?<![\w.-])(?:RSS|resident (?:memory|set size))(?: usage| memory| size)?"
    rb"(?:[*_`]{0,3} ?[:=]| of| is| was| at)?(?: now| about| around)?" + _SIZE
    + rb"|(?<![\w.,-])" + _SIZE + rb"[*_`]{0,3}(?: of)? RSS\b"
)  # fmt: skip
_ANY = re.compile(rb"\bRSS\b|\bresident (?:memory|set)\b")
_OTHERWISE = re.compile(
    rb"\b(?:from|to) [~`*]{0,3}\d|\b(?:gr[eo]w\w*|increas\w+|ris(?:es|ing)|rose|limit\w*|max\w*"
    rb"|peak\w*|before|baseline|initial\w*|restart\w*|under|below|less|not?|if|would|should)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class SaidPart(SourcePart):
    """A size that a sentence gives, as a line of /proc/PID/status."""


def rss_in_a_sentence(lines: Sequence[bytes]) -> tuple[int, bytes] | None:
    """Return the line, from 0, and the size, of the only RSS that sentences name; else None."""
    found: dict[bytes, int] = {}
    is_inside = False
    for place, line in enumerate(lines):
        is_inside ^= FENCE.fullmatch(line) is not None
        if is_inside or len(line) > MAX_LINE or not _ANY.search(line):
            continue
        said = _SAID.findall(line)
        if said and _OTHERWISE.search(line):
            return None
        for before, behind in said:
            found.setdefault((before or behind).replace(b" ", b""), place)
    if len(found) != 1:
        return None
    size, place = next(iter(found.items()))
    return place, size + b"B"
