"""How long do the objects of a site live, where would a pool pay off, and what is never freed?

By Little's law, the mean number of objects in a system is the rate at which objects arrive times
the mean time that an object stays. A heap profile has the bytes in use, and the difference of two
profiles has the bytes allocated in between: in use / rate is the mean lifetime of a byte of the
site, whatever the distribution of lifetimes.

The law assumes a steady state: the site allocated at the same rate before the capture, for longer
than its objects live. Then as much is freed as is allocated. If more is allocated than freed, or
less, the interval covers the lifetimes computed from each of the two rates. If nothing is freed, it
has no upper end.

The interval combines:

- The sampling error of the bytes allocated (`statistics.sampling`). Samples taken at different
  times are independent.
- The sampling error of the bytes in use, and chance arrivals: the number of objects in use at an
  instant is Poisson-distributed. Profiles with different objects are additional samples, profiles
  with the same objects are not. The variance between profiles shows which case it is: profiles of
  the same objects do not vary.
- The time between the first and the last profile: each lags by up to two collections.
- Marking: objects that are allocated or become unreachable during marking count as in use, so
  lifetimes come out too long by up to the marking time. The lower end is lowered by that much.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from gomem.analysis.profiles.changes import is_exact, unseen_high
from gomem.analysis.profiles.own_code import own_names
from gomem.analysis.profiles.published import MIN_HEAP, Published, counting
from gomem.analysis.profiles.thresholds import (
    MAX_FREED_BY_KEEPERS,
    MIN_POOLED_SHARE,
    REQUEST_LIVED_SECONDS,
    SHORT_LIVED_SECONDS,
)
from gomem.inputs.answer import Answer
from gomem.inputs.pprof.sampling import sampling_of
from gomem.inputs.schema import Column, build
from gomem.statistics.sampling import FloatArray, Sampling, interval, limit_ratios
from gomem.text import Function, Words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from gomem.inputs.pprof.table import Profile

SHORT, REQUEST, LONG, EVER, UNCLEAR = LIVES = (
    "short-lived",
    "medium-lived",
    "long-lived",
    "kept",
    "unclear",
)
LIFETIMES = (
    Column(
        "function", "str", "", "Who allocates; the program's own function if so asked.", Function
    ),
    Column("alloc_bytes_per_second", "float64", "B/s", "Allocated over the watch."),
    Column("alloc_low", "Float64", "B/s", "Lower end of its 95 % interval."),
    Column("alloc_high", "Float64", "B/s", "Upper end of the same."),
    Column("alloc_fraction", "float64", "fraction", "Of all that was allocated over the watch."),
    Column("inuse_bytes", "float64", "B", "In use, the mean over the profiles."),
    Column("lifetime_seconds", "Float64", "s", "Mean lifetime; missing if nothing was allocated."),
    Column("lifetime_low", "Float64", "s", "Lower end of its 95 % interval."),
    Column("lifetime_high", "Float64", "s", "Upper end of the same; missing if there is none."),
    Column(
        "freed_fraction", "Float64", "fraction", "Freed over the watch, by allocated: 1 if steady."
    ),
    Column("freed_high", "Float64", "fraction", "Upper end of its 95 % interval."),
    Column(
        "life",
        "str",
        "",
        "short-lived, medium-lived, long-lived, kept, or unclear.",
        Words,
    ),
)
OWN = "own"  # a granularity: the program's own functions, see `own_code`
MAX_PROFILES = 24  # evenly selected from more
MIN_PROFILES = 2
LAGGING_COLLECTIONS = 2  # the maximum lag of a profile


@dataclass(frozen=True, repr=False)
class Lifetimes(Answer):
    """Mean object lifetimes by site, over a capture."""

    sites: pd.DataFrame  # rows as in `LIFETIMES`, the fastest allocator first
    first: str  # snapshot of the first profile
    last: str  # snapshot of the last profile
    profiles: int  # number of profiles with new data, including these two
    seconds: float  # between these two
    lag_seconds: float  # by which the time between their states can be longer or shorter
    marking_seconds: (
        float  # maximum overestimate of lifetimes; the time between collections if unknown
    )
    note: str = ""  # why there are no intervals; empty if there are

    def largest(self, n: int) -> pd.DataFrame:
        """Return the `n` sites with the largest shares of allocated or in-use memory.

        The sites keep the order of `sites`.
        """
        sites = self.sites
        held = sites["inuse_bytes"] / max(float(sites["inuse_bytes"].sum()), 1.0)
        shares = np.maximum(sites["alloc_fraction"], held)
        return sites.loc[shares.nlargest(n).index.sort_values()].reset_index(drop=True)

    @property
    def pooling(self) -> pd.DataFrame:
        """The sites where reusing objects pays: much is allocated there and soon freed.

        If a site's memory in use grew, part of it stays, and a mean lifetime does not show that.
        """
        sites = self.sites
        soon = sites["life"].isin([SHORT, REQUEST]) & (sites["freed_high"] >= 1)
        return sites[soon & (sites["alloc_fraction"] >= MIN_POOLED_SHARE)]

    @property
    def aging(self) -> pd.DataFrame:
        """The sites that retain what they allocate: hardly any of it was freed."""
        sites = self.sites
        return sites[(sites["alloc_bytes_per_second"] > 0) & _keeps(sites["freed_high"])]


def lifetimes(
    profiles: Mapping[str, Profile],
    granularity: str = "functions",
    *,
    collection_seconds: float | None = None,
    marking_seconds: float | None = None,
) -> Lifetimes | None:
    """Compute mean lifetimes by site from the heap profiles of one process; see `LIFETIMES`.

    None for fewer than two profiles with a time, new data and both counts. `collection_seconds`,
    the longest usual time between collections, and `marking_seconds`, the longest marking, come
    from a log. Without a log, the time between collections is that of a heap that doubles
    (GOGC=100), and is the upper bound of the marking time. The granularity can be `OWN`, the
    program's own functions. Raises ValueError if the granularity is unknown.
    """
    news = counting(profiles).news
    if len(news) < MIN_PROFILES:
        return None
    chosen = np.unique(np.linspace(0, len(news) - 1, MAX_PROFILES).round().astype(int))
    news = tuple(
        news[place] for place in (chosen if len(news) > MAX_PROFILES else range(len(news)))
    )
    watch = _Watch.over(news, collection_seconds)
    names = [_names(entry.profile, granularity) for entry in news]
    functions = pd.Index(sorted(set().union(*names)), dtype=object)
    states = [
        _State.of_profile(entry.profile, functions.get_indexer(sample_names), len(functions))
        for entry, sample_names in zip(news, names, strict=True)
    ]
    level = _mean([state.level for state in states], [entry.seconds for entry in news])
    marking = watch.collection_seconds if marking_seconds is None else marking_seconds
    sites = _sites(functions, level, (states[0], states[-1]), watch, marking)
    note = "" if is_exact(news[-1].profile) else sampling_of(news[-1].profile, "inuse_space")
    return Lifetimes(
        sites, news[0].moment, news[-1].moment, len(news), watch.seconds, watch.lag_seconds,
        marking, note if isinstance(note, str) else "",
    )  # fmt: skip


@dataclass(frozen=True)
class _Watch:
    """The time between the states of the first and the last profile."""

    seconds: float
    lag_seconds: float
    collection_seconds: float
    unseen_bytes: float  # upper bound of allocated or freed bytes without a sample

    @property
    def seconds_bounds(self) -> tuple[float, float]:
        """Its lower and upper bound."""
        return max(self.seconds - self.lag_seconds, 0.0), self.seconds + self.lag_seconds

    @classmethod
    def over(cls, news: Sequence[Published], collection_seconds: float | None) -> _Watch:
        first, last = news[0], news[-1]
        seconds = last.seconds - first.seconds
        shown = max(first.seconds - first.since_seconds, last.seconds - last.since_seconds)
        if collection_seconds is None:
            old, new = first.profile.total("alloc_space"), last.profile.total("alloc_space")
            in_use = max(first.profile.total("inuse_space"), last.profile.total("inuse_space"))
            allocated = new - old
            between = max(MIN_HEAP, in_use) * seconds / allocated if allocated > 0 else math.inf
        else:
            between = collection_seconds
        exact = is_exact(last.profile)
        unseen = 0.0 if exact else float(unseen_high(last.profile.period))
        return cls(seconds, min(shown, LAGGING_COLLECTIONS * between), between, unseen)


@dataclass(frozen=True)
class _Level:
    """In-use memory of each site in a profile."""

    value: FloatArray
    variance: FloatArray  # by sampling and by random arrivals

    def interval(self) -> tuple[FloatArray, FloatArray]:
        """Return the 95 % interval of each site."""
        low, high = limit_ratios(self.value**2 / self.variance)
        return self.value * low, self.value * high


@dataclass(frozen=True)
class _State:
    """A profile's numbers for each site."""

    allocated: FloatArray
    allocating: Sampling
    level: _Level
    in_use: Sampling

    @classmethod
    def of_profile(cls, profile: Profile, place: FloatArray, sites: int) -> _State:
        """Sum a profile's samples by the index of their site."""

        def by_site(part: FloatArray) -> FloatArray:
            return np.bincount(place, part, sites).astype(np.float64)

        allocated, in_use = (
            profile.values(name).astype(np.float64) for name in ("alloc_space", "inuse_space")
        )
        allocating, holding = (_sampling(profile, word) for word in ("alloc", "inuse"))
        with np.errstate(divide="ignore", invalid="ignore"):
            size = np.nan_to_num(holding.weighted / holding.seen)
        # The number of objects at an instant is a Poisson number: each adds its squared size.
        variance = by_site(holding.variance + in_use * size)
        level = _Level(by_site(in_use), variance)
        return cls(by_site(allocated), allocating.mapped(by_site), level, holding.mapped(by_site))

    @property
    def freed(self) -> FloatArray:
        """Bytes that each site has freed since the start."""
        return self.allocated - self.level.value

    @property
    def freeing(self) -> Sampling:
        """Sampling data of the freed bytes: every sampled object that is not in use."""
        return self.allocating.since(self.in_use)


