"""The number of goroutines at every snapshot that counts them."""

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
from gomem.analysis.series.level import Level
from gomem.capture.moment import goroutines_of
from gomem.inputs.goroutines.parse import finalizer_of
from gomem.inputs.pprof.calls.names import own_function
from gomem.units import is_unknown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gomem.analysis.series.goroutine_growth import Waiting
    from gomem.analysis.series.level import Rise
    from gomem.capture.moment import Moment
    from gomem.facts.capture import CaptureFacts
    from gomem.facts.moment import MomentFacts

GOROUTINE, LEAKS = "goroutine", "goroutineleak"  # kinds of profiles


@dataclass(frozen=True)
class GoroutineCount:
    """How many goroutines a moment has."""

    moment: str  # its name
    time: pd.Timestamp | None  # when it was, if that is known
    goroutines: int  # how many
    path: str  # the artefact that says so
    # They by stack, from a profile or a dump; None if only their number is known. Of an excerpt it
    # has only those that are shown.
    frame: pd.DataFrame | None

    @property
    def shown(self) -> int:
        """How many of them the frame has."""
        return 0 if self.frame is None else int(self.frame["goroutines"].sum())


def counts_of_goroutines(facts: CaptureFacts) -> tuple[GoroutineCount, ...]:
    """How many goroutines there are, at each moment that counts them, in order.

    A moment may have a goroutine profile and say nothing about memory.
    """
    counts = []
    by_name = facts.capture.by_moment
    earlier = {moment.name for moment in facts.of_earlier_processes}
    for name in (name for name in by_name or facts.by_moment if name not in earlier):
        known, moment = facts.by_moment.get(name), by_name.get(name)
        count = None if known is None else _of_facts(known)
        total = None if moment is None else moment.goroutine_count
        if count is None and moment is not None and total is not None:
            path = moment.paths.get(GOROUTINE, moment.paths.get("goroutines", GOROUTINE))
            time = None if moment.time is None else pd.Timestamp(moment.time)
            frame = moment.goroutines if len(moment.goroutines) else None
            count = GoroutineCount(name, time, total, path, frame)
        if count is not None:
            counts.append(count)
    return tuple(counts)


def _of_facts(facts: MomentFacts) -> GoroutineCount | None:
    """The count of a moment that says something about memory, too; None if it has none."""
    if facts.goroutine_count is None:
        return None
    frame = facts.goroutines if facts.goroutines is not None and len(facts.goroutines) else None
    count = facts.goroutine_count
    return GoroutineCount(facts.name, facts.time, count, facts.goroutine_path, frame)


def growth_of_goroutines(facts: CaptureFacts) -> GoroutineGrowth:
    """How the number of goroutines moves over the moments, and what goes with it."""
    counts = facts.goroutine_counts
    stacks = [
        (moment.time, float(moment.memstats["StackInuse"]))
        for moment in facts.of_last_process
        if moment.memstats is not None
    ]
    return goroutine_growth(
        level_of("goroutines", [(count.time, count.goroutines) for count in counts]),
        level_of("stacks", stacks),
        profiles=[count.frame for count in counts if count.frame is not None],
        descriptors_bytes=descriptors_grown(facts.profiles.growth),
    )


def level_of(source: str, readings: Sequence[tuple[pd.Timestamp | None, float]]) -> Level:
    """Readings by time, or in their order if a time is unknown."""
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
    """Goroutines of which the runtime has proved that nothing can ever wake them."""

    moment: str
    path: str  # the artefact that says so
    frame: pd.DataFrame  # they by stack, as `GoroutineCount.frame` has them

    @cached_property
    def goroutines(self) -> int:
        """How many there are."""
        return int(self.frame["goroutines"].sum())

    @cached_property
    def waiting(self) -> Waiting:
        """Where they wait."""
        waiting = waiting_of([self.frame])
        assert waiting is not None
        return waiting


