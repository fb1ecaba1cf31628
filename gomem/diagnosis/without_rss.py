"""What a capture can tell where no file says how much is resident: profiles, logs, benchmarks.

A lone heap profile is the commonest input of all, and it answers who holds the bytes. So do, each
for itself, MemStats, a GC log, a goroutine or CPU profile, and benchmarks. Each says what is not in
it, too, and which file would say that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.analysis.memory.groups import NAMES
from gomem.analysis.profiles.own_code import Stacks, own_code
from gomem.analysis.profiles.published import total_bounds
from gomem.analysis.series.goroutine_growth import stacks_of, waiting_in
from gomem.causes.commands import CAPTURE_ONCE, TAKE_HEAP_PROFILE, TAKE_SMAPS
from gomem.causes.live_growth import grows
from gomem.diagnosis.pasted_profiles import (
    WHO_ALLOCATED,
    held_words,
    pasted_words,
    size_words,
    table_words,
    with_the_profile,
)
from gomem.facts.goroutines import LEAKS
from gomem.facts.moment import seconds_of
from gomem.inputs.processes.oom import OOM
from gomem.inputs.schema import rows_of
from gomem.statistics.quantiles import carries
from gomem.text import (
    Bytes,
    Command,
    Count,
    Function,
    MomentName,
    Program,
    Quoted,
    Rate,
    Seconds,
    Share,
    Text,
    joined,
    text,
)
from gomem.units import MIB, is_unknown

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from gomem.analysis.memory.listed import Listed
    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.facts.goroutines import GoroutineCount
    from gomem.facts.moment import MomentFacts
    from gomem.inputs.pprof.table import Profile

IN_USE, REFERENCES = "inuse_space", "references"
OF_MEMORY = frozenset({"heap", "allocs", "bytes", "difference"})  # kinds of profiles
HOLDERS = 3  # named
WORTH_NAMING = 0.05  # of the total
MOSTLY = 0.5  # of the total
# Of what a cgroup uses, and MIN_CACHE_BYTES: a smaller page cache is not worth saying.
MIN_CACHE_SHARE = 0.2
MIN_CACHE_BYTES = 8 * MIB
MIN_SHARE = 0.01  # of the CPU: a smaller one is said as less
SMAPS_TOO = text("{} Take it with MemStats at one time: it says what is in RSS.", TAKE_SMAPS)
SMAPS_ALONE = text("{} It says what of this is in RSS.", TAKE_SMAPS)
OF_CONTAINER = text("{} It says how much of that is Go's.", CAPTURE_ONCE)
NO_BYTES = text("{} It says who holds memory; a goroutine profile does not.", TAKE_HEAP_PROFILE)
WITH_A_PROFILE = "Add an allocs profile: then the report says why each site allocates."
NOTHING = Text("Nothing here says how much memory is in use, or what uses it.")
ANYTHING = text(
    "{} It collects smaps, MemStats and a heap profile at one time.",
    CAPTURE_ONCE,
)
AT_WORK = frozenset({"running", "runnable", "syscall"})  # states of no waiting
KIND_NAMES = {"cpu": "CPU profile", "other": "profile"}
TYPE_NAMES = {"cpu": "CPU time"}


def without_rss(diagnosis: Diagnosis, facts: MomentFacts | None) -> tuple[str, bool, str]:
    """Sentences on the known sizes; whether they grew by a fifth; and the next step."""
    tellers = (
        _by_memstats, _by_heap_profiles, _by_pasted, _by_log, _by_goroutines, _by_leaks,
        _by_profile, _by_others, _by_cgroup, _by_container, _by_logged_heap,
    )  # fmt: skip
    for tell in tellers:
        told = tell(diagnosis, facts)
        if told is not None:
            return told
    return NOTHING, False, ANYTHING


_Told = tuple[str, bool, str]


def _by_heap_profiles(diagnosis: Diagnosis, _: MomentFacts | None) -> _Told | None:
    """Who has what in use in the last heap profile, and how that differs from the first."""
    profiles = {
        moment: profile
        for moment, profile in diagnosis.capture.heap_profiles.items()
        if IN_USE in profile.sample_type_names
    }
    if not profiles:
        return None
    moments = list(profiles)
    first, last = moments[0], moments[-1]
    before, profile = profiles[first], profiles[last]
    total, earlier = profile.total(IN_USE), before.total(IN_USE)
    has_several = len(profiles) > 1
    at = text(" at {}", MomentName(last)) if has_several else ""
    since = text(", {} at {}", Bytes(earlier), MomentName(first)) if has_several else ""
    sentence = text("{}{}{}.", _in_use(profile, total), at, since)
    has_risen = total >= diagnosis.thresholds.rise_ratio * earlier
    grew = total - earlier >= MIB and has_risen and has_several
    said = joined(" ", filter(None, (sentence, who_holds(diagnosis, last))))
    return said, grew, SMAPS_TOO if profile.printed is None else with_the_profile(profile)


def _by_pasted(diagnosis: Diagnosis, _: MomentFacts | None) -> _Told | None:
    """Who holds what, by references; or what was printed of a profile that is no level."""
    for profiles in reversed(diagnosis.capture.profiles.values()):
        if (references := profiles.get(REFERENCES)) is not None:
            return held_words(references), False, WHO_ALLOCATED
        for profile in profiles.values():
            if not profile.has_stacks or profile.is_difference:
                is_of_memory = profile.kind in OF_MEMORY
                step = with_the_profile(profile) if is_of_memory else NO_BYTES_HERE
                return pasted_words(profile), False, step
    return None


def _in_use(profile: Profile, total: int) -> Text:
    """The size in use, and how precise it is."""
    if not total:
        return Text("The heap profile has no sample in use: there is too little for its sampling")
    if profile.printed is not None:
        return text("The table of go tool pprof has {} in use", size_words(profile, IN_USE))
    least, most = total_bounds(profile) or (total, total)
    error = text(" ({} to {}, for it is sampled)", Bytes(least), Bytes(most))
    is_exact = Bytes(least) == Bytes(most)
    return text("The heap profile has {} in use{}", Bytes(total), "" if is_exact else error)


def who_holds(diagnosis: Diagnosis, moment: str) -> Text:
    """In-use objects of a moment's heap profile, by the program's own functions."""
    profile = diagnosis.capture.heap_profiles[moment]
    if IN_USE not in profile.sample_type_names:
        return Text()
    if not profile.has_stacks:
        return table_words(profile, IN_USE)
    total = profile.total(IN_USE)
    rows = rows_of(own_code(Stacks.of_profile(profile, IN_USE)).head(HOLDERS))
    worth = [row for row in rows if row["value"] >= WORTH_NAMING * total and row["function"]]
    if not worth:
        return Text()
    first = (
        "Most of the heap in use is by"
        if worth[0]["value"] > MOSTLY * total
        else "The largest shares of the heap in use are by"
    )
    named = (
        text("{} ({})", Function(row["function"]), Share(row["value"] / total)) for row in worth
    )
    return text("{} {}.", first, joined(", ", named))


def _by_memstats(diagnosis: Diagnosis, facts: MomentFacts | None) -> _Told | None:
    """The heap's division by MemStats or runtime/metrics, and who has it by a heap profile."""
    if facts is None or facts.groups is None or not facts.groups.claimed:
        return None
    claimed = facts.groups.claimed
    whole = sum(claimed.values())
    if not whole:
        return None
    named = joined(
        ", ",
        (
            text("{} {} ({})", Bytes(claimed[group]), NAMES[group], Share(claimed[group] / whole))
            for group in worth_naming(claimed, whole)[:HOLDERS]
        ),
    )
    sentence = text("Go reserves {}{}: {}.", Bytes(whole), at_moment(diagnosis, facts), named)
    who, grew, _ = _by_heap_profiles(diagnosis, facts) or ("", False, "")
    return joined(" ", filter(None, (sentence, who))), grew, SMAPS_ALONE


