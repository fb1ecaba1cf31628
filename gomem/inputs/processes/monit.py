"""Output of `monit status` on processes: one block each, with one key and value per line.

Form          Process 'api'
                pid                               21648
                memory kilobytes                  149480        (before 5.20)
                memory                            13.3% [2.1 GB]
Quirks        The size is RSS of the process alone; `memory total` includes its children. Since 5.20
              it is rounded to a tenth of a unit of 1024.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gomem.inputs.processes.row import ProcessRow, rounded_size
from gomem.inputs.text_lines import LineNumbers
from gomem.units import KIB

if TYPE_CHECKING:
    from collections.abc import Iterator

MONIT = "monit"
_BLOCK = re.compile(rb"^[ \t]*Process '([^'\n]{1,200})'", re.MULTILINE)
_PID = re.compile(rb"^[ \t]+pid +(\d{1,10})\s*$", re.MULTILINE)
_MEMORY = re.compile(
    rb"^[ \t]+memory(?: kilobytes +(?P<kib>\d{1,15})| usage +[\d.]+% \[(?P<old>[\d.]+ ?[KMGT]?B)\]"
    rb"| +[\d.]+% \[(?P<size>[\d.]+ ?[KMGT]?B)\])[ \t]*$",
    re.MULTILINE,
)


def rows_of_monit(data: bytes) -> tuple[ProcessRow, ...]:
    """Return the processes of the blocks; blocks without a size are skipped."""
    return tuple(_rows(data)) if b"Process '" in data else ()


def _rows(data: bytes) -> Iterator[ProcessRow]:
    lines = LineNumbers(data)
    blocks = list(_BLOCK.finditer(data))
    ends = [*(block.start() for block in blocks), len(data)][1:]
    for block, end in zip(blocks, ends, strict=True):
        memory = _MEMORY.search(data, block.end(), end)
        if memory is None:
            continue
        # Its units are called MB but are powers of 1024, like m in top.
        size = (memory["kib"] or memory["old"] or memory["size"]).rstrip(b"B").replace(b" ", b"")
        rss = rounded_size(size, bare=KIB if memory["kib"] else 1)
        pid = _PID.search(data, block.end(), end)
        name = block[1].decode("utf-8", "backslashreplace")
        line = lines.at(memory.start())
        if rss is not None:
            yield ProcessRow(MONIT, name, pid=int(pid[1]) if pid else None, rss=rss, line=line)
