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
REST_IS_A_SUM = "records are missing: what they had is one sum, from the profile's first line"
CUT_OFF = 0.5  # mean loss of a number by truncation
# objects; below it, derive an object's size from the bytes alone, not from bytes / objects
SMALL_COUNT = 100
# A bucket is Go's if the number of sampled objects reproduces both of its values. Both values are
# truncated, and so is the object size of a bucket without an exact size.
COUNT_TOLERANCE = 0.02
BYTES_TOLERANCE = 2.0


def sampling_of(profile: Profile, sample_type: str) -> Sampling | str:
    """Recover the sampled objects behind each value of a heap profile; else return why not."""
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
    if profile.header_total is not None and len(objects) - 1 in there:
        return REST_IS_A_SUM
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
    """Return why a sample type has no known sampling error; empty if it has one."""
    if profile.kind not in {"heap", "allocs"}:
        named = "this" if profile.kind == "other" else f"a {profile.kind}"
        is_sampled = f"{named} profile is not sampled by allocated bytes"
        return ALL_FOLLOWED if profile.kind == "references" else is_sampled
    if sample_type.partition("_")[2] not in {"objects", "space"}:
        return f"{sample_type} is not one of Go's heap sample types"
    pairs = {kind.type for kind in profile.sample_types}
    if not {f"{sample_type.partition('_')[0]}_{word}" for word in ("objects", "space")} <= pairs:
        return "the profile has not both objects and bytes"
    period, unit = profile.columns.period, profile.period_type
    if not period or (unit.type, unit.unit) != ("space", "bytes"):
        return "the profile does not state its sampling rate"
    if period <= 1:
        return "every allocation was recorded: the numbers are exact"
    return ""


def _counts(
    objects: FloatArray, space: FloatArray, exact: FloatArray, rate: float
) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
    """Return each bucket's object size and sampled objects, and whether they explain its values."""
    # The label `bytes` is the exact size since Go 1.12, but before 1.27 it is missing if all
    # objects of a bucket are gone. From 1.9 to 1.11, it is a quotient of truncated values, which is
    # far off for few objects; for these, the size is derived from the bytes alone.
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
    """Return sizes for which some integer count reproduces both values, else the quotient."""
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
    """Return the object size s with s / (1 - exp(-s / rate)) = space: one sampled object."""
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
    """Whether `count` sampled objects of a size scale to a bucket's objects and bytes."""
    objects, space = bucket
    scaled = count * scale_of(size, rate)
    off_bytes = np.abs(scaled * size - space) <= bytes_tolerance + 1e-9 * space
    off_objects = np.abs(scaled - objects) <= 1.0 + COUNT_TOLERANCE * objects
    return (count >= 1) & off_bytes & off_objects
