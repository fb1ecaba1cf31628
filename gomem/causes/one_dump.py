"""A goroutine leak in a single dump. It shows no trend, so every finding is `possible`.

A dump can show a leak in six ways:

Blocked       Most goroutines are stuck in a send or a lock, where healthy goroutines do not wait.
Waiting       Most have waited at one place in the program for ten minutes to hours, and began at
              different times. (The workers of a pool begin together, and work now and then.)
In steps      Most began to wait at even intervals, the same number each time, until now: a periodic
              task leaves them behind.
Connections   net/http keeps two goroutines, readLoop and writeLoop, for each client connection.
              readLoop in its select waits until the body is read; readLoop in a read waits for the
              next request. A connection in use also has a goroutine in roundTrip, or one that reads
              the body.
Pool          Most wait for one of a pool's connections, and none uses one: they were not given
              back. Under load as many wait, but others use the connections.
Many          A thousand or more wait at the same place in the program. They are a warning if they
              hold much memory, or if nearly all that were ever started wait there. In a library,
              they count if each waits for something to be closed that is open for a moment only,
              such as sql.Rows; of these, fewer suffice, because most of a program's goroutines are
              more than the others could have open.

Goroutines in a system call or in C occupy a thread each. Many of those at one place are a finding
of thread-growth.

If the ages and numbers of the goroutines show that waits end, or that all were started in one go
(`goroutine_starts`), neither a large number nor a long wait means a leak, because idle workers look
the same. A server's connections wait in Go's own `net/http.(*conn).serve` and are no leak, however
many they are.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from gomem.analysis.series.goroutine_growth import SMALLEST_STACK, places_of, stacks_of
from gomem.capture.used_numbers import count_of
from gomem.causes.commands import CAPTURE
from gomem.causes.goroutines import (
    SYSCALL,
    goroutines_heap_bytes,
    hardly_any_end,
    occupy_threads,
)
from gomem.causes.signatures import GOROUTINES, LOCKS, inside_of_own, signature_of
from gomem.causes.sites import growing_sites
from gomem.inputs.goroutines.parse import SECONDS
from gomem.inputs.pprof.calls.names import can_be_mended, package_of
from gomem.text import Count, Function, Quoted, Text, text

if TYPE_CHECKING:
    from gomem.causes.cause import Case
    from gomem.facts.goroutines import GoroutineCount
    from gomem.facts.moment import MomentFacts

# Goroutines stuck in these do not proceed: the other side is gone, or never releases.
BLOCKED = frozenset(
    {"chan send", "chan send (nil chan)", "chan receive (nil chan)", "select (no cases)"}
    | {"sync.Mutex.Lock", "sync.RWMutex.Lock", "sync.RWMutex.RLock"}
)
_SENDS_AND_LOCKS = LOCKS | {"channel-send"}  # rows of `signatures`
# A long wait in these is normal: for a connection, a timer, C.
PATIENT = frozenset({"IO wait", "sleep", SYSCALL, "running", "runnable"})
READ_LOOP, WRITE_LOOP = "net/http.(*persistConn).readLoop", "net/http.(*persistConn).writeLoop"
IN_USE = ("net/http.(*persistConn).roundTrip;", "net/http.(*bodyEOFSignal).Read;")

DECIDE = text(
    "See whether the number of goroutines grows: {}. A constant number can be by design; a number "
    "that only grows is a leak.",
    CAPTURE,
)


@dataclass(frozen=True, slots=True)
class Suspicion:
    """The result for one dump."""

    there: int  # how many goroutines
    words: str  # what is wrong with them, to follow their number
    is_told: bool  # whether it is a warning
    is_of_connections: bool = False  # whether they belong to HTTP connections, wherever they wait
    is_placed: bool = False  # whether the words say where they wait


def suspicion_of(case: Case) -> Suspicion | None:
    """Return the most certain problem in the only dump; None without one, or for several dumps."""
    dump = only_dump(case)
    if dump is None or dump.frame is None or threads_occupied(case):
        return None
    looks = [_blocked, _waiting, _in_steps, _connections, _for_a_pool, _many]
    starts = case.facts.goroutine_starts
    if starts is not None and (starts.woken or starts.are_in_one_go):
        looks = [_blocked, _in_steps, _connections, *[_for_a_pool] * (not starts.woken)]
    seen = (look(dump, dump.frame, case) for look in looks)
    enough = case.thresholds.most_share * dump.goroutines
    return next((known for known in seen if known is not None and known.there > enough), None)


def only_dump(case: Case) -> GoroutineCount | None:
    """Return the only goroutine count with stacks; None without one, or if there are several."""
    dumps = [count for count in case.facts.goroutine_counts if count.frame is not None]
    return dumps[0] if len(dumps) == 1 and case.facts.goroutines.waiting is not None else None


def threads_occupied(case: Case) -> int:
    """Return how many goroutines are in a system call or in C at the place where most are.

    0 without a single dump, or if they are few. If two snapshots count threads, their growth
    decides, so the result is 0, too.
    """
    dump, waiting = only_dump(case), case.facts.goroutines.waiting
    if dump is None or dump.frame is None or waiting is None:
        return 0
    here = (places_of(dump.frame) == waiting.function) & occupy_threads(dump.frame)
    there = int(dump.frame.loc[here.astype(bool), "goroutines"].sum())
    is_most = there > case.thresholds.most_share * dump.goroutines
    is_many = is_most and there >= case.thresholds.goroutine_growth
    is_known = can_be_mended(waiting.function) and case.facts.threads is None
    return there if is_many and is_known else 0


def _blocked(_: GoroutineCount, frame: pd.DataFrame, case: Case) -> Suspicion | None:
    states = frame["state"] if "state" in frame else pd.Series(None, frame.index, dtype=object)
    untold = frame[states.isna()]
    by_stack = untold.groupby(stacks_of(untold))["goroutines"].sum()
    blocked = int(frame.loc[states.isin(BLOCKED), "goroutines"].sum())
    blocked += sum(int(there) for stack, there in by_stack.items() if _sends_or_locks(str(stack)))
    if blocked < case.thresholds.goroutine_growth:
        return None
    return Suspicion(blocked, "are blocked in a send or a lock", True)


def _sends_or_locks(stack: str) -> bool:
    """Whether the frames of a goroutine show what its state would say; some profiles have none."""
    inside, _ = inside_of_own(stack.split(";"))
    row = signature_of(inside, GOROUTINES)
    return row is not None and row.name in _SENDS_AND_LOCKS


def _waiting(_: GoroutineCount, frame: pd.DataFrame, case: Case) -> Suspicion | None:
    """Return the goroutines that have long waited at the place where most wait."""
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
    """Return goroutines of one state that were started at even intervals, equally many each."""
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
            words = text("were started, {} every {} minutes, and stayed", Count(each), Count(step))
            found.append(Suspicion(int(by_minute.sum()), words, True))
    return max(found, key=lambda seen: seen.there, default=None)


def _connections(_: GoroutineCount, frame: pd.DataFrame, case: Case) -> Suspicion | None:
    """Return unused connections of an HTTP client."""
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
        some = text(", {}", Count(unread)) * (unread < few)
        words = text("serve {} HTTP connections{} with unclosed responses", Count(few), some)
        return Suspicion(few + many, words, True, True)
    words = text("serve {} idle connections of HTTP clients", Count(few))
    return Suspicion(few + many, words, True, True)


def _for_a_pool(_: GoroutineCount, frame: pd.DataFrame, case: Case) -> Suspicion | None:
    """Return goroutines that wait for one of a pool's connections, of which none is in use."""
    by_package, used = Counter[str](), set[str]()
    for stack, there in frame.groupby(stacks_of(frame))["goroutines"].sum().items():
        inside, own = inside_of_own(str(stack).split(";"))
        row = signature_of(inside, GOROUTINES)
        if row is not None and row.is_for_a_pool:
            by_package[package_of(row.frames[0])] += int(there)
        elif own:
            used.update(map(package_of, inside))
    package = max(by_package, key=lambda name: by_package[name], default="")
    there = by_package[package]
    if there < case.thresholds.waiters_per_holder or package in used:
        return None
    words = text("wait for a connection of a pool in {}, and none uses one", Quoted(package))
    return Suspicion(there, words, there >= case.thresholds.goroutine_growth, is_placed=True)


