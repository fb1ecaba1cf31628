"""Of which sites can one heap profile a side not tell whether what they hold in use has changed?

A profile shows what was in use at one collection. A site that has allocated and freed as much as
its change before holds more at one collection and less at the next: that io.ReadAll held 144 MiB in
one snapshot and nothing in another, a collection apart, is not a change of the program. What a site
allocated and freed is alloc less inuse, so the profile itself says so.

A profile repeats the one before it where no collection ran in between. Held against one that does
not, it is of an older time than its moment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.analysis.profiles.published import repeats
from gomem.comparison.settings import ARROW
from gomem.inputs.pprof.sites import top_sites
from gomem.inputs.schema import rows_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from gomem.inputs.pprof.table import Profile

IN_USE, ALLOCATED = "inuse_", "alloc_"
NO_CHANGE = "~"
SWINGS = "it has freed as much before, so one snapshot a side cannot tell a change from its swing"
STALE = "of an older time: no GC ran on one side between this profile and the one before it"


def unclaimed(
    changes: pd.DataFrame, before: Profile, after: Profile, sample_type: str, *, is_stale: bool
) -> list[str]:
    """Why each change of `SITES` is no claim; empty where it is one, or none was found.

    The changes are of one profile a side; of other than in-use values every claim stands.
    `is_stale` where one of the profiles alone repeats the one before it.
    """
    if not sample_type.startswith(IN_USE):
        return [""] * len(changes)
    freed = [_freed(profile, sample_type) for profile in (before, after)]
    return [
        "" if row["state"] == NO_CHANGE else STALE if is_stale else _swing(row, freed)
        for row in rows_of(changes)
    ]


def _swing(row: Mapping[str, float], freed: Sequence[Mapping[str, float]]) -> str:
    """That the side that holds more has freed as much before; empty if it has not."""
    of_larger = freed[row["change"] > 0]
    return SWINGS if of_larger.get(str(row["function"]), 0.0) >= abs(row["change"]) else ""


def _freed(profile: Profile, sample_type: str) -> dict[str, float]:
    """What each site had allocated and freed by then; nothing where the profile does not say."""
    allocated = sample_type.replace(IN_USE, ALLOCATED)
    if allocated not in profile.sample_type_names:
        return {}
    in_use = _flat(profile, sample_type)
    return {
        function: size - in_use.get(function, 0.0)
        for function, size in _flat(profile, allocated).items()
    }


def _flat(profile: Profile, sample_type: str) -> dict[str, float]:
    top = top_sites(profile, sample_type).top
    return dict(zip(top["function"], top["flat"].astype(float), strict=True))


def is_one_stale(
    before: Mapping[str, Profile], after: Mapping[str, Profile], ends: tuple[str, str]
) -> bool:
    """Whether the heap profile of one side alone, at its end, repeats the one before it."""
    return _is_stale(before, ends[0]) != _is_stale(after, ends[1])


def _is_stale(profiles: Mapping[str, Profile], moment: str) -> bool:
    names = list(profiles)
    place = names.index(moment) if moment in profiles else 0
    return place > 0 and repeats(profiles[names[place - 1]], profiles[moment])


def collections_note(before: int | None, after: int | None) -> str:
    """At which collection each profile was taken; empty where that is not known."""
    if before is None or after is None:
        return ""
    return f"in-use sizes are as of the last GC before each profile: GC {before} {ARROW} GC {after}"
