"""Which allocation sites changed from one side to the other, by more than noise?

A site is a function, whatever its lines: code that moves within a file changes nothing. What was
renamed is matched where somebody says so.

Profiles are samples of what a run allocated, so each number has an interval, and a change within it
is `~`. With several captures a side, a site's values are means over the runs, whose interval is
narrower; and then the runs themselves are a sample: where they are enough to tell, a change that
their ranks cannot tell from what runs differ by anyway is `~`, too.

`inuse_*` are levels. `alloc_*` count from the start of the process, so runs of unequal work differ
in all of them; where a side has profiles of two moments, what a site allocated between them stands
beside it: a request, where the requests are known, else a second.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
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
    unseen_in,
)
from gomem.analysis.profiles.renames import renamed
from gomem.comparison.samples import NO_CLAIM
from gomem.comparison.site_claims import collections_note, is_one_stale, unclaimed
from gomem.diagnosis.pairing import counterparts, first_pair
from gomem.facts.profiles import SAMPLE_TYPES, has_samples
from gomem.inputs.pprof.sites import top_sites
from gomem.inputs.schema import Column, build, empty
from gomem.statistics.rank_tests import ALPHA, can_tell, rank_sum_p

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from gomem.analysis.profiles.renames import Rename
    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.inputs.pprof.table import Profile

SINCE_START = (
    "TotalAlloc, Mallocs, NumGC and alloc_* count from the start: compare runs of equal work"
)
OF_SAMPLING = (
    "new, gone, grew and shrank mean a change beyond sampling noise, at 95 % confidence per site: "
    "expect 5 false ones per 100 unchanged sites; and two runs differ by more than sampling"
)
OF_RUNS = (
    "a site's values are means over the runs of a side; new, gone, grew and shrank mean a change "
    "beyond sampling noise, and beyond the difference between runs where there are enough of them"
)
OF_SECONDS = (
    "allocation per second covers all that a program does in a second: one that works faster "
    "shows a higher rate"
)
REQUEST, SECOND = "request", "second"
PER = (REQUEST, SECOND)
RATED = ("alloc_space", "alloc_objects")
SITE_CHANGES = (
    Column("sample_type", "str", "", "Which of the profile's values, such as inuse_space."),
    Column("unit", "str", "", "Its unit, as the profile declares it: bytes or count."),
    *SITES,
    Column("before_n", "int64", "count", "Profiles before, of a run each; values are their means."),
    Column("after_n", "int64", "count", "Profiles after."),
    Column(
        "p_value",
        "Float64",
        "fraction",
        "Mann-Whitney over the runs; missing with too few, and where sampling alone explains it.",
    ),
    Column("note", "str", "", "Why it is ~ although beyond sampling noise; else empty."),
)
SITE_RATES = (
    *SITE_CHANGES[:2],
    Column("per", "str", "", "What the values are of: a request, or a second."),
    *SITE_CHANGES[2:],
)


@dataclass(frozen=True)
class SiteComparison:
    """The allocation sites of two sides."""

    sites: pd.DataFrame  # by sample type, at the last moment that has profiles; see `SITE_CHANGES`
    # What each allocated between the first moment and the last; see `SITE_RATES`.
    rates: pd.DataFrame
    # By sample type, a function that makes the call tree of the change, of the first capture on
    # each side.
    change_trees: Mapping[str, Callable[[], CallTree]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()  # what to know before trusting them


@dataclass(frozen=True)
class _Run:
    """One capture's heap profiles at the first and the last moment compared."""

    first: Profile | None
    last: Profile
    requests: float | None

    @property
    def seconds(self) -> float | None:
        """Between the two, by their own clocks."""
        times = (None if one is None else one.time for one in (self.first, self.last))
        first, last = times
        if first is None or last is None:
            return None
        return float((last - first).total_seconds())

    def units(self, per: str) -> float | None:
        """How many requests, or seconds, there were."""
        return self.requests if per == REQUEST else self.seconds