def worth_naming(sizes: Mapping[str, int], whole: int) -> list[str]:
    """Those that are more than a trifle of the whole, the largest first."""
    largest = sorted(sizes, key=lambda name: -sizes[name])
    return [name for name in largest if sizes[name] >= WORTH_NAMING * whole]


def at_moment(diagnosis: Diagnosis, facts: MomentFacts) -> Text:
    """Which moment a sentence is about, where there are several."""
    has_several = len(diagnosis.capture.by_moment) > 1
    return text(" at {}", MomentName(facts.name)) if has_several else Text()


def _by_log(diagnosis: Diagnosis, _: MomentFacts | None) -> _Told | None:
    """What the collector costs, and where the live heap goes."""
    log = diagnosis.collector
    if log is None or not log.cost.cycles:
        return None
    cost = log.cost
    within = text(" in {}", Seconds(cost.seconds)) if cost.seconds else ""
    said: list[Text] = []
    if (share := cost.gc_cpu_fraction) is not None:
        # It is overstated, if anything, and never reads as nothing.
        most = Text("under 1 %") if share < MIN_SHARE else text("at most {}", Share(share))
        said.append(text("{} of the CPU", most))
    if cost.stw.p99 is not None and carries(cost.stw.n, 0.99):
        said.append(text("p99 pause {}", Seconds(cost.stw.p99)))
    elif cost.stw.max is not None:
        said.append(text("longest pause {}", Seconds(cost.stw.max)))
    costs = joined(", ", said) or Text("no line says what they cost")
    sentence = text("{}{}: {}.", Count(cost.cycles, "GC"), within, costs)
    live, grew = _live_heap(diagnosis)
    return joined(" ", filter(None, (sentence, live))), grew, SMAPS_TOO


