"""What does a capture without RSS show? It has only profiles, logs or benchmarks.

A lone heap profile is the most common input, and it shows what retains the heap. MemStats, a GC
log, a goroutine or CPU profile, and benchmarks each answer a different question. Each answer also
names what is missing, and which file would have it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from gomem.analysis.memory.groups import NAMES, RUNTIME
from gomem.analysis.profiles.own_code import Stacks, own_code
from gomem.analysis.profiles.published import total_bounds
from gomem.causes.commands import TAKE_HEAP_PROFILE, TAKE_SMAPS, top
from gomem.diagnosis.few_fields import (
    SEE_KEPT,
    by_few_fields,
    by_few_readings,
    by_other_fields,
    counted_words,
    one_reading,
)
from gomem.diagnosis.further import nothing_words
from gomem.diagnosis.goroutine_words import (
    ANYTHING,
    by_count_alone,
    by_crash,
    by_goroutines,
    by_leaks,
    by_runtime_alone,
)
from gomem.diagnosis.in_use import (
    HOLDERS,
    churn_words,
    freed_words,
    large_objects_words,
    who_allocated,
    who_holds,
)
from gomem.diagnosis.known_goroutines import are_counted
from gomem.diagnosis.level_at_end import MANY
from gomem.diagnosis.listed_memory import (
    SMAPS_TOO,
    Told,
    at_moment,
    by_cgroup,
    by_container,
    by_logged_heap,
    by_peak,
    by_uncounted_container,
)
from gomem.diagnosis.live_level import level_profiles_words
from gomem.diagnosis.log_words import by_log, by_old_log
from gomem.diagnosis.other_files import by_more_benchmarks, by_other_files, by_page_alone
from gomem.diagnosis.other_systems import counted_when_released
from gomem.diagnosis.part_words import runtime_words
from gomem.diagnosis.pasted_profiles import (
    WHO_ALLOCATED,
    alike_words,
    amount,
    other_words,
    pasted_words,
    step_after_heap,
    told_total,
    with_the_profile,
)
from gomem.diagnosis.references import held_words
from gomem.diagnosis.table_callers import WORTH_NAMING
from gomem.diagnosis.table_waits import wait_words
from gomem.facts.goroutines import GOROUTINE
from gomem.facts.keepers import REFERENCES
from gomem.facts.profiles import ALLOCATED, IN_USE, that_count
from gomem.inputs.pprof.about import is_delta
from gomem.inputs.pprof.heap_text import NO_HEADER
from gomem.inputs.schema import rows_of
from gomem.text import (
    Bytes,
    Command,
    Count,
    Function,
    MomentName,
    Seconds,
    Share,
    Text,
    joined,
    text,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.facts.moment import MomentFacts
    from gomem.inputs.pprof.table import Profile

# kinds of profiles about memory
MEMORY_KINDS = frozenset({"heap", "allocs", "bytes", "difference"})
SMAPS_ALONE = text("See how much of this is in RSS: {}.", TAKE_SMAPS)
PMAP_TOO = text("Take RSS too, which plain pmap lacks: {}.", Command("pmap -x PID > pmap.txt"))
LARGEST = 2  # groups that a headline names
KIND_NAMES = {"cpu": "CPU profile", "other": "profile"}
TYPE_NAMES = {"cpu": "CPU time"}


def without_rss(diagnosis: Diagnosis, facts: MomentFacts | None) -> tuple[str, bool, str]:
    """Sentences on the known sizes; whether they grew by a fifth; and the next step."""
    tellers = (
        _by_memstats, _by_heap_profiles, by_log, by_more_benchmarks, by_few_fields, by_pasted,
        by_goroutines,
        by_crash, by_leaks, by_count_alone, _by_profile, by_other_files, by_cgroup, by_container,
        by_logged_heap, by_other_fields, _by_plain_pmap, by_old_log, by_runtime_alone,
        by_uncounted_container, by_page_alone, by_peak,
    )  # fmt: skip
    for tell in tellers:
        told = tell(diagnosis, facts)
        if told is not None:
            said, grew, step = told
            beside = (other(diagnosis, facts) for other in BESIDE.get(tell, ()))
            more = list(filter(None, beside))
            grew = grew or (tell is _by_heap_profiles and any(rose for _, rose, _ in more))
            sentences = [said, *(words for words, *_ in more)]
            is_kept = tell is by_log and any(then is SEE_KEPT for *_, then in more)
            step = SEE_KEPT if is_kept else step
            has_size = is_kept or by_container(diagnosis, facts) is not None
            if tell in {by_log, by_goroutines} and has_size:
                sentences.insert(0, sentences.pop())  # a size first
            return joined(" ", sentences), grew, step
    return nothing_words(diagnosis.capture), False, ANYTHING


def _by_heap_profiles(diagnosis: Diagnosis, _: MomentFacts | None) -> Told | None:
    """In-use heap by function in the last heap profile, and its change since the first."""
    profiles = that_count(IN_USE, diagnosis.capture.heap_profiles)
    if not profiles:
        return None
    first, last = next(iter(profiles)), next(reversed(profiles))
    before, profile = profiles[first], profiles[last]
    total, earlier = profile.total(IN_USE), before.total(IN_USE)
    if not total and profile.printed is None and _has_collections(diagnosis):
        return None  # the log tells more; see `_by_allocations`
    has_several = len(profiles) > 1
    at = text(" at {}", MomentName(last)) if has_several else ""
    since = text(", and {} at {}", Bytes(earlier), MomentName(first)) if has_several else ""
    sentence = text("{}{}{}.", _in_use(profile, total), at, since)
    if is_delta(profile):
        seconds = Seconds(profile.columns.duration_nanos / 1e9)
        net = int(profile.values(IN_USE).sum())
        rose = text("{} by {}", "rose" if net > 0 else "fell", Bytes(abs(net)))
        words = "In the {} that the heap profile covers (heap?seconds=N), memory in use {}{}."
        sentence = text(words, seconds, rose, at)
    grew = diagnosis.thresholds.has_grown(earlier, total)
    freed = freed_words(profile)
    who = who_holds(diagnosis, last) if total else who_allocated(profile)
    churned = Text() if _has_collections(diagnosis) else churn_words(diagnosis)
    large = large_objects_words(profile) or alike_words(profile)
    said = (sentence, level_profiles_words(diagnosis), who, freed, large, churned)
    step = step_after_heap(profile) or (_later_profile(profile, before) if grew else SMAPS_TOO)
    return joined(" ", filter(None, said)), grew, step


def _later_profile(last: Profile, first: Profile) -> Text:
    """The step after a growth between profiles: who grew, and whether it goes on."""
    return text(
        "See who grew: {}. See whether it goes on, with another profile some minutes later: {}.",
        top(last.source, first.source),
        TAKE_HEAP_PROFILE,
    )


def _by_many_goroutines(diagnosis: Diagnosis, facts: MomentFacts | None) -> Told | None:
    """Where goroutines wait, if there are many and neither a finding nor an observation says it."""
    counts = diagnosis.facts.goroutine_counts
    is_worth = bool(counts) and counts[-1].goroutines >= MANY
    return by_goroutines(diagnosis, facts) if is_worth and not are_counted(diagnosis) else None


def _has_collections(diagnosis: Diagnosis) -> bool:
    return diagnosis.collector is not None and bool(diagnosis.collector.cost.cycles)


def _by_allocations(diagnosis: Diagnosis, _: MomentFacts | None) -> Told | None:
    """Who allocated, by the last heap profile, if it has nothing in use."""
    profiles = that_count(IN_USE, diagnosis.capture.heap_profiles)
    last = next(reversed(profiles.values()), None)
    if last is None or last.total(IN_USE) or not (said := who_allocated(last)):
        return None
    return said, False, SMAPS_TOO


def by_pasted(diagnosis: Diagnosis, _: MomentFacts | None) -> Told | None:
    """What retains the heap by references; or the contents of a printed, non-in-use profile."""
    tables: list[Profile] = []
    for profiles in reversed(diagnosis.capture.profiles.values()):
        if not tables and (references := profiles.get(REFERENCES)) is not None:
            return held_words(references), False, WHO_ALLOCATED
        tables += (each for each in profiles.values() if not each.has_stacks or each.is_difference)
    if not tables:
        return None
    profile = next((table for table in tables if table.kind in MEMORY_KINDS), tables[0])
    others = (
        other_words(table) for table in tables if table.kind not in {profile.kind, *MEMORY_KINDS}
    )
    step, waits = with_the_profile(profile), Text()
    if profile.kind == GOROUTINE:
        waits, step = wait_words(profile, diagnosis.thresholds)
    elif profile.kind not in MEMORY_KINDS:
        step = NO_BYTES_HERE
    return joined(" ", filter(None, (pasted_words(profile), waits, *others))), False, step


_NOT_SAMPLED = Text(
    "The heap profile is empty because its sampling rate is 0: the program turned it off "
    "(runtime.MemProfileRate), or the linker did, because it found no use of it"
)


def _in_use(profile: Profile, total: int) -> Text:
    """The in-use size and its precision."""
    if not total:
        allocated = profile.total(ALLOCATED) if ALLOCATED in profile.sample_type_names else 0
        if profile.printed is not None:
            return Text("The part of the profile shown here has nothing in use")
        words = "; by its samples, about {} were allocated since the start"
        since = text(words, Bytes(allocated)) * bool(allocated)
        none = (
            "The heap profile has no sample in use: too little memory is in use for its sampling "
            "rate{}"
        )
        if any(fault.what == NO_HEADER for fault in profile.damaged):
            none = "The rows of a heap profile shown here have nothing in use{}"
        is_off = profile.columns.period_type.unit == "bytes" and not profile.columns.period
        return _NOT_SAMPLED if is_off else text(none, since)
    if profile.printed is not None:
        return text("{} in use", told_total(profile, IN_USE))
    if profile.header_total is not None:
        words = "By its first line, the heap profile has at least {} of live objects{}"
        scaled = text(" (those sampled; scaled by the sampling rate, about {})", Bytes(total))
        return text(words, Bytes(profile.header_total), scaled * (total > profile.header_total))
    least, most = total_bounds(profile) or (total, total)
    error = text(" (95 % interval: {} to {})", Bytes(least), Bytes(most))
    is_exact = Bytes(least) == Bytes(most)
    if not profile.columns.stack.size:
        head = "By its first line alone, the heap profile has about {} of live objects"
        return text(head, Bytes(total))
    return text(
        "The heap profile has {} of live objects{}", Bytes(total), "" if is_exact else error
    )


def _by_memstats(diagnosis: Diagnosis, facts: MomentFacts | None) -> Told | None:
    """The heap's parts by MemStats or runtime/metrics, and its holders by a heap profile."""
    if facts is None or facts.groups is None or not facts.groups.claimed:
        return None
    claimed = facts.groups.claimed
    whole = sum(claimed.values())
    if not whole:
        return None
    worth = worth_naming(claimed, whole)[:LARGEST]
    named = joined(", ", (_reserved_words(facts, group, whole) for group in worth))
    sentence = text("Go retains {}{}: {}.", Bytes(whole), at_moment(diagnosis, facts), named)
    who, grew, _ = _by_heap_profiles(diagnosis, facts) or ("", False, "")
    dumps = diagnosis.capture.memstats
    counts = Text() if dumps.empty else counted_words(diagnosis, dumps["moment"].iloc[-1])
    said = (sentence, _released_words(diagnosis, facts), counts, who, one_reading(diagnosis))
    return joined(" ", filter(None, said)), grew, SMAPS_ALONE


