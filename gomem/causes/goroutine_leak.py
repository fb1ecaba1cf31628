"""Goroutines that pile up: each keeps its stack, and all that its stack refers to.

A goroutine starts with a stack of 2 KiB (8 KiB where the average is larger, since Go 1.19), which
lies in the arenas and counts as StackInuse. One that waits for ever is never collected.

It is the growth that tells, not the number: ten thousand that are there from the start are a
design. A score says how often such a rise was a leak: how much of it is a line beside a fill that
saturates, how much came late, how many more there are, and how often and for how long they were
counted. Where nobody counted them, their descriptors in heap profiles (`runtime.malg`) and
StackInuse grow with them. A single moment has no direction: very many are a note.

What one holds is its stack and what its stack refers to, which no file says: the heap that grew
meanwhile is the most that it can be.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.analysis.memory.groups import LIVE, STACKS
from gomem.analysis.series.goroutine_growth import SMALLEST_STACK
from gomem.causes.cause import Cause
from gomem.causes.evidence import rise_evidence
from gomem.causes.finding import Evidence, Finding, Severity, Site
from gomem.causes.goroutines import (
    CODE,
    goroutines_heap_bytes,
    goroutines_pile_up,
    opening,
    probability,
)  # fmt: skip
from gomem.causes.sites import called_by, caller_sites, growing_sites
from gomem.inputs.pprof.calls.names import can_be_mended, package_of
from gomem.text import Bytes, Count, File, Function, MomentName, Seconds, Text, joined, text

if TYPE_CHECKING:
    import pandas as pd

    from gomem.analysis.series.goroutine_growth import Waiting
    from gomem.causes.case import Case
    from gomem.causes.thresholds import Thresholds
    from gomem.facts.moment import MomentFacts


def find(case: Case) -> list[Finding]:
    """One finding: they grow, or are very many and nothing says more."""
    growth = case.facts.goroutines
    if goroutines_pile_up(case):
        return [_uncounted(case) if growth.count is None else _growing(case)]
    of_one = _of_one_dump(case)
    if of_one:
        return of_one
    counted = [one for one in case.facts.moments if one.goroutine_count is not None]
    if growth.count is None and len(counted) == 1 and _are_many(counted[0], case):
        return [_many(counted[0])]
    return []


CAUSE = Cause(
    code=CODE,
    mechanism="A goroutine that waits for a channel, a lock or the network that never answers is "
    "never collected. It keeps its stack (2 to 8 KiB and what it has grown to) and everything its "
    "stack refers to; since Go 1.18 stacks also raise the heap goal, so collections come later.",
    remedy="Take a goroutine profile (/debug/pprof/goroutine?debug=1) and look at the stack with "
    "most goroutines: who should have closed the channel, cancelled the context, or read the "
    "answer? From Go 1.27 on, the goroutineleak profile names those that can never run again.",
    references=("runtime/pprof: goroutine", "golang/go#44167", "golang/go#74609"),
    bears_on=("moments", "allocations"),
    rule=find,
    claims=frozenset({LIVE, STACKS}),
    past="goroutines' stacks took",
    needed_moments=3,
)
_DECIDE = (
    "Count them again some minutes later, two times at least (/debug/pprof/goroutine, or "
    "/sched/goroutines:goroutines): a number that stays is a design, one that only grows a leak."
)
_NOT_COUNTED = (
    "Nothing here counts the goroutines, but what goes with their number grows steadily: a "
    "descriptor each (runtime.malg in heap profiles: used again and never freed) and a stack."
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
        "Goroutine leak: {} → {}{}{}{}; {}",
        Count(round(count.first)),
        Count(round(count.last)),
        _within(count.seconds, count.grown) if case.facts.goroutines_are_timed else "",
        where_words(growth.waiting, thresholds),
        _opened_words(case),
        _held(size, heap, case),
    )
    evidence = [
        Evidence(one.path, text("goroutines, {}", which), one.goroutines, "count")
        for which, one in (("first", first), ("last", last))
    ]
    return CAUSE.finding(
        Severity.WARNING,
        title,
        moment=last.moment,
        size=round(size) or None,
        evidence=(
            *evidence,
            *_beside(last.frame, last.path),
            *_of_stacks(case),
            *_of_heap(heap, case),
        ),
        next_step=_next_step(case, last.path),
        confidence="likely" if likely else "possible",
        sites=_sites(case, size),
    )


def _held(size: float, heap: float, case: Case) -> Text:
    """What they hold; where that is known of no more than the smallest stacks, what RSS grew by."""
    account = case.facts.account
    if heap or case.facts.goroutines.stacks is not None or account is None:
        return text("they hold {}{}", "up to " if heap else "at least ", Bytes(round(size)))
    grown = account.change_bytes if account.quantity == "rss" else 0
    if grown <= size:
        return text("they hold at least {}", Bytes(round(size)))
    return text(
        "they hold at least {}, and RSS grew by {} meanwhile", Bytes(round(size)), Bytes(grown)
    )


def _next_step(case: Case, path: str) -> Text:
    """Where to look; a profile of them is asked for only where none is there."""
    waiting = case.facts.goroutines.waiting
    if waiting is None or not waiting.function:
        return Text(CAUSE.remedy)
    opened = called_by(opening(case), package_of(waiting.function))
    look = text("Look at {} (its stacks are in {})", Function(waiting.function), File(path))
    return text("{}{}: {}", opened, look, _WHO)


_WHO = (
    "who should have closed the channel, cancelled the context, answered, or closed the body or "
    "the rows? Give each wait a way out: a context, a timeout, a select with done."
)


def _within(seconds: float, grown: float) -> Text:
    a_second = Count(round(grown / seconds)) if seconds > 0 else Count(0)
    return text(" in {} ({} a second)", Seconds(seconds), a_second)


def where_words(waiting: Waiting | None, thresholds: Thresholds) -> Text:
    """Where those that came wait, how many of them, and what began them; empty if nothing says."""
    if waiting is None or not waiting.function:
        return Text()
    share = waiting.there / max(1, waiting.of_all)
    many: str = Count(waiting.there)
    if share > thresholds.most_share:
        many = "nearly all" if share >= thresholds.nearly_all_share else "most"
    begun = Text()
    if waiting.created_by not in ("", waiting.function):
        begun = text(", started in {}", Function(waiting.created_by))
    if waiting.started_by not in ("", waiting.function, waiting.created_by):
        begun += text(" by {}" if begun else ", started by {}", Function(waiting.started_by))
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
    saying = [one for one in case.facts.moments if one.memstats is not None]
    if stacks is None or not saying:
        return []
    return [*rise_evidence(saying[-1].path("memstats"), "StackInuse", stacks)]


def _of_heap(heap: float, case: Case) -> list[Evidence]:
    saying = [one for one in case.facts.moments if one.memstats is not None]
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
        words.append(text("their descriptors +{}", Bytes(round(growth.descriptors_bytes))))
        field = "inuse_space below runtime.newproc1, growth"
        paths = [*case.facts.profiles.paths.values(), ""]
        evidence.append(Evidence(paths[-2] if paths[:-1] else "", field, size, "B"))
    counts, where = case.facts.goroutine_counts, Text()
    if counts:
        last, path = counts[-1], counts[-1].path
        where = text("; {} at {}", Count(last.goroutines), MomentName(last.moment))
        where += where_words(growth.waiting, case.thresholds)
        evidence.append(Evidence(path, "goroutines, once", last.goroutines, "count"))
    return CAUSE.finding(
        Severity.WARNING,
        text(
            "Possible goroutine leak, {}: {}{}",
            _HOW_OFTEN[bool(counts)],
            joined(" and ", words),
            where,
        ),
        moment=case.facts.moments[-1].name if case.facts.moments else None,
        size=size + round(goroutines_heap_bytes(case, growing_sites(case))) * bool(counts),
        evidence=evidence,
        mechanism=f"{CAUSE.mechanism} {_NOT_COUNTED}",
        confidence="likely" if len(words) > 1 and not counts else "possible",
        sites=_sites(case, size),
    )


_HOW_OFTEN = {False: "though nothing here counts them", True: "though they were counted once"}


# What nobody waits in who is about to go on: the other side has gone, or never lets go.
BLOCKED = frozenset(
    {"chan send", "chan send (nil chan)", "chan receive (nil chan)", "select (no cases)"}
    | {"sync.Mutex.Lock", "sync.RWMutex.Lock", "sync.RWMutex.RLock"}
)


def _of_one_dump(case: Case) -> list[Finding]:
    """Most goroutines of a single dump are in one place, and blocked for good or hold much."""
    dumps = [(one, one.frame) for one in case.facts.goroutine_counts if one.frame is not None]
    waiting, limits = case.facts.goroutines.waiting, case.thresholds
    if len(dumps) != 1 or waiting is None:
        return []
    ((dump, frame),) = dumps
    blocked = 0
    if "state" in frame:
        blocked = int(frame.loc[frame["state"].isin(BLOCKED), "goroutines"].sum())
    stuck = blocked if blocked >= limits.goroutine_growth else 0
    held = _held_share(dump.moment, waiting, case)
    there = stuck or (waiting.there if held >= limits.large_rss_fraction else 0)
    if there <= limits.most_share * dump.goroutines:
        return []
    size = _stacks_of(dump.moment, there, case) + goroutines_heap_bytes(case, growing_sites(case))
    are = "are blocked in a send or a lock" if stuck else "are in one place"
    is_told = stuck or held >= limits.most_share
    return [
        CAUSE.finding(
            Severity.WARNING if is_told else Severity.INFO,
            text(
                "Possible goroutine leak: {} of {} {}{}; they hold up to {}",
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
            next_step=text("{} {}", _next_step(case, dump.path), _DECIDE),
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
    """Whether one moment has very many, and their stacks matter."""
    if (moment.goroutine_count or 0) < case.thresholds.goroutine_count:
        return False
    least = case.thresholds.notable(case.thresholds.goroutine_bytes, moment.rss_bytes)
    return _stack_bytes(moment) >= least


def _many(moment: MomentFacts) -> Finding:
    count, size = moment.goroutine_count or 0, _stack_bytes(moment)
    return CAUSE.finding(
        Severity.INFO,
        text(
            "{} goroutines hold {} of stacks; whether they grow, one moment cannot tell",
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
    """Where most of them wait, for what and for how long, if a profile or a dump says."""
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
    """What most of them wait for, and for how long the first of them has, where a dump says."""
    stated = there[there["state"].notna()] if "state" in there else there.iloc[:0]
    if stated.empty:
        return []
    by_state = stated.groupby("state")["goroutines"].sum()
    waits = [Evidence(path, f"in state {by_state.idxmax()}", int(by_state.max()), "count")]
    longest = stated["wait_seconds"].max()
    if longest > 0:
        waits.append(Evidence(path, "longest wait, at least", float(longest), "s"))
    return waits
