"""Goroutines that pile up: each holds its stack and everything the stack refers to.

A goroutine starts with a stack of 2 KiB. Since Go 1.19 the first stack is larger, such as 8 KiB, if
the average stack is larger. The stack lies in the arenas and counts as StackInuse. A goroutine that
waits forever is never collected.

The rule looks at growth, not at the number: ten thousand goroutines from the start are by design. A
score estimates how likely the rise is a leak. The inputs of the score are the linearity of the
rise, its share in the last third of the time, its size, and the number and span of the readings.
Without goroutine counts, StackInuse and the descriptors in heap profiles (`runtime.malg`) serve as
proxies. A single snapshot shows no trend; the module `one_dump` handles this case. One snapshot is
enough if the runtime itself proves the leak, with a goroutineleak profile or with `(leaked)` in a
dump.

No file says how much memory a stack refers to; the upper bound is the heap growth over the same
time.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gomem.analysis.memory.groups import LIVE, STACKS
from gomem.analysis.series.goroutine_growth import SMALLEST_STACK, Waiting
from gomem.causes.cause import Case, Cause
from gomem.causes.checks import read_from
from gomem.causes.commands import TAKE_GOROUTINES, sentences, stacks_in
from gomem.causes.evidence import all_of, known
from gomem.causes.finding import Evidence, Finding, MissingCall, Severity, Site
from gomem.causes.goroutines import (
    BOUND_IT,
    CODE,
    END_THEM,
    begun_words,
    goroutines_heap_bytes,
    goroutines_pile_up,
    in_use_bytes,
    open_files_evidence,
    opened_words,
    opening,
    probability,
    recursion_in,
    stacks_evidence,
    stacks_words,
    starts_evidence,
    starts_words,
    where_evidence,
    where_words,
)  # fmt: skip
from gomem.causes.missing_call import of_goroutines
from gomem.causes.one_dump import DECIDE, decide_words, goroutine_stack_bytes, suspicion_of
from gomem.causes.sites import called_by, caller_sites, growing_sites
from gomem.inputs.pprof.calls.names import own_function, package_of
from gomem.text import Bytes, Count, Function, MomentName, Text, joined, text

if TYPE_CHECKING:
    from gomem.facts.goroutines import Leaked
    from gomem.facts.moment import MomentFacts


def find(case: Case) -> list[Finding]:
    """Return one finding: goroutines pile up, can never run again, or are very many at once."""
    growth, leaked = case.facts.goroutines, case.facts.leaked_goroutines
    if goroutines_pile_up(case):
        grown = _uncounted(case) if growth.count is None else _growing(case)
        return [grown if leaked is None else _proved(grown, leaked, case)]
    if leaked is not None:
        return [_proven(leaked, case)]
    of_one = _of_one_dump(case)
    if of_one:
        return of_one
    counted = [m for m in case.facts.of_last_process if m.goroutine_count is not None]
    if growth.count is None and len(counted) == 1 and _are_many(counted[0], case):
        return [_many(counted[0], case)]
    return []


CAUSE = Cause(
    code=CODE,
    mechanism="A goroutine that waits forever for a channel, a lock or the network is never "
    "collected. It holds its stack (2 to 8 KiB, or more if the stack has grown) and everything "
    "the stack refers to. Since Go 1.18 stacks also raise the heap goal, so collections come "
    "later.",
    remedy=text(
        "See where the goroutines wait: {}. Look at the stack with the most goroutines: which "
        "side should have closed the channel, cancelled the context, or read the response? From "
        "Go 1.27 on, the goroutineleak profile shows goroutines that can never run again.",
        TAKE_GOROUTINES,
    ),
    references=("runtime/pprof: goroutine", "golang/go#44167", "golang/go#74609"),
    bears_on=("moments", "allocations"),
    rule=find,
    claims=frozenset({LIVE, STACKS}),
    past="goroutine stacks",
    needed_moments=3,
)
_NOT_COUNTED = (
    "{}, but memory that each goroutine needs grows steadily: its descriptor (runtime.malg in heap "
    "profiles, reused and never freed) and its stack."
)


def _growing(case: Case) -> Finding:
    growth, thresholds = case.facts.goroutines, case.thresholds
    count = growth.count
    assert count is not None
    counted = case.facts.goroutine_counts
    first, last = counted[0], counted[-1]
    shown = next((count for count in reversed(counted) if count.frame is not None), last)
    sites = growing_sites(case)
    heap = goroutines_heap_bytes(case, sites)
    size = growth.stacks_grown + heap
    likely = (
        probability(case) >= thresholds.likely_probability
        and count.readings >= thresholds.growth_readings
        and growth.waiting is not None  # a count alone is no second kind of evidence
    )
    title = text(
        "Goroutine leak: {} → {}{}{}{}",
        Count(round(count.first)),
        Count(round(count.last)),
        where_words(growth.waiting, thresholds),
        stacks_words(case) or text("; {}", _held(size, heap, case)),
        opened_words(case),
    )
    watched = count.seconds if case.facts.goroutines_are_timed else None
    missing = None if recursion_in(growth.waiting, case) else of_goroutines(case)
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
            *known(all_of([first.path, last.path]), "s", {"time watched": watched}),
            *where_evidence(case, shown.frame, shown.path),
            *stacks_evidence(case),
            *open_files_evidence(case),
            *_of_heap(heap, case),
            *_of_dump(growth.waiting, case),
        ),
        next_step=_next_step(case, shown.path, missing),
        confidence="likely" if likely else "possible",
        sites=_sites(case, size),
        missing_call=missing,
    )


def _proven(leaked: Leaked, case: Case) -> Finding:
    """Return a finding if the runtime proves that goroutines can never run again."""
    waiting, facts = leaked.waiting, case.facts.by_moment.get(leaked.moment)
    count = None if facts is None else facts.goroutine_count
    is_part = count is not None and count > leaked.goroutines
    heap, missing = in_use_bytes(case, waiting), of_goroutines(case)
    size = round(_stacks_of_part(leaked.goroutines, facts) + heap)
    where = where_words(waiting, case.thresholds)
    if waiting.there == leaked.goroutines == 1:
        where = text(", waiting in {}", Function(waiting.function))
    return CAUSE.finding(
        _severity_of(leaked.goroutines, size, case),
        text(
            "Goroutine leak: {}{} can never run again{}; {}",
            Count(leaked.goroutines),
            text(" of {}", Count(count)) if is_part else "",
            where,
            _held(size, heap, case),
        ),
        moment=leaked.moment,
        size=size,
        evidence=(_proof(leaked), *where_evidence(case, leaked.frame, leaked.path)),
        next_step=_stacks_step(leaked.path, waiting, missing),
        sites=(Site(waiting.function, waiting.function, high=float(size), share=1.0),),
        missing_call=missing,
    )


def _proved(grown: Finding, leaked: Leaked, case: Case) -> Finding:
    """Add the runtime's proof to a growth: certain if the proof covers most new goroutines."""
    came = case.facts.goroutines.count
    most = case.thresholds.most_share * (0.0 if came is None else came.grown)
    severity = _severity_of(leaked.goroutines, grown.bytes or 0, case)
    return replace(
        grown,
        severity=max(grown.severity, severity),
        evidence=(*grown.evidence, _proof(leaked)),
        confidence="certain" if leaked.goroutines >= most else grown.confidence,
    )