def _many(dump: GoroutineCount, frame: pd.DataFrame, case: Case) -> Suspicion | None:
    """Return very many at one place; a warning if unclosed, or by their memory."""
    waiting, limits = case.facts.goroutines.waiting, case.thresholds
    if waiting is None:
        return None
    is_own = can_be_mended(waiting.function)
    is_open = not is_own and _wait_for_close(frame, waiting.function)
    least = limits.goroutine_growth if is_open else limits.uncounted_goroutines
    if waiting.there < least or not (is_own or is_open):
        return None  # idle connections wait in Go's own library
    stay = hardly_any_end(case) and not _are_patient(frame, waiting.function, case)
    told = is_open or stay or _held_share(dump.moment, case) >= limits.most_share
    words = text("wait in {}", Function(waiting.function))
    return Suspicion(waiting.there, words, told, is_placed=True)


def _are_patient(frame: pd.DataFrame, function: str, case: Case) -> bool:
    """Whether most goroutines at a place wait for what can take long, such as a connection."""
    here = frame[places_of(frame) == function]
    patient = here[here["state"].isin(PATIENT)] if "state" in here else here.iloc[:0]
    most = case.thresholds.most_share * here["goroutines"].sum()
    return bool(patient["goroutines"].sum() > most)


def _wait_for_close(frame: pd.DataFrame, function: str) -> bool:
    """Whether most goroutines at a place of a library are of what is open for a moment only."""
    here = frame[places_of(frame) == function]
    by_stack = here.groupby(stacks_of(here))["goroutines"].sum()
    row = signature_of(inside_of_own(str(by_stack.idxmax()).split(";"))[0], GOROUTINES)
    return row is not None and row.is_open


