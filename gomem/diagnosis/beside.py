"""Further facts of the verdict: kernel memory, peak, changes outside RSS, heap holder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from gomem.analysis.memory.groups import FILES, HEAP, UNDIVIDED
from gomem.analysis.memory.ledger_change import MIN_BYTES
from gomem.causes.thread_growth import CODE as THREAD_GROWTH
from gomem.diagnosis.few_fields import level_beside_rss
from gomem.diagnosis.goroutine_words import by_goroutines
from gomem.diagnosis.in_use import buffers_words, who_holds
from gomem.diagnosis.known_goroutines import are_counted
from gomem.diagnosis.listed_memory import VIRTUAL_RATIO, address_space_words, kernel_words
from gomem.diagnosis.live_level import (
    is_level_between_profiles,
    level_profiles_words,
    live_level_words,
)
from gomem.diagnosis.without_rss import by_pasted
from gomem.facts.live_heap import heap_needs_of
from gomem.facts.profiles import IN_USE, that_count
from gomem.text import Bytes, Count, MomentName, Share, Text, joined, text

if TYPE_CHECKING:
    from gomem.causes.finding import Finding
    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.facts.live_heap import HeapNeed
    from gomem.facts.moment import MomentFacts

WORKING_SET = "the working set"
FREED = "freed heap that the runtime keeps, "
SINCE = "memory allocated since the profile's GC, "
REST = "{}stacks, the program's files, {}or memory outside Go"
SKEW_RATIO = 1.1  # of RSS: a live heap above this ratio is of another time
PEAK_RATIO = 1.1  # of RSS: a peak above this ratio is mentioned
OBSERVED_BESIDE = frozenset({"in_use", "goroutines"})


def whose_words(
    diagnosis: Diagnosis, facts: MomentFacts | None, named: Finding | None, cached: str
) -> tuple[str, ...]:
    """Page cache, kernel memory, peak, heap size, changes outside RSS, and the heap's holder."""
    kernel = Text()
    if facts is not None and facts.rss_bytes is not None:
        kernel = kernel_words(facts)
    mapped = address_space_words(facts) or _mapped_words(diagnosis, facts)
    said = (cached, kernel, _peak_words(diagnosis, facts), mapped)
    of_go = (
        _beyond_sys_words(diagnosis, facts),
        level_beside_rss(diagnosis, facts),
        _live_share_words(diagnosis, facts),
        _profiled_heap_words(diagnosis, facts),
    )
    beside = _beside(diagnosis)
    holder = "" if "in_use" in beside else _holder(diagnosis, facts, named)
    level = _level_words(diagnosis, facts), _goroutine_words(diagnosis, facts, named)
    return (*said, *of_go, *beside.values(), holder, *level, _thread_words(diagnosis, facts, named))


def _level_words(diagnosis: Diagnosis, facts: MomentFacts | None) -> Text:
    """Say that the live heap is level, by its last GCs, or by heap profiles beside RSS."""
    if words := live_level_words(diagnosis, facts):
        return words
    has_rss = facts is not None and facts.rss_bytes is not None
    is_alone = diagnosis.collector is None and diagnosis.facts.live_heap is None
    return level_profiles_words(diagnosis) if has_rss and is_alone else Text()


def _peak_words(diagnosis: Diagnosis, facts: MomentFacts | None) -> Text:
    """The kernel's RSS peak (VmHWM), if it is well above every snapshot."""
    peaks = diagnosis.capture.status["VmHWM"].dropna()
    seen = [moment.rss_bytes for moment in diagnosis.moments if moment.rss_bytes is not None]
    if facts is None or peaks.empty or not seen:
        return Text()
    peak = int(peaks.iloc[-1])
    if peak < PEAK_RATIO * max(seen):
        return Text()
    return text("RSS peaked at {} (VmHWM).", Bytes(peak))


def _mapped_words(diagnosis: Diagnosis, facts: MomentFacts | None) -> Text:
    """That VmSize is not memory, if it is far above an RSS that nothing breaks down."""
    if (
        facts is None
        or facts.rss_bytes is None
        or facts.mappings is not None
        or facts.memstats is not None
    ):
        return Text()
    status = diagnosis.capture.status
    known = status[status["moment"] == facts.name].dropna(subset=["VmSize"])
    if known.empty or known.iloc[-1]["VmSize"] < VIRTUAL_RATIO * facts.rss_bytes:
        return Text()
    size, peak = known.iloc[-1][["VmSize", "VmPeak"]]
    most = text(" (VmPeak {})", Bytes(int(peak))) if pd.notna(peak) and peak > size else Text()
    words = "VmSize, {}{}, is address space: most of it is reserved and uses no memory."
    return text(words, Bytes(int(size)), most)


