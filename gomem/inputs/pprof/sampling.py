"""Recovers the sampled objects behind the estimates in a heap profile.

`gomem.statistics.sampling` covers the error of the estimates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gomem.inputs.pprof.columns import object_sizes
from gomem.statistics.sampling import Sampling, sampling_of_counts, scale_of

if TYPE_CHECKING:
    from gomem.inputs.pprof.table import Profile

FloatArray = NDArray[np.float64]

ALL_FOLLOWED = "references are followed, not sampled: the numbers are exact"
CUT_OFF = 0.5  # what a number has lost on average that was cut to a whole one
SMALL_COUNT = 100  # objects: below, a size is better had from the bytes than from bytes / objects
# A bucket is Go's if the count behind it gives its two numbers back. Both were cut to whole
# numbers, and the size of a bucket without its exact size is known to the same precision.
COUNT_TOLERANCE = 0.02
BYTES_TOLERANCE = 2.0


def sampling_of(profile: Profile, sample_type: str) -> Sampling | str:
    """Recover what was seen behind each sample of one of a heap profile's types, or say why not."""
    if profile.printed is not None:
        return profile.printed.note(profile.sample_type(sample_type))
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


def _spread(part: FloatArray, there: NDArray[np.int64], samples: int) -> FloatArray:
    whole = np.zeros(samples)
    whole[there] = part
    return whole


def _not_sampled(profile: Profile, sample_type: str) -> str:
    """Why a sample type's numbers have no sampling error that is known; empty if they have."""
    if profile.kind not in {"heap", "allocs"}:
        is_sampled = f"a {profile.kind} profile is not sampled by allocated bytes"
        return ALL_FOLLOWED if profile.kind == "references" else is_sampled
    if sample_type.partition("_")[2] not in {"objects", "space"}:
        return f"{sample_type} is not one of Go's heap sample types"
    pairs = {kind.type for kind in profile.sample_types}
    if not {f"{sample_type.partition('_')[0]}_{word}" for word in ("objects", "space")} <= pairs:
        return "the profile has not both objects and bytes"
    period, unit = profile.columns.period, profile.period_type
    if not period or (unit.type, unit.unit) != ("space", "bytes"):
        return "the profile does not say at which rate it was sampled"
    if period <= 1:
        return "every allocation was recorded: the numbers are exact"
    return ""


def _counts(
    objects: FloatArray, space: FloatArray, exact: FloatArray, rate: float
) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
    """Object size and objects seen of each bucket, and whether these explain its numbers."""
    # The label `bytes` is the exact size since Go 1.12, and missing before 1.27 where all of a
    # bucket's objects are gone. From 1.9 to 1.11 it is the quotient of numbers cut to whole ones,
    # which is far off where the objects are few; there the size is had back from the bytes alone.
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