def _proof(leaked: Leaked) -> Evidence:
    return Evidence(leaked.path, "goroutines that can never run again", leaked.goroutines, "count")


def _severity_of(goroutines: int, size: int, case: Case) -> Severity:
    """Return critical for very many goroutines, or if they hold a large part of RSS."""
    resident = [moment.rss_bytes for moment in case.facts.moments if moment.rss_bytes]
    much = bool(resident) and size >= case.thresholds.leaked_share * resident[-1]
    is_critical = much or goroutines >= case.thresholds.goroutine_count
    return Severity.CRITICAL if is_critical else Severity.WARNING


def _stacks_of_part(goroutines: int, facts: MomentFacts | None) -> float:
    """Return the stack bytes of some goroutines: their share of all, or the minimum stack each."""
    if facts is None or not facts.goroutine_count:
        return float(goroutines * SMALLEST_STACK)
    return goroutine_stack_bytes(facts) * min(1.0, goroutines / facts.goroutine_count)


def _held(size: float, heap: float, case: Case) -> Text:
    """Say how much the goroutines hold: at least their stacks, at most also all heap growth.

    No upper bound by minimum stacks or a profile, which lags, or if most in use has no stack; nor
    if HeapAlloc rose by more, of which nobody knows how much is live.
    """
    live, least = case.facts.live_heap, "at least"
    sizes = [m.told("HeapAlloc") for m in case.facts.of_last_process]
    known = [size for size in sizes if size is not None]
    rose = known[-1] - known[0] if known else 0.0
    is_bound = rose <= heap and not case.facts.profiles.hides_most_in_use
    if heap and live is not None and live.rise and is_bound:
        least = "about" if case.facts.goroutines.stacks is None else "up to"
    return text("they hold {} {} of stack{}", least, Bytes(round(size)), " and heap" * bool(heap))


