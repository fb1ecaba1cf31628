"""How is the address space laid out: which kinds, in which order, and how full is each region?

Mappings of one kind that follow one another are one region, even with gaps between them: a library
has four or five mappings, the runtime dozens. Reserved address space (no permissions and nothing
resident) is left out: Go reserves hundreds of megabytes that cost nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gomem.inputs.schema import Column, build

if TYPE_CHECKING:
    import pandas as pd

REGIONS = (
    Column("kind", "str", "", "Kind of all mappings of the region."),
    Column("start", "uint64", "address", "First address."),
    Column("end", "uint64", "address", "First address after the last byte."),
    Column("vmas", "int64", "count", "Mappings in it; reserved ones are not counted."),
    Column("size_bytes", "int64", "B", "Mapped for use."),
    Column("rss_bytes", "int64", "B", "Resident."),
)
_RESERVED = "---p"


def address_regions(mappings: pd.DataFrame) -> pd.DataFrame:
    """Classified mappings in regions, in order of address; see `REGIONS`.

    Sizes add up to what is mapped for use, resident bytes to RSS.
    """
    resident = mappings["Rss"].to_numpy(np.int64, na_value=0)
    used = np.flatnonzero((mappings["perms"].to_numpy(object) != _RESERVED) | (resident > 0))
    start, end = (mappings[name].to_numpy(np.uint64) for name in ("start", "end"))
    rows = used[np.argsort(start[used], kind="stable")]
    kind, first = mappings["kind"].to_numpy(object)[rows], np.ones(len(rows), dtype=bool)
    first[1:] = kind[1:] != kind[:-1]
    region, count = np.cumsum(first) - 1, int(first.sum())
    last = np.zeros(count, dtype=np.uint64)
    np.maximum.at(last, region, end[rows])
    sizes, of_region = np.zeros((2, count), dtype=np.int64)
    np.add.at(sizes, region, (end - start)[rows].astype(np.int64))
    np.add.at(of_region, region, resident[rows])
    columns = {
        "kind": kind[first].tolist(),
        "start": start[rows][first],
        "end": last,
        "vmas": np.bincount(region, minlength=count).astype(np.int64),
        "size_bytes": sizes,
        "rss_bytes": of_region,
    }
    return build(columns, REGIONS)
