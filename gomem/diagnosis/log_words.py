"""What a GC log shows without RSS: what the GC costs, and the trend of the live heap."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import numpy as np

from gomem.analysis.memory.heap_slots import LEAST_GOAL_BYTES
from gomem.analysis.memory.live_heap import LOG
from gomem.analysis.series.excursion import at_base
from gomem.causes.checks import grows, printed_bytes
from gomem.causes.collecting import costlier_since_start, every, grew_at_each
from gomem.causes.commands import TAKE_ALLOCS
from gomem.diagnosis.in_use import who_allocated
from gomem.diagnosis.listed_memory import SMAPS_TOO, Told
from gomem.diagnosis.live_level import live_stretch
from gomem.facts.profiles import ALLOCATED, that_count
from gomem.facts.settings import text_of
from gomem.inputs.environ.parse import GOGC
from gomem.statistics.quantiles import carries
from gomem.text import (
    Bytes,
    Command,
    Count,
    MostShare,
    Quoted,
    Rate,
    Seconds,
    Share,
    Text,
    joined,
    text,
)
from gomem.units import MIB

if TYPE_CHECKING:
    from gomem.analysis.collector.heap_pacing import LiveHeap
    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.facts.collector import CollectorFacts
    from gomem.facts.moment import MomentFacts

GCTRACE = "gctrace"
# What go prints above the output of its compiler, and a GC in it.
_BUILT = re.compile(rb"^(# [a-z][\w./-]{0,200})(?: \[[\w./-]{1,200}\])?\ngc \d+ @", re.MULTILINE)
RARER = 10  # times: how much rarer GCs are at the GOGC that is advised
MIN_SHARE = 0.01  # of the CPU; a smaller share is printed as below this


def by_log(diagnosis: Diagnosis, _: MomentFacts | None) -> Told | None:
    """GC cost and the trend of the live heap, from a log."""
    log = diagnosis.collector
    if log is None or not log.cost.cycles:
        return None
    cost = log.cost
    within = text(" in {}", Seconds(cost.seconds)) if cost.seconds else ""
    is_told = any(finding.cpu_fraction for finding in diagnosis.findings)
    said = [taken] if not is_told and (taken := _cpu_words(diagnosis, log)) else []
    if cost.stw.p99 is not None and carries(cost.stw.n, 0.99):
        said.append(text("p99 pause {}", Seconds(cost.stw.p99)))
    elif cost.stw.max is not None:
        said.append(text("longest pause {}", Seconds(cost.stw.max)))
    costs = joined(", ", said) or Text("no line has their cost")
    counted: Text = Count(cost.cycles, "GC")
    if log.missing > cost.cycles:  # an excerpt
        whole = Count(cost.cycles + log.missing, "GC")
        counted = text("The log shows {} of {}", Count(cost.cycles), whole)
    sentence = text("{}{}: {}.", counted, within, costs)
    sentence = joined(" ", filter(None, (sentence, _start_up_words(log))))
    live, grew = _live_heap(diagnosis)
    earlier, grew_before = _earlier_runs(diagnosis)
    told = joined(" ", filter(None, (sentence, live, earlier)))
    return told, grew or grew_before, SMAPS_TOO


def pace_words(diagnosis: Diagnosis, *, is_told: bool) -> tuple[Text, Text]:
    """Say that GCs are frequent because the heap is small, and what makes them rarer; else empty.

    A heap below the least goal of a GOGC is not collected before it: that goal alone sets the pace.
    What the GCs cost is said, too, unless the rest of the verdict tells it.
    """
    log, gogc = diagnosis.collector, float(diagnosis.facts.settings.gogc.value)
    if log is None:
        return Text(), Text()
    cost = log.cost
    if not diagnosis.thresholds.are_frequent(cost.interval.p50) or not gogc < math.inf:
        return Text(), Text()
    least, rate = round(gogc * LEAST_GOAL_BYTES), cost.allocation_rate.value
    if rate is None or not 0 < (cost.heap_goal_bytes or 0) <= least:
        return Text(), Text()
    words = (
        "A GC runs {}{} because the heap goal is the least that GOGC={} allows, {}, and the "
        "program allocates {}."
    )
    now, often = text_of(GOGC, gogc), every(cost.interval.p50)
    taken = Text() if is_told else _cpu_words(diagnosis, log)
    said = text(words, often, taken and text(" ({})", taken), now, Bytes(least), Rate(rate))
    more = f"{GOGC}={text_of(GOGC, RARER * gogc)}"
    shown = [*that_count(ALLOCATED, diagnosis.capture.heap_profiles).values()]
    who = "" if shown else text("See who allocates: {}. ", TAKE_ALLOCS)
    allocated = who_allocated(shown[-1]) if shown else Text()
    step = "{}For a tenth of the GCs, at a least goal of {}, set: {}."
    said = joined(" ", filter(None, (said, allocated)))
    return said, text(step, who, Bytes(RARER * least), Command(more))


def _start_up_words(log: CollectorFacts) -> Text:
    """Say when the log ends, if it has only the first GCs, each of a heap that grew."""
    times = log.log_seconds if grew_at_each(log) else None
    if times is None:
        return Text()
    words = "The heap grew at each, as in a start-up or a leak; the log ends {} after the start."
    return text(words, Seconds(times[1]))


def _cpu_words(diagnosis: Diagnosis, log: CollectorFacts) -> Text:
    """The GC's share of CPU, of several runs the costliest; empty if unknown.

    It is at worst overstated, and a small share is not printed as zero. The share since the start,
    which each line has, is said if it is much larger.
    """
    place, share = log.costliest_run or (None, log.cost.gc_cpu_fraction)
    whole = costlier_since_start(log, diagnosis.thresholds)
    since = Text() if whole is None else text("{} since the start", Share(whole))
    if share is None:
        return since and text("{} of the CPU", since)
    is_small = share < MIN_SHARE
    which = "" if place is None or is_small else text(" (run {}, the costliest)", str(place))
    most = Text("under 1 %") if is_small else text("at most {}", MostShare(share))
    return text("{} of the CPU{}{}", most, which, since and text(", but {}", since))


def by_old_log(diagnosis: Diagnosis, _: MomentFacts | None) -> Told | None:
    """Say that a log's format is too old to be read."""
    log = diagnosis.collector
    lines = 0 if log is None else log.log.old_lines
    if not lines:
        return None
    words = (
        "{} of the log {} a GC trace of Go 1.4 or older, which has no time and no goal; gomem "
        "does not read it."
    )
    said = text(words, Count(lines, "line"), "is" if lines == 1 else "are")
    return said, False, Text("Record one with Go 1.5 or later: GODEBUG=gctrace=1.")


