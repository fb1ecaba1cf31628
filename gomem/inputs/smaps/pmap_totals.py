"""The last line of pmap alone, or one number of that line, as a loop records it.

Printed by    pmap -d      mapped: 9K    writeable/private: 9K    shared: 9K
              pmap -x      total kB         9       9       9       address space, RSS, dirty
              pmap          total           9K
Pasted        also as `pmap -d PID | tail -n1 | awk '{print $4}'` and the number below it.
Quirks        Only -x has RSS. writeable/private is the size of mappings, touched or not.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gomem.inputs.resemblance import Resemblance
from gomem.text import Bytes, Text, joined, text
from gomem.units import KIB

if TYPE_CHECKING:
    from collections.abc import Iterator

RSS = "RSS"
SPACE, PRIVATE = "address space", "writable private address space, touched or not"
SHARED, DIRTY = "shared address space", "dirty pages"
_SIZE = rb"(\d{1,12})"
_LINES = (
    (
        re.compile(rb"\bmapped: " + _SIZE + rb"K +write?able/private: " + _SIZE + rb"K +shared: "
                   + _SIZE + rb"K"),
        (SPACE, PRIVATE, SHARED),
    ),
    (
        re.compile(rb"^[ \t]*total kB +" + _SIZE + rb" +" + _SIZE + rb" +" + _SIZE + rb"[ \t]*\r?$",
                   re.MULTILINE),
        (SPACE, RSS, DIRTY),
    ),
    (re.compile(rb"^[ \t]*total +" + _SIZE + rb"K[ \t]*\r?$", re.MULTILINE), (SPACE,)),
)  # fmt: skip
_ASKED = re.compile(
    rb"\bpmap\b(?P<flags>(?: +-[a-zA-Z]+)*)[^\n|]{0,80}\|[^\n]{0,80}?\bawk\b"
    rb"[^\n$]{0,20}\$(?P<column>\d)[^\n]{0,40}\n(?P<sizes>(?:[ \t]*\d{1,12}[kK]?[ \t]*\r?\n)+)"
)
_NUMBER = re.compile(rb"\d+")
# The columns of the last line, as awk counts them.
_COLUMNS = {
    "-d": {"2": SPACE, "4": PRIVATE, "6": SHARED},
    "-x": {"3": SPACE, "4": RSS, "5": DIRTY},
    "": {"2": SPACE},
}
_ASK_RSS = "grep VmRSS /proc/PID/status has RSS, cat /proc/PID/smaps > smaps what is in it"
_ASK_SMAPS = "cat /proc/PID/smaps > smaps says what is in it"


def totals_of_pmap(head: bytes, _: str) -> Resemblance | None:
    """Describe the sums that pmap printed last, from the first to the last of them."""
    found: dict[str, list[int]] = {}
    for name, size in _totals(head):
        found.setdefault(name, []).append(size)
    if not found:
        return None
    order = sorted(found, key=[RSS, PRIVATE, SPACE, DIRTY, SHARED].index)
    said = (
        text("{} of {}", first_and_last(found[name]), name) for name in order if any(found[name])
    )
    what = text("pmap's sums without its mappings: {}", joined(", ", said))
    return Resemblance(what, _ASK_SMAPS if RSS in found else _ASK_RSS, is_evidence=True)


def _totals(head: bytes) -> Iterator[tuple[str, int]]:
    """Yield each sum by its name, in bytes."""
    for form, names in _LINES:
        for line in form.finditer(head):
            yield from (
                (name, int(size) * KIB) for name, size in zip(names, line.groups(), strict=True)
            )
    for asked in _ASKED.finditer(head):
        flags = asked["flags"].decode("ascii").strip()
        name = _COLUMNS.get(flags, {}).get(asked["column"].decode("ascii"))
        if name is not None:
            yield from ((name, int(size) * KIB) for size in _NUMBER.findall(asked["sizes"]))


def first_and_last(sizes: list[int]) -> Text:
    """Name the first and the last of several sizes; one, if they are equal."""
    first, last = Bytes(sizes[0]), Bytes(sizes[-1])
    return text("{}", first) if sizes[0] == sizes[-1] else text("{} to {}", first, last)
