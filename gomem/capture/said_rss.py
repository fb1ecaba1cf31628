"""Memory in use by a sentence beside other evidence: `the pod has an RSS of 7718Mi`.

It is read as VmRSS if the sentences name one such size, and none that it grew to, is limited to, or
had at another time. Whose it is, a sentence seldom says: the report says where it is from. What a
pod or process uses, `uses 7718Mi memory by top`, counts if no sentence speaks of RSS.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gomem.inputs.markdown import outside_fences
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
# Of a pod, or by top: RSS, or a working set with page cache.
_USED = re.compile(
    rb"\b(?:pod|process|container|program|service|server|daemon|app(?:lication)?|it)"
    rb"(?: now| currently| is| was)?"
    rb" (?:use[sd]?|using|consum(?:e[sd]?|ing)|takes?|took)(?: now| about| around| up)?" + _SIZE
    + rb"|(?<![\w.,-])" + _SIZE + rb"[*_`]{0,3}(?: of)?(?: memory| RAM)? (?:in|by|per|from) top\b"
)  # fmt: skip
_ON_MEMORY = re.compile(rb"\b(?:memory|mem|RAM|top)\b")
_OTHERWISE = re.compile(
    rb"\b(?:from|to) [~`*]{0,3}\d|\b(?:gr[eo]w\w*|increas\w+|ris(?:es|ing)|rose|limit\w*|max\w*"
    rb"|peak\w*|before|baseline|initial\w*|restart\w*|under|below|less|not?|if|would|should)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class SaidPart(SourcePart):
    """A size that a sentence gives, as a line of /proc/PID/status."""

    is_rss: bool = True  # whether the sentence calls it so


def rss_in_a_sentence(lines: Sequence[bytes]) -> tuple[int, bytes, bool] | None:
    """Return line, from 0, and size of the only RSS in sentences, and whether they call it so."""
    short = [item for item in outside_fences(lines) if len(item[1]) <= MAX_LINE]
    is_named = any(_ANY.search(line) for _, line in short)
    said, of = (_SAID, _ANY) if is_named else (_USED, _ON_MEMORY)
    found: dict[bytes, int] = {}
    for place, line in short:
        sizes = said.findall(line) if of.search(line) else []
        if sizes and _OTHERWISE.search(line):
            return None
        for before, behind in sizes:
            found.setdefault((before or behind).replace(b" ", b""), place)
    if len(found) != 1:
        return None
    size, place = next(iter(found.items()))
    return place, size + b"B", is_named