def _live_heap(diagnosis: Diagnosis) -> tuple[Text, bool]:
    """The live heap at the end of the log and its trend, if the collections suffice."""
    assert diagnosis.collector is not None
    last = diagnosis.collector.cost.heap_live_last_bytes
    if last is None:
        return Text(), False
    live = text("The live heap is {} after the last GC", _to_a_mebibyte(last))
    run = diagnosis.collector.last_run
    ratio = diagnosis.thresholds.rise_ratio
    has_risen = run is not None and run.last_bytes >= max(1, ratio * run.first_bytes)
    if grows(diagnosis.case):
        return live + ".", has_risen  # the finding has the rate
    if run is None or run.slope_low is None or run.slope_high is None:
        return text("{}{}.", live, _of_few(diagnosis, run if has_risen else None)), False
    if run.slope_low > 0 and run.last_bytes > run.first_bytes:
        rate = Rate(run.slope_bytes_per_second, run.slope_low, run.slope_high)
        return text("{} and grows by {}.", live, rate), has_risen
    trend = "shrinks" if run.slope_high < 0 else "does not grow significantly"
    if (burst := _burst_at_end(diagnosis)) is None:
        return text("{} and {}.", live, trend), False
    began, seconds, is_between = burst
    words = "{}, up from {} {} earlier{}."
    between = f"; between bursts it {trend}" if is_between else ""
    return text(words, live, _to_a_mebibyte(began), Seconds(seconds), between), False


