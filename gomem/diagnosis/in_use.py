"""Which of the program's own functions hold the bytes in use, by a heap profile."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from gomem.analysis.profiles.own_code import Stacks, own_code
from gomem.analysis.profiles.published import total_bounds
from gomem.causes.signatures import RETAINED, known_sites, signatures
from gomem.causes.sites import allocating_sites, share_words
from gomem.diagnosis.grown_rows import grown_rows
from gomem.diagnosis.pasted_profiles import part_words, table_words
from gomem.diagnosis.table_callers import MOSTLY, NEARLY, WORTH_NAMING
from gomem.facts.profiles import ALLOCATED, IN_USE
from gomem.inputs.pprof.calls.names import can_be_mended
from gomem.inputs.schema import rows_of
from gomem.text import Bytes, Command, Count, Function, Rate, Seconds, Share, Text, joined, text
from gomem.units import MIB

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.inputs.pprof.table import Profile

HOLDERS = 3  # named
WIDE = 8  # the ends of a total's 95 % interval, whose parts are not worth naming
OBJECTS = "inuse_objects"
MANY_LARGE, LARGE_OBJECT = 10, MIB  # objects, and bytes of each: a pool of buffers has so many
CHURN = 10  # times what is in use, or MiB if more, allocated between profiles
WHOLLY = 0.995  # of the total; would print as 100 %
_FROM = {
    IN_USE: (
        "Live bytes by the program's own functions:",
        "Most of the live bytes are from",
        "Nearly all live bytes are from",
    ),
    ALLOCATED: (
        "Allocated bytes by the program's own functions:",
        "Most of what was allocated is from",
        "Nearly all that was allocated is from",
    ),
}


def who_holds(diagnosis: Diagnosis, moment: str) -> Text:
    """In-use objects in a moment's heap profile, by the program's own functions."""
    profile = diagnosis.capture.heap_profiles[moment]
    if IN_USE not in profile.sample_type_names:
        return Text()
    if not profile.has_stacks:
        grown = grown_rows(diagnosis.capture.heap_profiles)
        return joined(" ", filter(None, (grown, table_words(profile, IN_USE))))
    least, most = total_bounds(profile) or (1.0, 1.0)
    if most > WIDE * least:  # a few samples: their shares are chance
        return Text()
    total = profile.total(IN_USE)
    stacks = Stacks.of_profile(profile, IN_USE)
    rows = _largest(stacks)
    said = _named(rows, total, IN_USE)
    if not said:
        return Text()
    others = sum(row["value"] for row in rows if not row["function"])
    if others > max(row["value"] for row in rows if row["function"]):
        said = joined(" ", (_by_others_code(stacks, profile, others / total), said))
    kept = _kept_by_release(diagnosis, profile)
    return joined(" ", filter(None, (said, kept, _age(diagnosis, moment))))


def _kept_by_release(diagnosis: Diagnosis, profile: Profile) -> Text:
    """Why most of what is in use stays in this Go release, unless a finding says so; else empty."""
    if any(finding.missing_call is not None for finding in diagnosis.findings):
        return Text()
    total, top = profile.total(IN_USE), profile.top_rows(IN_USE)
    sizes = dict(zip(top.function, top.cum.tolist(), strict=True))
    known = {
        row: sizes[name]
        for name, row in (known_sites(sizes, total) if total >= MIB else ())
        if RETAINED in row.of and row.before is not None and sizes[name] > MOSTLY * total
    }
    certain = filter(diagnosis.capture.go_version.certainly, known)
    row = max(sorted(certain, key=signatures().index), key=lambda row: known[row], default=None)
    return Text() if row is None else text("Check for a missing {}. {}", Command(row.call), row.why)


def large_objects_words(profile: Profile) -> Text:
    """Say how many objects the function with most holds, if they are many and large; else empty."""
    if OBJECTS not in profile.sample_type_names or not profile.has_stacks:
        return Text()
    stacks = Stacks.of_profile(profile, IN_USE)
    row = next(iter(_largest(stacks)), None)
    if row is None or not row["function"] or row["value"] <= MOSTLY * profile.total(IN_USE):
        return Text()
    objects = Stacks(stacks.frames, profile.values(OBJECTS), stacks.others)
    counted = {held["function"]: held["value"] for held in rows_of(own_code(objects))}
    count = counted.get(row["function"], 0)
    if count < MANY_LARGE or row["value"] < LARGE_OBJECT * count:
        return Text()
    words = (
        "{} holds {} of {} on average. If that is more than are in use at the same time, a pool or "
        "a list keeps them at their largest: drop those above a size instead of keeping them."
    )
    mean = Bytes(row["value"] // count)
    return text(words, Function(row["function"]), Count(count, "object"), mean)


def buffers_words(profile: Profile) -> Text:
    """Say the same if a library's function allocated most, which keeps what it grew to."""
    top, total = profile.top_rows(IN_USE), profile.total(IN_USE)
    sizes = dict(zip(top.function, top.cum.tolist(), strict=True))
    known = known_sites(sizes, total)
    is_kept = any(row.in_use and sizes[name] > MOSTLY * total for name, row in known)
    return large_objects_words(profile) if is_kept else Text()


