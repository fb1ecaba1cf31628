"""Goroutines that pile up: each retains its stack, and all that its stack refers to.

A goroutine starts with a stack of 2 KiB (8 KiB where the average is larger, since Go 1.19), which
lies in the arenas and counts as StackInuse. A goroutine that waits forever is never collected.

Growth matters, not the number: ten thousand from the start are a design. A score says how often
such a rise was a leak: how much of it is a line rather than a fill that saturates, how much came
late, how many more there are, and how often and how long they were counted. Where they are not
counted, their descriptors in heap profiles (`runtime.malg`) and StackInuse grow with them. A single
snapshot has no direction: very many are a note.

A goroutine holds its stack and what its stack refers to. No file says how much that is: the heap
that grew at the same time is the upper bound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.analysis.memory.groups import LIVE, STACKS
from gomem.analysis.series.goroutine_growth import SMALLEST_STACK
from gomem.causes.cause import Cause
from gomem.causes.commands import CAPTURE, TAKE_GOROUTINES, sentences, with_files
from gomem.causes.evidence import known, rise_evidence
from gomem.causes.finding import Evidence, Finding, Severity, Site
from gomem.causes.goroutines import (
    CODE,
    goroutines_heap_bytes,
    goroutines_pile_up,
    opening,
    probability,
)  # fmt: skip
from gomem.causes.sites import called_by, caller_sites, growing_sites, part_words
from gomem.inputs.pprof.calls.names import can_be_mended, package_of
from gomem.text import Bytes, Count, Function, MomentName, Text, joined, text

if TYPE_CHECKING:
    import pandas as pd

    from gomem.analysis.series.goroutine_growth import Waiting
    from gomem.causes.case import Case
    from gomem.causes.thresholds import Thresholds
    from gomem.facts.moment import MomentFacts


def find(case: Case) -> list[Finding]:
    """One finding: they pile up, or are very many in the only snapshot."""
    growth = case.facts.goroutines
    if goroutines_pile_up(case):
        return [_uncounted(case) if growth.count is None else _growing(case)]
    of_one = _of_one_dump(case)
    if of_one:
        return of_one
    counted = [moment for moment in case.facts.moments if moment.goroutine_count is not None]
    if growth.count is None and len(counted) == 1 and _are_many(counted[0], case):
        return [_many(counted[0])]
    return []


CAUSE = Cause(
    code=CODE,
    mechanism="A goroutine that waits forever for a channel, a lock or the network is never "
    "collected. It retains its stack (2 to 8 KiB, or what it has grown to) and everything the "
    "stack refers to. Since Go 1.18 stacks also raise the heap goal, so collections come later.",
    remedy=text(
        "{} shows where they wait. Look at the stack with the most goroutines: who should have "
        "closed the channel, cancelled the context, or read the answer? From Go 1.27 on, the "
        "goroutineleak profile names those that can never run again.",
        TAKE_GOROUTINES,
    ),
    references=("runtime/pprof: goroutine", "golang/go#44167", "golang/go#74609"),
    bears_on=("moments", "allocations"),
    rule=find,
    claims=frozenset({LIVE, STACKS}),
    past="goroutine stacks",
    needed_moments=3,
)
_DECIDE = text(
    "{} shows whether they grow: a number that stays is a design, a number that only grows is a "
    "leak.",
    CAPTURE,
)
_NOT_COUNTED = (
    "No file counts the goroutines, but what comes with each of them grows steadily: its "
    "descriptor (runtime.malg in heap profiles, reused and never freed) and its stack."
)


def _growing(case: Case) -> Finding:
    growth, thresholds = case.facts.goroutines, case.thresholds
    count = growth.count
    assert count is not None
    counted = case.facts.goroutine_counts
    first, last = counted[0], counted[-1]
    sites = growing_sites(case)
    heap = goroutines_heap_bytes(case, sites)
    size = growth.stacks_grown + heap
    likely = (
        probability(case) >= thresholds.likely_probability
        and count.readings >= thresholds.growth_readings
    )
    title = text(
        "Goroutine leak: {} → {}{}{}; {}",
        Count(round(count.first)),
        Count(round(count.last)),
        where_words(growth.waiting, thresholds),
        _opened_words(case),
        _held(size, heap),
    )
    watched = count.seconds if case.facts.goroutines_are_timed else None
    evidence = [
        Evidence(end.path, text("goroutines, {}", which), end.goroutines, "count")
        for which, end in (("first", first), ("last", last))
    ]
    return CAUSE.finding(
        Severity.WARNING,
        title,
        moment=last.moment,
        size=round(size) or None,
        evidence=(
            *evidence,
            *known(last.path, "s", {"time watched": watched}),
            *_beside(last.frame, last.path),
            *_of_stacks(case),
            *_of_heap(heap, case),
        ),
        next_step=_next_step(case, last.path),
        confidence="likely" if likely else "possible",
        sites=_sites(case, size),
    )


def _held(size: float, heap: float) -> Text:
    """What they hold: at least their stacks, at most all the heap that grew as well."""
    return text("they hold {} {}", "up to" if heap else "at least", Bytes(round(size)))


def _next_step(case: Case, path: str) -> Text:
    """Where to look; only without a profile, how to take one."""
    waiting = case.facts.goroutines.waiting
    if waiting is None or not waiting.function:
        return Text(CAUSE.remedy)
    is_profile = path.endswith((".gz", ".pprof"))
    stacks = with_files("gomem top {} --traces" if is_profile else "less {}", path)
    shows = text("{} shows the stacks in {}.", stacks, Function(waiting.function))
    return sentences(shows, called_by(opening(case), package_of(waiting.function)), _WHO)


_WHO = (
    "Who should have closed the channel, cancelled the context, answered, or closed the body or "
    "the rows? Give each wait a way out: a context, a timeout, a select with done."
)


def where_words(waiting: Waiting | None, thresholds: Thresholds) -> Text:
    """Where the new ones wait, how many of them, and who started them; empty if nothing says."""
    if waiting is None or not waiting.function:
        return Text()
    share = waiting.there / max(1, waiting.of_all)
    many = "all" if share >= 1 else part_words(share, thresholds)
    begun = Text()
    started_by = waiting.started_by or waiting.created_by
    if started_by not in ("", waiting.function):
        begun = text(", started by {}", Function(started_by))
    return text(", {} waiting in {}{}", many, Function(waiting.function), begun)


def _opened_words(case: Case) -> Text:
    opened, waiting = opening(case), case.facts.goroutines.waiting
    if not opened or waiting is None:
        return Text()
    library = package_of(waiting.function)
    return text("; {} calls {}", Function(opened[0].function), library)


def _sites(case: Case, size: float) -> tuple[Site, ...]:
    waiting = case.facts.goroutines.waiting
    if waiting is None or not waiting.function:
        return ()
    opened = caller_sites(opening(case), case.thresholds, size)
    if opened:
        return opened
    shares = dict(waiting.shares)
    begun = {waiting.started_by: shares.get(waiting.function, 1.0)} if waiting.started_by else {}
    return tuple(
        Site(waiting.function if own in begun else own, own, high=share * size, share=share)
        for own, share in ({waiting.function: 1.0} | begun | shares).items()
    )


def _of_stacks(case: Case) -> list[Evidence]:
    stacks = case.facts.goroutines.stacks
    saying = [moment for moment in case.facts.moments if moment.memstats is not None]
    if stacks is None or not saying:
        return []
    return [*rise_evidence(saying[-1].path("memstats"), "StackInuse", stacks)]


def _of_heap(heap: float, case: Case) -> list[Evidence]:
    saying = [moment for moment in case.facts.moments if moment.memstats is not None]
    if not heap or not saying:
        return []
    return [Evidence(saying[-1].path("memstats"), "live heap, growth", round(heap), "B")]


def _uncounted(case: Case) -> Finding:
    """They grow, by what goes with their number."""
    growth, stacks = case.facts.goroutines, case.facts.goroutines.stacks
    words, evidence, size = [], [], 0
    if stacks is not None and (
        case.facts.goroutine_counts or stacks.grown >= case.thresholds.goroutine_bytes
    ):
        size = round(stacks.grown)
        words.append(text("stacks {} → {}", Bytes(round(stacks.first)), Bytes(round(stacks.last))))
        evidence += _of_stacks(case)
    if growth.descriptors_bytes > 0:
        size += round(growth.descriptors_bytes)
        words.append(text("descriptors +{}", Bytes(round(growth.descriptors_bytes))))
        field = "inuse_space below runtime.newproc1, growth"
        evidence.append(Evidence(case.facts.profiles.last_path, field, size, "B"))
    counts, where = case.facts.goroutine_counts, Text("; no file counts them")
    confidence = "likely" if len(words) > 1 and not counts else "possible"
    if counts:
        last, path = counts[-1], counts[-1].path
        words = words[:1]  # a title has room for no more
        where = text("; {} at {}", Count(last.goroutines), MomentName(last.moment))
        where += where_words(growth.waiting, case.thresholds)
        evidence.append(Evidence(path, "goroutines, counted once", last.goroutines, "count"))
    return CAUSE.finding(
        Severity.WARNING,
        text("Goroutine leak: {}{}", joined(", ", words), where),
        moment=case.facts.moments[-1].name if case.facts.moments else None,
        size=size + round(goroutines_heap_bytes(case, growing_sites(case))) * bool(counts),
        evidence=evidence,
        mechanism=f"{CAUSE.mechanism} {_NOT_COUNTED}",
        confidence=confidence,
        sites=_sites(case, size),
    )


# No goroutine that is about to go on waits in these: the other side is gone, or never lets go.
BLOCKED = frozenset(
    {"chan send", "chan send (nil chan)", "chan receive (nil chan)", "select (no cases)"}
    | {"sync.Mutex.Lock", "sync.RWMutex.Lock", "sync.RWMutex.RLock"}
)


def _of_one_dump(case: Case) -> list[Finding]:
    """Most goroutines of a single dump are in the same place, and blocked for good or hold much."""
    dumps = [(dump, dump.frame) for dump in case.facts.goroutine_counts if dump.frame is not None]
    waiting, limits = case.facts.goroutines.waiting, case.thresholds
    if len(dumps) != 1 or waiting is None:
        return []
    ((dump, frame),) = dumps
    blocked = 0
    if "state" in frame:
        blocked = int(frame.loc[frame["state"].isin(BLOCKED), "goroutines"].sum())
    stuck = blocked if blocked >= limits.goroutine_growth else 0
    held = _held_share(dump.moment, waiting, case)
    many = waiting.there >= limits.uncounted_goroutines and can_be_mended(waiting.function)
    there = stuck or (waiting.there if many else 0)
    if there <= limits.most_share * dump.goroutines:
        return []
    size = _stacks_of(dump.moment, there, case) + goroutines_heap_bytes(case, growing_sites(case))
    are = "are blocked in a send or a lock" if stuck else "are in the same place"
    is_told = stuck or held >= limits.most_share
    return [
        CAUSE.finding(
            Severity.WARNING if is_told else Severity.INFO,
            text(
                "Goroutine leak: {} of {} {}{}; they hold up to {}",
                Count(there),
                Count(dump.goroutines),
                are,
                where_words(waiting, limits),
                Bytes(round(size)),
            ),
            moment=dump.moment,
            size=round(size),
            evidence=(
                Evidence(dump.path, "goroutines", dump.goroutines, "count"),
                *_beside(frame, dump.path),
            ),
            next_step=sentences(_next_step(case, dump.path), _DECIDE),
            confidence="possible",
            sites=_sites(case, size),
        )
    ]


def _stacks_of(moment: str, there: int, case: Case) -> int:
    """What the stacks of so many take: all that there are, or as many of the smallest."""
    facts = case.facts.by_moment.get(moment)
    return there * SMALLEST_STACK if facts is None else max(0, _stack_bytes(facts))


def _held_share(moment: str, waiting: Waiting, case: Case) -> float:
    """What a thousand and more take of what there is, by their stacks or by their heap."""
    limits, facts = case.thresholds, case.facts.by_moment.get(moment)
    if waiting.there < limits.uncounted_goroutines or not can_be_mended(waiting.function):
        return 0.0  # connections that are idle wait in Go's own library
    held = None if facts is None else facts.held_bytes
    if facts is not None and held:
        return _stack_bytes(facts) / held
    in_use = case.facts.profiles.in_use_holders
    whole = 0.0 if in_use is None else float(in_use["after"].sum())
    return goroutines_heap_bytes(case, growing_sites(case)) / whole if whole else 0.0


def _are_many(moment: MomentFacts, case: Case) -> bool:
    """Whether a moment has very many, and their stacks matter."""
    if (moment.goroutine_count or 0) < case.thresholds.goroutine_count:
        return False
    least = case.thresholds.notable(case.thresholds.goroutine_bytes, moment.rss_bytes)
    return _stack_bytes(moment) >= least


def _many(moment: MomentFacts) -> Finding:
    count, size = moment.goroutine_count or 0, _stack_bytes(moment)
    return CAUSE.finding(
        Severity.INFO,
        text(
            "{} goroutines hold {} of stacks; one snapshot cannot show whether they grow",
            Count(count),
            Bytes(size),
        ),
        moment=moment.name,
        size=size,
        evidence=(
            Evidence(moment.goroutine_path, "goroutines", count, "count"),
            *_beside(moment.goroutines, moment.path("goroutine")),
        ),
        next_step=_DECIDE,
        confidence="possible",
    )


def _stack_bytes(moment: MomentFacts) -> int:
    """What stacks take; where no ledger says, what so many goroutines' take at least."""
    if moment.ledger is not None and moment.ledger.has("stacks"):
        return moment.ledger.part("stacks")
    return (moment.goroutine_count or 0) * SMALLEST_STACK


def _beside(frame: pd.DataFrame | None, path: str) -> list[Evidence]:
    """Where most of them wait, for what and how long, if a profile or a dump says."""
    if frame is None or frame.empty:
        return []
    by_function = frame.groupby("function")["goroutines"].sum()
    function, there = str(by_function.idxmax()), int(by_function.max())
    field = text("goroutines in {}", Function(function) if function else "the runtime")
    return [
        Evidence(path, field, there, "count"),
        *_waits(frame[frame["function"] == function], path),
    ]


def _waits(there: pd.DataFrame, path: str) -> list[Evidence]:
    """What most of them wait for, and the longest wait, where a dump says."""
    stated = there[there["state"].notna()] if "state" in there else there.iloc[:0]
    if stated.empty:
        return []
    by_state = stated.groupby("state")["goroutines"].sum()
    waits = [Evidence(path, f"in state {by_state.idxmax()}", int(by_state.max()), "count")]
    longest = stated["wait_seconds"].max()
    if longest > 0:
        waits.append(Evidence(path, "longest wait, at least", float(longest), "s"))
    return waits