def _next_step(case: Case, path: str, missing: MissingCall | None) -> Text:
    """Return the next step: where to look, or without a profile, how to take one."""
    waiting = case.facts.goroutines.waiting
    if waiting is None or not waiting.function:
        return Text(CAUSE.remedy)
    if recursion_in(waiting, case):
        shows = text("See the stacks in {}: {}.", Function(waiting.function), stacks_in(path))
        return sentences(shows, BOUND_IT, END_THEM)
    is_placed = missing is not None and bool(missing.function)
    who_calls = called_by(opening(case), package_of(waiting.function))
    return _stacks_step(path, waiting, missing, "" if is_placed else who_calls)


def _stacks_step(
    path: str, waiting: Waiting, missing: MissingCall | None, who_calls: str = ""
) -> Text:
    """Name the file with the stacks, and what to look for if the cause is unknown.

    Of a library's function, the one whose frames show the missing call says more.
    """
    seen = missing.seen_in if missing is not None and not own_function([waiting.function]) else ""
    shows = text("See the stacks in {}: {}.", Function(seen or waiting.function), stacks_in(path))
    return sentences(shows, who_calls, _WHO if missing is None else "")


_WHO = (
    "Which side should have closed the channel, cancelled the context, replied, or closed the "
    "response body or sql.Rows? Give each wait a way to end: a context, a timeout, or a select "
    "with a done channel."
)


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


def _of_heap(heap: float, case: Case) -> list[Evidence]:
    live = case.facts.live_heap
    path = case.facts.memstats_path if live is None else read_from(live.level, case)
    return [Evidence(path, "live heap, growth", round(heap), "B")] if heap and path else []


def _of_dump(waiting: Waiting | None, case: Case) -> list[Evidence]:
    """Return what only these goroutines keep alive, according to a heap dump."""
    kept = case.facts.kept
    keeper = None if kept is None or waiting is None else kept.of_goroutines_in(waiting.function)
    if kept is None or keeper is None:
        return []
    field = text("held by the goroutines of {}", Function(keeper.name))
    return [Evidence(kept.dump, field, keeper.bytes, "B")]


