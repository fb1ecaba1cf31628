"""Sizes and goroutine counts in sentences and lists, each with the name given there.

Lists         `- live heap: **410 MiB**`, `First sample: 2.1GB - Last sample: 4.3GB`
Growth        `RSS has grown by 30MB, while go_memstats_heap_inuse_bytes remained stable`
Metrics       `the only one that grows is go_memstats_buck_hash_sys_bytes`
Goroutines    `12 651 goroutines in net/http.setRequestCancel.func4`
Rates         `3 goroutines every 30s`
Stacks        `goroutine 7 [select, 2 minutes]: 1 times`, folded by a script
Limits        `GOMEMLIMIT=40MiB` is a setting, and no size in use
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gomem.inputs.text_lines import decoded
from gomem.text import Count, Function, Quoted, Text, joined, text

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMED, NAMED_COUNTS = 5, 3  # sizes or metrics shown; numbers of goroutines
DAY = 86400
_UNIT = rb"(?:[KMGT]i?[Bb]|[MG]i)"
_LABELLED = re.compile(
    rb"(?:^[ \t>]*(?:[-*+\xe2\x80\xa2]+ +|\d\. +)?| - |; )[*_`]{0,3}"
    rb"([A-Za-z][A-Za-z /-]{1,38}?)[*_`]{0,3}:[*_`]{0,3} *"
    rb"(?:approximately|approx\.?|about|around|roughly|~)? *[*_`]{0,3}"
    rb"(\d[\d.,]{0,15} ?" + _UNIT + rb")(?![\w/])",
    re.MULTILINE,
)
_LIMIT = re.compile(
    rb"\b(GOMEMLIMIT[`*\"']{0,2} ?(?:=|:| to | of | is ) ?[`\"']?[\d.]{1,12} ?[KMGT]i?B)"
)
_GROWS = rb"(?:grow[ns]?|grew|growing|increas\w{1,4}|ris(?:es|ing)|rose|climb\w{1,3}|leak\w{0,3})"
_STAYS = rb"(?:stable|flat|constant|steady|unchanged|(?:not|n't|never) (?:grow|increase|rise))"
_RSS = rb"(?:process_resident_memory_bytes|\bRSS\b|resident (?:memory|set)|working set)"
_HEAP = rb"(?:go_memstats_(?:alloc|heap_\w{1,12}|stack_inuse)_bytes|\b[Hh]eap\b)"
_NEAR = rb"[^\n]{0,160}?"
_RSS_GROWS = re.compile(_RSS + _NEAR + _GROWS + rb"|" + _GROWS + rb"[^\n.]{0,60}?" + _RSS)
_HEAP_STAYS = re.compile(_HEAP + _NEAR + _STAYS + rb"|" + _STAYS + rb"[^\n.]{0,60}?" + _HEAP)
_GROWING_METRIC = re.compile(
    rb"\b" + _GROWS + rb"\b[^\n.]{0,60}?(go_memstats_\w{1,40}_bytes)"
    rb"|(go_memstats_\w{1,40}_bytes)[`*]{0,3} (?:has |have |is |keeps |slowly |only ){0,2}" + _GROWS
)
_PROFILER_TABLE = b"go_memstats_buck_hash_sys_bytes"
_RATE = re.compile(
    rb"(?<![\w.,])(\d{1,6})(?: \w{1,10})? goroutines? (?:every|per|each|an?) "
    rb"(?:(\d{1,4}) ?)?(s|secs?|seconds?|m|mins?|minutes?|h|hours?|day|request|scrape|call)\b"
)
_GOROUTINE_LEAK = re.compile(
    rb"(?<!no )(?<!not )(?<!not a )(?<!any )(?:goroutines? (?:are |is |were |being )?leak"
    rb"|leak(?:s|ed|ing)? (?:of |the |some |many )?goroutines?\b)",
    re.IGNORECASE,
)
_GOROUTINES = re.compile(
    rb"(?<![\w.,:])(\d{1,3}(?:[ ,']\d{3})+|\d{2,9})\+?[*_`]* +(?:leaked |blocked |stuck |idle )?"
    rb"goroutines?\b(?:[*_` ]{1,4}"
    rb"(?:(?:are |were |all |waiting |blocked |stuck |parked |sitting ){0,3}(?:in|at|on|inside) )"
    rb"[*_`]*([a-zA-Z][\w-]*(?:[./]+[\w()*-]+)+[\w)])(?![\w/]))?"
)
_SECONDS = {b"s": 1, b"m": 60, b"h": 3600, b"d": DAY}
_STACK = re.compile(
    rb"^ *goroutine \d{1,19} \[([^\]\n]{1,80})\][^\n]*\n *([\w./*()\[\]{}%~-]+)\([^\n]*$",
    re.MULTILINE,
)
_TOTALS = re.compile(rb"cumulative|total[_ ]?alloc|allocated since", re.IGNORECASE)


def without_limits(data: bytes) -> bytes:
    """Return a text without the sizes that it sets as GOMEMLIMIT."""
    return _LIMIT.sub(b"", data)


def limit_words(data: bytes) -> Text:
    """Name the limit that a text sets; empty without one."""
    found = _LIMIT.search(data)
    return text("it sets a limit ({})", Quoted(decoded(found[1]))) if found else Text()


def said_of_sizes(data: bytes) -> Iterator[Text]:
    """Yield what sentences say of RSS, the heap and metrics, and the sizes that lists name."""
    if _RSS_GROWS.search(data) and _HEAP_STAYS.search(data):
        yield Text(
            "it says that RSS grows while Go's heap stays: what grows is outside of the heap "
            "(memory of C, mappings, stacks), or heap that is freed and not returned"
        )
    metrics = dict.fromkeys(before or behind for before, behind in _GROWING_METRIC.findall(data))
    if metrics:
        named = joined(", ", map(Quoted, map(decoded, list(metrics)[:NAMED])))
        said = text("it says that {} grows", named)
        of_profiler = ": the profiler's table of stacks, which is no heap of the program's"
        yield text("{}{}", said, of_profiler) if _PROFILER_TABLE in metrics else said
    found = _LABELLED.findall(without_limits(data))
    labelled = dict.fromkeys((label.strip(), size) for label, size in found)
    if len({label for label, _ in labelled}) > 1:  # a name with two sizes is of two things
        sizes = (text("{} {}", *map(Quoted, map(decoded, pair))) for pair in [*labelled][:NAMED])
        since = "; what is cumulative counts since the start, and most of it may be freed"
        is_total = any(_TOTALS.search(label) for label, _ in labelled)
        yield text("it lists sizes by name ({}){}", joined(", ", sizes), since if is_total else "")


def suspects_goroutines(data: bytes) -> bool:
    """Whether a text speaks of a leak of goroutines, and does not deny one."""
    return _GOROUTINE_LEAK.search(data) is not None


def rate_words(data: bytes) -> Text:
    """Say how many goroutines a sentence says are added in a time; empty without one."""
    found = _RATE.search(data)
    if found is None:
        return Text()
    number, every, unit = int(found[1]), int(found[2] or 1), found[3]
    said = text("it says that {} are added every {}", Count(number, "goroutine"), _time(found))
    seconds = 0 if unit in {b"scrape", b"request", b"call"} else _SECONDS[unit[:1]] * every
    if not seconds or seconds >= DAY:
        return said
    return text("{}, which are {} a day", said, Count(round(number * DAY / seconds)))


def _time(found: re.Match[bytes]) -> str:
    return decoded(b" ".join(filter(None, (found[2], found[3]))))


def stack_words(data: bytes) -> Text:
    """Name the state and innermost function of a goroutine's stack that a text shows."""
    found = _STACK.search(data)
    if found is None:
        return Text()
    words = "it shows the stack of one in {} ({})"
    return text(words, Function(decoded(found[2])), decoded(found[1]))


def goroutine_words(head: bytes) -> Text:
    """The numbers of goroutines in sentences, largest first, and a stack; empty without any."""
    found = sorted(_GOROUTINES.finditer(head), key=_where_and_how_many, reverse=True)
    if not found:
        return Text()
    counts: dict[int, Text] = {}
    for counted in found:
        where = decoded(counted[2].rstrip(b"`*_")) if counted[2] else ""
        at = text(" in {}", Function(where)) if where else ""
        number = _where_and_how_many(counted)[1]
        counts.setdefault(number, text("{} goroutines{}", decoded(counted[1]), at))
    said = text("it names {}, in a sentence", joined(" and ", [*counts.values()][:NAMED_COUNTS]))
    return joined("; ", filter(None, (said, stack_words(head))))


def _where_and_how_many(counted: re.Match[bytes]) -> tuple[bool, int]:
    return counted[2] is not None, int(re.sub(rb"\D", b"", counted[1]))
