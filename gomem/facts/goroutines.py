"""The number of goroutines at each snapshot that counts them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from gomem.analysis.series.goroutine_growth import (
    GoroutineGrowth,
    descriptors_grown,
    goroutine_growth,
    waiting_of,
)
from gomem.analysis.series.goroutine_starts import Starts, starts_at
from gomem.analysis.series.level import Level, Rise
from gomem.capture.moment import Moment, goroutines_of
from gomem.inputs.goroutines.crash import FATAL
from gomem.inputs.goroutines.parse import finalizer_of
from gomem.inputs.pprof.calls.names import own_function
from gomem.units import is_unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from gomem.analysis.series.goroutine_growth import Waiting
    from gomem.capture.capture import Capture
    from gomem.facts.capture import CaptureFacts
    from gomem.facts.moment import MomentFacts

GOROUTINE, LEAKS = "goroutine", "goroutineleak"  # kinds of profiles
STACKS_IN_USE = "StackInuse"  # of goroutines, by the runtime's count


@dataclass(frozen=True)
class GoroutineCount:
    """The number of goroutines at a snapshot."""

    moment: str  # its name
    time: pd.Timestamp | None  # its time; None if unknown
    goroutines: int  # their number
    path: str  # the artefact with the count
    # Goroutines by stack, from a profile or a dump; None if only the number is known. For an
    # excerpt, only those that it shows.
    frame: pd.DataFrame | None

    @property
    def shown(self) -> int:
        """The number of goroutines in the frame."""
        return 0 if self.frame is None else int(self.frame["goroutines"].sum())


def has_crashed(capture: Capture) -> bool:
    """Whether the process ended: the last snapshot's dump begins with a fatal error."""
    moments = [*capture.by_moment.values()]
    dumps = moments[-1].artefacts if moments else ()
    crashes = (file.parsed.crash for file in dumps if file.kind.name == "goroutines")
    return any(crash is not None and crash.why in FATAL for crash in crashes)


def counts_of_goroutines(facts: CaptureFacts) -> tuple[GoroutineCount, ...]:
    """Return the goroutine count of each snapshot that has one, in order.

    A snapshot can have a goroutine profile without any memory data.
    """
    counts = []
    by_name = facts.capture.by_moment
    earlier = {moment.name for moment in facts.of_earlier_processes}
    for name in (name for name in by_name or facts.by_moment if name not in earlier):
        known, moment = facts.by_moment.get(name), by_name.get(name)
        count = None if known is None else _of_facts(known)
        total = None if moment is None else moment.goroutine_count
        if count is None and moment is not None and total is not None:
            kinds = (GOROUTINE, "goroutines", "memstats")
            path = next((moment.paths[kind] for kind in kinds if kind in moment.paths), GOROUTINE)
            time = None if moment.time is None else pd.Timestamp(moment.time)
            frame = moment.goroutines if len(moment.goroutines) else None
            count = GoroutineCount(name, time, total, path, frame)
        if count is not None:
            counts.append(count)
    return tuple(counts)


def _of_facts(facts: MomentFacts) -> GoroutineCount | None:
    """Return the count of a snapshot with memory data; None if it has no count."""
    if facts.goroutine_count is None:
        return None
    frame = facts.goroutines if facts.goroutines is not None and len(facts.goroutines) else None
    count = facts.goroutine_count
    return GoroutineCount(facts.name, facts.time, count, facts.goroutine_path, frame)


def starts_of_goroutines(facts: CaptureFacts) -> Starts | None:
    """Return when the goroutines started that wait where most do, in the last dump in text."""
    waiting, counts = facts.goroutines.waiting, facts.goroutine_counts
    if waiting is None:
        return None
    dumps = (file for file in facts.capture.files if file.kind.name == "goroutines")
    numbers = (dump.parsed.numbers for dump in dumps if dump.source.name == counts[-1].path)
    return starts_at(next(numbers, {}), waiting.function)