def _sampling(profile: Profile, word: str) -> Sampling:
    """Return the sampling data of each sample's bytes; NaN if unknown."""
    found = sampling_of(profile, f"{word}_space")
    if isinstance(found, Sampling):
        return found
    value = profile.values(f"{word}_space").astype(np.float64)
    if not is_exact(profile):
        unknown = np.full(len(value), np.nan)
        return Sampling(unknown, unknown, unknown)
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.nan_to_num(value / profile.values(f"{word}_objects"))
    return Sampling(np.zeros(len(value)), value, value * size)


def _names(profile: Profile, granularity: str) -> list[str]:
    """Return the site of each sample."""
    if granularity == OWN:
        return list(own_names(profile))
    return list(profile.leaves(np.arange(len(profile.columns.value)), granularity))


def _mean(levels: Sequence[_Level], seconds: Sequence[float]) -> _Level:
    """Average several profiles that can have the same objects.

    A profile's variance comes from objects that all profiles share and from its own objects. Only
    the own objects scatter between profiles, so the scatter is their part, which is divided by the
    number of profiles. The shared part is not divided. Bursts of allocation scatter more than
    either.
    """
    values = np.array([level.value for level in levels])
    whole = np.mean([level.variance for level in levels], axis=0)
    own = _scatter(values, np.array(seconds))
    return _Level(values.mean(axis=0), np.maximum(whole - own, 0.0) + own / len(levels))


