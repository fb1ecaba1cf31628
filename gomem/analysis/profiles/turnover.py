"""What of all that a site allocated is still in use: a cache, or churn?

Allocated since the start against in use now, site by site. A site whose objects survive holds
memory; one whose objects do not costs collections. The share that survived is a share of what was
seen, so its interval is that of a share of so many sightings (Wilson's).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gomem.inputs.pprof.sampling import sampling_of
from gomem.inputs.schema import Column, build
from gomem.statistics.sampling import Z95, Sampling

if TYPE_CHECKING:
    import pandas as pd

    from gomem.inputs.pprof.table import Profile
    from gomem.statistics.sampling import FloatArray

TURNOVER = (
    Column("function", "str", "", "Who allocates; as pprof prints it at the granularity."),
    Column("alloc_bytes", "int64", "B", "Allocated since the start."),
    Column("inuse_bytes", "int64", "B", "Of it in use."),
    Column("churned_bytes", "int64", "B", "Of it freed."),
    Column("mean_object_bytes", "float64", "B", "Of an object that was allocated."),
    Column("survival_fraction", "float64", "fraction", "In use, of what was allocated."),
    Column("survival_low", "float64", "fraction", "Lower end of its 95 % interval."),
    Column("survival_high", "float64", "fraction", "Upper end of the same."),
    Column("sightings", "float64", "count", "Objects seen by the sampling; missing if unknown."),
)


def site_turnover(profile: Profile, granularity: str = "functions") -> pd.DataFrame:
    """Compare what is in use with what was allocated; see `TURNOVER`, the most freed first.

    ValueError where the profile has not both, or there is no such granularity.
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
    """Wilson's interval of a share."""
    weight = Z95**2 / sightings
    middle = (share + weight / 2) / (1 + weight)
    half = np.sqrt(share * (1 - share) * weight + weight**2 / 4) / (1 + weight)
    return np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)
