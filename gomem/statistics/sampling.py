"""How sure is a number of a heap profile, which was sampled?

Go looks at one byte in `MemProfileRate`, on average, and writes down the object that it lies in.
An object of size s is seen with probability p = 1 - exp(-s / rate), whatever else is allocated.
The profile already holds estimates: where c objects were seen, it says c / p of them. So the count
behind each bucket can be had back, and with it the error: c is binomial, and c (1 - p) / p² is the
variance of its estimate. Sums of buckets have the sum of their variances.

A sum with estimate T and variance V is taken for n = T² / V sightings of equal weight (which it is
for one size of small objects), and n for a Poisson number. Of the means that could have given n,
the interval has those under which neither so many nor so few would be seen in less than 2.5 of 100
cases, the case of exactly n counted half (mid-P). Cases are those in which something was seen at
all: a site that was not has no row, and a site in a row may stand there by luck alone. Therefore
one sighting has no lower limit but what was seen, and a small site's interval still holds the
truth. Objects are whole: the upper end lies half an object further, unless it is certain (to 2.5
in 100) that none was missed.

How often the truth is inside, for a site of small objects, by how many of it are expected to be
seen: given that it is seen, 93 to 99 of 100 (mean 97) up to 10, 94 to 97 above. With the cases
where nothing is seen and the bound is `UNSEEN_SIGHTINGS`, 92 to 100: below one expected sighting,
no rule can be wrong as often as 5 in 100. An interval speaks of the sizes that were seen: a site
may in addition have small objects of which none was.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import log
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gomem.inputs.pprof.columns import object_sizes

if TYPE_CHECKING:
    from collections.abc import Callable

    from gomem.inputs.pprof.table import Profile

FloatArray = NDArray[np.float64]

Z95 = 1.959963984540054  # 97.5 % of a normal distribution lie below
TAIL = 0.025  # what may lie beyond either end
# Of what has so many bytes in all, nothing is sampled with probability exp(-bytes / rate), whatever
# the sizes of its objects: at 2.5 %, that is 3.69 times the rate.
UNSEEN_SIGHTINGS = -log(TAIL)
TABLED = 50  # sightings; above, Byar's formula for the limits is right to 1 in 1000
CUT_OFF = 0.5  # what a number has lost on average that was cut to a whole one
SMALL_COUNT = 100  # objects: below, a size is better had from the bytes than from bytes / objects
# A bucket is Go's if the count behind it gives its two numbers back. Both were cut to whole
# numbers, and the size of a bucket without its exact size is known to the same precision.
COUNT_TOLERANCE = 0.02
BYTES_TOLERANCE = 2.0


@dataclass(frozen=True)
class Sampling:
    """What lies behind sampled numbers; of sums it is the sums.

    Attributes:
        variance: Of each number, in the square of its unit.
        seen: What of each was seen itself, in its unit.
        weighted: What was seen, each object times its own value: by `seen`, it is the value of
            an object, the larger ones counting more.
    """

    variance: FloatArray
    seen: FloatArray
    weighted: FloatArray

    def mapped(self, change: Callable[[FloatArray], FloatArray]) -> Sampling:
        """The same change to each part, such as a sum or a choice of rows; it must be linear."""
        return Sampling(*(change(part) for part in self.parts))

    def since(self, before: Sampling) -> Sampling:
        """Of what came after `before`, where numbers only grow: those of one process's alloc_*.

        Sightings of disjoint times are samples of their own, so the parts subtract.
        """
        pairs = zip(self.parts, before.parts, strict=True)
        return Sampling(*(np.maximum(after - earlier, 0.0) for after, earlier in pairs))

    @property
    def parts(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """What adds up, in the order of the fields."""
        return self.variance, self.seen, self.weighted


def interval(estimate: FloatArray, sampling: Sampling) -> tuple[FloatArray, FloatArray]:
    """The 95 % interval of sums of sampled values; NaN where nothing was seen.

    Args:
        estimate: The sums, as the profile has them.
        sampling: What lies behind the same sums.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        sightings = np.where(sampling.seen > 0, estimate**2 / sampling.variance, np.nan)
        low, high = (estimate * ratio for ratio in limit_ratios(sightings))
        one_object = sampling.weighted / sampling.seen
    missed = estimate - sampling.seen
    high = high + np.where(missed < TAIL * one_object, 0.0, one_object / 2)
    return np.maximum(low, np.minimum(sampling.seen, estimate)), high


