"""One sum over smaps that a command printed: `awk '/^Rss/{s+=$2} END{print s}' /proc/PID/smaps`.

Only the sum of one field is read, not that of several (`/Private/`, `^Rss|^Pss`).
"""

from __future__ import annotations

import re

from gomem.inputs.resemblance import Resemblance
from gomem.inputs.smaps.pmap_totals import first_and_last
from gomem.text import joined, text
from gomem.units import KIB

_FIELDS = rb"(?P<field>Rss|Pss|Private_Dirty|Private_Clean|Anonymous|Swap|LazyFree|Size)"
_SUMMED = re.compile(
    rb"^(?=[^\n]{0,400}\bsmaps\b)(?=[^\n]{0,400}\bawk\b)[^\n]{0,200}?[/'\"^ ]" + _FIELDS
    + rb"\b(?!\|)[^\n]{0,400}\n(?P<sum>(?:[ \t]*\d{1,12}(?: ?kB)?[ \t]*\r?\n)+)",
    re.MULTILINE,
)  # fmt: skip
_SEVERAL = re.compile(rb"\b(?:Rss|Pss|Size|Swap|Anonymous)\b")
_NUMBER = re.compile(rb"\d+")
_ASK = "cat /proc/PID/smaps > smaps says in which mappings it is"


def sums_of_smaps(head: bytes, _: str) -> Resemblance | None:
    """Describe the sums that commands printed, from the first to the last of a field."""
    found: dict[str, list[int]] = {}
    for summed in _SUMMED.finditer(head):
        command = summed[0].split(b"\n", 1)[0]
        if len(set(_SEVERAL.findall(command))) > 1:
            continue
        sizes = [int(size) * KIB for size in _NUMBER.findall(summed["sum"])]
        found.setdefault(summed["field"].decode("ascii"), []).extend(sizes)
    if not found:
        return None
    said = (text("{} of {}", first_and_last(sizes), field) for field, sizes in found.items())
    what = text("a sum over smaps, which counts in kB: {}", joined(", ", said))
    return Resemblance(what, _ASK, is_evidence=True)
