"""What the program holds keeps growing: the sign of a leak, seen in what each collection marked.

GOGC lets the heap swing between one collection and the next; the live heap does not swing. If it
still grows after it has filled, somebody keeps what is no longer needed, or the work grows.

A series of heap profiles says who: the stack whose objects in use rise from profile to profile, and
go on rising. Without a log, it alone says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gomem.causes.cause import Cause
from gomem.causes.finding import Evidence, Finding, Severity
from gomem.units import format_bytes, format_seconds

if TYPE_CHECKING:
    from gomem.analysis.collector.live_heap import LiveHeap
    from gomem.causes.answers import Answers
    from gomem.causes.thresholds import Thresholds


def find(answers: Answers) -> list[Finding]:
    """One finding for the run that was watched longest, if its live heap grows."""
    facts, limits = answers.gc, answers.thresholds
    leak = _largest_leak(answers)
    if facts is None or facts.longest_run is None:
        return [_of_profiles(leak, limits)] if leak is not None and _is_leak(leak, limits) else []
    live = facts.longest_run
    enough = int((facts.cycles["run"] == live.run).sum()) >= limits.enough_cycles
    return [_finding(live, facts.path, limits, leak)] if enough and _grows(live, limits) else []


_TAKE_TWO = (
    "Take two heap profiles some minutes apart and look at what grew between them: go tool pprof "
    "-diff_base, or gomem compare."
)
_WATCH = " Watch for longer, too: a cache that fills looks the same."
_IN_PROFILES = (
    "A heap profile counts what the last collection found in use. What rises in one profile after "
    "another, and has not levelled off, is kept by somebody. The slope is the median over all "
    "pairs of profiles; its interval includes the error of sampling."
)
CAUSE = Cause(
    code="heap-growth",
    mechanism="Each collection prints what it marked: everything that is still reachable, whatever "
    "GOGC allows on top. The slope is the median of the slopes between all pairs of collections, "
    "from where the live heap first reached its own median; so neither the filling at the start "
    "nor a few odd collections can make it.",
    remedy=_TAKE_TWO + _WATCH,
    references=("golang.org/doc/gc-guide", "net/http/pprof"),
    rule=find,
)


@dataclass(frozen=True)
class _Leak:
    """The stacks that rise together by most.

    Attributes:
        function: Who allocates, of the largest of them.
        first_bytes: Of all of them, in the first profile.
        last_bytes: The same in the last.
        slope: Of the largest, in bytes a second.
        slope_low: Lower end of its 95 % interval.
        slope_high: Upper end of the same.
        path: The last profile.
        moment: That of the last profile.
        seconds: Between the two.
        profiles: How many there are.
        in_use: All stacks together, in the last.
    """

    function: str
    first_bytes: int
    last_bytes: int
    slope: float
    slope_low: float
    slope_high: float
    path: str
    moment: str
    seconds: float
    profiles: int
    in_use: float


def _largest_leak(answers: Answers) -> _Leak | None:
    """What surely rises in the profiles; None if nothing does."""
    series, growth = answers.heap_series, answers.growth
    if series is None or growth is None:
        return None
    sure = growth[growth["representative"].fillna(value=False) & (growth["slope_low"] > 0)]
    if sure.empty:
        return None
    sums = growth.groupby("leak")[["first", "last"]].sum().loc[sure["leak"]]
    leak = (sums["last"] - sums["first"]).idxmax()
    row = sure.set_index("leak").loc[leak]
    last = str(series.moments["moment"].iloc[-1])
    paths = {facts.name: facts.path("pprof") for facts in answers.moments}
    return _Leak(
        str(row["function"]),
        int(sums.loc[leak, "first"]),
        int(sums.loc[leak, "last"]),
        float(row["slope"]),
        float(row["slope_low"]),
        float(row["slope_high"]),
        paths.get(last, last),
        last,
        float(series.moments["seconds"].iloc[-1]),
        len(series.moments),
        float(series.totals.iloc[-1]),
    )


def _is_leak(leak: _Leak, limits: Thresholds) -> bool:
    """Whether it matters, and was seen often enough to be told from a start-up."""
    least = max(limits.growth_bytes, limits.growth_fraction * leak.in_use)
    return leak.profiles >= limits.growth_profiles and leak.last_bytes - leak.first_bytes >= least


def _of_profiles(leak: _Leak, limits: Thresholds) -> Finding:
    sure = leak.seconds >= limits.growth_sure_seconds
    grown = leak.last_bytes - leak.first_bytes
    return CAUSE.finding(
        Severity.WARNING,
        f"what {leak.function} allocates is kept, and grows by {format_bytes(leak.slope)}/s "
        f"({format_bytes(leak.slope_low)}/s to {format_bytes(leak.slope_high)}/s): "
        f"{format_bytes(grown)} in {format_seconds(leak.seconds)}",
        moment=leak.moment,
        size=grown,
        evidence=_evidence(leak),
        mechanism=_IN_PROFILES,
        next_step=(
            f"Look at who keeps what {leak.function} returns: go tool pprof -peek, or the section "
            f"on growth in gomem report.{'' if sure else _WATCH}"
        ),
        confidence="likely" if sure else "possible",
    )


def _evidence(leak: _Leak | None) -> tuple[Evidence, ...]:
    if leak is None:
        return ()
    field = f"inuse_space of {leak.function}"
    return (
        Evidence(leak.path, f"{field}, in the first profile", leak.first_bytes, "B"),
        Evidence(leak.path, field, leak.last_bytes, "B"),
        Evidence(leak.path, "profiles", leak.profiles, "count"),
    )


def _grows(live: LiveHeap, limits: Thresholds) -> bool:
    """Whether it surely grows, and enough to matter."""
    if live.slope_low is None or live.slope_low <= 0 or live.grown_bytes is None:
        return False
    least = max(limits.growth_bytes, limits.growth_fraction * live.last_bytes)
    return live.grown_bytes >= least


def _finding(live: LiveHeap, path: str, limits: Thresholds, leak: _Leak | None) -> Finding:
    assert live.grown_bytes is not None
    assert live.slope_bytes_per_second is not None
    assert live.slope_low is not None
    assert live.slope_high is not None
    sure = live.seconds >= limits.growth_sure_seconds
    look = _TAKE_TWO if leak is None else f"Look at who keeps what {leak.function} allocates."
    return CAUSE.finding(
        Severity.WARNING,
        f"the live heap grows by {format_bytes(live.slope_bytes_per_second)}/s "
        f"({format_bytes(live.slope_low)}/s to {format_bytes(live.slope_high)}/s): "
        f"{format_bytes(live.grown_bytes)} in {format_seconds(live.seconds)}, "
        f"to {format_bytes(live.last_bytes)}",
        size=int(live.grown_bytes),
        evidence=(
            Evidence(path, "heap_live_first_bytes", live.first_bytes, "B"),
            Evidence(path, "heap_live_last_bytes", live.last_bytes, "B"),
            Evidence(path, "live_slope_bytes_per_second", live.slope_bytes_per_second, "B/s"),
            Evidence(path, "live_slope_low_bytes_per_second", live.slope_low, "B/s"),
            Evidence(path, "live_slope_high_bytes_per_second", live.slope_high, "B/s"),
            Evidence(path, "cycles", live.cycles, "count"),
            *_evidence(leak),
        ),
        next_step=look + ("" if sure else _WATCH),
        confidence="likely" if sure else "possible",
    )
