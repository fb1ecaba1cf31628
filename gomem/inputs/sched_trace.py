"""GODEBUG=schedtrace output: the length of the run queue, and whether it grows.

Form          SCHED 659842ms: gomaxprocs=48 idleprocs=0 threads=141 … runqueue=5215 [0 0 84 …]
"""

from __future__ import annotations

import re

from gomem.text import Count, Text, text

_LINE = re.compile(
    rb"^[^\n]{0,80}?SCHED (\d{1,12})ms: gomaxprocs=(\d{1,6}) idleprocs=(\d{1,6}) threads=(\d{1,9})"
    rb"[^\n]{0,200}? runqueue=(\d{1,12})",
    re.MULTILINE,
)


def schedule_words(data: bytes) -> Text:
    """Describe the global run queue and idle processors; empty for fewer than two lines."""
    rows = [tuple(map(int, row)) for row in _LINE.findall(data)]
    if len(rows) < 2 or not max(row[4] for row in rows):
        return Text()
    first, last = rows[0], rows[-1]
    idle = max(row[2] for row in rows)
    busy = (
        text("never with an idle one of {}", Count(last[1], "P"))
        if not idle
        else text("with up to {} idle of {}", str(idle), Count(last[1], "P"))
    )
    words = "the shared run queue goes from {} to {} goroutines, {}"
    return text(words, Count(first[4]), Count(last[4]), busy)
