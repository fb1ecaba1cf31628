"""What a single goroutine dump shows of a leak. It has no trend, so every finding is `possible`.

Blocked       most goroutines wait in a send or a lock, where a goroutine that is about to go on
              does not wait
Waiting       most have waited at one place in the program for ten minutes to hours, and began at
              different times. A pool's workers began together and work now and then
In steps      most wait since times that are evenly apart, as many of each time, up to now: what
              runs every five minutes leaves them
Connections   net/http keeps two goroutines, readLoop and writeLoop, for each client connection.
              readLoop in its select waits until the body is read; readLoop in a read waits for the
              next request. A connection in use has a goroutine in roundTrip, or one that reads the
              body.
Many          a thousand in the same place, by the memory they hold

A server's connections wait in Go's own `net/http.(*conn).serve`. They are not a leak, whatever
their number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gomem.analysis.series.goroutine_growth import SMALLEST_STACK, places_of, stacks_of
from gomem.causes.goroutines import goroutines_heap_bytes
from gomem.causes.sites import growing_sites
from gomem.inputs.goroutines.parse import SECONDS
from gomem.inputs.pprof.calls.names import can_be_mended
from gomem.text import Count, Function, text

if TYPE_CHECKING:
    import pandas as pd

    from gomem.causes.case import Case
    from gomem.facts.goroutines import GoroutineCount
    from gomem.facts.moment import MomentFacts

# No goroutine that is about to go on waits in these: the other side is gone, or never lets go.
BLOCKED = frozenset(
    {"chan send", "chan send (nil chan)", "chan receive (nil chan)", "select (no cases)"}
    | {"sync.Mutex.Lock", "sync.RWMutex.Lock", "sync.RWMutex.RLock"}
)
# Of these a long wait is usual: of a connection, of a timer, of C.
PATIENT = frozenset({"IO wait", "sleep", "syscall", "running", "runnable"})
READ_LOOP, WRITE_LOOP = "net/http.(*persistConn).readLoop", "net/http.(*persistConn).writeLoop"
IN_USE = ("net/http.(*persistConn).roundTrip;", "net/http.(*bodyEOFSignal).Read;")


@dataclass(frozen=True, slots=True)
class Suspicion:
    """What one dump shows."""

    there: int  # of how many goroutines
    words: str  # what is wrong with them, behind their number
    is_told: bool  # whether it is worth a warning
    is_of_connections: bool = False  # whether they are of HTTP connections, wherever they wait
    is_placed: bool = False  # whether the words say where they wait


def suspicion_of(case: Case) -> Suspicion | None:
    """What the only dump shows, the surest first; None if there are more, or nothing is wrong."""
    dumps = [count for count in case.facts.goroutine_counts if count.frame is not None]
    if len(dumps) != 1 or case.facts.goroutines.waiting is None:
        return None
    (dump,) = dumps
    assert dump.frame is not None
    looks = (_blocked, _waiting, _in_steps, _connections, _many)
    seen = (look(dump, dump.frame, case) for look in looks)
    enough = case.thresholds.most_share * dump.goroutines
    return next((known for known in seen if known is not None and known.there > enough), None)


def _blocked(_: GoroutineCount, frame: pd.DataFrame, case: Case) -> Suspicion | None:
    if "state" not in frame:
        return None
    blocked = int(frame.loc[frame["state"].isin(BLOCKED), "goroutines"].sum())
    if blocked < case.thresholds.goroutine_growth:
        return None
    return Suspicion(blocked, "are blocked in a send or a lock", True)


def _waiting(_: GoroutineCount, frame: pd.DataFrame, case: Case) -> Suspicion | None:
    """Those that wait for long in the place in which most do."""
    limits, waiting = case.thresholds, case.facts.goroutines.waiting
    if waiting is None or not can_be_mended(waiting.function) or "wait_seconds" not in frame:
        return None
    is_long = (frame["wait_seconds"] >= limits.goroutine_wait_seconds).fillna(False)
    long = frame[is_long & ~frame["state"].isin(PATIENT)]
    here = long[(places_of(long) == waiting.function).astype(bool)]
    there = int(here["goroutines"].sum())
    if there < limits.goroutine_growth or here["wait_seconds"].nunique() < limits.goroutine_waits:
        return None
    minutes = Count(int(here["wait_seconds"].min() / SECONDS))
    return Suspicion(there, text("have waited for {} minutes or more", minutes), True)


def _in_steps(_: GoroutineCount, frame: pd.DataFrame, case: Case) -> Suspicion | None:
    """Those of one state that came in even steps, as many each time, the last just now."""
    limits = case.thresholds
    if "wait_seconds" not in frame or "state" not in frame:
        return None
    waiting = frame[frame["wait_seconds"].notna() & ~frame["state"].isin(PATIENT)]
    found = []
    for _state, here in waiting.groupby("state"):
        by_minute = here.groupby(here["wait_seconds"] // SECONDS)["goroutines"].sum()
        minutes = by_minute.index.to_numpy().astype(np.int64)
        if len(minutes) < limits.goroutine_waits:
            continue
        step = int(np.gcd.reduce(np.diff(minutes)))
        steps = (minutes[-1] - minutes[0]) / max(step, 1) + 1
        each = int(by_minute.mode().max())
        is_even = step > 1 and minutes[0] <= step and len(minutes) > limits.most_share * steps
        if is_even and (by_minute == each).sum() > limits.most_share * len(minutes):
            words = text("have come, {} every {} minutes, and stayed", Count(each), Count(step))
            found.append(Suspicion(int(by_minute.sum()), words, True))
    return max(found, key=lambda seen: seen.there, default=None)


def _connections(_: GoroutineCount, frame: pd.DataFrame, case: Case) -> Suspicion | None:
    """Connections of an HTTP client that nothing uses."""
    stacks = stacks_of(frame)
    of = {loop: stacks.str.contains(loop, regex=False) for loop in (READ_LOOP, WRITE_LOOP)}
    count = {loop: int(frame.loc[rows, "goroutines"].sum()) for loop, rows in of.items()}
    few, many = sorted(count.values())
    used = stacks.map(lambda stack: any(name in f"{stack};" for name in IN_USE))
    unused = few - int(frame.loc[used, "goroutines"].sum())
    if unused < case.thresholds.connection_pairs or few < case.thresholds.nearly_all_share * many:
        return None
    selects = stacks.map(lambda stack: waiting_outside_runtime(stack) == READ_LOOP)
    unread = int(frame.loc[of[READ_LOOP] & selects, "goroutines"].sum())
    if unread > case.thresholds.most_share * few:
        words = text("serve {} HTTP connections with a response that is not closed", Count(few))
        return Suspicion(few + many, words, True, True)
    words = text("serve {} idle connections of HTTP clients", Count(few))
    return Suspicion(few + many, words, True, True)


def _many(dump: GoroutineCount, _: pd.DataFrame, case: Case) -> Suspicion | None:
    """A thousand and more in a place of the program's own; a warning by what they hold."""
    waiting = case.facts.goroutines.waiting
    if waiting is None or waiting.there < case.thresholds.uncounted_goroutines:
        return None
    if not can_be_mended(waiting.function):
        return None  # connections that are idle wait in Go's own library
    told = _held_share(dump.moment, case) >= case.thresholds.most_share
    words = text("wait in {}", Function(waiting.function))
    return Suspicion(waiting.there, words, told, is_placed=True)


def waiting_outside_runtime(stack: str) -> str:
    """The innermost function that is not the runtime's."""
    return next((name for name in stack.split(";") if not name.startswith("runtime.")), "")


def _held_share(moment: str, case: Case) -> float:
    """What a thousand and more take of what there is, by their stacks or by their heap."""
    facts = case.facts.by_moment.get(moment)
    held = None if facts is None else facts.held_bytes
    if facts is not None and held:
        return goroutine_stack_bytes(facts) / held
    in_use = case.facts.profiles.in_use_holders
    whole = 0.0 if in_use is None else float(in_use["after"].sum())
    return goroutines_heap_bytes(case, growing_sites(case)) / whole if whole else 0.0


def goroutine_stack_bytes(moment: MomentFacts) -> int:
    """What stacks take; where no ledger says, what so many goroutines' take at least."""
    if moment.ledger is not None and moment.ledger.has("stacks"):
        return moment.ledger.part("stacks")
    return (moment.goroutine_count or 0) * SMALLEST_STACK
