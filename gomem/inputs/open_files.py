"""What a process has open, as `ls -l /proc/PID/fd` and lsof list it: a row for each descriptor.

ls      lr-x------ 1 root root 64 Nov 28 08:39 100 -> /etc/hosts       also socket:[48211]
lsof    COMMAND  PID USER   FD   TYPE DEVICE SIZE/OFF NODE NAME
        shop    4711 root   12r   REG  254,1    12813  123 /etc/hosts
Many that are open on one file were opened again and again, and not closed.
"""

from __future__ import annotations

import re
from collections import Counter

from gomem.inputs.resemblance import Resemblance
from gomem.text import Count, File, Text, text

_ROW = re.compile(
    rb"^[ \t]*(?:l[r-][w-][x-]------[.+@]? +\d+ +.{1,120}? (?P<number>\d{1,7}) -> (?P<link>\S.*?)"
    rb"|\S{1,40} +\d{1,10} +(?:\d{1,10} +)?\S+ +\d{1,7}[rwu][A-Za-z ]? +[A-Za-z]\S* .*"
    rb" (?P<name>\S+))"
    rb"[ \t\r]*$",
    re.MULTILINE,
)
_NODE = re.compile(rb":\[\d+\]$")  # of a socket or a pipe: each has its own
MIN_ROWS = 3
MANY = 100  # descriptors of one file, or sockets
_WAY_OUT = (
    "each descriptor is of something that was opened and not closed: look for a missing Close, or "
    "for a deferred one in a loop, which runs only when the function returns"
)


def open_files_listed(head: bytes, _: str) -> Resemblance | None:
    """Describe such a list, with what is open most; None for anything else."""
    rows = [row["link"] or row["name"] for row in _ROW.finditer(head)]
    if len(rows) < MIN_ROWS or 2 * len(rows) < len(head.splitlines()):
        return None
    most, times = Counter(_NODE.sub(b"", row) for row in rows).most_common(1)[0]
    if times < MANY:
        return Resemblance(text("a list of {}", Count(len(rows), "open file")), Text())
    name = File(most.decode("utf-8", "replace"))
    what = text("a list of {}, {} of them {}", Count(len(rows), "open file"), Count(times), name)
    return Resemblance(what, _WAY_OUT, is_evidence=True)
