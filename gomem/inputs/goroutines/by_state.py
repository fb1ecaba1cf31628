"""Counts of goroutines by state, as people summarise a dump; gomem only reports them.

Form            700 - select
              65059 - sync.Cond.Wait
"""

from __future__ import annotations

import re

from gomem.inputs.resemblance import Resemblance
from gomem.text import Count, joined, text

MIN_STATES = 2
SHOWN = 3  # states shown
_STATE = (
    rb"running|runnable|syscall|chan (?:send|receive)|select|IO wait|semacquire|sleep"
    rb"|sync\.[\w.]{1,30}|GC worker \(idle\)|force gc \(idle\)|finalizer wait|idle"
)
_COUNT = re.compile(
    rb"^[ \t]{0,16}(\d{1,9})[ \t]{1,4}(?:[-x*:|] )?\[?(" + _STATE
    + rb")(?:, locked to thread)?\]?[ \t]*$", re.MULTILINE,
)  # fmt: skip
_ONLY_GO = re.compile(rb"chan (?:send|receive)|IO wait|select|semacquire|sync\.")
_ASK_STACKS = (
    "curl -s 'http://HOST:PORT/debug/pprof/goroutine?debug=2' has their stacks, which gomem reads"
)


def counts_by_state(head: bytes, _: str) -> Resemblance | None:
    """Summarise counts by state: the number of goroutines, and their most frequent states."""
    counts: dict[bytes, int] = {}
    for number, state in _COUNT.findall(head):
        counts[state] = counts.get(state, 0) + int(number)
    if len(counts) < MIN_STATES or not any(map(_ONLY_GO.match, counts)):
        return None
    largest = sorted(counts.items(), key=lambda pair: -pair[1])[:SHOWN]
    said = (text("{} in {}", Count(number), state.decode("ascii")) for state, number in largest)
    whole = Count(sum(counts.values()), "goroutine")
    what = text("counts of {} by their state: {}", whole, joined(", ", said))
    return Resemblance(what, _ASK_STACKS, is_evidence=True)