def leaked_goroutines(facts: CaptureFacts) -> Leaked | None:
    """Those of the last moment that proves some: a goroutineleak profile, `(leaked)` in a dump."""
    for moment in reversed([*facts.capture.by_moment.values()]):
        found = [leaked for leaked in _leaked_at(moment) if leaked.goroutines]
        if found:
            return max(found, key=lambda leaked: leaked.goroutines)
        if LEAKS in moment.profiles:
            return None  # it looked, and there was none
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


# Of runtime/metrics since Go 1.26: what was queued counts up, what has run counts down.
FINALIZERS = (
    ("/gc/finalizers/queued:finalizers", 1),
    ("/gc/finalizers/executed:finalizers", -1),
    ("/gc/cleanups/queued:cleanups", 1),
    ("/gc/cleanups/executed:cleanups", -1),
)
QUEUED_FINALIZERS = {name for name, _ in FINALIZERS}


def rise_of_finalizers(facts: CaptureFacts) -> Rise | None:
    """The number of waiting finalizers and cleanups over time; None if unknown."""
    waiting = [
        (moment.time, sum(sign * moment.metrics[name] for name, sign in FINALIZERS))
        for moment in facts.of_last_process
        if moment.metrics.keys() >= QUEUED_FINALIZERS
    ]
    return level_of("finalizers", waiting).rise


def rise_of_threads(facts: CaptureFacts) -> Rise | None:
    """How the number of threads moves; None if fewer than two moments count them."""
    counted = [
        (moment.time, moment.threads)
        for moment in facts.of_last_process
        if moment.threads is not None
    ]
    return level_of("threads", counted).rise


@dataclass(frozen=True)
class Finalizing:
    """A finalizer or a cleanup that was running at a snapshot."""

    function: str  # the program's own function in which it is
    moments: tuple[str, ...]  # at which it ran
    looked: int  # how many moments show stacks
    counts: GoroutineCount  # what shows it, at the last of them
    wait_seconds: float | None  # for how long it has waited there at least; None if no dump says
    stack: str  # functions, innermost first, joined by `;`
    state: str  # what it waits for; empty if no dump says


def running_finalizer(facts: CaptureFacts) -> Finalizing | None:
    """The finalizer or cleanup that was running at the last moment; None if none was."""
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
    return Finalizing(function, moments, len(shown), shown[-1], *waits)


def _finalizers_of(frame: pd.DataFrame, whole: pd.DataFrame) -> pd.DataFrame:
    """The rows in which the runtime runs one, with its name; `whole` are those of a dump uncut."""
    stacks = frame["stack"].astype("str").str.split(";")
    named = frame.assign(finalizer=[finalizer_of(stack) for stack in stacks])
    hidden = _without_a_creator(whole)
    if len(hidden) == 1 and hidden["goroutines"].item() == 1:
        begun = hidden["stack"].str.rpartition(";")[2]
        return hidden.assign(finalizer=begun)
    return named[named["finalizer"] != ""]


def _whole(facts: CaptureFacts, count: GoroutineCount) -> pd.DataFrame:
    """The goroutines of a dump of which it shows all frames; no rows where no dump counts."""
    moment = facts.capture.by_moment.get(count.moment)
    rows = pd.DataFrame({"artefact": []}) if moment is None else moment.goroutine_stacks
    own = rows[rows["artefact"] == count.path]
    return own[~own["of_the_runtime"] & own["elided"].eq(0).fillna(False)] if len(own) else own


def _without_a_creator(rows: pd.DataFrame) -> pd.DataFrame:
    """Goroutines of a dump that the program did not start, other than main.

    Until Go 1.20 a dump shows of the one that runs finalizers neither the loop nor who began it.
    A dump without main's goroutine is an excerpt, which says no more of any other.
    """
    if rows.empty:
        return rows
    stacks = rows["stack"].astype("str")
    is_main = stacks.str.contains(r"(?:^|;)main\.main(?:;|$)")
    begun = stacks.str.rpartition(";")[2]
    is_other = ~is_main & ~begun.str.contains(r"^runtime\.|_cgoexp_|\.init(?:\.[0-9]+)?$|^$")
    return rows[(rows["created_by"] == "") & is_other & is_main.any()]