def _scatter(values: FloatArray, seconds: FloatArray) -> FloatArray:
    """Return the variance around a straight line, or for two profiles around the mean.

    A heap that fills up is not scatter. With two profiles, a burst looks like a leak.
    """
    around = values - values.mean(axis=0)
    if len(values) == MIN_PROFILES:
        return (around**2).sum(axis=0)
    at = seconds - seconds.mean()
    slope = at @ around / (at @ at)
    return ((around - at[:, None] * slope) ** 2).sum(axis=0) / (len(values) - MIN_PROFILES)


def _sites(
    functions: pd.Index,
    level: _Level,
    ends: tuple[_State, _State],
    watch: _Watch,
    marking_seconds: float,
) -> pd.DataFrame:
    old, new = ends
    allocated, freed = new.allocated - old.allocated, new.freed - old.freed
    allocating, freeing = (new.allocating.since(old.allocating), new.freeing.since(old.freeing))
    low, high = _bounds(allocated, interval(allocated, allocating), watch)
    freed_low, freed_high = _bounds(freed, interval(freed, freeing), watch)
    shortest, longest = watch.seconds_bounds
    with np.errstate(divide="ignore", invalid="ignore"):
        in_use = _bounds(level.value, level.interval(), watch)
        by_rate = _quotient(level.value, in_use, allocated, (low, high))
        by_freed = _quotient(level.value, in_use, freed, (freed_low, freed_high))
        least, most = np.fmin(by_rate[0], by_freed[0]), np.fmax(by_rate[1], by_freed[1])
        frame = {
            "function": functions,
            "alloc_bytes_per_second": allocated / watch.seconds,
            "alloc_low": low / longest,
            "alloc_high": high / shortest,
            "alloc_fraction": allocated / max(float(allocated.sum()), 1.0),
            "inuse_bytes": level.value,
            "lifetime_seconds": watch.seconds * level.value / allocated,
            "lifetime_low": np.maximum(shortest * least - marking_seconds, 0.0),
            "lifetime_high": longest * most,
            "freed_fraction": freed / allocated,
            "freed_high": freed_high / allocated,
        }
    columns = {name: _known(part) for name, part in frame.items()}
    unmoved = (allocated == 0) & (freed == 0) & (level.value > 0)
    columns["life"] = _lives(columns, watch.seconds, unmoved)
    there = np.flatnonzero((level.value > 0) | (allocated > 0))
    order = there[np.lexsort((-level.value[there], -allocated[there]))]
    return build({name: part[order] for name, part in columns.items()}, LIFETIMES)


