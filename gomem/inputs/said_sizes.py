"""Sizes in prose: which words are sizes of memory, and which of them a sentence calls RSS.

With a unit   `1366.2MB`, `7718Mi`, `3-4 GB`
In letters    `30M`, `23G`: only in a line that speaks of memory, as `5G` can be a network
RSS           `51 MB RSS`, `the RSS is 3.7G`, `RSS size went from around 30M to over 120M`
"""

from __future__ import annotations

import re

from gomem.inputs.text_lines import decoded

SIZE = re.compile(
    rb"(?<![\w.])(?<![eE]\+)"
    rb"(?:\d+-)?(?:\d+(?:\.\d+)?\+? ?(?:[KMGTkmg]i?[Bb]|[MG]i)|\d+(?:\.\d+)?[MG])(?![\w/])"
    rb"|(?<=`)\d+(?:\.\d+)?[mg](?=`)"
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
    rb"(?:[ \t]+(?!limits?\b|max|heap|go\b|but\b|while\b|and\b|by\b|vs\b|virtual)[\w'`]{1,12}){0,6}"
)
_RSS = re.compile(
    rb"(?<![\w.,-])" + _NUMBER + rb"(?: of)? (?:RSS|RES|resident)(?![\w%=:])"
    rb"|(?<![\w%])(?:RSS|RES|resident (?:memory|size|set))\b" + _BETWEEN + rb"[ :=~*`]{1,4}"
    + _NUMBER
    + rb"(?: (?:up )?to(?: [a-z]{1,8}){0,2} [~*`]{0,3}" + _NUMBER + rb")?"
)  # fmt: skip


def memory_sizes(line: bytes) -> list[bytes]:
    """Return the sizes in a line that speaks of memory; none in another."""
    return SIZE.findall(line) if MEMORY_WORDS.search(line) else []


def rss_in_words(head: bytes) -> list[str]:
    """Return the sizes that sentences call RSS, each once."""
    sizes = (size for found in _RSS.findall(head) for size in found if size)
    return list(dict.fromkeys(decoded(size) for size in sizes))
