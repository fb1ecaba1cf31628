"""Where most goroutines of a printed profile wait, by the Go functions that park them.

A table of `go tool pprof` has gopark alone as flat, but the functions above it as cum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.causes.commands import TAKE_STACKS, WHERE_THEY_WAIT
from gomem.text import Count, Function, Share, Text, joined, text

if TYPE_CHECKING:
    from gomem.causes.thresholds import Thresholds
    from gomem.inputs.pprof.calls.nodes import Top
    from gomem.inputs.pprof.table import Profile

MOST = 0.5  # of the goroutines
PARKS = "runtime.gopark"
MUTEX = "for a lock"
# By the functions that park, the most telling first (sync/runtime.go, runtime/chan.go,
# runtime/select.go, internal/poll/fd_poll_runtime.go). WaitGroup and older RWMutex share one.
WAITS = {
    "sync.(*Mutex).lockSlow": MUTEX,
    "internal/sync.(*Mutex).lockSlow": MUTEX,
    "sync.runtime_SemacquireMutex": MUTEX,
    "internal/sync.runtime_SemacquireMutex": MUTEX,
    "sync.runtime_SemacquireRWMutexR": MUTEX,
    "sync.runtime_SemacquireRWMutex": MUTEX,
    "sync.(*WaitGroup).Wait": "for a WaitGroup",
    "sync.runtime_notifyListWait": "for a sync.Cond",
    "internal/poll.runtime_pollWait": "for the network or a file",
    "runtime.selectgo": "in a select",
    "runtime.chanrecv": "to receive from a channel",
    "runtime.chansend": "to send to a channel",
    "time.Sleep": "in time.Sleep",
}
WHO_HOLDS_IT = text(
    "See what the goroutine that holds the lock waits for, or does: {}.", TAKE_STACKS
)


def wait_words(profile: Profile, limits: Thresholds) -> tuple[Text, Text]:
    """What most goroutines of a table wait for, else if they are few; and the next step."""
    kind = profile.default_sample_type
    top, total = profile.top_rows(kind), profile.total(kind)
    cums = dict(zip(top.function, top.cum.tolist(), strict=True))
    name = next((name for name in WAITS if cums.get(name, 0) > MOST * total > 0), "")
    if not name:
        words = _parked_words(profile, _parked(top), total), _few_words(profile, limits)
        return joined(" ", filter(None, words)), WHERE_THEY_WAIT
    share = Share(min(cums[name] / total, 1.0))
    said = text("{} wait {} ({}).", share, WAITS[name], Function(name))
    return said, WHO_HOLDS_IT if WAITS[name] == MUTEX else WHERE_THEY_WAIT


def least_telling(top: Top, total: int) -> int:
    """The least goroutines with a function that says something of those parked; 0 if few are.

    What can all be on the stacks of the others says nothing of these.
    """
    parked = _parked(top)
    return total - parked + 1 if parked > MOST * total else 0


def _parked(top: Top) -> int:
    return dict(zip(top.function, top.flat.tolist(), strict=True)).get(PARKS, 0)


def _parked_words(profile: Profile, parked: int, total: int) -> Text:
    """How many goroutines of a table are parked; empty if not most."""
    if profile.is_difference or parked <= MOST * total:
        return Text()
    words = "{} of them ({}) are parked; no row of the table says for what."
    return text(words, Count(parked), Share(parked / total))


def _few_words(profile: Profile, limits: Thresholds) -> Text:
    """Say that a table's goroutines are as many as come and go anywhere; empty if they are more."""
    total = profile.total(profile.default_sample_type)
    if profile.is_difference or not 0 < total < limits.goroutine_growth:
        return Text()
    return Text("So few come and go in any service.")