def sites_compared(
    old: Sequence[Diagnosis],
    new: Sequence[Diagnosis],
    renames: Sequence[Rename] = (),
    requests: tuple[Sequence[float | None], Sequence[float | None]] = ((), ()),
) -> SiteComparison:
    """Compare the sites of two sides; requests are of each capture, between its moments."""
    profiles = [[one.capture.heap_profiles for one in side] for side in (old, new)]
    before = [{m: renamed(p, renames) for m, p in one.items()} for one in profiles[0]]
    pairs = counterparts(list(before[0]), list(profiles[1][0]))
    notes = tuple(_notes(old, new, len(pairs), renames, profiles))
    if not pairs:
        return SiteComparison(empty(SITE_CHANGES), empty(SITE_RATES), notes=notes)
    first = first_pair(list(before[0]), list(profiles[1][0])) or pairs[0]
    sides = [
        _runs(found, (first[n], pairs[-1][n]), requests[n])
        for n, found in enumerate((before, profiles[1]))
    ]
    lasts = [[run.last for run in side] for side in sides]
    both = _sample_types([*lasts[0], *lasts[1]])
    is_stale = is_one_stale(before[0], profiles[1][0], pairs[-1])
    sites = [
        _sites(lasts[0], lasts[1], name, is_stale=is_stale) for name in SAMPLE_TYPES if name in both
    ]
    notes += _of_collections(old, new, pairs[-1])
    rates = _rates(sides[0], sides[1], [name for name in RATED if name in both])
    notes += (OF_SECONDS,) if (rates["per"] == SECOND).any() else ()
    return SiteComparison(
        pd.concat([empty(SITE_CHANGES), *sites], ignore_index=True),
        rates,
        {
            name: partial(call_tree, lasts[1][0], name, lasts[0][0])
            for name in SAMPLE_TYPES
            if has_samples(lasts[0][0], name) and has_samples(lasts[1][0], name)
        },
        notes,
    )


def _sample_types(profiles: Sequence[Profile]) -> set[str]:
    """Those that all have."""
    return set.intersection(*(set(one.sample_type_names) for one in profiles))


def _runs(
    captures: Sequence[Mapping[str, Profile]],
    ends: tuple[str, str],
    requests: Sequence[float | None],
) -> list[_Run]:
    """The runs of a side that have a profile of the last moment; they may call it otherwise."""
    counted = [*requests, *[None] * (len(captures) - len(requests))]
    return [
        _run(found, ends, count) for found, count in zip(captures, counted, strict=True) if found
    ]


def _run(found: Mapping[str, Profile], ends: tuple[str, str], count: float | None) -> _Run:
    """A capture's profiles at both moments; at its own first and last where it has none so called.

    Runs whose moments are called by the time have no names in common.
    """
    own = list(found)
    first, last = ends if ends[1] in found else (own[0], own[-1])
    return _Run(None if first == last else found.get(first), found[last], count)


def _of_collections(
    old: Sequence[Diagnosis], new: Sequence[Diagnosis], pair: tuple[str, str]
) -> tuple[str, ...]:
    """At which collection each side's profile was taken, of one capture a side."""
    if len(old) + len(new) > 2:
        return ()
    facts = [side[0].by_moment.get(name) for side, name in ((old, pair[0]), (new, pair[1]))]
    readings = [None if one is None else one.counter_reading for one in facts]
    counts = [None if one is None else one.count("NumGC") for one in readings]
    note = collections_note(counts[0], counts[1])
    return (note,) if note else ()


def compare_profiles(before: Profile, after: Profile, sample_type: str) -> pd.DataFrame:
    """The allocation sites of two heap profiles, by one sample type; see `SITE_CHANGES`."""
    return _sites([before], [after], sample_type)


