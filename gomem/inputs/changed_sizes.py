"""A change of memory in a sentence, with both sizes, which can be ranges.

From, to      `RSS went from 20-60MB to 170-230MB`, `memory usage rises from 1 GiB up to 4 GiB`
Arrows        `1.1 GB (master) -> 1.6GB (branch) for RSS`
A limit that is raised, and a setting, are no change of memory.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gomem.inputs.processes.row import bytes_of
from gomem.inputs.resemblance import quoted
from gomem.inputs.said_sizes import MEMORY_WORDS
from gomem.inputs.text_lines import decoded
from gomem.text import Text, text

if TYPE_CHECKING:
    from collections.abc import Iterator

_UNIT = rb"(?:[KMGT]i?[Bb]|[kmg]b|[MG]i|[MG])"
_NUMBER = rb"\d[\d.,]{0,9} ?"
_SIZE = (
    rb"[~*`]{0,3}((?:" + _NUMBER + _UNIT + rb"?(?:[-\xe2\x80\x93]{1,3}| - ))?"
    + _NUMBER + _UNIT + rb")(?![\w/])[*`]{0,3}( \([^()\n]{1,40}\))?"
)  # fmt: skip
_ABOUT = rb"(?:(?:about|around|roughly|approx\.?|approximately|over|under|almost|nearly) )?"
_ARROW = rb" ?(?:->|=>|\xe2\x86\x92) ?"
_CHANGES = (
    re.compile(
        rb"\bfrom " + _ABOUT + _SIZE + rb"(?:" + _ARROW + rb"| (?:up |down )?to )" + _ABOUT + _SIZE
    ),
    re.compile(rb"(?<![\w.,~-])" + _SIZE + _ARROW + _SIZE),
)
_SENTENCE = re.compile(rb"(?<=[.!?])\s+(?=[A-Z])|\n")
_NO_USE = re.compile(
    rb"\b(?:limits?|requests?|quota|GOMEMLIMIT|SetMemoryLimit|upload|download|disk|payload|file"
    rb"|binary|image|bandwidth|throughput|buffer|block|batch|chunk|cache size"
    rb"|(?:rais|bump|chang|adjust|allocat|configur|resiz)\w{1,4}|set(?:s|ting)?"
    rb"|(?:we|i|you|they|to|can|please|then) (?:increas|decreas|lower|reduc)\w{1,3})\b|[KMG]i?B/s",
    re.IGNORECASE,
)
# A verb of what was measured, or a name of it.
_MEASURED = re.compile(
    rb"\b(?:went|goes|gone|going|gr[eo]w\w{0,3}|rose|risen?|ris(?:es|ing)|crept|(?:climb|creep|jump|drop|balloon"
    rb"|increas|decreas|spik|reduc|leak)\w{0,4}|shr[aiu]nk\w{0,3}|fell|falls|us(?:es|ed|ing|age)"
    rb"|consum\w{1,5}|seeing|see|saw|RSS|RES|resident)\b",
    re.IGNORECASE,
)
_NAMES = (
    ("RSS", re.compile(rb"\b(?:RSS|RES|resident|VmRSS)\b", re.IGNORECASE)),
    ("the heap", re.compile(rb"\bheap\b", re.IGNORECASE)),
)
MAX_LINE = 2000  # a longer one is no sentence
_LAST = re.compile(_NUMBER + _UNIT + rb"\Z")


def changes_in_words(head: bytes) -> Iterator[tuple[Text, tuple[str, ...]]]:
    """Yield what changed by sentences that give both sizes, with these sizes."""
    for said in _SENTENCE.split(head):
        is_of_memory = MEMORY_WORDS.search(said) and _MEASURED.search(said)
        if len(said) > MAX_LINE or not is_of_memory or _NO_USE.search(said):
            continue
        found = next(filter(None, (form.findall(said) for form in _CHANGES)), [])
        for before, of, after, by in found:
            first, last = map(_upper_end, (before, after))
            if not first or not last or first == last:
                continue
            what = next((name for name, form in _NAMES if form.search(said)), "memory")
            words = f"{what} {'grew' if last > first else 'fell'} from {{}} to {{}}"
            sizes = decoded(before), decoded(after)
            yield text(words, quoted(before + of), quoted(after + by)), sizes


def _upper_end(size: bytes) -> int:
    """The bytes of a size, or of the upper end of a range."""
    found = _LAST.search(size)
    return bytes_of(found[0].replace(b"b", b"B")) if found else 0