def _uncounted(case: Case) -> Finding:
    """Return a finding by memory that grows with goroutines, if no file counts them."""
    growth, stacks = case.facts.goroutines, case.facts.goroutines.stacks
    words, evidence, size = list[Text](), list[Evidence](), 0
    if stacks is not None and (
        case.facts.goroutine_counts or stacks.grown >= case.thresholds.goroutine_bytes
    ):
        size = round(stacks.grown)
        words.append(text("stacks {} → {}", Bytes(round(stacks.first)), Bytes(round(stacks.last))))
        evidence += stacks_evidence(case)
    if growth.descriptors_bytes > 0:
        size += round(growth.descriptors_bytes)
        words.append(text("descriptors +{}", Bytes(round(growth.descriptors_bytes))))
        field = "inuse_space growth below runtime.newproc1"
        evidence.append(Evidence(case.facts.profiles.last_path, field, size, "B"))
    counts, where = case.facts.goroutine_counts, Text("; no file counts goroutines")
    missing, shows, counted = None, Text(), Text("No file counts the goroutines")
    confidence = "likely" if len(words) > 1 and not counts else "possible"
    if counts:
        last, path = counts[-1], counts[-1].path
        words = words[:1]  # the title has room for only one
        where = text("; {} at {}", Count(last.goroutines), MomentName(last.moment))
        where += where_words(growth.waiting, case.thresholds)
        evidence.append(Evidence(path, "goroutines, counted once", last.goroutines, "count"))
        counted = Text("The goroutines are counted once")
        if last.frame is not None:
            missing = of_goroutines(case)
            shows = _next_step(case, path, missing)
    return CAUSE.finding(
        Severity.WARNING,
        text("Goroutine leak: {}{}", joined(", ", words), where),
        moment=case.facts.moments[-1].name if case.facts.moments else None,
        size=size + round(goroutines_heap_bytes(case, growing_sites(case))) * bool(counts),
        evidence=evidence,
        mechanism=sentences(CAUSE.mechanism, text(_NOT_COUNTED, counted)),
        next_step=shows,
        confidence=confidence,
        sites=_sites(case, size),
        missing_call=missing,
    )


def _of_one_dump(case: Case) -> list[Finding]:
    """Return a finding by a single dump: most goroutines are stuck, or at the same place."""
    suspicion, waiting = suspicion_of(case), case.facts.goroutines.waiting
    if suspicion is None:
        return []
    (dump,) = (count for count in case.facts.goroutine_counts if count.frame is not None)
    there, sites = suspicion.there, growing_sites(case)
    heap = goroutines_heap_bytes(case, sites)
    size = max(0, goroutine_stack_bytes(case.facts.by_moment.get(dump.moment), there)) + heap
    missing, of_connections = of_goroutines(case), suspicion.is_of_connections
    shows = "" if of_connections and missing else _next_step(case, dump.path, missing)
    where = Text() if of_connections else where_words(waiting, case.thresholds)
    if suspicion.is_placed and waiting is not None:
        where = begun_words(waiting)
    return [
        CAUSE.finding(
            Severity.WARNING if suspicion.is_told else Severity.INFO,
            text(
                "Goroutine leak: {} of {} {}{}; {}",
                Count(there),
                Count(dump.goroutines),
                suspicion.words,
                where,
                _held(size, heap, case),
            ),
            moment=dump.moment,
            size=round(size),
            evidence=(
                Evidence(dump.path, "goroutines", dump.goroutines, "count"),
                *where_evidence(case, dump.frame, dump.path),
                *starts_evidence(case, dump.path),
            ),
            next_step=sentences(shows, starts_words(case), decide_words(dump, case)),
            confidence="possible",
            sites=_sites(case, size),
            missing_call=missing,
        )
    ]


def _are_many(moment: MomentFacts, case: Case) -> bool:
    """Return whether a snapshot has very many goroutines, and their stacks matter."""
    if (moment.goroutine_count or 0) < case.thresholds.goroutine_count:
        return False
    least = case.thresholds.notable(case.thresholds.goroutine_bytes, moment.rss_bytes)
    return goroutine_stack_bytes(moment) >= least


def _many(moment: MomentFacts, case: Case) -> Finding:
    count, size = moment.goroutine_count or 0, goroutine_stack_bytes(moment)
    least = "" if moment.ledger is not None and moment.ledger.has("stacks") else "at least "
    return CAUSE.finding(
        Severity.INFO,
        text(
            "{} goroutines have {}{} of stacks; one snapshot cannot show whether the number grows",
            *(Count(count), least, Bytes(size)),
        ),
        moment=moment.name,
        size=size,
        evidence=(
            Evidence(moment.goroutine_path, "goroutines", count, "count"),
            *where_evidence(case, moment.goroutines, moment.path("goroutine")),
        ),
        next_step=DECIDE,
        confidence="possible",
    )