def _beside(diagnosis: Diagnosis) -> dict[str, str]:
    """Changes outside RSS: goroutines, and the heap in use.

    The heap in use is left out if its profiles lag, and if a baseline is what is compared.
    """
    is_apart = diagnosis.baseline is not None or is_level_between_profiles(diagnosis)
    left_out = {"in_use"} if is_apart else frozenset()
    return {
        observation.group: observation.sentence
        for observation in diagnosis.observations
        if observation.group in OBSERVED_BESIDE - left_out
    }


def _goroutine_words(
    diagnosis: Diagnosis, facts: MomentFacts | None, named: Finding | None
) -> Text | str:
    """Where goroutines wait, or how many there are, beside an RSS that nothing explains."""
    if facts is None or facts.rss_bytes is None or named is not None or are_counted(diagnosis):
        return ""
    if facts.mappings is not None or facts.memstats is not None:
        return ""
    counts = diagnosis.facts.goroutine_counts
    if (told := by_goroutines(diagnosis, facts)) is not None:
        return told[0]
    words = "The process has {}."
    return text(words, Count(counts[0].goroutines, "goroutine")) if len(counts) == 1 else ""


def _thread_words(diagnosis: Diagnosis, facts: MomentFacts | None, named: Finding | None) -> Text:
    """That there are many threads, unless a finding says so."""
    count = 0 if facts is None else facts.threads or 0
    if count < diagnosis.thresholds.many_threads or (named and named.code == THREAD_GROWTH):
        return Text()
    words = (
        "It has {}: as many were once in system calls, in C, or locked to goroutines. Go keeps the "
        "threads that it started."
    )
    return text(words, Count(count, "thread"))


def _holder(diagnosis: Diagnosis, facts: MomentFacts | None, named: Finding | None) -> str:
    """The holder of the live heap in the last heap profile, unless another sentence names it."""
    profiles = that_count(IN_USE, diagnosis.capture.heap_profiles)
    if facts is None or facts.rss_bytes is None:
        return ""
    if not profiles:
        pasted = by_pasted(diagnosis, facts)
        return "" if pasted is None else pasted[0]
    if named is not None and named.sites:
        return ""
    name = facts.name if facts.name in profiles else list(profiles)[-1]
    words = who_holds(diagnosis, name), buffers_words(profiles[name])
    return joined(" ", filter(None, words))


# What part of RSS, or of a working set, is Go's, where no MemStats divide it


def _beyond_sys_words(diagnosis: Diagnosis, facts: MomentFacts | None) -> Text:
    """RSS beyond Sys, which is not Go's, and how much of the growth is certainly outside Go.

    Sys includes what Go released: Go 1.12 to 1.15 leave that in RSS. What is outside Go's runtime
    at first is at most the RSS of then.
    """
    if facts is None or facts.rss_bytes is None or facts.memstats is not None:
        return Text()
    reserved = facts.told("Sys")
    if reserved is None or reserved >= facts.rss_bytes:
        return Text()
    beyond, grown = facts.rss_bytes - reserved, Text()
    first = next(moment for moment in diagnosis.moments if moment.told("Sys") is not None)
    if first.rss_bytes is not None and beyond > first.rss_bytes:
        words = ". Of the growth since {}, at least {} is not Go's, and no heap profile shows it"
        grown = text(words, MomentName(first.name), Bytes(beyond - first.rss_bytes))
    words = "At least {} ({}) is outside Go's runtime: RSS beyond Sys{}."
    return text(words, Bytes(beyond), Share(beyond / facts.rss_bytes), grown)


def _live_share_words(diagnosis: Diagnosis, facts: MomentFacts | None) -> Text:
    """The share of the live heap, or what its next GC leaves to be explained; empty if neither.

    After a kill the size can be that of the next process, and the log that of the killed one.
    """
    if diagnosis.facts.kill_described is not None:
        return Text()
    sized = None if facts is None else _undivided(facts)
    size, what = sized or (0, "")
    needs = heap_needs_of(diagnosis.facts, "" if facts is None else facts.name)
    needs = [need for need in needs if 0 < need.live_bytes <= SKEW_RATIO * size]
    if not needs:
        return Text()
    need, limits = needs[0], diagnosis.thresholds
    rest, by = size - need.most_bytes, _by_gogc(diagnosis)
    if any(_is_mostly_mapped(size, moment, limits.most_share) for moment in diagnosis.moments):
        rest = 0  # what else it has is told by those mappings
    ever = diagnosis.facts.profiles.heap_at_most.get(facts.name if facts else "")
    if need.live_bytes >= limits.most_share * size:
        # Without RSS, the sentence before has what is live after the last GC.
        is_said = need.is_of_log and facts is not None and facts.rss_bytes is None
        return _mostly_live_words(need, size, what, is_said=is_said)
    least = max(limits.kept_bytes, limits.most_share * size)
    if rest < least:
        if need.is_of_log or size <= need.live_bytes:
            return Text()
        words = (
            "The live heap by the heap profile ({}) is {} of {}; with garbage{}, up to about {}{}."
        )
        share = Share(need.live_bytes / size)
        other = REST.format(SINCE + FREED, "kernel memory, " * (what == WORKING_SET))
        more = text(": the other {} is {}", Bytes(rest), other) if rest >= MIN_BYTES else ""
        return text(words, Bytes(need.live_bytes), share, what, by, Bytes(need.most_bytes), more)
    most, freed = "With garbage{}, its objects need at most {} of heap", FREED
    most = text(most, by, Bytes(need.most_bytes))
    if need.is_of_log:
        most = text("The next GC starts when the heap reaches {}", Bytes(need.most_bytes))
    elif ever is not None and size - ever >= least:
        words = "Go's heap most likely never had more than {}, by all it allocated"
        most = text(words, Bytes(round(ever)))
        rest, freed = size - ever, ""
    owners = REST.format(freed, "kernel memory, " * (what == WORKING_SET))
    return text("{}: the other {} of {} is {}.", most, Bytes(rest), what, owners)


