"""How large are the objects of a site, and what do size classes cost?

The runtime rounds a small object up to one of 67 sizes, and a heap profile has only the rounded
size. The requested size is unknown, but larger than the next smaller class, which bounds the cost
of rounding. The waste at the end of a span, where no further object fits, is known: it is the same
share of every span of a class. Large objects (above 32 KiB) are rounded to pages.

How much of a site's total allocation is still in use: is the site a cache, or churn?

The module compares memory allocated since the start with memory in use now, site by site. A site
whose objects survive retains memory. A site whose objects die soon causes GCs. The surviving share
is a share of the samples, so its interval is the Wilson interval for that number of samples.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from gomem.analysis.profiles.changes import sampled_interval
from gomem.inputs.pprof.sampling import sampling_of
from gomem.inputs.schema import Column, build
from gomem.statistics.sampling import Z95, FloatArray, Sampling
from gomem.text import Function
from gomem.units import KIB

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gomem.inputs.pprof.table import Profile

OBJECTS = (
    Column(
        "function", "str", "", "Who allocates; as pprof prints it at the granularity.", Function
    ),
    Column("object_bytes", "int64", "B", "Size of each object, rounded up by the runtime."),
    Column("objects", "int64", "count", "How many; an estimate."),
    Column("bytes", "int64", "B", "All of them together."),
    Column("bytes_low", "float64", "B", "Lower end of the 95 % interval of bytes."),
    Column("bytes_high", "float64", "B", "Upper end of the same."),
    Column("rounding_at_most_bytes", "int64", "B", "What rounding can have cost them, at most."),
    Column("tail_bytes", "int64", "B", "Left over at the ends of as many spans."),
)

PAGE = 8 * KIB
# Size and pages per span of each class (sizeclasses.go, the same from Go 1.16 to 1.27; class 24 was
# added in 1.16, otherwise unchanged since 1.5).
CLASSES = {
    8: 1, 16: 1, 24: 1, 32: 1, 48: 1, 64: 1, 80: 1, 96: 1, 112: 1, 128: 1, 144: 1, 160: 1, 176: 1,
    192: 1, 208: 1, 224: 1, 240: 1, 256: 1, 288: 1, 320: 1, 352: 1, 384: 1, 416: 1, 448: 1, 480: 1,
    512: 1, 576: 1, 640: 1, 704: 1, 768: 1, 896: 1, 1024: 1, 1152: 1, 1280: 1, 1408: 2, 1536: 1,
    1792: 2, 2048: 1, 2304: 2, 2688: 1, 3072: 3, 3200: 2, 3456: 3, 4096: 1, 4864: 3, 5376: 2,
    6144: 3, 6528: 4, 6784: 5, 6912: 6, 8192: 1, 9472: 7, 9728: 6, 10240: 5, 10880: 4, 12288: 3,
    13568: 5, 14336: 7, 16384: 2, 18432: 9, 19072: 7, 20480: 5, 21760: 8, 24576: 3, 27264: 10,
    28672: 7, 32768: 4,
}  # fmt: skip
LARGEST = max(CLASSES)
TURNOVER = (
    Column(
        "function", "str", "", "Who allocates; as pprof prints it at the granularity.", Function
    ),
    Column("alloc_bytes", "int64", "B", "Allocated since the start."),
    Column("inuse_bytes", "int64", "B", "Bytes in use."),
    Column("churned_bytes", "int64", "B", "Bytes freed."),
    Column("mean_object_bytes", "float64", "B", "Of an object that was allocated."),
    Column("survival_fraction", "float64", "fraction", "In use, of what was allocated."),
    Column("survival_low", "float64", "fraction", "Lower end of its 95 % interval."),
    Column("survival_high", "float64", "fraction", "Upper end of the same."),
    Column("sightings", "float64", "count", "Objects that were sampled; missing if unknown."),
)


def object_sizes(
    profile: Profile, held: str = "inuse", granularity: str = "functions"
) -> pd.DataFrame:
    """Count each site's objects by size, most bytes first; see `OBJECTS`.

    `held` is `inuse` for objects in use, `alloc` for all that were allocated. Raises ValueError if
    the profile does not count objects, or if the granularity is unknown.
    """
    objects, space = profile.values(f"{held}_objects"), profile.values(f"{held}_space")
    there = np.flatnonzero((objects > 0) & (space > 0))
    rows = pd.DataFrame(
        {
            "function": profile.leaves(there, granularity),
            "object_bytes": sample_sizes(profile, f"{held}_space")[there],
            "objects": objects[there],
            "bytes": space[there],
        }
    )
    keys = ["function", "object_bytes"]
    sums = rows.groupby(keys, sort=True)[["objects", "bytes"]].sum().reset_index()
    number = rows.groupby(keys, sort=True).ngroup().to_numpy(np.int64)
    low, high = sampled_interval(
        profile,
        f"{held}_space",
        sums["bytes"].to_numpy(),
        lambda part: np.bincount(number, part[there], len(sums)).astype(np.float64),
    )
    sizes = sums["object_bytes"].to_numpy(np.int64)
    table = sums.assign(
        bytes_low=low,
        bytes_high=high,
        rounding_at_most_bytes=(_rounding(sizes) * sums["objects"].to_numpy()).astype(np.int64),
        tail_bytes=np.rint(_tail(sizes) * sums["bytes"].to_numpy()).astype(np.int64),
    )
    largest_first = table.sort_values("bytes", ascending=False, kind="stable")
    return build(dict(largest_first.reset_index(drop=True)), OBJECTS)


def sample_sizes(profile: Profile, sample_type: str) -> NDArray[np.int64]:
    """Return the object size of each sample, in bytes.

    The size comes from the sampling correction, else from the label `bytes`; else it is bytes
    divided by objects.
    """
    sampling = sampling_of(profile, sample_type)
    if isinstance(sampling, Sampling):
        with np.errstate(invalid="ignore"):
            size = sampling.weighted / sampling.seen
    else:
        objects = profile.values(sample_type.replace("_space", "_objects"))
        with np.errstate(divide="ignore", invalid="ignore"):
            size = profile.values(sample_type) / objects
        exact = profile.samples["object_bytes"].to_numpy(np.float64, na_value=np.nan)
        size = np.where(exact > 0, exact, size)
    return np.rint(np.nan_to_num(size)).astype(np.int64)


def _rounding(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return an upper bound of how much an object was rounded up."""
    classes = np.array([0, *CLASSES])
    place = np.clip(np.searchsorted(classes, sizes), 1, len(classes) - 1)
    of_class = np.where(classes[place] == sizes, sizes - classes[place - 1] - 1, 0)
    of_pages = np.minimum(PAGE - 1, sizes - LARGEST - 1)
    return np.where(sizes > LARGEST, of_pages, of_class)