def growth_of_goroutines(facts: CaptureFacts) -> GoroutineGrowth:
    """Return how the number of goroutines changes over the snapshots, and what grows with it."""
    counts = facts.goroutine_counts
    stacks = [
        (moment.time, float(size))
        for moment in facts.of_last_process
        if (size := moment.told(STACKS_IN_USE)) is not None
    ]
    return goroutine_growth(
        level_of("goroutines", [(count.time, count.goroutines) for count in counts]),
        level_of("stacks", stacks),
        profiles=[count.frame for count in counts if count.frame is not None],
        descriptors_bytes=descriptors_grown(facts.profiles.growth),
    )


def level_of(source: str, readings: Sequence[tuple[pd.Timestamp | None, float]]) -> Level:
    """Return readings by time, or by position if a time is unknown."""
    order = np.arange(len(readings), dtype=np.float64)
    known = [time.timestamp() for time, _ in readings if time is not None]
    seconds = np.array(known) if len(known) == len(readings) else order
    if len(seconds) > 1 and (np.diff(seconds) < 0).any():
        seconds = order
    levels = np.array([value for _, value in readings], np.float64)
    told = ~np.isnan(levels)
    return Level(source, seconds[told], levels[told])


@dataclass(frozen=True)
class Leaked:
    """Goroutines that the runtime proved can never wake up."""

    moment: str
    path: str  # the artefact that shows them
    frame: pd.DataFrame  # by stack, in the format of `GoroutineCount.frame`

    @cached_property
    def goroutines(self) -> int:
        """The number of leaked goroutines."""
        return int(self.frame["goroutines"].sum())

    @cached_property
    def waiting(self) -> Waiting:
        """Where the leaked goroutines wait."""
        waiting = waiting_of([self.frame])
        assert waiting is not None
        return waiting


def leaked_goroutines(facts: CaptureFacts) -> Leaked | None:
    """Return the goroutines proved leaked at the last snapshot that proves any; else None."""
    for moment in reversed([*facts.capture.by_moment.values()]):
        found = [leaked for leaked in _leaked_at(moment) if leaked.goroutines]
        if found:
            return max(found, key=lambda leaked: leaked.goroutines)
        if LEAKS in moment.profiles:
            return None  # the runtime checked, and found none
    return None


def _leaked_at(moment: Moment) -> Iterator[Leaked]:
    rows = moment.goroutine_stacks
    if rows["leaked"].any():
        marked = rows[rows["leaked"] & ~rows["of_the_runtime"]]
        for path, frame in marked.groupby("artefact"):
            yield Leaked(moment.name, str(path), frame.reset_index(drop=True))
    if LEAKS in moment.profiles:
        profile = moment.profiles[LEAKS]
        yield Leaked(moment.name, profile.source, goroutines_of(profile))


# runtime/metrics since Go 1.26: queued minus executed.
FINALIZERS = (
    ("/gc/finalizers/queued:finalizers", 1),
    ("/gc/finalizers/executed:finalizers", -1),
    ("/gc/cleanups/queued:cleanups", 1),
    ("/gc/cleanups/executed:cleanups", -1),
)
QUEUED_FINALIZERS = {name for name, _ in FINALIZERS}


def rise_of_finalizers(facts: CaptureFacts) -> Rise | None:
    """Return the number of waiting finalizers and cleanups over time; None if unknown."""
    waiting = [
        (moment.time, sum(sign * moment.metrics[name] for name, sign in FINALIZERS))
        for moment in facts.of_last_process
        if moment.metrics.keys() >= QUEUED_FINALIZERS
    ]
    return level_of("finalizers", waiting).rise


def rise_of_threads(facts: CaptureFacts) -> Rise | None:
    """Return the number of threads over time; None if fewer than two snapshots count them."""
    return _rise_of(facts, "threads", lambda moment: moment.threads)


def rise_of_open_files(facts: CaptureFacts) -> Rise | None:
    """Return the number of open files over time, by the pages; None for fewer than two."""
    return _rise_of(facts, "open files", lambda moment: moment.open_files)