def _is_mostly_mapped(size: int, moment: MomentFacts, most_share: float) -> bool:
    """Whether the mappings of a snapshot divide as much memory as most of a size."""
    return moment.mappings is not None and (moment.rss_bytes or 0) >= most_share * size


def _mostly_live_words(need: HeapNeed, size: int, what: str, *, is_said: bool) -> Text:
    """The share of a live heap that is most of a size."""
    if need.live_bytes > size and not need.is_of_log:
        words = "The heap profile has {} of live objects: nearly all of {} ({}) is live heap."
        return text(words, Bytes(need.live_bytes), what, Bytes(size))
    after = "after the last GC" if need.is_of_log else "by the heap profile"
    which = Text() if is_said else text(" {} ({})", after, Bytes(need.live_bytes))
    return text(
        "The live heap{} is {} of {}.", which, Share(min(1.0, need.live_bytes / size)), what
    )


def _profiled_heap_words(diagnosis: Diagnosis, facts: MomentFacts | None) -> Text:
    """How much of the Go heap in RSS the heap profile accounts for, if no MemStats divide it."""
    if facts is None or facts.groups is None or facts.memstats is not None:
        return Text()
    size, limits = facts.groups.sizes.get(HEAP, 0), diagnosis.thresholds
    needs = [need for need in heap_needs_of(diagnosis.facts) if not need.is_of_log]
    if not needs or size < limits.most_share * (facts.rss_bytes or 0) or not size:
        return Text()
    need = needs[0]
    if need.live_bytes > size:
        words = "The heap profile has {}, but only {} of the Go heap is in RSS: {}."
        is_swapped = facts.mappings is None or bool(facts.mappings["Swap"].sum())
        rest = "the rest was never written" + ", or is swapped out" * is_swapped
        return text(words, Bytes(need.live_bytes), Bytes(size), rest)
    beyond = size - need.most_bytes
    words = "The heap profile has {} of the {} of Go heap in RSS{}."
    most, rest, other = Text(), "can be garbage or free heap", float(size - need.live_bytes)
    if beyond >= MIN_BYTES:
        most = text("; with garbage{}, up to about {}", _by_gogc(diagnosis), Bytes(need.most_bytes))
        rest = "was allocated since that profile's GC, or is freed heap that Go keeps"
        other = beyond
    said = text(words, Bytes(need.live_bytes), Bytes(size), most)
    more = text(" The other {} {}.", Bytes(other), rest)
    return said + more if other >= MIN_BYTES else said


def _by_gogc(diagnosis: Diagnosis) -> Text:
    """By which GOGC garbage is bounded, if no file states it."""
    gogc = diagnosis.facts.settings.gogc
    how = "inferred" if gogc.is_inferred else "assumed"
    return Text() if gogc.is_stated else text(" (GOGC {}, {})", gogc.text, how)


def _undivided(facts: MomentFacts) -> tuple[int, str] | None:
    """The size that no file divides, and its name; None if one does, or there is no size."""
    if facts.memstats is not None or facts.told("Sys") is not None:
        return None
    if facts.rss_bytes is not None:
        groups = facts.groups
        parts = {UNDIVIDED} if groups is None else set(groups.sizes)
        if not parts <= {UNDIVIDED, FILES} or facts.rss_is_of_cgroup:
            return None
        known = 0 if groups is None else groups.sizes.get(FILES, 0)
        return facts.rss_bytes - known, "the anonymous memory" if known else "RSS"
    listed = facts.listed
    if listed is None or listed.working_set_bytes is None:
        return None
    return listed.working_set_bytes, WORKING_SET