def _burst_at_end(diagnosis: Diagnosis) -> tuple[int, float, bool] | None:
    """Where the rise at the end of the log began, how long it took, and whether others fell back.

    None if the log does not end in a steep rise.
    """
    live, limits = diagnosis.facts.live_heap, diagnosis.thresholds
    if live is None or live.earlier_run is not None or live.level.source != LOG:
        return None
    level, ends = live.level, live.level.values
    falls = np.flatnonzero(np.diff(ends) <= 0)
    began = int(falls[-1]) + 1 if len(falls) else 0
    grown = float(ends[-1] - ends[began])
    if grown < limits.spike_bytes or ends[-1] < limits.jump_ratio * ends[began]:
        return None
    seconds = float(level.seconds[-1] - level.seconds[began])
    return (
        printed_bytes(round(ends[began]), level.error_at(began)),
        seconds,
        at_base(level) is not level,
    )


def _of_few(diagnosis: Diagnosis, risen: LiveHeap | None) -> Text:
    """Say where the live heap of few collections went: it is level, it has risen, or neither."""
    assert diagnosis.collector is not None
    if (stretch := live_stretch(diagnosis)) is not None:
        seen = Count(stretch.readings), Seconds(stretch.seconds)
        return text(", and has been level for the last {} GCs ({})", *seen)
    few = "; there are too few GCs for a trend"
    if risen is None:
        return Text(few)
    first = next(reversed(diagnosis.collector.runs), risen).first_bytes  # of a heap not yet filled
    first = risen.first_bytes if first is None else min(first, risen.first_bytes)
    return text(", up from {}{}", _to_a_mebibyte(first), few)


def _to_a_mebibyte(size: int) -> Text:
    """A size in whole MiB, the unit of logs; less than 1 MiB is not written as zero."""
    return text("{}" if size else "under {}", Bytes(size or MIB))


def _earlier_runs(diagnosis: Diagnosis) -> tuple[Text, bool]:
    """The live heap in earlier processes of the log, and whether it rose in one."""
    assert diagnosis.collector is not None
    runs = diagnosis.collector.runs
    earlier = runs[:-1]
    known = [run for run in earlier if run.first_bytes is not None and run.last_bytes is not None]
    if not known:
        return Text(), False
    run = max(known, key=lambda run: run.cycles)
    which = "longest earlier" if earlier[1:] else "earlier"
    first, last_live = (_to_a_mebibyte(size or 0) for size in (run.first_bytes, run.last_bytes))
    moved = text("was {}", last_live)
    if run.cycles > 1:
        moved = text("went from {} after its first GC to {} after its last", first, last_live)
    words = "The log has {}, analysed separately: the {} run has {}, and its live heap {}."
    said = text(words, Count(len(runs), "run"), which, Count(run.cycles, "GC"), moved)
    said = joined(" ", filter(None, (said, _built_words(diagnosis))))
    least = diagnosis.thresholds.rise_ratio * (run.first_bytes or 0)
    return said, run.cycles > runs[-1].cycles and (run.last_bytes or 0) >= least


def _built_words(diagnosis: Diagnosis) -> Text:
    """Say that runs are of Go's own compiler, by the line that go prints above what it prints."""
    logs = (file for file in diagnosis.capture.files if file.kind.name == GCTRACE)
    found = next(filter(None, (_BUILT.search(log.source.data) for log in logs)), None)
    if found is None:
        return Text()
    words = "The GCs below {} are of Go's compiler, which builds that package."
    return text(words, Quoted(found[1].decode("utf-8", "replace")))