def decide_words(dump: GoroutineCount, case: Case) -> Text:
    """Say how to see whether their number grows, or that it does by a number in the text."""
    said = min(map(count_of, case.facts.capture.unused_counts), default=-1)
    if 0 < said * case.thresholds.goroutine_growth_ratio <= dump.goroutines:
        words = "Their number is no constant by design: at another time it was {}, by the text."
        return text(words, Count(round(said)))
    return DECIDE


def waiting_outside_runtime(stack: str) -> str:
    """Return the innermost function outside the runtime."""
    return next((name for name in stack.split(";") if not name.startswith("runtime.")), "")


def _held_share(moment: str, case: Case) -> float:
    """Return the share of the total that these goroutines hold, by stacks or by heap."""
    facts = case.facts.by_moment.get(moment)
    held = None if facts is None else facts.held_bytes
    if facts is not None and held:
        return goroutine_stack_bytes(facts) / held
    in_use = case.facts.profiles.in_use_holders
    whole = 0.0 if in_use is None else float(in_use["after"].sum())
    return goroutines_heap_bytes(case, growing_sites(case)) / whole if whole else 0.0


def goroutine_stack_bytes(moment: MomentFacts | None, there: int | None = None) -> int:
    """Return the stack bytes; without a ledger, the minimum stack for each goroutine."""
    if moment is not None and moment.ledger is not None and moment.ledger.has("stacks"):
        return moment.ledger.part("stacks")
    counted = None if moment is None else moment.goroutine_count
    return (there or counted or 0) * SMALLEST_STACK
