"""How is the address space laid out: which kinds, in which order, and how full is each region?

Mappings of one kind that follow one another are one region, even with gaps between them: a library
has four or five mappings, the runtime dozens. Reserved address space (no permissions and nothing
resident) is left out: Go reserves hundreds of megabytes that cost nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    """Group a process's mappings into regions.

    Args:
        mappings: Classified mappings of one moment.

    Returns:
        A row per region, in order of address; see `REGIONS`. Sizes add up to what is mapped for
        use, resident bytes to RSS.
    """
    frame = mappings.sort_values("start", ignore_index=True)
    resident = frame["Rss"].fillna(0)
    frame = frame[(frame["perms"] != _RESERVED) | (resident > 0)]
    region = (frame["kind"] != frame["kind"].shift(1)).cumsum()
    sizes = (frame["end"] - frame["start"]).astype("int64")
    rows = [
        {
            "kind": str(part["kind"].iloc[0]),
            "start": int(part["start"].iloc[0]),
            "end": int(part["end"].iloc[-1]),
            "vmas": len(part),
            "size_bytes": int(sizes[part.index].sum()),
            "rss_bytes": int(part["Rss"].fillna(0).sum()),
        }
        for _, part in frame.groupby(region, sort=False)
    ]
    names = [column.name for column in REGIONS]
    return build({name: [row[name] for row in rows] for name in names}, REGIONS)