def _sites(
    before: Sequence[Profile], after: Sequence[Profile], name: str, *, is_stale: bool = False
) -> pd.DataFrame:
    """The sites of several profiles a side; what one does not show is bounded by the others'."""
    flats = [[_flat(one, name) for one in side] for side in (before, after)]
    unseen = [
        [unseen_in(one, other[0], name) for one in side]
        for side, other in ((before, after), (after, before))
    ]
    changes = compare_site_runs(*flats, *unseen)
    about = {"sample_type": name, "unit": before[0].sample_type(name).unit}
    columns = _with_ranks(changes, flats[0], flats[1], about)
    if len(before) == len(after) == 1:
        notes = unclaimed(changes, before[0], after[0], name, is_stale=is_stale)
        columns["note"] = notes
        columns["state"] = [
            NO_CLAIM if note else state for state, note in zip(columns["state"], notes, strict=True)
        ]
    return build(columns, SITE_CHANGES)


def _flat(profile: Profile, sample_type: str) -> pd.DataFrame:
    """Every site with a value of its own, and its interval."""
    top = top_sites(profile, sample_type).top
    top = top.loc[top["flat"] != 0, ["function", *FLAT]]
    return top.assign(flat_low=top["flat"], flat_high=top["flat"]) if is_exact(profile) else top


def _with_ranks(
    changes: pd.DataFrame,
    before: Sequence[pd.DataFrame],
    after: Sequence[pd.DataFrame],
    about: Mapping[str, str],
) -> dict[str, Any]:
    """The columns of changes, with p over the runs, `~` where that is noise, and what they are."""
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
    """What each site allocated between the moments, a request or a second."""
    runs = [*before, *after]
    for per in PER:
        if runs and all(run.first is not None and run.units(per) for run in runs):
            rates = [_rate(before, after, name, per) for name in sample_types]
            return pd.concat([empty(SITE_RATES), *rates], ignore_index=True)
    return empty(SITE_RATES)


def _rate(before: Sequence[_Run], after: Sequence[_Run], name: str, per: str) -> pd.DataFrame:
    flats = [[_flat_rate(run, name, per) for run in side] for side in (before, after)]
    unseen = [
        [_unseen_rate(run, other[0].last, name, per) for run in side]
        for side, other in ((before, after), (after, before))
    ]
    changes = compare_site_runs(*flats, *unseen)
    about = {"sample_type": name, "unit": before[0].last.sample_type(name).unit, "per": per}
    return build(_with_ranks(changes, flats[0], flats[1], about), SITE_RATES)


def _flat_rate(run: _Run, name: str, per: str) -> pd.DataFrame:
    """What each site allocated between a run's two profiles, over its requests or seconds."""
    assert run.first is not None
    units = run.units(per)
    assert units is not None
    grown = profile_changes(run.first, run.last, name, one_process=True).sites
    columns = {"flat": grown["change"], "flat_low": grown["low"], "flat_high": grown["high"]}
    rated = {key: values.astype("Float64") / units for key, values in columns.items()}
    found = pd.DataFrame({"function": grown["function"], **rated})
    return found[found["flat"] != 0]


def _unseen_rate(run: _Run, other: Profile, name: str, per: str) -> float | pd.Series:
    units = run.units(per)
    assert units is not None
    return unseen_in(run.last, other, name) / units


def _notes(
    old: Sequence[Diagnosis],
    new: Sequence[Diagnosis],
    pairs: int,
    renames: Sequence[Rename],
    profiles: Sequence[Sequence[Mapping[str, Profile]]],
) -> Iterator[str]:
    for word, side in (("before", profiles[0]), ("after", profiles[1])):
        if not side[0]:
            yield f"no heap profile {word}, so allocation sites are not compared"
    if not pairs:
        return
    yield OF_SAMPLING if len(old) + len(new) == 2 else OF_RUNS
    yield SINCE_START
    known = {name for one in profiles[0] for p in one.values() for name in p.nodes().names}
    for rename in renames:
        if all(rename.applied(name) == name for name in known):
            yield f"rename {rename}: no function before is called so"
