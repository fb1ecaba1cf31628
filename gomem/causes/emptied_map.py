"""A map or a slice was emptied but kept: few objects use as much heap as many did before.

Deleting from a map frees what its entries refer to, but never the table itself, neither with the
buckets of Go 1.23 and before nor with the Swiss tables since Go 1.24. `s[:0]` keeps the whole
array. So HeapObjects falls, collections run, and HeapAlloc stays.

A program that packs many objects into one large array looks the same, and so does garbage of many
small objects that a collection freed. If the program has since allocated less than what stays, what
stays is older than the fall.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gomem.analysis.memory.groups import LIVE
from gomem.causes.cause import Case, Cause
from gomem.causes.commands import TAKE_HEAP_PROFILE, sentences
from gomem.causes.evidence import rss_evidence
from gomem.causes.finding import Evidence, Finding, Severity
from gomem.causes.sites import largest_sites, share_words, site_evidence
from gomem.text import Bytes, Count, MomentName, Text, text

if TYPE_CHECKING:
    from gomem.facts.moment import MomentFacts

FIELDS = ["HeapAlloc", "HeapObjects", "NumGC"]


def find(case: Case) -> list[Finding]:
    """Return one finding if nearly all objects are gone since a snapshot, and the heap is not."""
    moments, limits = case.facts.of_last_process, case.thresholds
    known = [moment for moment in moments if all(moment.told(name) is not None for name in FIELDS)]
    if not known[1:]:
        return []
    then, now = max(known, key=lambda moment: moment.told("HeapObjects") or 0), known[-1]
    (before, objects, cycles), (size, left, number) = (
        [moment.told(name) or 0 for name in FIELDS] for moment in (then, now)
    )
    least = max(limits.emptied_bytes, limits.emptied_heap_share * before)
    is_emptied = left <= limits.emptied_objects_share * objects and number > cycles
    is_newer = _allocated_since(then, now) >= size
    return [_finding(case, then, now)] if is_emptied and size >= least and not is_newer else []


CAUSE = Cause(
    code="emptied-map",
    mechanism="Deleting from a map frees what its entries refer to, and never the table itself. A "
    "slice cut to s[:0] keeps its whole array. The memory is used again when entries come back.",
    remedy="Replace the map or slice when it has become much smaller, or give each period its own. "
    "In Go, clear(m) empties a map and keeps its table, too.",
    references=("golang/go#20135",),
    bears_on=("moments", "allocations"),
    rule=find,
    claims=frozenset({LIVE}),
    needed_moments=2,
)


def _finding(case: Case, then: MomentFacts, now: MomentFacts) -> Finding:
    sites = largest_sites(case.facts.profiles.in_use_holders, case.thresholds)
    who = Text()
    if sites:
        share = share_words(sites[0].share, case.thresholds)
        who = text("; {} is from {}", share, sites[0].words)
    path, earlier, at = now.path("memstats"), then.path("memstats"), MomentName(then.name)
    (before, most, _), (size, objects, _) = (
        [moment.told(name) or 0 for name in FIELDS] for moment in (then, now)
    )
    words = "Emptied map or slice: {} for {}, down from {}{}"
    return CAUSE.finding(
        Severity.WARNING,
        text(words, Bytes(size), Count(objects, "object"), Count(most), who),
        moment=now.name,
        size=size,
        evidence=(
            Evidence(earlier, text("HeapObjects at {}", at), most, "count"),
            Evidence(path, "HeapObjects", objects, "count"),
            Evidence(earlier, text("HeapAlloc at {}", at), before, "B"),
            Evidence(path, "HeapAlloc", size, "B"),
            Evidence(path, "HeapAlloc, of each object", size // max(1, objects), "B"),
            *rss_evidence(now),
            *site_evidence(case.facts.profiles.last_path, "inuse_space of {}", sites),
        ),
        next_step=CAUSE.remedy
        if sites
        else sentences(CAUSE.remedy, text("See who allocated it: {}.", TAKE_HEAP_PROFILE)),
        confidence="possible" if math.isnan(_allocated_since(then, now)) else "likely",
        sites=sites,
    )


def _allocated_since(then: MomentFacts, now: MomentFacts) -> float:
    """Bytes allocated since the objects were most; NaN if unknown."""
    before, after = then.told("TotalAlloc"), now.told("TotalAlloc")
    return math.nan if before is None or after is None else float(after - before)
