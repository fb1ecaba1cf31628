"""What the ledgers of a diagnosis say together: what changed, how much worse it can get."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import pandas as pd

from gomem.analysis.memory.address_space import address_regions
from gomem.analysis.memory.ledger_change import LedgerChange, change_ledger
from gomem.analysis.memory.limits import (
    CgroupUse,
    LimitAdvice,
    TimeToLimit,
    WorstCase,
    advise_gomemlimit,
    cgroup_use,
    time_to_limit,
    worst_case_rss,
)
from gomem.analysis.memory.mapping_changes import match_mappings
from gomem.analysis.memory.rss_vs_heap import PART_OF_KIND

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gomem.causes.answers import MomentFacts
    from gomem.diagnosis.diagnosis import Diagnosis

GOMEMLIMIT = "/gc/gomemlimit:bytes"
_NO_GOMEMLIMIT = 1 << 62  # math.MaxInt64, rounded as a float, stands for none


@dataclass(frozen=True)
class Change:
    """From one moment to another, of one capture or of two.

    Attributes:
        before: The earlier moment, or the baseline's.
        after: The later one.
        ledger: What moved, part by part, with the verdict.
        mappings: Mappings matched; None if one side has no smaps.
    """

    before: str
    after: str
    ledger: LedgerChange
    mappings: pd.DataFrame | None


def change_between(
    before: MomentFacts, after: MomentFacts, *, same_process: bool | None = None
) -> Change | None:
    """Hold two moments against each other; None if one of them has no ledger."""
    if before.ledger is None or after.ledger is None:
        return None
    both = before.mappings is not None and after.mappings is not None
    return Change(
        before.name,
        after.name,
        change_ledger(
            before.ledger.parts,
            after.ledger.parts,
            before.rss_bytes,
            after.rss_bytes,
            zero_where_absent=frozenset(PART_OF_KIND.values()) if both else frozenset(),
        ),
        match_mappings(before.mappings, after.mappings, same_process=same_process)
        if before.mappings is not None and after.mappings is not None
        else None,
    )


def changes_over_time(moments: Sequence[MomentFacts]) -> tuple[Change, ...]:
    """From each moment with a ledger to the next."""
    known = [one for one in moments if one.ledger is not None]
    found = (change_between(before, after) for before, after in pairwise(known))
    return tuple(one for one in found if one is not None)


def change_over_all(moments: Sequence[MomentFacts]) -> Change | None:
    """From the first moment with a ledger to the last, if there are three or more."""
    known = [one for one in moments if one.ledger is not None]
    return change_between(known[0], known[-1]) if len(known) > 2 else None


def change_against_baseline(diagnosis: Diagnosis) -> Change | None:
    """From the baseline to the capture: the last moment that both have, or the last of each."""
    if diagnosis.baseline is None:
        return None
    old = {one.name: one for one in diagnosis.baseline.moments if one.ledger is not None}
    new = {one.name: one for one in diagnosis.moments if one.ledger is not None}
    if not old or not new:
        return None
    shared = [name for name in new if name in old]
    before, after = (
        (old[shared[-1]], new[shared[-1]])
        if shared
        else (list(old.values())[-1], list(new.values())[-1])
    )
    return change_between(before, after, same_process=False)


@dataclass(frozen=True)
class Limits:
    """How far a capture's last moment is from its limits.

    Attributes:
        moment: Which moment.
        worst: By moment, what RSS would be if all that is mapped were resident.
        cgroup: How full the cgroup is; None without its files.
        growth: When the limit is reached; None without a limit, or with fewer than three moments.
        advice: A GOMEMLIMIT for the cgroup's limit; None without a limit.
        gomemlimit_bytes: The one that is set; None if none is, or nothing says.
    """

    moment: str
    worst: dict[str, WorstCase]
    cgroup: CgroupUse | None
    growth: TimeToLimit | None
    advice: LimitAdvice | None
    gomemlimit_bytes: int | None


def limits_of(moments: Sequence[MomentFacts]) -> Limits | None:
    """The limits of a capture; None if no moment has what it takes."""
    worst = {
        one.name: found
        for one in moments
        if one.ledger is not None
        and (found := worst_case_rss(one.ledger.parts, one.rss_bytes, one.memstats)) is not None
    }
    uses = {one.name: use for one in moments if (use := cgroup_use(one.cgroup)) is not None}
    if not worst and not uses:
        return None
    last = [one for one in moments if one.name in worst or one.name in uses][-1]
    use = uses.get(last.name)
    limit = None if use is None else use.limit_bytes
    advice = None
    if limit is not None and last.ledger is not None and last.rss_bytes is not None:
        advice = advise_gomemlimit(limit, last.ledger.parts, last.rss_bytes, use)
    set_to = last.metrics.get(GOMEMLIMIT, float(_NO_GOMEMLIMIT))
    return Limits(
        moment=last.name,
        worst=worst,
        cgroup=use,
        growth=None if limit is None else _growth(moments, uses, limit),
        advice=advice,
        gomemlimit_bytes=int(set_to) if set_to < _NO_GOMEMLIMIT else None,
    )


def _growth(
    moments: Sequence[MomentFacts], uses: dict[str, CgroupUse], limit: int
) -> TimeToLimit | None:
    timed = [one for one in moments if one.name in uses and one.time is not None]
    if not timed:
        return None
    times = pd.Series([one.time for one in timed])
    sizes = pd.Series([uses[one.name].unreclaimable_bytes for one in timed], dtype="float64")
    return time_to_limit((times - times.iloc[0]).dt.total_seconds(), sizes, limit)


def regions_of(diagnosis: Diagnosis, moment: str) -> pd.DataFrame:
    """The regions of a moment's address space; see `analysis.address_space.REGIONS`.

    Raises:
        KeyError: The moment has no smaps.
    """
    for facts in diagnosis.moments:
        if facts.name == moment and facts.mappings is not None:
            return address_regions(facts.mappings)
    raise KeyError(moment)
