"""Why is the change of an allocation site not reported, although it is not sampling noise?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.analysis.profiles.published import repeats
from gomem.inputs.pprof.sites import top_sites
from gomem.inputs.schema import rows_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from gomem.inputs.pprof.table import Profile

IN_USE, ALLOCATED = "inuse_", "alloc_"
NO_CHANGE = "~"
SWINGS = (
    "in-use memory of this site varies by as much within one run, so one snapshot per side cannot "
    "show a change"
)
STALE = (
    "not counted as a change: on one side no GC ran since the previous profile, so its in-use "
    "values are stale"
)


def unclaimed(
    changes: pd.DataFrame, before: Profile, after: Profile, sample_type: str, *, is_stale: bool
) -> list[str]:
    """Why each change of `SITES` is not reported; empty if it is, or if there is no change.

    A profile shows the heap at one collection. If a site has already allocated and freed as much as
    its change, it can hold more at one collection and less at the next, although nothing changed;
    the freed amount is alloc minus inuse. `is_stale` means that only one of the profiles repeats
    the previous one because no collection ran in between; then it is older than its moment. The
    changes are between one profile per side. Only changes of in-use values are checked.
    """
    if not sample_type.startswith(IN_USE):
        return [""] * len(changes)
    freed = [_freed(profile, sample_type) for profile in (before, after)]
    return [
        "" if row["state"] == NO_CHANGE else STALE if is_stale else _swing(row, freed)
        for row in rows_of(changes)
    ]


def _swing(row: Mapping[str, float], freed: Sequence[Mapping[str, float]]) -> str:
    """A note if the side that holds more had already freed as much; else empty."""
    of_larger = freed[row["change"] > 0]
    return SWINGS if of_larger.get(str(row["function"]), 0.0) >= abs(row["change"]) else ""


def _freed(profile: Profile, sample_type: str) -> dict[str, float]:
    """What each site had allocated and freed until then; empty if the profile lacks the values."""
    allocated = sample_type.replace(IN_USE, ALLOCATED)
    if allocated not in profile.sample_type_names:
        return {}
    tops = (top_sites(profile, name).top for name in (allocated, sample_type))
    total, in_use = (top.set_index("function")["flat"].astype(float) for top in tops)
    return dict(total - in_use.reindex(total.index, fill_value=0.0))


def is_one_stale(
    before: Mapping[str, Profile], after: Mapping[str, Profile], ends: tuple[str, str]
) -> bool:
    """Whether only one side's last heap profile repeats the profile before it."""

    def is_stale(profiles: Mapping[str, Profile], moment: str) -> bool:
        names = list(profiles)
        place = names.index(moment) if moment in profiles else 0
        return place > 0 and repeats(profiles[names[place - 1]], profiles[moment])

    return is_stale(before, ends[0]) != is_stale(after, ends[1])