def _reserved_words(facts: MomentFacts, group: str, whole: int) -> Text:
    """A group's reserved memory, and for most of the whole what it is."""
    assert facts.groups is not None
    size = facts.groups.claimed[group]
    inside = runtime_words(facts, size / whole) if group == RUNTIME else Text()
    more = text(" ({})", inside.removeprefix(", ")) if inside else ""
    return text("{} {}{}", Bytes(size), NAMES[group], more)


def _released_words(diagnosis: Diagnosis, facts: MomentFacts) -> Text:
    stats, version = facts.memstats, diagnosis.capture.go_version
    if stats is None or pd.isna(stats["Sys"]) or pd.isna(stats["HeapReleased"]):
        return Text()
    return counted_when_released(version, int(stats["Sys"]), int(stats["HeapReleased"]))


def worth_naming(sizes: Mapping[str, int], whole: int) -> list[str]:
    """The names of sizes above a minimum share of the total, largest first."""
    largest = sorted(sizes, key=lambda name: -sizes[name])
    return [name for name in largest if sizes[name] >= WORTH_NAMING * whole]


def _by_plain_pmap(diagnosis: Diagnosis, _: MomentFacts | None) -> Told | None:
    """Say that pmap without -x gives only address space."""
    moments = [*diagnosis.capture.by_moment.values()]
    rows = moments[-1].smaps if moments and "pmap" in moments[-1].paths else None
    if rows is None or rows.empty or rows["Rss"].notna().any():
        return None
    count, size = Count(len(rows), "mapping"), Bytes(int(rows["Size"].sum()))
    is_barred = ~rows["perms"].astype("str").str.contains("[rwx]")
    barred = int(rows.loc[is_barred, "Size"].sum())
    reserved = text(", of which {} is only reserved (no access)", Bytes(barred))
    words = "{} of {} of address space{}. Plain pmap has no RSS, so resident memory is unknown."
    return text(words, count, size, reserved * bool(barred)), False, PMAP_TOO


