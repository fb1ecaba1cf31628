"""Which allocation sites changed from one side to the other, by more than noise?

A site is a function, whatever its lines, so moving code within a file changes nothing. Renamed
functions match only if the user names the rename.

Profiles are samples of a run's allocation, so each number has an interval, and a change within it
is `~`. With several captures per side, a site's values are means over the runs, with a narrower
interval. The runs then form a sample, too. If there are enough runs, a change that the rank test
cannot separate from run-to-run variation is also `~`.

`inuse_*` are levels. `alloc_*` count from the start of the process, so runs of unequal work differ
in all of them. If a side has profiles of two snapshots, the allocation between them is also given,
per request if the number of requests is known, else per second. A profile's data end at the GC
before the last, or at the last if that was forced. So the allocation between two profiles is
uncertain by one GC out of those between the snapshots. That share widens the interval; with too few
GCs there is no rate.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from gomem.analysis.profiles.call_tree import CallTree, call_tree
from gomem.analysis.profiles.changes import (
    FLAT,
    SITES,
    compare_site_runs,
    is_exact,
    profile_changes,
    renamed,
    unseen_in,
)
from gomem.analysis.profiles.internals import without_internals
from gomem.analysis.profiles.thresholds import MIN_COLLECTIONS_OF_A_RATE
from gomem.comparison.samples import NO_CLAIM
from gomem.comparison.unclaimed import doubt_of, unclaimed
from gomem.diagnosis.pairing import counterparts, first_pair
from gomem.facts.profiles import SAMPLE_TYPES, has_samples
from gomem.inputs.pprof.sites import top_sites
from gomem.inputs.schema import Column, build, empty
from gomem.statistics.rank_tests import ALPHA, can_tell, rank_sum_p
from gomem.text import Text, Words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from gomem.analysis.profiles.changes import Rename
    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.inputs.pprof.table import Profile

SINCE_START = (
    "TotalAlloc, Mallocs, NumGC and alloc_* are cumulative since the start: compare runs that did "
    "the same work"
)
SAMPLING_NOTE = (
    "sites marked new, gone, grew or shrank changed beyond sampling noise (at 95 % confidence, so "
    "about 5 of 100 unchanged sites are marked); variation between runs is not included"
)
RUNS_NOTE = (
    "the values of a site are averaged over the runs of a side; new, gone, grew and shrank mean "
    "that the change exceeds sampling noise and, given enough runs, the variation between runs"
)
GC_NOTE = (
    "in-use sizes are up to two GCs old; the profiles were taken after GC {} (before side) and "
    "GC {} (after side)"
)
SAME_GC_NOTE = "in-use sizes are up to two GCs old; on both sides the profile was taken after GC {}"
SECONDS_NOTE = (
    "allocation per second rises if the same work finishes faster, so a site that grew need not "
    "allocate more; compare allocation per request (--requests)"
)
UNPUBLISHED_NOTE = (
    "allocation per site between the snapshots is not compared, because heap profiles lag by up to "
    f"two GCs, and fewer than {MIN_COLLECTIONS_OF_A_RATE} GCs ran between the snapshots"
)
NO_DOUBT = Text()
REQUEST, SECOND = "request", "second"
PER = (REQUEST, SECOND)
RATED = ("alloc_space", "alloc_objects")
SITE_CHANGES = (
    Column("sample_type", "str", "", "Sample type, such as inuse_space.", Words),
    Column("unit", "str", "", "Unit as in the profile: bytes or count.", Words),
    *SITES,
    Column(
        "before_n", "int64", "count", "Number of profiles before, one per run; values are means."
    ),
    Column("after_n", "int64", "count", "Number of profiles after."),
    Column(
        "p_value",
        "Float64",
        "fraction",
        "Mann-Whitney test over the runs; missing with too few runs, or if sampling alone "
        "explains the change.",
    ),
    Column("note", "str", "", "Why a change beyond sampling noise is ~; else empty.", Words),
)
SITE_RATES = (
    *SITE_CHANGES[:2],
    Column("per", "str", "", "Denominator of the values: a request or a second.", Words),
    *SITE_CHANGES[2:],
)


@dataclass(frozen=True)
class SiteComparison:
    """The allocation sites of two sides."""

    sites: pd.DataFrame  # by sample type, at the last moment with profiles; see `SITE_CHANGES`
    rates: pd.DataFrame  # allocation of each site between the moments; see `SITE_RATES`
    # By sample type, a function that returns the call tree of the change between the first capture
    # of each side.
    change_trees: Mapping[str, Callable[[], CallTree]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()  # caveats


@dataclass(frozen=True)
class _Run:
    """One capture's heap profiles at the first and the last compared moment."""

    first: Profile | None
    last: Profile
    requests: float | None
    collections: int | None = None  # between the two moments; None if unknown
    doubt: Text = NO_DOUBT  # why its sites are not compared, see `doubt_of`

    @property
    def lag(self) -> float:
        """The share of its allocation that the profiles' ages can miss or add."""
        return 0.0 if self.collections is None else 1 / max(1, self.collections)

    @property
    def is_seen(self) -> bool:
        """Whether enough GCs ran between the two profiles."""
        has_few = self.collections is not None and self.collections < MIN_COLLECTIONS_OF_A_RATE
        return self.first is not None and not has_few

    @property
    def seconds(self) -> float | None:
        """Seconds between the two moments, by their own clocks."""
        first, last = (
            None if profile is None else profile.time for profile in (self.first, self.last)
        )
        if first is None or last is None:
            return None
        return float((last - first).total_seconds())

    def units(self, per: str) -> float:
        """The number of requests or seconds; 0 if unknown."""
        return (self.requests if per == REQUEST else self.seconds) or 0.0