def _live_heap(diagnosis: Diagnosis) -> tuple[Text, bool]:
    """The live heap at the log's end and its trend, as surely as the collections tell it."""
    assert diagnosis.collector is not None
    last = diagnosis.collector.cost.heap_live_last_bytes
    if last is None:
        return Text(), False
    size = Bytes(last) if last else text("under {}", Bytes(MIB))  # the log's unit
    live = text("The live heap is {} after the last", size)
    run = diagnosis.collector.longest_run
    has_risen = (
        run is not None and run.last_bytes >= diagnosis.thresholds.rise_ratio * run.first_bytes
    )
    if grows(diagnosis.case):
        return live + ".", has_risen  # the finding says how fast
    if run is None or run.slope_low is None or run.slope_high is None:
        risen = Text()
        if run is not None and has_risen:
            risen = text(", up from {}", Bytes(run.first_bytes))
        return text("{}{}; too few GCs to tell a trend.", live, risen), False
    if run.slope_low > 0:
        return text("{} and grows by {}.", live, Rate(run.slope_bytes_per_second)), has_risen
    return text("{} and {}.", live, "shrinks" if run.slope_high < 0 else "does not grow"), False


def _by_goroutines(diagnosis: Diagnosis, _: MomentFacts | None) -> _Told | None:
    """How many goroutines there are, and where most of them wait, of those that are shown."""
    shown = [count for count in diagnosis.facts.goroutine_counts if count.frame is not None]
    if not shown:
        return None
    last, largest = shown[-1], diagnosis.facts.goroutine_groups.iloc[0]
    there, where = Count(int(largest["goroutines"])), str(largest["function"])
    state = _state_of(largest, last)
    begun = "" if is_unknown(largest["created_by"]) else str(largest["created_by"])
    sentence = text(
        "{}; {} {} in {}{}{}.",
        Count(last.goroutines, "goroutine"),
        there if last.shown == last.goroutines else _of_those_shown(there, last),
        "are" if largest["state"] in AT_WORK else "wait",
        Function(where) if where else "the runtime",
        state,
        text(", started by {}", Function(begun)) if begun else "",
    )
    return sentence, False, NO_BYTES


def _state_of(group: pd.Series, counted: GoroutineCount) -> Text:
    """What a group waits for, in brackets; empty where no file says."""
    if is_unknown(group["state"]):
        return Text()
    assert counted.frame is not None
    here = counted.frame[stacks_of(counted.frame).map(waiting_in) == group["function"]]
    several = len(set(here["state"])) > 1
    return text(" ({}{})", "mostly " * several, str(group["state"]))


def _of_those_shown(there: Count, counted: GoroutineCount) -> Text:
    """How many wait in one place, of an excerpt."""
    if there.value == counted.shown:
        return text("the {} shown here", there)
    return text("{} of the {} shown here", there, Count(counted.shown))


def _by_leaks(diagnosis: Diagnosis, _: MomentFacts | None) -> _Told | None:
    """Whether the runtime found goroutines that can never run again."""
    looked = [known for known in diagnosis.capture.profiles.values() if LEAKS in known]
    if not looked:
        return None
    leaked = diagnosis.facts.leaked_goroutines
    found = "none" if leaked is None else Count(leaked.goroutines)
    sentence = "The runtime looked for goroutines that can never run again, and found {}."
    return text(sentence, found), False, NO_BYTES


def _by_profile(diagnosis: Diagnosis, _: MomentFacts | None) -> _Told | None:
    """The total of any other profile, and its largest function."""
    found = [
        profile for by_kind in diagnosis.capture.profiles.values() for profile in by_kind.values()
    ]
    if not found:
        return None
    profile = found[-1]
    unit = profile.sample_type().unit
    total = profile.total()
    what = KIND_NAMES.get(profile.kind, f"{profile.kind} profile")
    counted = TYPE_NAMES.get(profile.default_sample_type, profile.default_sample_type)
    rows = rows_of(own_code(Stacks.of_profile(profile)).head(HOLDERS))
    worth = [row for row in rows if total and row["value"] >= WORTH_NAMING * total]
    named = joined(
        ", ",
        (
            text(
                "{} {} ({})",
                Function(row["function"]) if row["function"] else "the standard library alone",
                _amount(row["value"], unit),
                Share(row["value"] / total),
            )
            for row in worth
        ),
    )
    sentence = text("The {} has {} of {}", what, _amount(total, unit), counted)
    whose = text(": {}", named) if named else ""
    return text("{}{}.", sentence, whose), False, NO_BYTES_HERE


def _amount(value: int, unit: str) -> Text:
    if unit == "nanoseconds":
        return Seconds(value * 1e-9)
    return Bytes(value) if unit == "bytes" else Count(value)