def _by_profile(diagnosis: Diagnosis, _: MomentFacts | None) -> Told | None:
    """The total of any other profile, and its largest function."""
    found = [
        profile for by_kind in diagnosis.capture.profiles.values() for profile in by_kind.values()
    ]
    if not found:
        return None
    profile = found[-1]
    unit, total = profile.sample_type().unit, profile.total()
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
                amount(row["value"], unit),
                Share(row["value"] / total),
            )
            for row in worth
        ),
    )
    sentence = text("The {} has {} of {}", what, amount(total, unit), counted)
    whose = text(": {}", named) if named else ""
    return text("{}{}.", sentence, whose), False, NO_BYTES_HERE


NO_BYTES_HERE = text(
    "This profile counts samples or objects, not bytes; take a heap profile: {}.", TAKE_HEAP_PROFILE
)


# Checked in addition if the first of these already says where the memory is.
BESIDE: Mapping[Callable[..., Told | None], tuple[Callable[..., Told | None], ...]] = {
    _by_memstats: (by_container,),
    by_log: (_by_allocations, by_few_fields, by_pasted, by_container),
    by_more_benchmarks: (by_few_fields,),
    by_few_fields: (by_pasted, by_container, by_old_log),
    _by_heap_profiles: (by_log, _by_many_goroutines, by_few_readings, by_container),
    by_pasted: (by_container,),
    by_goroutines: (by_container,),
}