def sites_compared(
    old: Sequence[Diagnosis],
    new: Sequence[Diagnosis],
    renames: Sequence[Rename] = (),
    requests: tuple[Sequence[float | None], Sequence[float | None]] = ((), ()),
) -> SiteComparison:
    """Compare the sites of two sides; `requests` has a number per capture, between its moments."""
    profiles = [[run.capture.heap_profiles for run in side] for side in (old, new)]
    profiles = [
        [{m: without_internals(p) for m, p in by_moment.items()} for by_moment in side]
        for side in profiles
    ]
    before = [{m: renamed(p, renames) for m, p in by_moment.items()} for by_moment in profiles[0]]
    pairs = counterparts(list(before[0]), list(profiles[1][0]))
    notes = tuple(_notes(old, new, len(pairs), renames, profiles))
    if not pairs:
        return SiteComparison(empty(SITE_CHANGES), empty(SITE_RATES), notes=notes)
    first = first_pair(list(before[0]), list(profiles[1][0])) or pairs[0]
    sides = [
        _runs(side, found, (first[n], pairs[-1][n]), requests[n], ("before", "after")[n])
        for n, (side, found) in enumerate(zip((old, new), (before, profiles[1]), strict=True))
    ]
    lasts = [[run.last for run in side] for side in sides]
    both = set.intersection(*(set(profile.sample_type_names) for side in lasts for profile in side))
    doubt = next((run.doubt for side in sides for run in side if run.doubt), Text())
    sites = [_sites(lasts[0], lasts[1], name, doubt) for name in SAMPLE_TYPES if name in both]
    notes += _of_collections(old, new, pairs[-1])
    rates = _rates(sides[0], sides[1], [name for name in RATED if name in both])
    notes += (SECONDS_NOTE,) if (rates["per"] == SECOND).any() else ()
    runs = [*sides[0], *sides[1]]
    is_known = all(run.first is not None and (run.requests or run.seconds) for run in runs)
    notes += (UNPUBLISHED_NOTE,) if is_known and not all(run.is_seen for run in runs) else ()
    trees = {
        name: partial(call_tree, lasts[1][0], name, lasts[0][0])
        for name in SAMPLE_TYPES
        if has_samples(lasts[0][0], name) and has_samples(lasts[1][0], name)
    }
    changes = pd.concat([empty(SITE_CHANGES), *sites], ignore_index=True)
    return SiteComparison(changes, rates, trees, notes)


def _runs(
    side: Sequence[Diagnosis],
    captures: Sequence[Mapping[str, Profile]],
    ends: tuple[str, str],
    requests: Sequence[float | None],
    word: str,
) -> list[_Run]:
    """The runs of a side that have a profile of the last moment, possibly under another name."""
    runs = []
    for run, found, count in zip_longest(side, captures, requests):
        if found:
            # Moments named by time have no names in common.
            first, last = ends if ends[1] in found else (next(iter(found)), [*found][-1])
            earlier = None if first == last else found.get(first)
            doubt = doubt_of(found, last, _counted(run, last, "TotalAlloc"), word)
            runs.append(_Run(earlier, found[last], count, _collections(run, first, last), doubt))
    return runs


def _collections(run: Diagnosis, first: str, last: str) -> int | None:
    """The number of GCs between two moments; None if it is not counted."""
    counts = [_counted(run, moment, "NumGC") for moment in (first, last)]
    return None if counts[0] is None or counts[1] is None else max(0, counts[1] - counts[0])


def _counted(run: Diagnosis, moment: str, name: str) -> int | None:
    facts = run.by_moment.get(moment)
    reading = None if facts is None else facts.counter_reading
    return None if reading is None else reading.count(name)


def _of_collections(
    old: Sequence[Diagnosis], new: Sequence[Diagnosis], pair: tuple[str, str]
) -> tuple[str, ...]:
    """The collection at which each side's profile was taken; one capture per side, if known."""
    if len(old) + len(new) > 2:
        return ()
    counts = [_counted(side[0], name, "NumGC") for side, name in zip((old, new), pair, strict=True)]
    if None in counts:
        return ()
    note = SAME_GC_NOTE if counts[0] == counts[1] else GC_NOTE
    return (note.format(*counts),)


def compare_profiles(before: Profile, after: Profile, sample_type: str) -> pd.DataFrame:
    """The allocation sites of two heap profiles, by one sample type; see `SITE_CHANGES`."""
    return _sites([before], [after], sample_type, NO_DOUBT)


