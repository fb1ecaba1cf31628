"""The table of ps_mem: private and shared memory of each program, summed over its processes.

Form           Private  +   Shared  =  RAM used	Program
                 1.1 GiB +   2.4 MiB =   1.1 GiB	api (2)
Quirks        RAM used is no RSS: shared pages are divided by their users, as in Pss.
"""

from __future__ import annotations

import re

from gomem.inputs.processes.row import bytes_of
from gomem.inputs.resemblance import Resemblance, quoted
from gomem.inputs.text_lines import decoded
from gomem.text import Program, joined, text

NAMED = 3  # programs
_SIZE = rb"(\d{1,6}\.\d [KMGT]iB)"
_ROW = re.compile(
    rb"^[ \t>]*"
    + _SIZE
    + rb" \+ +"
    + _SIZE
    + rb" = +"
    + _SIZE
    + rb"[ \t]+(\S[^\n]{0,200}?)[ \t]*\r?$",
    re.MULTILINE,
)
_ASK = (
    "RAM used is PSS, which divides shared pages by their users; to break it down: "
    "cat /proc/PID/smaps > smaps"
)


def table_of_ps_mem(head: bytes, _: str) -> Resemblance | None:
    """Describe the largest programs of a table of ps_mem."""
    rows = _ROW.findall(head)
    if not rows:
        return None
    rows.sort(key=lambda row: -bytes_of(row[2]))
    said = (
        text("{} {} ({} private)", Program(decoded(name)), quoted(used), quoted(private))
        for private, _, used, name in rows[:NAMED]
    )
    return Resemblance(text("ps_mem's table: {}", joined(", ", said)), _ASK, is_evidence=True)
