"""Counts of goroutines by state, as people summarise a dump; gomem only reports them.

Form            700 - select
              65059 - sync.Cond.Wait
                305 chan send    <- all in main.push
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
_LINE = (
    rb"^[ \t]{0,16}(\d{1,9})[ \t]{1,4}(?:[-x*:|] )?\[?(" + _STATE
    + rb")(?:, locked to thread)?\]?[ \t]*"
)  # fmt: skip
_COUNT = re.compile(_LINE + rb"$", re.MULTILINE)
_COUNT_AND_WORDS = re.compile(_LINE + rb"(?:(?:<-|#|//|\()[^\n]{0,200})?$", re.MULTILINE)
_HEADER = re.compile(rb"^goroutine \S+ \[", re.MULTILINE)
_ONLY_GO = re.compile(r"chan (?:send|receive)|IO wait|select|semacquire|sync\.")
_ASK_STACKS = (
    "curl -s 'http://HOST:PORT/debug/pprof/goroutine?debug=2' has their stacks, which gomem reads"
)


def counted_states(head: bytes) -> dict[str, int]:
    """Return the number of goroutines that a text counts in each state, with words behind some."""
    return _counted(head, _COUNT_AND_WORDS)


def _counted(head: bytes, form: re.Pattern[bytes]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for number, state in form.findall(head):
        name = state.decode("ascii")
        counts[name] = counts.get(name, 0) + int(number)
    return counts


def counts_by_state(head: bytes, _: str) -> Resemblance | None:
    """Summarise counts by state: the number of goroutines, and their most frequent states."""
    is_dump = _HEADER.search(head) is not None  # whose author counted, too
    counts = _counted(head, _COUNT) if is_dump else counted_states(head)
    if len(counts) < MIN_STATES or not any(map(_ONLY_GO.match, counts)):
        return None
    largest = sorted(counts.items(), key=lambda pair: -pair[1])[:SHOWN]
    said = (text("{} in {}", Count(number), state) for state, number in largest)
    whole = Count(sum(counts.values()), "goroutine")
    what = text("counts of {} by their state: {}", whole, joined(", ", said))
    return Resemblance(what, _ASK_STACKS, is_evidence=True)