def _sites(
    before: Sequence[Profile], after: Sequence[Profile], name: str, doubt: Text
) -> pd.DataFrame:
    """The sites of several profiles per side; if one lacks a site, the others bound its value."""
    flats = [[_flat(profile, name) for profile in side] for side in (before, after)]
    unseen = [
        [unseen_in(profile, other[0], name) for profile in side]
        for side, other in ((before, after), (after, before))
    ]
    changes = compare_site_runs(*flats, *unseen)
    about = {"sample_type": name, "unit": before[0].sample_type(name).unit}
    columns = _with_ranks(changes, flats[0], flats[1], about)
    if doubt:
        columns["note"] = [doubt * (state != NO_CLAIM) for state in columns["state"]]
    elif len(before) == len(after) == 1:
        columns["note"] = unclaimed(changes, before[0], after[0], name)
    told = zip(columns["state"], columns["note"], strict=True)
    columns["state"] = [NO_CLAIM if note else state for state, note in told]
    return build(columns, SITE_CHANGES)


def _flat(profile: Profile, sample_type: str) -> pd.DataFrame:
    """Every site with a flat value, and its interval."""
    top = top_sites(profile, sample_type).top
    top = top.loc[top["flat"] != 0, ["function", *FLAT]]
    return top.assign(flat_low=top["flat"], flat_high=top["flat"]) if is_exact(profile) else top


def _with_ranks(
    changes: pd.DataFrame,
    before: Sequence[pd.DataFrame],
    after: Sequence[pd.DataFrame],
    about: Mapping[str, str],
) -> dict[str, Any]:
    """The changes with p over the runs, and `~` if that p means noise; see `about`."""
    columns: dict[str, Any] = {name: changes[name].tolist() for name in changes}
    counts = len(before), len(after)
    p_values: list[float | None] = [None] * len(changes)
    if can_tell(*counts):
        old, new = ([run.set_index("function")["flat"] for run in side] for side in (before, after))
        for place, (function, state) in enumerate(
            zip(columns["function"], columns["state"], strict=True)
        ):
            if state != "~":
                sides = [np.array([run.get(function, 0.0) for run in s], float) for s in (old, new)]
                p_values[place] = rank_sum_p(*sides)
                if (p_values[place] or 0.0) > ALPHA:
                    columns["state"][place] = "~"
    of_all = {**about, "before_n": counts[0], "after_n": counts[1]}
    same = {name: [value] * len(changes) for name, value in of_all.items()}
    return {**columns, **same, "p_value": p_values, "note": [""] * len(changes)}


def _rates(
    before: Sequence[_Run], after: Sequence[_Run], sample_types: Sequence[str]
) -> pd.DataFrame:
    """The allocation of each site between the moments, per request or second."""
    runs = [*before, *after]
    for per in PER:
        if runs and all(run.is_seen and run.units(per) for run in runs):
            rates = [_rate(before, after, name, per) for name in sample_types]
            return pd.concat([empty(SITE_RATES), *rates], ignore_index=True)
    return empty(SITE_RATES)


def _rate(before: Sequence[_Run], after: Sequence[_Run], name: str, per: str) -> pd.DataFrame:
    flats = [[_flat_rate(run, name, per) for run in side] for side in (before, after)]
    unseen = [
        [unseen_in(run.last, other[0].last, name) / run.units(per) for run in side]
        for side, other in ((before, after), (after, before))
    ]
    changes = compare_site_runs(*flats, *unseen)
    about = {"sample_type": name, "unit": before[0].last.sample_type(name).unit, "per": per}
    return build(_with_ranks(changes, flats[0], flats[1], about), SITE_RATES)


def _flat_rate(run: _Run, name: str, per: str) -> pd.DataFrame:
    """The allocation of each site between a run's two profiles, per request or second."""
    assert run.first is not None
    grown = profile_changes(run.first, run.last, name, one_process=True).sites
    change, ends = grown["change"], {"flat_low": grown["low"], "flat_high": grown["high"]}
    apart = {name: np.hypot(end - change, run.lag * change) for name, end in ends.items()}
    columns = {
        "flat": change,
        "flat_low": (change - apart["flat_low"]).clip(lower=0),
        "flat_high": change + apart["flat_high"],
    }
    rated = {key: values.astype("Float64") / run.units(per) for key, values in columns.items()}
    found = pd.DataFrame({"function": grown["function"], **rated})
    return found[found["flat"] != 0]


def _notes(
    old: Sequence[Diagnosis],
    new: Sequence[Diagnosis],
    pairs: int,
    renames: Sequence[Rename],
    profiles: Sequence[Sequence[Mapping[str, Profile]]],
) -> Iterator[str]:
    for word, side in (("before", profiles[0]), ("after", profiles[1])):
        if not side[0]:
            yield f"the {word} side has no heap profile, so allocation sites are not compared"
    if not pairs:
        return
    yield SAMPLING_NOTE if len(old) + len(new) == 2 else RUNS_NOTE
    yield SINCE_START
    known = {
        name for by_moment in profiles[0] for p in by_moment.values() for name in p.nodes().names
    }
    for rename in renames:
        if all(rename.applied(name) == name for name in known):
            yield f"rename {rename}: the before side has no function of that name"
