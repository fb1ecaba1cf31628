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
from gomem.capture.wanted import HEAP_PROFILE, MEMSTATS, SMAPS
from gomem.causes.live_growth import grows
from gomem.inputs.kinds import METRICS_PAGE
from gomem.inputs.schema import rows_of
from gomem.statistics.quantiles import carries
from gomem.units import (
    MIB,
    format_bytes,
    format_count,
    format_fraction,
    format_seconds,
    format_value,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.facts.moment import MomentFacts
    from gomem.inputs.pprof.table import Profile

IN_USE = "inuse_space"
HOLDERS = 3  # named
WORTH_NAMING = 0.05  # of the total
LEAST_SHARE = 0.001  # of the CPU: a smaller one is said as less
BOTH = f"{SMAPS.command()}; {MEMSTATS.command()}"
SMAPS_TOO = f"RSS is not in {{this}}: collect smaps and MemStats at one moment with it ({BOTH})."
SMAPS_ALONE = f"RSS is not in {{this}}: collect smaps at the same moment ({SMAPS.command()})."
NO_BYTES = (
    "A goroutine profile has no bytes: a heap profile says who holds memory, MemStats how much the "
    "stacks take, smaps what is resident."
)
WITH_A_PROFILE = "Give an allocs profile with it: then the report says why each site allocates."
NOTHING = "Nothing here says how much memory is in use, or who uses it."
ANYTHING = (
    "Collect smaps, MemStats and a heap profile at one moment: gomem capture does, or "
    f"{BOTH}; {HEAP_PROFILE.command()}."
)
KIND_NAMES = {"cpu": "CPU profile", "other": "profile"}
TYPE_NAMES = {"cpu": "CPU time"}


def without_rss(diagnosis: Diagnosis, facts: MomentFacts | None) -> tuple[str, bool, str]:
    """What is known, in sentences; whether it grew by a fifth; and what to do next."""
    tellers = (_by_memstats, _by_heap_profiles, _by_log, _by_goroutines, _by_profile, _by_others)
    for tell in tellers:
        told = tell(diagnosis, facts)
        if told is not None:
            return told
    return NOTHING, False, ANYTHING


_Told = tuple[str, bool, str]


def _by_heap_profiles(diagnosis: Diagnosis, _: MomentFacts | None) -> _Told | None:
    """Who has what in use in the last heap profile, and how that differs from the first."""
    profiles = {
        moment: one
        for moment, one in diagnosis.capture.heap_profiles.items()
        if IN_USE in one.sample_type_names
    }
    if not profiles:
        return None
    moments = list(profiles)
    first, last = moments[0], moments[-1]
    before, profile = profiles[first], profiles[last]
    total, earlier = profile.total(IN_USE), before.total(IN_USE)
    of = f" of {last}" if len(profiles) > 1 else ""
    text = f"The heap profile{of} has {_in_use(profile, total)}"
    if len(profiles) > 1:
        text += f"; that of {first} has {format_bytes(earlier)}"
    held = who_holds(diagnosis, last, f"the {format_bytes(total)}")
    rose = total >= diagnosis.thresholds.rise_ratio * earlier
    grew = total - earlier >= MIB and rose and len(profiles) > 1
    return f"{text}. {held}".strip(), grew, SMAPS_TOO.format(this="a heap profile")


def _in_use(profile: Profile, total: int) -> str:
    """What is in use, how well it is known, and of when: runtime.MemProfile lags by up to two."""
    if not total:
        return "no sample of anything in use: what is, is too little for its sampling"
    least, most = map(format_bytes, total_bounds(profile) or (total, total))
    error = "" if least == most else f" ({least} to {most}, for it is sampled)"
    return f"{format_bytes(total)} in use{error}, and is up to two collections old"


def who_holds(
    diagnosis: Diagnosis, moment: str, what: str = "what the heap profile has in use"
) -> str:
    """Whose objects are in use in a moment's heap profile, by the program's own functions."""
    profile = diagnosis.capture.heap_profiles[moment]
    if IN_USE not in profile.sample_type_names:
        return ""
    total = profile.total(IN_USE)
    rows = rows_of(own_code(Stacks.of_profile(profile, IN_USE)).head(HOLDERS))
    worth = [row for row in rows if row["value"] >= WORTH_NAMING * total and row["function"]]
    if not worth:
        return ""
    named = ", ".join(
        f"{row['function']} ({format_bytes(row['value'])}, {format_fraction(row['value'] / total)})"
        for row in worth
    )
    if sum(row["value"] for row in worth) < total / 2:
        return f"The largest shares of {what} were allocated by {named}."
    return f"Most of {what} was allocated by {named}."


def _by_memstats(diagnosis: Diagnosis, facts: MomentFacts | None) -> _Told | None:
    """The heap's division by MemStats or runtime/metrics, and who has it by a heap profile."""
    if facts is None or facts.groups is None or not facts.groups.claimed:
        return None
    claimed = facts.groups.claimed
    whole = sum(claimed.values())
    if not whole:
        return None
    named = ", ".join(
        f"{format_bytes(claimed[group])} {NAMES[group]} ({format_fraction(claimed[group] / whole)})"
        for group in worth_naming(claimed, whole)[:HOLDERS]
    )
    text = f"Go claims {format_bytes(whole)}{at_moment(diagnosis, facts)}: {named}."
    who, grew, _ = _by_heap_profiles(diagnosis, facts) or ("", False, "")
    this = "runtime/metrics"
    if {"memstats", "heap_text"} & facts.paths.keys():
        this = "MemStats"
    elif METRICS_PAGE in facts.paths:
        this = "this page of metrics"
    return f"{text} {who}".strip(), grew, SMAPS_ALONE.format(this=this)


def worth_naming(sizes: Mapping[str, int], whole: int) -> list[str]:
    """Those that are more than a trifle of the whole, the largest first."""
    largest = sorted(sizes, key=lambda name: -sizes[name])
    return [name for name in largest if sizes[name] >= WORTH_NAMING * whole]


def at_moment(diagnosis: Diagnosis, facts: MomentFacts) -> str:
    """Which moment a sentence is about, where there are several."""
    return f" at {facts.name}" if len(diagnosis.capture.by_moment) > 1 else ""


def _by_log(diagnosis: Diagnosis, _: MomentFacts | None) -> _Told | None:
    """What the collector costs, and where the live heap goes."""
    log = diagnosis.collector
    if log is None or not log.cost.cycles:
        return None
    cost = log.cost
    noun = "collection" if cost.cycles == 1 else "collections"
    text = f"{format_count(cost.cycles)} {noun}"
    if cost.seconds:
        text += f" in {format_seconds(cost.seconds)}"
    did = []
    if (share := cost.gc_cpu_fraction) is not None:
        # It is overstated, if anything, and never reads as nothing.
        most = "less than 0.1 %" if share < LEAST_SHARE else f"at most {format_fraction(share)}"
        did.append(f"took {most} of the CPU")
    if cost.stw.p99 is not None and carries(cost.stw.n, 0.99):
        did.append(f"stopped the world for {format_seconds(cost.stw.p99)} or less in 99 of 100")
    elif cost.stw.max is not None:
        longest = " at the longest" if cost.cycles > 1 else ""
        did.append(f"stopped the world for {format_seconds(cost.stw.max)}{longest}")
    text += f" {' and '.join(did)}" if did else ", of which no line says what they cost"
    live, grew = _live_heap(diagnosis)
    return f"{text}. {live}".strip(), grew, SMAPS_TOO.format(this="a GC log")


def _live_heap(diagnosis: Diagnosis) -> tuple[str, bool]:
    """The live heap at the log's end and its trend, as surely as the collections tell it."""
    assert diagnosis.collector is not None
    last = diagnosis.collector.cost.heap_live_last_bytes
    if last is None:
        return "", False
    size = format_bytes(last) if last else f"less than {format_bytes(MIB)}"  # the log's unit
    text = f"The live heap is {size} after the last"
    run = diagnosis.collector.longest_run
    rose = run is not None and run.last_bytes >= diagnosis.thresholds.rise_ratio * run.first_bytes
    if grows(diagnosis.case):
        return f"{text}.", rose  # the finding says how fast
    if run is None or run.slope_low is None or run.slope_high is None:
        few = "too few collections to tell whether"
        if run is not None and rose:
            risen = f"it has risen from {format_bytes(run.first_bytes)}"
            return f"{text}; {risen}, in {few} that goes on.", False
        return f"{text}; there are {few} it grows.", False
    if run.slope_low > 0:
        slope = f"{format_bytes(run.slope_bytes_per_second)}/s"
        return f"{text} and grows by {slope}.", rose
    return f"{text} and {'shrinks' if run.slope_high < 0 else 'does not grow'}.", False


def _by_goroutines(diagnosis: Diagnosis, _: MomentFacts | None) -> _Told | None:
    """How many goroutines there are, and where most of them are."""
    frame = diagnosis.capture.goroutines
    if frame.empty:
        return None
    last = frame[frame["moment"] == frame["moment"].iloc[-1]]
    count = int(last["goroutines"].sum())
    by_function = last.groupby("function")["goroutines"].sum().sort_values(ascending=False)
    there, most = int(by_function.iloc[0]), str(by_function.index[0]) or "the runtime"
    text = f"{format_count(count)} goroutines, {format_count(there)} of them in {most}"
    states = last[last["function"] == by_function.index[0]].groupby("state")["goroutines"].sum()
    if len(states):
        text += f" ({'most in state ' * (len(states) > 1)}{states.idxmax()})"
    return f"{text}.", False, NO_BYTES


def _by_profile(diagnosis: Diagnosis, _: MomentFacts | None) -> _Told | None:
    """The total of any other profile, and who has most of it."""
    found = [one for by_kind in diagnosis.capture.profiles.values() for one in by_kind.values()]
    if not found:
        return None
    profile = found[-1]
    unit = profile.sample_type().unit
    total = profile.total()
    what = KIND_NAMES.get(profile.kind, f"{profile.kind} profile")
    counted = TYPE_NAMES.get(profile.default_sample_type, profile.default_sample_type)
    text = f"The {what} has {_amount(total, unit)} of {counted}"
    rows = rows_of(own_code(Stacks.of_profile(profile)).head(HOLDERS))
    worth = [row for row in rows if total and row["value"] >= WORTH_NAMING * total]
    named = ", ".join(
        f"{row['function'] or 'the standard library alone'} "
        f"{_amount(row['value'], unit)} ({format_fraction(row['value'] / total)})"
        for row in worth
    )
    return (
        f"{text}: {named}." if named else f"{text}.",
        False,
        f"A {what} says nothing about memory: take a heap profile, MemStats and smaps for that.",
    )


def _amount(value: int, unit: str) -> str:
    if unit == "nanoseconds":
        return format_value(value * 1e-9, "s")
    return format_value(value, "B" if unit == "bytes" else "count")


def _by_others(diagnosis: Diagnosis, _: MomentFacts | None) -> _Told | None:
    """Benchmarks and escape analysis: how many, and what they are good for."""
    capture = diagnosis.capture
    if capture.bench:
        names = {name for one in capture.bench.values() for name in one.results["name"]}
        runs = sum(one.results["line"].nunique() for one in capture.bench.values())
        noun = "benchmark" if len(names) == 1 else "benchmarks"
        text = f"{len(names)} {noun} with {format_count(runs)} results, and no file of a process."
        return text, False, "gomem compare BEFORE AFTER says whether a change helped."
    if capture.escapes:
        places = sum(len(one.on_the_heap) for one in capture.escapes.values())
        text = f"The compiler lets values escape to the heap at {format_count(places)} places."
        return text, False, WITH_A_PROFILE
    return None