def limit_ratios(sightings: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Limits of the mean of a Poisson number of sightings, by the number; NaN stays.

    Args:
        sightings: From 1 on; need not be whole. Infinite where nothing is left to chance.
    """
    numbers = np.arange(1.0, TABLED + 1)
    lows, highs = _tabled_limits()
    few = np.minimum(sightings, TABLED)
    low = np.interp(few, numbers, lows) / sightings
    high = np.interp(few, numbers, highs) / sightings
    with np.errstate(invalid="ignore"):
        shifted = np.where(np.isinf(sightings), 1.0, (sightings + 0.5) / sightings)
    middle, spread = 1 - 1 / (9 * (sightings + 0.5)), Z95 / (3 * np.sqrt(sightings + 0.5))
    many = sightings > TABLED
    low[many] = (shifted * (middle - spread) ** 3)[many]
    high[many] = (shifted * (middle + spread) ** 3)[many]
    return low, high


@cache
def _tabled_limits() -> tuple[FloatArray, FloatArray]:
    """Mid-P limits for 1 to `TABLED` sightings, given that there is one at least."""
    numbers = np.arange(1, TABLED + 1)
    return _mean_with(numbers, TAIL), _mean_with(numbers, 1 - TAIL)


def _mean_with(numbers: NDArray[np.int64], probability: float) -> FloatArray:
    """The mean under which more than each number, or half of just it, has a probability."""
    mean, step = np.zeros(len(numbers)), 2.0 * numbers + 20.0
    for _ in range(45):
        step /= 2
        mean += np.where(_more_than(numbers, mean + step) < probability, step, 0.0)
    return mean


def _more_than(numbers: NDArray[np.int64], means: FloatArray) -> FloatArray:
    """Probability of more sightings than each number, one at least being given, half of just it."""
    counts = np.arange(1, numbers.max() + 1)
    log_factorials = np.cumsum(np.log(counts))
    with np.errstate(divide="ignore"):
        chance = np.exp(counts * np.log(means)[:, None] - means[:, None] - log_factorials)
    up_to = np.cumsum(chance, axis=1)[np.arange(len(numbers)), numbers - 1]
    just = chance[np.arange(len(numbers)), numbers - 1]
    return 1 - (up_to - just / 2) / -np.expm1(-means)


def sampling_of(profile: Profile, sample_type: str) -> Sampling | str:
    """Recover what was seen behind each sample, or say why that cannot be.

    Args:
        profile: A profile of any kind.
        sample_type: One of a heap profile's four.
    """
    reason = _not_sampled(profile, sample_type)
    if reason:
        return reason
    word = sample_type.partition("_")[0]
    objects = profile.values(f"{word}_objects").astype(np.float64)
    size_in_all = profile.values(f"{word}_space").astype(np.float64)
    if profile.is_difference or (objects < 0).any() or (size_in_all < 0).any():
        return "it is the difference of two profiles: what was seen in each is lost"
    there = np.flatnonzero((objects > 0) & (size_in_all > 0))
    rate = float(profile.columns.period)
    size_bytes, labelled = object_sizes(profile.columns)
    exact = np.where(labelled, size_bytes, np.nan)
    size, count, fits = _counts(objects[there], size_in_all[there], exact[there], rate)
    if not fits.all():
        misfits = np.count_nonzero(~fits)
        return f"{misfits} of {len(there)} samples are not what Go's runtime would have written"
    weight = size if sample_type.endswith("_space") else np.ones(len(size))
    found = sampling_of_counts(weight, count, scale_of(size, rate))
    return found.mapped(lambda part: _spread(part, there, len(objects)))


def sampling_of_counts(weight: FloatArray, count: FloatArray, scale: FloatArray) -> Sampling:
    """What lies behind so many objects seen.

    Args:
        weight: The value of one object: its bytes, or 1 for a number of objects.
        count: How many were seen.
        scale: For how many objects one that was seen stands.
    """
    squares = weight**2 * count
    return Sampling(squares * scale * (scale - 1), weight * count, squares)


def scale_of(size: FloatArray, rate: float) -> FloatArray:
    """For how many objects of a size one that was seen stands."""
    return -1 / np.expm1(-size / rate)


def _spread(part: FloatArray, there: NDArray[np.int64], samples: int) -> FloatArray:
    whole = np.zeros(samples)
    whole[there] = part
    return whole


def _not_sampled(profile: Profile, sample_type: str) -> str:
    """Why a sample type's numbers have no sampling error that is known; empty if they have."""
    if profile.kind not in {"heap", "allocs"}:
        return f"a {profile.kind} profile is not sampled by allocated bytes"
    if sample_type.partition("_")[2] not in {"objects", "space"}:
        return f"{sample_type} is not one of Go's heap sample types"
    pairs = {one.type for one in profile.sample_types}
    if not {f"{sample_type.partition('_')[0]}_{word}" for word in ("objects", "space")} <= pairs:
        return "the profile has not both objects and bytes"
    if profile.period_type.type != "space" or profile.period_type.unit != "bytes":
        return "the profile does not say at which rate it was sampled"
    if profile.columns.period <= 1:
        return "every allocation was recorded: the numbers are exact"
    return ""


def _counts(
    objects: FloatArray, space: FloatArray, exact: FloatArray, rate: float
) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
    """Object size and objects seen of each bucket, and whether these explain its numbers.

    The label `bytes` is the exact size since Go 1.12, and missing before 1.27 where all of a
    bucket's objects are gone. From 1.9 to 1.11 it is the quotient of numbers cut to whole ones,
    which is far off where the objects are few; there the size is had back from the bytes alone.
    """
    labelled = np.where(exact > 0, exact, 1.0)
    count = np.rint(space / (labelled * scale_of(labelled, rate)))
    fits = (exact > 0) & _explains((objects, space), labelled, count, rate, BYTES_TOLERANCE)
    size = np.where(fits, labelled, space / objects)
    few = np.flatnonzero(~fits & (objects < SMALL_COUNT))
    size[few] = _sizes_of_few(objects[few], space[few], rate)
    count = np.where(fits, count, np.rint(space / (size * scale_of(size, rate))))
    loosely = COUNT_TOLERANCE * space
    return size, count, fits | _explains((objects, space), size, count, rate, loosely)


def _sizes_of_few(objects: FloatArray, space: FloatArray, rate: float) -> FloatArray:
    """Sizes for which some whole count gives back both numbers, else the quotient."""
    size = space / objects
    settled = np.zeros(len(size), np.bool_)
    guess = np.rint(objects / scale_of(size, rate))
    for step in (0, 1, -1, 2, -2):
        if settled.all():
            break
        count = np.maximum(guess + step, 1)
        tried = _size_seen_as((space + CUT_OFF) / count, rate)
        fits = ~settled & (np.floor(count * scale_of(tried, rate) + 1e-6) == objects)
        size = np.where(fits, tried, size)
        settled |= fits
    return size


def _size_seen_as(space: FloatArray, rate: float) -> FloatArray:
    """The object size s that stands for s / (1 - exp(-s / rate)) bytes when seen once."""
    low, high = np.full(len(space), 1.0), np.maximum(space, 2.0)
    for _ in range(60):
        middle = (low + high) / 2
        below = middle * scale_of(middle, rate) < space
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.rint(high)


def _explains(
    bucket: tuple[FloatArray, FloatArray],
    size: FloatArray,
    count: FloatArray,
    rate: float,
    bytes_tolerance: float | FloatArray,
) -> NDArray[np.bool_]:
    """Whether so many objects of such a size, seen, become a bucket's objects and bytes."""
    objects, space = bucket
    scaled = count * scale_of(size, rate)
    off_bytes = np.abs(scaled * size - space) <= bytes_tolerance + 1e-9 * space
    off_objects = np.abs(scaled - objects) <= 1.0 + COUNT_TOLERANCE * objects
    return (count >= 1) & off_bytes & off_objects
