"""Which periodic profiles of a process have new data, and to which time do the data belong?

The runtime publishes samples only after collections. An allocation shows after two collections, or
after one that the program forced (`runtime.GC` also finishes the sweep). Freed memory disappears
just as late. So:

- If no collection ran since the previous profile, a profile repeats the previous one. The interval
  between them has no new data, but is not missing.
- A profile lags: its data end at the collection before the last. Each collection publishes new
  data. So the data end no earlier than the time when the profile two before, or a repetition of
  it, was last taken.
- Two profiles can be taken almost at once, such as the last scrape and one after a forced
  collection. The later one then has everything that the earlier one has, and more, but the time
  between them is not informative.

What is the upper bound of in-use memory by heap profiles?

A profile shows the memory in use at the collection before the last, so it lags while a heap fills
or empties. Among several profiles the largest counts, with the upper end of its sampling interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gomem.inputs.pprof.sampling import sampling_of
from gomem.statistics.sampling import Sampling, interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gomem.inputs.pprof.table import Profile

ALLOCATED = "alloc_space"
AT_ONCE = 0.1  # of the usual time between two profiles: less is not an interval
IN_USE = "inuse_space"
BUILD_ID = "build ID"  # of the program, the first mapping
FILE = "program's path"  # of the first mapping
RELEASE = "Go release"  # that compiled it
VDSO = "[vdso]"  # mapped by the kernel at a random address when a process starts


@dataclass(frozen=True)
class Published:
    """A profile with new data."""

    moment: str  # the first snapshot that shows it
    profile: Profile  # the profile
    seconds: float  # when it was first shown, since the first profile
    until_seconds: float  # when it was last shown
    until_moment: str  # the last snapshot that shows it
    since_seconds: float  # the earliest time of its data: a profile lags by two collections


@dataclass(frozen=True)
class Publications:
    """The periodic profiles that have new data, and which others were left out."""

    news: tuple[Published, ...]  # those with new data, in time order
    repeated: tuple[str, ...] = ()  # snapshots that repeat the previous one: no GC ran
    at_once: tuple[str, ...] = ()  # snapshots whose profile is followed by another almost at once

    @property
    def intervals(self) -> int:
        """Number of intervals between profiles, with or without new data."""
        return max(0, len(self.news) + len(self.repeated) - 1)


def published(profiles: Mapping[str, Profile]) -> Publications:
    """Find the new data in periodic profiles of a process; profiles without a time are left out."""
    timed = sorted(
        ((name, profile) for name, profile in profiles.items() if profile.columns.time_nanos),
        key=lambda pair: pair[1].columns.time_nanos,
    )
    if not timed:
        return Publications(())
    begin = timed[0][1].columns.time_nanos
    seconds = [(profile.columns.time_nanos - begin) / 1e9 for _, profile in timed]
    shown: list[_Shown] = []
    repeated = []
    for (name, profile), at in zip(timed, seconds, strict=True):
        if shown and repeats(shown[-1].profile, profile):
            shown[-1].until, shown[-1].until_moment = at, name
            repeated.append(name)
        else:
            shown.append(_Shown(name, profile, at, at, name))
    kept = _apart(shown, AT_ONCE * float(np.median(np.diff(seconds))) if len(timed) > 2 else 0.0)
    at_once = tuple(entry.moment for entry in shown if entry not in kept)
    return Publications(_dated(kept), tuple(repeated), at_once)


def counting(profiles: Mapping[str, Profile]) -> Publications:
    """Find the new data in periodic profiles, of those that also count allocations."""
    wanted = {ALLOCATED, "inuse_space"}
    return published(
        {
            name: profile
            for name, profile in profiles.items()
            if wanted <= set(profile.sample_type_names)
        }
    )


@dataclass(eq=False)
class _Shown:
    """The data of a profile, and when it was first and last shown."""

    moment: str
    profile: Profile
    at: float
    until: float
    until_moment: str


def marks_of(profile: Profile) -> dict[str, object]:
    """Return what stays while a process lives: its program, and the address of its [vdso]."""
    strings, mapped = profile.columns.strings, profile.columns.mappings
    files = [strings[file] for file in mapped.file]
    marks: dict[str, object] = {RELEASE: profile.go_version}
    if files:
        marks |= {BUILD_ID: strings[mapped.build_id[0]], FILE: files[0]}
    if VDSO in files:
        marks[VDSO] = int(mapped.start[files.index(VDSO)])
    return {name: mark for name, mark in marks.items() if mark}


def are_apart(marks: Mapping[str, object], others: Mapping[str, object]) -> bool:
    """Whether marks are of two processes; a mark that only one side has says nothing."""
    return any(marks[name] != others[name] for name in marks.keys() & others.keys())


def since_restart(
    profiles: Mapping[str, Profile], *, by_moment: bool = False
) -> dict[str, Profile]:
    """Return the profiles of the last process: since its marks changed, or allocation counts fell.

    The profiles are in time order. Profiles without a time are left out; but if `by_moment` is set
    and no profile has a time, all are used in the given order. Profiles without allocation counts
    cannot show a restart.
    """
    timed = {name: profile for name, profile in profiles.items() if profile.columns.time_nanos}
    ordered = sorted(timed.items(), key=lambda pair: pair[1].columns.time_nanos)
    if by_moment and not ordered:
        ordered = [*profiles.items()]
    kept: dict[str, Profile] = {}
    highest = 0
    marks: dict[str, object] = {}
    for name, profile in ordered:
        allocated = profile.total(ALLOCATED) if ALLOCATED in profile.sample_type_names else highest
        found = marks_of(profile)
        if allocated < highest or are_apart(marks, found):
            kept.clear()
        highest, marks = allocated, found
        kept[name] = profile
    return kept


MIN_HEAP = 4 << 20  # heapminimum of the runtime: no collection below this size
# A profile is up to two collections old, and each lets the heap grow by the in-use memory, or by
# MIN_HEAP; as much again allows for a larger GOGC, and for spans that are not full.
UNPUBLISHED, UNFILLED = 3, 1.2


def heap_at_most(profile: Profile) -> float | None:
    """Return an upper bound of objects and free spans in bytes, from all memory allocated so far.

    Both totals count with the upper ends of their 95 % intervals. The bound can fail if GOGC is
    higher, because then a profile lacks more of the allocations. None for a profile without
    allocation counts.
    """
    if not {ALLOCATED, IN_USE} <= set(profile.sample_type_names) or not profile.total(ALLOCATED):
        return None
    allocated, in_use = (_at_most(profile, name) for name in (ALLOCATED, IN_USE))
    return UNFILLED * (allocated + UNPUBLISHED * max(MIN_HEAP, in_use))


def repeats(before: Profile, after: Profile) -> bool:
    """Return whether two profiles have the same totals; the order of their samples can differ."""
    old, new = before.columns.value, after.columns.value
    return old.shape[1] == new.shape[1] and np.array_equal(old.sum(axis=0), new.sum(axis=0))


def _apart(shown: Sequence[_Shown], least_seconds: float) -> list[_Shown]:
    """Leave out profiles that were shown for too short a time."""
    pairs = zip(shown, [*shown[1:], None], strict=True)
    return [
        entry for entry, later in pairs if later is None or later.at - entry.at >= least_seconds
    ]


def _dated(kept: Sequence[_Shown]) -> tuple[Published, ...]:
    """Add the earliest time of each profile's data; for the first two, at the usual interval."""
    begin = kept[0].at
    usual = float(np.median(np.diff([entry.at for entry in kept]))) if len(kept) > 1 else 0.0
    back = [begin - 2 * usual, begin - usual, *(entry.until for entry in kept)]
    return tuple(
        Published(
            moment=entry.moment,
            profile=entry.profile,
            seconds=entry.at - begin,
            until_seconds=entry.until - begin,
            until_moment=entry.until_moment,
            since_seconds=since - begin,
        )
        for entry, since in zip(kept, back, strict=False)
    )


