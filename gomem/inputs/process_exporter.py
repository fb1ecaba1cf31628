"""Memory of groups of processes as process-exporter counts it, on a page of metrics.

Form          namedprocess_namegroup_memory_bytes{groupname="api",memtype="resident"} 4.9e+07
A group has all processes of a name. `resident` is the RSS of /proc/PID/stat, which the
kernel counts in batches; `proportionalResident` is Pss of smaps, which is exact: it can be larger.
"""

from __future__ import annotations

import re

from gomem.inputs.resemblance import Resemblance
from gomem.text import Bytes, Quoted, Text, joined, text
from gomem.units import ADDRESS_SPACE_BYTES

NAMED = 3  # groups
RESIDENT, SHARE, SWAPPED = "resident", "proportionalResident", "swapped"
_SAMPLE = re.compile(
    rb"^[ \t>]*namedprocess_namegroup_memory_bytes\{([^{}\n]{0,2000})\}"
    rb"[ \t]+(\d[\d.]{0,20}(?:e[+-]?\d{1,3})?)", re.MULTILINE,
)  # fmt: skip
_LABEL = re.compile(rb'\b(groupname|memtype)="([^"\n]{1,253})"')
_SAID = ((RESIDENT, "{} of RSS"), (SHARE, "a PSS of {}"), (SWAPPED, "{} swapped out"))
_ASK = "a group can have several processes; gomem capture PID -o DIR says what is in the RSS of one"
_LARGER = (
    "PSS is a part of RSS: where it is larger, RSS is that of /proc/PID/stat, which the kernel "
    "counts in batches for each thread, or was read at another time"
)


def memory_of_groups(head: bytes, _: str) -> Resemblance | None:
    """Describe the groups of processes with the largest RSS."""
    found: dict[str, dict[str, int]] = {}
    for labels, number in _SAMPLE.findall(head):
        of, size = dict(_LABEL.findall(labels)), float(number)
        if {b"groupname", b"memtype"} == of.keys() and size <= ADDRESS_SPACE_BYTES:
            group = of[b"groupname"].decode("utf-8", "replace")
            found.setdefault(group, {})[of[b"memtype"].decode("utf-8", "replace")] = round(size)
    used = [(name, sizes) for name, sizes in found.items() if {RESIDENT, SHARE} & sizes.keys()]
    if not used:
        return None
    used.sort(key=lambda used_by: -max(used_by[1].get(key, 0) for key in (RESIDENT, SHARE)))
    said = (text("{} has {}", Quoted(name), _sizes(sizes)) for name, sizes in used[:NAMED])
    what = text("memory of processes by name, from process-exporter: {}", joined("; ", said))
    is_larger = any(0 < sizes.get(RESIDENT, 0) < sizes.get(SHARE, 0) for _, sizes in used)
    return Resemblance(what, f"{_LARGER}; {_ASK}" if is_larger else _ASK, is_evidence=True)


def _sizes(sizes: dict[str, int]) -> Text:
    known = (text(words, Bytes(sizes[field])) for field, words in _SAID if sizes.get(field))
    return joined(", ", known)
