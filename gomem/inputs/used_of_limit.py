"""How much of a memory limit a sentence says is used: `3.2 GiB of its 4 GiB limit`.

Forms         USED of (its) LIMIT limit · USED of a limit of LIMIT
              USED / LIMIT, in a line that names memory or a limit
              limit is LIMIT … uses USED, in one line, and the other way round
Only where the line has no third size: then it is clear which is which.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gomem.inputs.processes.row import bytes_of
from gomem.text import Quoted, Share, Text, text

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_LINE = 1000  # a longer one is no sentence
_SIZE = rb"\d{1,9}(?:\.\d{1,3})? ?(?:[KMGT]i?B?|[kmg]b)(?![\w/])"
_EVERY = re.compile(rb"(?<![\w.,-])" + _SIZE)
_USED, _LIMIT = rb"(?<![\w.,-])(?P<used>" + _SIZE + rb")", rb"(?P<limit>" + _SIZE + rb")"
_WORDS = rb"(?: ?[`*\"']| (?:is|of|are|at|to|set|up|about|around|roughly|only|memory|RAM)|[:=])"
_LIMITED = rb"\blimits?" + _WORDS + rb"{0,5} ?" + _LIMIT
_USES = (
    rb"\b(?:us(?:es?|ed|ing|age)|consum(?:es?|ed|ing|ption)|sits|reach(?:es|ed))"
    + _WORDS + rb"{0,5} ?(?P<used>" + _SIZE + rb")"
)  # fmt: skip
_USED_OF = _USED + rb"(?: of)?(?: memory| RAM)?(?: out)? of (?:(?:its|the|an?|their|our) )?"
_FORMS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        _USED_OF + rb"(?:memory )?limit (?:of )?" + _LIMIT,
        _USED_OF + _LIMIT + rb"(?: memory| RAM)? limit",
        _USED + rb" ?/ ?" + _LIMIT,
        _LIMITED + rb"[^\n]{1,200}?" + _USES,
        _USES + rb"[^\n]{1,200}?" + _LIMITED,
    )
)
# `memory usage averages about 55Mi`, whatever words are between, but for those of a bound.
_IN_USE = re.compile(
    rb"\b(?:memory|mem|RAM)\b[^\n.;]{0,40}?\b(?:us(?:es?|ed|ing|age)|consum(?:es?|ed|ing|ption))\b"
    rb"(?:[ :=]+(?!limit|request|maximum|allow)[a-z]{1,12}\b){0,4}[ :=~]{1,3}(" + _SIZE + rb")"
    rb"|\b(?:us(?:es|ed|ing)|consum(?:es|ed|ing))(?: (?!limit|request)[a-z]{1,12}\b){0,3} ("
    + _SIZE + rb")(?: of)? (?:memory|RAM)\b", re.IGNORECASE,
)  # fmt: skip
# `the limits memory I set is 170Mi`, `a 170Mi memory limit`; no `raised from 170Mi`.
_LIMIT_ALONE = re.compile(
    rb"\blimits?(?:\.memory)?\b(?:[ :=`*\"'(]{1,4}(?!request|us)[a-z]{1,10}\b){0,6}?"
    rb"[ :=`*\"'(]{1,4}(?<!from )(" + _SIZE + rb")"
    rb"|(?<![\w.,-])(" + _SIZE + rb")(?: of)?(?: memory| RAM)? limit\b"
    rb"|\blimited to (?:only |about )?(" + _SIZE + rb")"
    rb"|(?<![\w.,-])(" + _SIZE + rb") max(?:imum)? (?:memory|RAM)\b(?! us)", re.IGNORECASE,
)  # fmt: skip
# `after raising the memory limit to 256Mi it works`
_ENOUGH = re.compile(
    rb"\b(?:(?:rais|increas|bump|chang)(?:es?|ed|ing)?|set(?:s|ting)?)\b[^\n]{0,80}?"
    rb"\b(?:limits?|memory)\b[^\n]{0,40}? to [`*\"']{0,3}(" + _SIZE + rb")[^\n]{0,100}?"
    rb"(?<!not )(?<!n't )\b(?:work(?:s|ed)|r[au]ns? (?:fine|well|stable)|(?:is|was) (?:fine|stable)"
    rb"|no (?:more )?(?:restarts?|OOM\w*|kills?)|(?:solv|fix|resolv)e[sd]|help(?:s|ed))\b",
    re.IGNORECASE,
)
_ON_MEMORY = re.compile(rb"\b(?:memory|mem|RAM|limits?|rss)\b", re.IGNORECASE)


def used_of_limit(head: bytes) -> Text | None:
    """Say what a sentence says is used of a limit; None if no line says both clearly."""
    pairs = dict.fromkeys(_pairs(head))
    said = [
        text("{} of a limit of {} ({})", *map(Quoted, pair), Share(_share(*pair)))
        for pair in pairs
        if _share(*pair)
    ]
    return text("it says in a sentence that {} is used", said[-1]) if len(said) == 1 else None


def uses_in_words(head: bytes) -> list[str]:
    """Return the sizes that sentences say of memory in use, each once."""
    found = (before or behind for before, behind in _IN_USE.findall(head))
    return list(dict.fromkeys(size.decode("ascii") for size in found))


def limits_in_words(head: bytes) -> list[str]:
    """Return the sizes that sentences say of a limit, each once."""
    found = (next(filter(None, sizes)) for sizes in _LIMIT_ALONE.findall(head))
    return list(dict.fromkeys(size.decode("ascii") for size in found))


def enough_in(head: bytes) -> list[str]:
    """Return the limits with which a program ran, as sentences say, each once."""
    return list(dict.fromkeys(size.decode("ascii") for size in _ENOUGH.findall(head)))


def _pairs(head: bytes) -> Iterator[tuple[str, str]]:
    """Yield use and limit of each line that has these two sizes alone."""
    for line in head.split(b"\n"):
        if len(line) > MAX_LINE or _ON_MEMORY.search(line) is None:
            continue
        if len(set(_EVERY.findall(line))) > 2:
            continue
        found = next(filter(None, (form.search(line) for form in _FORMS)), None)
        if found is not None:
            yield found["used"].decode("ascii"), found["limit"].decode("ascii")


def _share(used: str, limit: str) -> float:
    """Return the use as a share of the limit; 0 if it is above, or a size cannot be read."""
    part, whole = bytes_of(used.encode("ascii")), bytes_of(limit.encode("ascii"))
    return part / whole if 0 < part <= whole else 0.0