@dataclass(frozen=True)
class InUseTotals:
    """The total in-use memory in the heap profiles of one process."""

    at_most: float  # the maximum of the upper ends of the 95 % intervals, in bytes
    moment: str  # the snapshot of that profile
    allocated: Mapping[str, int]  # allocated bytes since the start, by snapshot


def in_use_totals(profiles: Mapping[str, Profile]) -> InUseTotals | None:
    """Sum heap profiles; None if a profile lacks a count, or if nothing is in use in any."""
    if not all(
        {IN_USE, ALLOCATED} <= set(profile.sample_type_names) for profile in profiles.values()
    ):
        return None
    highest = {name: _at_most(profile, IN_USE) for name, profile in profiles.items()}
    if not any(highest.values()):
        return None
    moment = max(highest, key=lambda name: highest[name])
    allocated = {name: profile.total(ALLOCATED) for name, profile in profiles.items()}
    return InUseTotals(highest[moment], moment, allocated)


def _at_most(profile: Profile, name: str) -> float:
    """Return the upper end of the 95 % interval of a total; the total itself if that is unknown."""
    bounds = total_bounds(profile, name)
    return float(profile.total(name)) if bounds is None else bounds[1]


def total_bounds(profile: Profile, name: str = IN_USE) -> tuple[float, float] | None:
    """Return the 95 % interval of a total, such as that of memory in use; None if unknown."""
    total, sampling = profile.total(name), sampling_of(profile, name)
    if not isinstance(sampling, Sampling) or not total:
        return None
    sums = Sampling(*(np.array([part.sum()]) for part in sampling.parts))
    low, high = interval(np.array([float(total)]), sums)
    if np.isnan(low[0]) or np.isnan(high[0]):
        return None
    return float(low[0]), float(high[0])