def churn_words(diagnosis: Diagnosis) -> Text:
    """How fast the program allocates what it soon frees, and where, by several profiles."""
    shown = diagnosis.facts.profiles.of_in_use.news
    news = [new for new in shown if ALLOCATED in new.profile.sample_type_names]
    if len(news) < 2:
        return Text()
    first, last = news[0], news[-1]
    allocated = last.profile.total(ALLOCATED) - first.profile.total(ALLOCATED)
    in_use, seconds = last.profile.total(IN_USE), last.seconds - first.seconds
    if allocated < max(CHURN * in_use, CHURN * MIB) or seconds <= 0:
        return Text()
    sites = allocating_sites(diagnosis.case)
    whose = Text()
    if sites:
        share = share_words(sites[0].share, diagnosis.thresholds)
        whose = text(", {} by {}", share, sites[0].words)
    words = "In {}, {} was allocated and freed again ({}){}."
    return text(words, Seconds(seconds), Bytes(allocated), Rate(allocated / seconds), whose)


def who_allocated(profile: Profile) -> Text:
    """The program's own functions that allocated most since the start."""
    if ALLOCATED not in profile.sample_type_names or not profile.has_stacks:
        return Text()
    total = profile.total(ALLOCATED)
    rows = _largest(Stacks.of_profile(profile, ALLOCATED)) if total else []
    return _named(rows, total, ALLOCATED)


def _largest(stacks: Stacks) -> list[dict[str, Any]]:
    return rows_of(own_code(stacks).head(HOLDERS))


def _named(rows: Sequence[Mapping[str, Any]], total: int, what: str) -> Text:
    """From which of the program's functions most of some bytes are; empty if none is worth it."""
    worth = [row for row in rows if row["value"] >= WORTH_NAMING * total and row["function"]]
    if not worth:
        return Text()
    share = worth[0]["value"] / total
    each, most, nearly = _FROM[what]
    first = each if share <= MOSTLY else most if share < NEARLY else nearly
    if share >= WHOLLY:
        return text("{} {}.", nearly, Function(worth[0]["function"]))
    named = (part_words(row["function"], row["value"], row["value"] / total, 0) for row in worth)
    return text("{} {}.", first, joined(", ", named))


def freed_words(profile: Profile) -> Text:
    """What a printed profile has allocated since the start, if it says so beside what is in use."""
    names = profile.sample_type_names
    if profile.printed is None or profile.is_difference or not {IN_USE, ALLOCATED} <= set(names):
        return Text()
    allocated = profile.total(ALLOCATED)
    if allocated <= profile.total(IN_USE):
        return Text()
    words = "Another table has {} allocated since the start; all but what is in use was freed."
    said = text(words, Bytes(allocated))
    return joined(" ", filter(None, (said, table_words(profile, ALLOCATED))))


def _age(diagnosis: Diagnosis, moment: str) -> Text:
    """Say that a profile is of an earlier GC, by HeapAlloc or the log's live heap; else empty."""
    facts, log = diagnosis.by_moment.get(moment), diagnosis.collector
    allocated = None if facts is None else facts.counted("HeapAlloc")
    least, most = total_bounds(diagnosis.capture.heap_profiles[moment]) or (0.0, math.inf)
    if allocated is None:
        live = None if log is None else log.cost.heap_live_last_bytes
        is_older = live is not None and most < live
        return text(_OLDER_THAN_LOG, Bytes(live)) if is_older else Text()
    if least <= allocated:
        return Text()
    words = (
        "The profile is of an earlier GC: it has at least {} in use, and HeapAlloc is {} by now; "
        "/debug/pprof/heap?gc=1 gives a current one."
    )
    return text(words, Bytes(round(least)), Bytes(allocated))


_OLDER_THAN_LOG = "The log's last GC marked {}, so the profile is most likely of an earlier GC."


def _by_others_code(stacks: Stacks, profile: Profile, share: float) -> Text:
    """The share that is only in functions of the runtime, the Go library, or without a name."""
    is_named = stacks.which(can_be_mended) & stacks.frames["function"].notna()
    samples = np.setdiff1d(np.arange(len(stacks.values)), stacks.frames.loc[is_named, "sample"])
    leaves = profile.leaves(samples)
    sizes = pd.Series(stacks.values[samples]).groupby(leaves).sum()
    where = "{} of the live bytes were allocated by {}, mostly by {}."
    by = "the runtime and the Go library alone"
    if stacks.frames["function"].isna().any():
        by = "no known function of the program"
    return text(where, Share(share), by, Function(str(sizes.idxmax())))