COMPARE = text("{} It says whether a change helped.", Command("gomem compare BEFORE AFTER"))
NO_BYTES_HERE = text("{} This profile says nothing about memory.", TAKE_HEAP_PROFILE)


def _by_others(diagnosis: Diagnosis, _: MomentFacts | None) -> _Told | None:
    """Benchmarks and escape analysis: how many, and what they are good for."""
    capture = diagnosis.capture
    if capture.bench:
        names = {name for bench in capture.bench.values() for name in bench.results["name"]}
        runs = sum(bench.results["line"].nunique() for bench in capture.bench.values())
        sentence = text("{}, {}.", Count(len(names), "benchmark"), Count(runs, "result"))
        return sentence, False, COMPARE
    if capture.escapes:
        places = sum(len(analysis.on_the_heap) for analysis in capture.escapes.values())
        sentence = text("Values escape to the heap at {}.", Count(places, "place"))
        return sentence, False, WITH_A_PROFILE
    return None


def listed_words(listed: Listed) -> Text:
    """Which process or container a table's number is of, and who says so."""
    pid = text(", PID {}", str(listed.pid)) if listed.pid is not None else Text()
    rounded = text(" to {}", Bytes(listed.step_bytes)) * listed.is_coarse
    tool = f"the {listed.tool}" if listed.tool == OOM else listed.tool
    nouns = ("process", "processes") if listed.rss_bytes else ("container", "containers")
    others = Text()
    if listed.is_largest:
        others = text("; the largest of {}", Count(listed.others + 1, *nouns))
    elif listed.others:
        others = text("; {} listed", Count(listed.others, *(f"other {noun}" for noun in nouns)))
    is_container = listed.rss_bytes is None
    name = Quoted(listed.name) if is_container else Program(listed.name or "a process")
    return text("{}{}, by {}{}{}", name, pid, tool, rounded, others)


def _by_container(diagnosis: Diagnosis, facts: MomentFacts | None) -> _Told | None:
    """What docker stats or kubectl top say: the working set, which is no RSS."""
    listed = None if facts is None else facts.listed
    if facts is None or listed is None or listed.working_set_bytes is None:
        return None
    of = Text()
    if listed.limit_bytes:
        share = Share(listed.working_set_bytes / listed.limit_bytes)
        of = text(", {} of its limit of {}", share, Bytes(listed.limit_bytes))
    size, at = Bytes(listed.working_set_bytes), at_moment(diagnosis, facts)
    words = (
        "The working set is {}{} ({}){}. It is RSS, active page cache and kernel memory together."
    )
    return text(words, size, at, listed_words(listed), of), False, OF_CONTAINER


def _by_logged_heap(diagnosis: Diagnosis, _of: MomentFacts | None) -> _Told | None:
    """The heap's objects as a program logs them, where it logs no RSS."""
    known = [
        (moment, moment.logged, moment.logged.sizes["go_alloc"])
        for moment in diagnosis.case.facts.moments
        if moment.logged is not None and "go_alloc" in moment.logged.sizes
    ]
    if not known:
        return None
    (first, _, before), (last, logged, size) = known[0], known[-1]
    rounded = text(", to {}", Bytes(logged.step_bytes)) if logged.step_bytes > 1 else Text()
    source = text(" (as {} logs it{})", logged.program, rounded)
    if first is last:
        return text("HeapAlloc is {}{}.", Bytes(size), source), False, SMAPS_TOO
    seconds = seconds_of((first, last))
    took = 0.0 if seconds is None else float(seconds[-1])
    within = text(" in {}", Seconds(took)) if took else Text()
    most = max(size for _, _, size in known)
    peak = text(", peak {}", Bytes(most)) if most > max(before, size) else Text()
    words = "HeapAlloc went from {} to {}{}{}{}."
    said = text(words, Bytes(before), Bytes(size), within, peak, source)
    grew = size - before >= MIB and size >= diagnosis.thresholds.rise_ratio * before
    return said, grew, SMAPS_TOO


def cache_words(facts: MomentFacts | None) -> Text:
    """How much of a cgroup is page cache, where that is much of it; else empty."""
    cache = None if facts is None else facts.page_cache
    if cache is None or cache.bytes < max(MIN_CACHE_BYTES, MIN_CACHE_SHARE * cache.of_bytes):
        return Text()
    words = (
        "The cgroup uses {}{}: {} is page cache, which the kernel takes back when it needs memory."
    )
    least = "" if cache.is_exact else "at least "
    return text(words, least, Bytes(cache.of_bytes), Bytes(cache.bytes))


def _by_cgroup(_: Diagnosis, facts: MomentFacts | None) -> _Told | None:
    """What a cgroup's files say, where they lack anonymous memory."""
    said = cache_words(facts)
    return (said, False, SMAPS_TOO) if said else None
