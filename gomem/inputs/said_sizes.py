"""Sizes in prose: which words are sizes of memory, and what the sentences call them.

With a unit   `1366.2MB`, `7718Mi`, `3-4 GB`, `7/9 MB`, `Allocated MB: 10310`
In bytes      `726349 Bytes`, in a line that speaks of memory
Shares        `14.5% of memory`, `memory_usage=92%`: of what, they do not say
In letters    `30M`, `23G`: only in a line that speaks of memory, as `5G` can be a network
Heap          `HeapAlloc is 40 MB`
RSS           `51 MB RSS`, `the RSS is 3.7G`, `RSS size went from around 30M to over 120M`
Virtual       `4G virtual`, `virtual memory of 4 GB`: address space
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gomem.inputs.text_lines import decoded

if TYPE_CHECKING:
    from collections.abc import Iterable

_FIRST = rb"\d+(?:\.\d+)?(?:-|\xe2\x80\x93|/)"  # of a range, or of two sizes with one unit
_WITH_UNIT = (
    rb"(?<![\w.,-])(?<![eE]\+)"
    rb"(?:(?:" + _FIRST + rb")?\d+(?:[.,]\d+)*\+? ?(?:[KMGT]i?[Bb]|[kmg]b|[MG]i)(?![\w/])"
    rb"|[KMGT]i?B[:=] *\d+(?:\.\d+)?)"
)
_SIZE = re.compile(_WITH_UNIT)
SIZE = re.compile(
    _WITH_UNIT
    + rb"|(?<![\w.])(?:"
    + _FIRST
    + rb")?\d+(?:\.\d+)?(?:[MG]|\+? ?[kmg]i?B)(?![\w/])"
    + rb"|(?<![\w.,-])(?:"
    + _FIRST
    + rb")?(?:\d+\.\d+g|\d{5,15} [Bb]ytes)(?![\w/])"
    + rb"|(?<=`)\d+(?:\.\d+)?[mg](?=`)"
)
MEMORY_WORDS = re.compile(
    rb"\b(?:rss|res|ram|mem(?:ory)?|heap|limit|swap|leak\w*|resident|(?<!cpu )(?<!disk )usage"
    rb"|footprint|oom\w*|working[ _-]set|\w+_memory_\w+"
    rb"|(?:pods?|process|container|program|service|server|daemon|it) (?:now )?"
    rb"(?:uses|used|consumes|takes)(?! [^\n]*\bdisk))\b",
    re.IGNORECASE,
)
_NUMBER = rb"(\d[\d.,]{0,15} ?(?:[KMGTk]i?[Bb]|[mg]b|[MG]i|[KMGT]))(?![\w/])"
# What can stand between the word and its size; a limit, a heap and a change are others.
_BETWEEN = (
    rb"(?:[ \t]+(?!limits?\b|max|heap|go\b|but\b|while\b|and\b|by\b|vs\b|virtual)"
    rb"[\w'`-]{1,24}){0,6}"
)
_RSS = re.compile(
    rb"(?<![\w.,-])" + _NUMBER + rb"(?: of)? (?:RSS|RES|resident)(?![\w%=:])"
    rb"|(?<![\w%])(?:RSS|RES|resident (?:memory|size|set))\b" + _BETWEEN + rb"[ :=~*`]{1,4}"
    + _NUMBER
    + rb"(?: (?:up )?to(?: [a-z]{1,8}){0,2} [~*`]{0,3}" + _NUMBER + rb")?"
)  # fmt: skip
_TWO = re.compile(rb"(\d[\d.]*)/(\d[\d.]*)( ?[A-Za-z]+)")
_PER_CENT = rb"(\d{1,4}(?:\.\d{1,2})? ?%)"
# `14.5% of memory`, `memory_usage=92%`
_SHARE = re.compile(
    _PER_CENT + rb" of (?:the |its |all |total |system )?(?:memory|RAM|mem)\b(?! limit)"
    rb"|\b(?:memory|RAM|mem)(?:[ _-](?:usage|use|used|utili[sz]ation))?"
    rb"(?: (?:is|was|at|of))?[ :=]{1,3}" + _PER_CENT,
    re.IGNORECASE,
)
# `the MemStats.HeapAlloc field is 10 MB`
_HEAP_ALLOC = re.compile(
    rb"\bHeapAlloc[`*\"']{0,3}(?: (?:field|value))?(?: (?:is|was|of|at|about))*[ :=~`*]{1,4}"
    + _NUMBER
)
_VIRTUAL = re.compile(
    _NUMBER + rb"(?: of)? virtual\b"
    rb"|\bvirtual (?:memory|size|set)(?: \w{1,12}){0,3}[ :=~]{1,3}" + _NUMBER,
    re.IGNORECASE,
)


def sizes_in(line: bytes) -> list[bytes]:
    """Return the sizes in a line; those of a letter alone only if it speaks of memory."""
    return memory_sizes(line) or _each(_SIZE.findall(line))


def memory_sizes(line: bytes) -> list[bytes]:
    """Return the sizes in a line that speaks of memory; none in another."""
    return _each(SIZE.findall(line)) if MEMORY_WORDS.search(line) else []


def _each(sizes: Iterable[bytes]) -> list[bytes]:
    """Return sizes, of which `7/9 MB` is two."""
    return [
        each
        for size in sizes
        for each in (
            (_TWO.sub(rb"\1\3", size), _TWO.sub(rb"\2\3", size)) if b"/" in size else (size,)
        )
    ]


def shares_in_words(head: bytes) -> list[str]:
    """Return the percentages that sentences and logs call memory, each once."""
    return _each_once(_SHARE.findall(head))


def rss_in_words(head: bytes) -> list[str]:
    """Return the sizes that sentences call RSS, each once."""
    return _each_once(_RSS.findall(head))


def virtual_in_words(head: bytes) -> list[str]:
    """Return the sizes that sentences call virtual memory, each once."""
    return _each_once(_VIRTUAL.findall(head))


def heap_in_words(head: bytes) -> list[str]:
    """Return the sizes that sentences call HeapAlloc, each once."""
    return list(dict.fromkeys(map(decoded, _HEAP_ALLOC.findall(head))))


def _each_once(found: Iterable[tuple[bytes, ...]]) -> list[str]:
    return list(dict.fromkeys(decoded(size) for sizes in found for size in sizes if size))
