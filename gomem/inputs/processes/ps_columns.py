"""Numbers without headings that a text says are of `ps -o pid=,%mem=,vsz=`; gomem reports them.

VSZ is address space, of which a Go program reserves much more than it uses.
"""

from __future__ import annotations

import re

from gomem.inputs.resemblance import ASK_CAPTURE, Resemblance
from gomem.text import Bytes, Count, Share, Text, joined, text
from gomem.units import KIB

MIN_ROWS = 2
_COMMAND = re.compile(
    rb"\bps [^\n|;`]{0,200}?(?:-o|-eo|--format) ?['\"]?((?:[%\w]{2,8}=,?){2,12})(?![\w,])"
)
_NUMBER = re.compile(rb"\d{1,15}(?:\.\d{1,3})?")
_SIZES = {
    "rss": "RSS from {} to {}", "rssize": "RSS from {} to {}", "rsz": "RSS from {} to {}",
    "vsz": "VSZ from {} to {}, which is address space and not memory in use",
    "vsize": "VSZ from {} to {}, which is address space and not memory in use",
}  # fmt: skip
_ASK_RSS = (
    "RSS is missing: ps -o pid=,rss= -C NAME prints it; gomem capture PID -o DIR says what is in it"
)


def columns_of_ps(head: bytes, _: str) -> Resemblance | None:
    """Describe rows of numbers by the columns of the ps command in the same text."""
    command = _COMMAND.search(head)
    if command is None:
        return None
    names = [name.decode().lower() for name in command[1].strip(b",").split(b"=,")]
    names = [name.removesuffix("=") for name in names]
    rows = [line.split() for line in head[command.end() :].split(b"\n")]
    rows = [row for row in rows if len(row) == len(names) and all(map(_NUMBER.fullmatch, row))]
    if len(rows) < MIN_ROWS:
        return None
    said = [part for column, name in enumerate(names) if (part := _said(rows, column, name))]
    if not said:
        return None
    what = text("{} of ps -o {}: {}", Count(len(rows), "row"), ",".join(names), joined("; ", said))
    has_rss = any(name.startswith("rs") for name in names)
    return Resemblance(what, ASK_CAPTURE if has_rss else _ASK_RSS, is_evidence=True)


def _said(rows: list[list[bytes]], column: int, name: str) -> Text:
    """Say from what to what a column went; empty if it is not about memory."""
    first, last = (float(rows[place][column]) for place in (0, -1))
    if name in {"%mem", "pmem"}:
        words = "%MEM from {} to {} of the machine's memory"
        return text(words, Share(first / 100), Share(last / 100))
    if name not in _SIZES:
        return Text()
    return text(_SIZES[name], Bytes(round(first) * KIB), Bytes(round(last) * KIB))
