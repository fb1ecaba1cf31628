"""Few objects need as much heap as many did: a map or a slice was emptied and kept.

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

import pandas as pd

from gomem.analysis.memory.groups import LIVE
from gomem.causes.cause import Case, Cause
from gomem.causes.commands import TAKE_HEAP_PROFILE, sentences
from gomem.causes.evidence import rss_evidence
from gomem.causes.finding import Evidence, Finding, Severity
from gomem.causes.sites import largest_sites, share_words, site_evidence
from gomem.text import Bytes, Count, MomentName, Text, text

if TYPE_CHECKING:
    from gomem.causes.thresholds import Thresholds
    from gomem.facts.moment import MomentFacts

FIELDS = ["HeapAlloc", "HeapObjects", "NumGC"]


def find(case: Case) -> list[Finding]:
    """Return one finding if nearly all objects are gone since a snapshot, and the heap is not."""
    read = [(moment, moment.any_memstats) for moment in case.facts.of_last_process]
    known = [(moment, stats) for moment, stats in read if stats is not None and _has_fields(stats)]
    if not known[1:]:
        return []
    then, most = max(known, key=lambda each: float(each[1]["HeapObjects"]))
    now, last = known[-1]
    is_newer = _allocated_since(most, last) >= last["HeapAlloc"]
    if is_newer or not _is_emptied(most, last, case.thresholds):
        return []
    return [_finding(case, (then, most), (now, last))]


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


def _has_fields(stats: pd.Series) -> bool:
    return bool(stats.reindex(FIELDS).notna().all())


def _is_emptied(most: pd.Series, last: pd.Series, limits: Thresholds) -> bool:
    is_emptied = last["HeapObjects"] <= limits.emptied_objects_share * most["HeapObjects"]
    least = max(limits.emptied_bytes, limits.emptied_heap_share * most["HeapAlloc"])
    return bool(is_emptied and last["HeapAlloc"] >= least and last["NumGC"] > most["NumGC"])


def _finding(
    case: Case, before: tuple[MomentFacts, pd.Series], after: tuple[MomentFacts, pd.Series]
) -> Finding:
    (then, most), (now, last) = before, after
    size, objects = int(last["HeapAlloc"]), int(last["HeapObjects"])
    sites = largest_sites(case.facts.profiles.in_use_holders, case.thresholds)
    who = Text()
    if sites:
        share = share_words(sites[0].share, case.thresholds)
        who = text("; {} is from {}", share, sites[0].words)
    path, earlier = now.path("memstats"), then.path("memstats")
    return CAUSE.finding(
        Severity.WARNING,
        text(
            "Emptied map or slice: {} for {}, down from {}{}",
            Bytes(size),
            Count(objects, "object"),
            Count(int(most["HeapObjects"])),
            who,
        ),
        moment=now.name,
        size=size,
        evidence=(
            Evidence(
                earlier,
                text("HeapObjects at {}", MomentName(then.name)),
                int(most["HeapObjects"]),
                "count",
            ),
            Evidence(path, "HeapObjects", objects, "count"),
            Evidence(
                earlier, text("HeapAlloc at {}", MomentName(then.name)), int(most["HeapAlloc"]), "B"
            ),
            Evidence(path, "HeapAlloc", size, "B"),
            Evidence(path, "HeapAlloc, of each object", size // max(1, objects), "B"),
            *rss_evidence(now),
            *site_evidence(case.facts.profiles.last_path, "inuse_space of {}", sites),
        ),
        next_step=CAUSE.remedy
        if sites
        else sentences(CAUSE.remedy, text("See who allocated it: {}.", TAKE_HEAP_PROFILE)),
        confidence="possible" if math.isnan(_allocated_since(most, last)) else "likely",
        sites=sites,
    )


def _allocated_since(most: pd.Series, last: pd.Series) -> float:
    """Bytes allocated since the objects were most; NaN if unknown."""
    then, now = (stats.get("TotalAlloc") for stats in (most, last))
    return math.nan if pd.isna(then) or pd.isna(now) else float(now) - float(then)
