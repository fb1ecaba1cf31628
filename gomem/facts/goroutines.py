"""What is known of the number of goroutines, at every moment of a capture that counts them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from gomem.analysis.series.goroutine_growth import GoroutineGrowth, goroutine_growth
from gomem.analysis.series.level import Level
from gomem.inputs.goroutines.parse import finalizer_of
from gomem.inputs.pprof.calls.names import own_function
from gomem.units import is_unknown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gomem.analysis.series.level import Rise
    from gomem.capture.capture import Capture
    from gomem.facts.moment import MomentFacts

GOROUTINE = "goroutine"


@dataclass(frozen=True)
class GoroutineCount:
    """How many goroutines a moment has."""

    moment: str  # its name
    time: pd.Timestamp | None  # when it was, if that is known
    goroutines: int  # how many
    path: str  # the artefact that says so
    # They by stack, from a profile or a dump; None if only their number is known.
    frame: pd.DataFrame | None


def goroutine_counts(
    capture: Capture, by_moment: Mapping[str, MomentFacts]
) -> tuple[GoroutineCount, ...]:
    """The counts of a capture, in the moments' order.

    Args:
        capture: What was read; a moment may have a goroutine profile and nothing else.
        by_moment: What is known of the moments that say anything about memory.
    """
    counts = []
    for name in capture.by_moment or by_moment:
        facts, moment = by_moment.get(name), capture.by_moment.get(name)
        count = _of_facts(facts) if facts is not None else None
        if count is None and moment is not None and len(moment.goroutines):
            path = moment.paths.get(GOROUTINE, moment.paths.get("goroutines", GOROUTINE))
            time = None if moment.time is None else pd.Timestamp(moment.time)
            total = int(moment.goroutines["goroutines"].sum())
            count = GoroutineCount(name, time, total, path, moment.goroutines)
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


def growth_of_goroutines(
    counts: Sequence[GoroutineCount], moments: Sequence[MomentFacts], descriptors_bytes: float
) -> GoroutineGrowth:
    """How their number moves, and what goes with it.

    Args:
        counts: As `goroutine_counts` gives them.
        moments: The moments that say anything about memory.
        descriptors_bytes: By how much descriptors rose in heap profiles.
    """
    stacked = [one for one in moments if one.memstats is not None]
    stacks = [float(one.memstats["StackInuse"]) for one in stacked if one.memstats is not None]
    return goroutine_growth(
        level_of("goroutines", [count.time for count in counts], [c.goroutines for c in counts]),
        level_of("stacks", [one.time for one in stacked], stacks),
        profiles=[count.frame for count in counts if count.frame is not None],
        descriptors_bytes=descriptors_bytes,
    )


def level_of(source: str, times: Sequence[pd.Timestamp | None], values: Sequence[float]) -> Level:
    """Readings by time; by their order where a time is not known."""
    order = np.arange(len(values), dtype=np.float64)
    known = [time.timestamp() for time in times if time is not None]
    seconds = np.array(known) if len(known) == len(values) else order
    if len(seconds) > 1 and (np.diff(seconds) < 0).any():
        seconds = order
    levels = np.array(values, np.float64)
    told = ~np.isnan(levels)
    return Level(source, seconds[told], levels[told])


# Of runtime/metrics since Go 1.26: what was queued counts up, what has run counts down.
FINALIZERS = (
    ("/gc/finalizers/queued:finalizers", 1),
    ("/gc/finalizers/executed:finalizers", -1),
    ("/gc/cleanups/queued:cleanups", 1),
    ("/gc/cleanups/executed:cleanups", -1),
)
QUEUED_FINALIZERS = {name for name, _ in FINALIZERS}


def rise_of_finalizers(moments: Sequence[MomentFacts]) -> Rise | None:
    """How the number of finalizers and cleanups that wait moves; None where nothing counts."""
    counted = [one for one in moments if one.metrics.keys() >= QUEUED_FINALIZERS]
    waiting = [sum(sign * one.metrics[name] for name, sign in FINALIZERS) for one in counted]
    return level_of("finalizers", [one.time for one in counted], waiting).rise


def rise_of_threads(moments: Sequence[MomentFacts]) -> Rise | None:
    """How the number of threads moves; None if fewer than two moments count them."""
    counted = [moment for moment in moments if moment.threads is not None]
    numbers = [float(moment.threads or 0) for moment in counted]
    return level_of("threads", [moment.time for moment in counted], numbers).rise


@dataclass(frozen=True)
class Finalizing:
    """A finalizer or a cleanup that was running when somebody looked."""

    function: str  # the program's own function in which it is
    moments: tuple[str, ...]  # at which it ran
    looked: int  # how many moments show stacks
    counts: GoroutineCount  # what shows it, at the last of them
    wait_seconds: float | None  # for how long it has waited there at least; None if no dump says


def finalizing(counts: Sequence[GoroutineCount]) -> Finalizing | None:
    """The finalizer that runs at the last moment that shows stacks; None if none does.

    Args:
        counts: As `goroutine_counts` gives them.
    """
    shown = [count for count in counts if count.frame is not None and "stack" in count.frame]
    running = [_finalizers_of(count.frame) for count in shown]
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
    function = own_function(str(last["stack"]).split(";")) or last["finalizer"]
    return Finalizing(function, moments, len(shown), shown[-1], seconds)


def _finalizers_of(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows in which the runtime runs one, with its name."""
    stacks = frame["stack"].astype("str").str.split(";")
    named = frame.assign(finalizer=[finalizer_of(stack) for stack in stacks])
    hidden = _without_a_creator(frame)
    if len(hidden) == 1 and hidden["goroutines"].item() == 1:
        begun = hidden["stack"].str.rpartition(";")[2]
        return hidden.assign(finalizer=begun)
    return named[named["finalizer"] != ""]


def _without_a_creator(frame: pd.DataFrame) -> pd.DataFrame:
    """Goroutines of a dump that nobody in the program began, other than the first.

    Until Go 1.20 a dump shows of the one that runs finalizers neither the loop nor who began it.
    """
    if "created_by" not in frame or frame["created_by"].isna().any():
        return frame.iloc[:0]
    begun = frame["stack"].astype("str").str.rpartition(";")[2]
    is_other = ~begun.str.contains(r"^main\.main$|^runtime\.|_cgoexp_|^$")
    return frame[(frame["created_by"] == "") & is_other]
