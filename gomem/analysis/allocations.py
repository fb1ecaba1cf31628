"""Who allocates, and how sure is a number that was sampled?

Go looks at one byte in `MemProfileRate`, on average, and writes down the object that it lies in.
An object of size s is seen with probability p = 1 - exp(-s / rate), whatever else is allocated.
The profile already holds estimates: where c objects were seen, it says c / p of them.

So the count behind each bucket can be had back, and with it the error. c is binomial: around the
true number N of objects with variance N p (1 - p). That N lies within z standard deviations of the
estimate n is a quadratic in N, whose roots are the interval (Wilson's, turned around to ask for N):

    n + z²w/2 ± z sqrt(w n + z²w²/4)        with w = 1/p - 1

A site has buckets of several sizes; their variances add up, and w becomes the one that gives the
sum: variance over estimate. What was seen is there for certain, so no interval begins below it.
Nothing is said of a site of which nothing was seen. So 95 % is of the sites that show: of those
expected to be seen three times or more, 93 to 97 % hold the truth. A small site is seen once by
luck, and then looks larger than it is: of those expected once, as few as 87 %.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gomem.tables.pprof import top_order
from gomem.tables.schema import Column, build

if TYPE_CHECKING:
    import pandas as pd

    from gomem.tables.pprof import Profile

FloatArray = NDArray[np.float64]

Z95 = 1.959963984540054  # 97.5 % of a normal distribution lie below
CUT_OFF = 0.5  # what a number has lost on average that was cut to a whole one
SMALL_COUNT = 100  # objects: below, a size is better had from the bytes than from bytes / objects
# A bucket is Go's if the count behind it gives its two numbers back. Both were cut to whole
# numbers, and the size of a bucket without its exact size is known to the same precision.
COUNT_TOLERANCE = 0.02
BYTES_TOLERANCE = 2.0

SITES = (
    Column("function", "str", "", "Function, line, file or package, as pprof prints it."),
    Column("flat", "int64", "", "Allocated there; in the unit of the sample type."),
    Column("flat_low", "Int64", "", "Lower end of flat's 95 % interval."),
    Column("flat_high", "Int64", "", "Upper end of flat's 95 % interval."),
    Column("flat_fraction", "float64", "fraction", "Flat by the profile's total."),
    Column("cum", "int64", "", "Allocated there or in what it called."),
    Column("cum_low", "Int64", "", "Lower end of cum's 95 % interval."),
    Column("cum_high", "Int64", "", "Upper end of cum's 95 % interval."),
    Column("cum_fraction", "float64", "fraction", "Cum by the profile's total."),
)


@dataclass(frozen=True)
class AllocationSites:
    """Who has most of one sample type.

    Attributes:
        sample_type: Which, such as `inuse_space`.
        unit: Its unit, as the profile declares it.
        total: The whole profile's.
        top: Rows as in `SITES`, in pprof's order.
        note: Why there are no intervals; empty where there are.
    """

    sample_type: str
    unit: str
    total: int
    top: pd.DataFrame
    note: str = ""


@dataclass(frozen=True)
class Sampling:
    """What lies behind the samples of one sample type.

    Attributes:
        variance: Of each sample's value, in the square of its unit.
        seen: What was seen of each sample itself, in its unit.
    """

    variance: FloatArray
    seen: FloatArray


def top_sites(
    profile: Profile,
    sample_type: str | None = None,
    n: int | None = None,
    granularity: str = "functions",
    *,
    cum: bool = False,
) -> AllocationSites:
    """Find who has the most, and between which bounds the truth lies in 95 of 100 cases.

    Args:
        profile: A profile of any kind; only sampled heap profiles have intervals.
        sample_type: Which of its values; the default one if None.
        n: How many rows; all if None.
        granularity: What a row stands for; see `Profile.top`.
        cum: Order by cum rather than by flat.

    Raises:
        ValueError: There is no such sample type or granularity.
    """
    chosen = profile.sample_type(sample_type)
    values, nodes = profile.values(sample_type), profile.nodes(granularity)
    flat, cumulative = nodes.flat(values), nodes.cum(values)
    rows = top_order(nodes, flat, cumulative, by_cum=cum)[:n]
    sampling = sampling_of(profile, chosen.type)
    total = profile.total(sample_type)
    columns: dict[str, Any] = {
        "function": [nodes.names[row] for row in rows.tolist()],
        "flat": flat[rows],
        "cum": cumulative[rows],
        "flat_fraction": flat[rows] / (total or np.nan),
        "cum_fraction": cumulative[rows] / (total or np.nan),
    }
    if isinstance(sampling, Sampling):
        columns |= _intervals("flat", flat, nodes.flat, sampling, rows)
        columns |= _intervals("cum", cumulative, nodes.cum, sampling, rows)
    note = "" if isinstance(sampling, Sampling) else sampling
    return AllocationSites(chosen.type, chosen.unit, total, build(columns, SITES), note)


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
    if (objects < 0).any() or (size_in_all < 0).any():
        return "it is the difference of two profiles: what was seen in each is lost"
    there = np.flatnonzero((objects > 0) & (size_in_all > 0))
    rate = float(profile.columns.period)
    exact = profile.samples["object_bytes"].to_numpy(np.float64, na_value=np.nan)
    size, count, fits = _counts(objects[there], size_in_all[there], exact[there], rate)
    if not fits.all():
        misfits = np.count_nonzero(~fits)
        return f"{misfits} of {len(there)} samples are not what Go's runtime would have written"
    weight = size if sample_type.endswith("_space") else np.ones(len(size))
    scale = _scale(size, rate)
    sampling = Sampling(np.zeros(len(objects)), np.zeros(len(objects)))
    sampling.variance[there] = weight**2 * count * scale * (scale - 1)
    sampling.seen[there] = weight * count
    return sampling


def interval(
    estimate: FloatArray, variance: FloatArray, seen: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The 95 % interval of sums of sampled values; NaN where nothing was seen.

    Args:
        estimate: The sums, as the profile has them.
        variance: Of the same samples, added up.
        seen: What was seen of the same samples, added up.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        weight = np.where(seen > 0, variance / estimate, np.nan)
    middle = estimate + Z95**2 * weight / 2
    half = Z95 * np.sqrt(weight * estimate + (Z95 * weight / 2) ** 2)
    return np.maximum(middle - half, np.minimum(seen, estimate)), middle + half


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
    count = np.rint(space / (labelled * _scale(labelled, rate)))
    fits = (exact > 0) & _explains((objects, space), labelled, count, rate, BYTES_TOLERANCE)
    size = np.where(fits, labelled, space / objects)
    few = np.flatnonzero(~fits & (objects < SMALL_COUNT))
    size[few] = _sizes_of_few(objects[few], space[few], rate)
    count = np.where(fits, count, np.rint(space / (size * _scale(size, rate))))
    loosely = COUNT_TOLERANCE * space
    return size, count, fits | _explains((objects, space), size, count, rate, loosely)


def _sizes_of_few(objects: FloatArray, space: FloatArray, rate: float) -> FloatArray:
    """Sizes for which some whole count gives back both numbers, else the quotient."""
    size = space / objects
    settled = np.zeros(len(size), np.bool_)
    guess = np.rint(objects / _scale(size, rate))
    for step in (0, 1, -1, 2, -2):
        count = np.maximum(guess + step, 1)
        tried = _size_seen_as((space + CUT_OFF) / count, rate)
        fits = ~settled & (np.floor(count * _scale(tried, rate) + 1e-6) == objects)
        size = np.where(fits, tried, size)
        settled |= fits
    return size


def _size_seen_as(space: FloatArray, rate: float) -> FloatArray:
    """The object size s that stands for s / (1 - exp(-s / rate)) bytes when seen once."""
    low, high = np.full(len(space), 1.0), np.maximum(space, 2.0)
    for _ in range(60):
        middle = (low + high) / 2
        below = middle * _scale(middle, rate) < space
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
    scaled = count * _scale(size, rate)
    off_bytes = np.abs(scaled * size - space) <= bytes_tolerance + 1e-9 * space
    off_objects = np.abs(scaled - objects) <= 1.0 + COUNT_TOLERANCE * objects
    return (count >= 1) & off_bytes & off_objects


def _scale(size: FloatArray, rate: float) -> FloatArray:
    """For how many objects of a size one that was seen stands."""
    return -1 / np.expm1(-size / rate)


def _intervals(
    word: str, sums: NDArray[np.int64], add_up: Any, sampling: Sampling, rows: NDArray[np.int64]
) -> dict[str, Any]:
    """The bounds of some nodes' sums, rounded outwards to whole numbers."""
    low, high = interval(
        sums[rows].astype(np.float64),
        add_up(sampling.variance)[rows],
        add_up(sampling.seen)[rows],
    )
    unknown = np.isnan(low)
    return {
        f"{word}_low": _whole(np.floor(low), unknown),
        f"{word}_high": _whole(np.ceil(high), unknown),
    }


def _whole(numbers: FloatArray, unknown: NDArray[np.bool_]) -> np.ma.MaskedArray[Any, Any]:
    return np.ma.masked_array(np.where(unknown, 0, numbers).astype(np.int64), unknown)
