"""Memory pressure on the machine or in a cgroup: /proc/pressure/memory and vmstat.

PSI           some avg10=31.20 avg60=20.11 avg300=9.12 total=812331231
              full avg10=12.20 …    share of time in which some or all tasks waited, in per cent
vmstat        columns of sizes in KiB (swpd free buff cache), and of swapping in KiB/s (si so)
Neither shows a single process. A cgroup's memory.pressure has the same form as the first.
"""

from __future__ import annotations

import re

from gomem.inputs.resemblance import Resemblance, quoted
from gomem.text import Bytes, joined, text
from gomem.units import KIB

_PSI = re.compile(
    rb"^[ \t>]*(some|full) avg10=(\d{1,3}\.\d\d) avg60=\d{1,3}\.\d\d avg300=(\d{1,3}\.\d\d)"
    rb" total=\d",
    re.MULTILINE,
)
_OTHER_PRESSURE = re.compile(rb"pressure/(?:cpu|io|irq)\b")
_HEAD = re.compile(
    rb"^[ \t>]*r +b +swpd +free +buff +cache +si +so .*\n((?:[ \t>]*\d[\d \t]*\r?\n)+)",
    re.MULTILINE,
)
_SIZES = ("swpd", "free", "buff", "cache")
_ASK = (
    "it says nothing of one process: ps -eo pid,rss,args --sort=-rss | head has the largest, "
    "cat /proc/PID/smaps > smaps what is in one"
)


def pressure_on_memory(head: bytes, _: str) -> Resemblance | None:
    """Describe how long tasks waited for memory, by pressure stall information."""
    stalls = {name.decode(): avg for name, *avg in _PSI.findall(head)}
    if "some" not in stalls or _OTHER_PRESSURE.search(head):
        return None
    said = (
        text("{} {} % of the last 10 s, {} % of 5 min", name, *map(quoted, avg))
        for name, avg in stalls.items()
    )
    words = (
        "pressure stall information: tasks waited for memory (some: at least one, full: all): {}"
    )
    return Resemblance(text(words, joined("; ", said)), _ASK, is_evidence=True)


def sizes_of_vmstat(head: bytes, _: str) -> Resemblance | None:
    """Describe free memory, cache and swapping by vmstat, from the first row to the last."""
    table = _HEAD.search(head)
    if table is None:
        return None
    rows = [line.split() for line in table[1].split(b"\n") if line.strip(b" \t>\r")]
    rows = [row for row in rows if len(row) >= 8]
    if not rows:
        return None
    first, last = rows[0], rows[-1]
    said = []
    for place, name in enumerate(_SIZES, start=2):
        ends = dict.fromkeys(int(row[place]) * KIB for row in (first, last))
        said.append(text("{} {}", name, joined(" to ", map(Bytes, ends))))
    swaps = max(int(row[place]) for row in rows[1:] or rows for place in (6, 7))
    swapping = text("; swaps up to {} KiB/s", str(swaps)) if swaps else "; no swapping"
    what = text("vmstat's table of the machine: {}{}", joined(", ", said), swapping)
    return Resemblance(what, _ASK, is_evidence=True)
