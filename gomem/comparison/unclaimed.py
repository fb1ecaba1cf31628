"""Why is the change of an allocation site not reported, although it is not sampling noise?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.analysis.profiles.published import repeats
from gomem.analysis.profiles.thresholds import MIN_COVERED_SHARE
from gomem.inputs.pprof.sites import top_sites
from gomem.inputs.schema import rows_of
from gomem.text import Bytes, Text, text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from gomem.inputs.pprof.table import Profile

IN_USE, ALLOCATED = "inuse_", "alloc_"
TOTAL = "alloc_space"
NO_CHANGE = "~"
SWINGS = "within one run, its in-use memory varies by this much or more"
STALE = "on the {} side, no GC ran since the previous profile, so its values are stale"
UNCOVERED = "the {} side's profile lags: it covers only {} of the {} allocated so far"


def unclaimed(
    changes: pd.DataFrame, before: Profile, after: Profile, sample_type: str
) -> list[str]:
    """Why each change of `SITES` is not reported; empty if it is, or if there is no change.

    A profile shows the heap at one collection. If a site has already allocated and freed as much as
    its change, it can hold more at one collection and less at the next, although nothing changed;
    the freed amount is alloc minus inuse. The changes are between one profile per side. Only
    changes of in-use values are checked.
    """
    if not sample_type.startswith(IN_USE):
        return [""] * len(changes)
    freed = [_freed(profile, sample_type) for profile in (before, after)]
    return ["" if row["state"] == NO_CHANGE else _swing(row, freed) for row in rows_of(changes)]


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


def doubt_of(
    profiles: Mapping[str, Profile], moment: str, allocated_bytes: int | None, side: str
) -> Text:
    """Why a side's last profile cannot show which sites allocated or hold memory; empty if it can.

    A profile ends at the GC before the last, so it can lack most of what was allocated since the
    start (`allocated_bytes`, MemStats.TotalAlloc). If that is unknown, a profile that repeats the
    previous one is stale.
    """
    profile, names = profiles[moment], list(profiles)
    if allocated_bytes is not None and TOTAL in profile.sample_type_names:
        covered = profile.total(TOTAL)
        sizes = Bytes(covered), Bytes(allocated_bytes)
        is_enough = covered >= MIN_COVERED_SHARE * allocated_bytes
        return Text() if is_enough else text(UNCOVERED, side, *sizes)
    place = names.index(moment)
    is_stale = place > 0 and repeats(profiles[names[place - 1]], profile)
    return text(STALE, side) if is_stale else Text()