def _bounds(
    value: FloatArray, ends: tuple[FloatArray, FloatArray], watch: _Watch
) -> tuple[FloatArray, FloatArray]:
    """Return the interval; if nothing was sampled, from 0 to what sampling can miss."""
    low, high = ends
    return np.where(value == 0, 0.0, low), np.where(value == 0, watch.unseen_bytes, high)


def _quotient(
    above: FloatArray,
    above_ends: tuple[FloatArray, FloatArray],
    below: FloatArray,
    below_ends: tuple[FloatArray, FloatArray],
) -> tuple[FloatArray, FloatArray]:
    """Return the interval of a quotient from its terms' (Zou and Donner 2008, in logarithms)."""
    ratio = above / below
    less = np.hypot(np.log(above / above_ends[0]), np.log(below_ends[1] / below))
    more = np.hypot(np.log(above_ends[1] / above), np.log(below / below_ends[0]))
    has_both = (above > 0) & (below > 0)
    low = np.where(has_both, ratio * np.exp(-less), above_ends[0] / below_ends[1])
    return low, np.where(has_both, ratio * np.exp(more), above_ends[1] / below_ends[0])


def _known(part: Any) -> NDArray[Any]:
    """Return an array with NaN in place of infinity."""
    values = np.asarray(part)
    return np.where(np.isinf(values), np.nan, values) if values.dtype.kind == "f" else values


def _keeps(freed_high: Any) -> Any:
    return freed_high <= MAX_FREED_BY_KEEPERS


def _lives(
    columns: Mapping[str, NDArray[Any]], seconds: float, unmoved: NDArray[np.bool_]
) -> NDArray[np.object_]:
    """Classify each site, by the end of the interval that could contradict the class.

    If a site neither allocated nor freed, everything seen lived through the capture.
    """
    low, high = columns["lifetime_low"], columns["lifetime_high"]
    classes = {
        EVER: unmoved | (low >= seconds) | _keeps(columns["freed_high"]),
        SHORT: high <= SHORT_LIVED_SECONDS,
        REQUEST: high <= REQUEST_LIVED_SECONDS,
        LONG: low >= REQUEST_LIVED_SECONDS,
    }
    return np.select(list(classes.values()), list(classes), UNCLEAR).astype(object)