def _rise_of(
    facts: CaptureFacts, source: str, count: Callable[[MomentFacts], int | None]
) -> Rise | None:
    counted = [(moment.time, count(moment)) for moment in facts.of_last_process]
    return level_of(source, [(time, known) for time, known in counted if known is not None]).rise


# Beginnings of the wait reasons that only another goroutine, or the network, can end.
BLOCKED = ("chan send", "chan receive", "select", "semacquire", "sync.", "IO wait")


@dataclass(frozen=True)
class Finalizing:
    """A finalizer or a cleanup that was running at a snapshot."""

    function: str  # the program's own innermost function
    finalizer: str  # the function that the runtime calls
    moments: tuple[str, ...]  # the snapshots at which it ran
    looked: int  # how many snapshots have stacks
    counts: GoroutineCount  # the count of the last snapshot that shows it
    wait_seconds: float | None  # its minimum waiting time; None if no dump has it
    stack: str  # functions, innermost first, joined by `;`
    state: str  # what it waits for; empty if no dump has it

    @property
    def is_blocked(self) -> bool:
        """Whether it waits for a channel, a lock or the network, and does not run or sleep."""
        return self.state.startswith(BLOCKED)


def running_finalizer(facts: CaptureFacts) -> Finalizing | None:
    """Return the finalizer or cleanup that was running at the last snapshot; None if none was."""
    counts = facts.goroutine_counts
    shown = [count for count in counts if count.frame is not None and "stack" in count.frame]
    running = [_finalizers_of(count.frame, _whole(facts, count)) for count in shown]
    if not running or running[-1].empty:
        return None
    last = running[-1].iloc[0]
    moments = tuple(
        count.moment
        for count, frame in zip(shown, running, strict=True)
        if last["finalizer"] in set(frame["finalizer"])
    )
    waited = last.get("wait_seconds")
    seconds = None if is_unknown(waited) else float(waited)
    stack, state = str(last["stack"]), last.get("state")
    function = own_function(stack.split(";")) or last["finalizer"]
    waits = (seconds, stack, "" if is_unknown(state) else str(state))
    return Finalizing(function, str(last["finalizer"]), moments, len(shown), shown[-1], *waits)


def _finalizers_of(frame: pd.DataFrame, whole: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of running finalizers, with their names; `whole` are untruncated dumps."""
    stacks = frame["stack"].astype("str").str.split(";")
    named = frame.assign(finalizer=[finalizer_of(stack) for stack in stacks])
    hidden = _without_a_creator(whole)
    if len(hidden) == 1 and hidden["goroutines"].item() == 1:
        begun = hidden["stack"].str.rpartition(";")[2]
        return hidden.assign(finalizer=begun)
    return named[named["finalizer"] != ""]


def _whole(facts: CaptureFacts, count: GoroutineCount) -> pd.DataFrame:
    """Return the goroutines of a dump with complete stacks; no rows without a dump."""
    moment = facts.capture.by_moment.get(count.moment)
    rows = pd.DataFrame({"artefact": []}) if moment is None else moment.goroutine_stacks
    own = rows[rows["artefact"] == count.path]
    return own[~own["of_the_runtime"] & own["elided"].eq(0).fillna(False)] if len(own) else own


def _without_a_creator(rows: pd.DataFrame) -> pd.DataFrame:
    """Return goroutines of a dump that the program did not start, except main.

    Up to Go 1.20, a dump shows neither the finalizer goroutine's loop nor its creator. A dump
    without the main goroutine is an excerpt, in which a missing creator proves nothing.
    """
    if rows.empty:
        return rows
    stacks = rows["stack"].astype("str")
    is_main = stacks.str.contains(r"(?:^|;)main\.main(?:;|$)")
    begun = stacks.str.rpartition(";")[2]
    is_other = ~is_main & ~begun.str.contains(r"^runtime\.|_cgoexp_|\.init(?:\.[0-9]+)?$|^$")
    return rows[(rows["created_by"] == "") & is_other & is_main.any()]