def _tail(sizes: NDArray[np.int64]) -> FloatArray:
    """Return the bytes left over at the end of a span, per byte of its objects."""
    shares = {
        size: (pages * PAGE % size) / (pages * PAGE - pages * PAGE % size)
        for size, pages in CLASSES.items()
    }
    return np.array([shares.get(size, 0.0) for size in sizes.tolist()])


def site_turnover(profile: Profile, granularity: str = "functions") -> pd.DataFrame:
    """Compare in-use with allocated memory by site, the most freed first; see `TURNOVER`.

    Raises ValueError if the profile does not have both, or if the granularity is unknown.
    """
    nodes = profile.nodes(granularity)
    allocated, objects, in_use = (
        nodes.flat(profile.values(name)) for name in ("alloc_space", "alloc_objects", "inuse_space")
    )
    rows = np.flatnonzero(allocated > 0)
    rows = rows[np.lexsort((rows, in_use[rows] - allocated[rows]))]
    sampling = sampling_of(profile, "alloc_objects")

    sightings = np.full(len(rows), np.nan)
    if isinstance(sampling, Sampling):
        sightings = nodes.flat(sampling.seen)[rows]
    survival = in_use[rows] / allocated[rows]
    low, high = _of_share(np.minimum(survival, 1.0), sightings)
    columns = {
        "function": [nodes.names[row] for row in rows.tolist()],
        "alloc_bytes": allocated[rows],
        "inuse_bytes": in_use[rows],
        "churned_bytes": allocated[rows] - in_use[rows],
        "mean_object_bytes": allocated[rows] / np.maximum(objects[rows], 1),
        "survival_fraction": survival,
        "survival_low": low,
        "survival_high": high,
        "sightings": sightings,
    }
    return build(columns, TURNOVER)


def _of_share(share: FloatArray, sightings: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return Wilson's interval of a proportion."""
    weight = Z95**2 / sightings
    middle = (share + weight / 2) / (1 + weight)
    half = np.sqrt(share * (1 - share) * weight + weight**2 / 4) / (1 + weight)
    return np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)
