"""Does what is in use jump, or come in bursts, over heap profiles, and who has more of it?

A burst that a profile happens to meet stands in it as a level: 20 MiB, 181, 149, 85, 20. So does
what was loaded once and stays. Profiles that repeat the one before count as what they are: moments
at which nothing had changed. But a burst may stand in the profiles long after it is gone, until the
next collection; so where no level is usual among all of them, those are asked that say something
new. The sites are those of the highest profile against the last one before the jump.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from gomem.analysis.profiles.changes import SiteChanges, profile_changes
from gomem.analysis.profiles.published import published
from gomem.analysis.series.bursts import Bursts, find_bursts, high_fraction
from gomem.analysis.series.jumps import Jump, find_jump
from gomem.inputs.pprof.calls.stacks import caller_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from gomem.analysis.profiles.published import Publications
    from gomem.inputs.pprof.table import Profile

    FloatArray = NDArray[np.float64]

IN_USE = "inuse_space"


@dataclass(frozen=True)
class InUseJump:
    """A jump of what is in use, from one profile to another.

    Attributes:
        levels: In bytes; its places are those of the profiles with a time, in order.
        before: Moment of the last profile before the jump.
        after: Moment of the highest.
        last: Moment of the last profile.
        seconds: From the last profile before the jump to the first after it.
        at_seconds: When that one was taken, since the first.
        profiles: How many there are, repeated ones among them.
        contents_before: How many contents were near the usual level before it, one after another.
        sites: Who has how much in use at both moments, the largest change first.
        caller: The program's own function for which the first of them allocates; empty if none is.
    """

    levels: Jump
    before: str
    after: str
    last: str
    seconds: float
    at_seconds: float
    profiles: int
    contents_before: int
    sites: SiteChanges
    caller: str


def in_use_jump(
    profiles: Mapping[str, Profile], granularity: str = "functions"
) -> InUseJump | None:
    """Find the highest jump of inuse_space over its usual level.

    Args:
        profiles: Heap profiles of one process by moment; those that do not say when they were
            taken, or what is in use, are left out.
        granularity: What a row of the sites stands for; see `Profile.top`.

    Returns:
        None if there is none.
    """
    usable = {name: one for name, one in profiles.items() if _says_in_use(one)}
    found = published(usable)
    timed = _shown(usable, found)
    jump = find_jump(_levels(timed), _times(timed))
    if jump is None:
        timed = [pair for pair in timed if pair[0] not in found.repeated]
        jump = find_jump(_levels(timed), _times(timed))
    if jump is None:
        return None
    levels = _levels(timed)
    times = [one.columns.time_nanos for _, one in timed]
    (before, old), (after, new) = timed[jump.before], timed[jump.peak]
    first = times[jump.before + 1]
    sites = profile_changes(old, new, IN_USE, granularity)
    usual = [level for level in levels[: jump.before + 1].tolist() if jump.is_usual(level)]
    return InUseJump(
        levels=jump,
        before=before,
        after=after,
        last=timed[-1][0],
        seconds=(first - times[jump.before]) / 1e9,
        at_seconds=(first - times[0]) / 1e9,
        profiles=len(found.news) + len(found.repeated),
        contents_before=bool(usual) + sum(one != other for one, other in pairwise(usual)),
        sites=sites,
        caller=_caller_of_most(sites, new),
    )


@dataclass(frozen=True)
class InUseBursts:
    """Bursts of what is in use, and who has it in the highest.

    Attributes:
        levels: In bytes; the places are those of the profiles that say something new.
        before: Moment of the last profile before the highest burst.
        after: Moment of its highest profile.
        last: Moment of the last profile that shows the last burst.
        seconds: From the first profile to the last.
        profiles: How many there are, repeated ones among them.
        high_fraction: Share of the time for which the level may have been high, at most; or of the
            profiles that say something new, whichever is smaller: a burst may stand in the
            profiles long after it is gone.
        sites: Who has how much in use before and in the highest, the largest change first.
        caller: The program's own function for which the first of them allocates; empty if none is.
    """

    levels: Bursts
    before: str
    after: str
    last: str
    seconds: float
    profiles: int
    high_fraction: float
    sites: SiteChanges
    caller: str


def in_use_bursts(
    profiles: Mapping[str, Profile], granularity: str = "functions"
) -> InUseBursts | None:
    """Find the bursts of inuse_space; arguments as of `in_use_jump`.

    Returns:
        None if there is none, or if what rises does so slowly.
    """
    usable = {name: one for name, one in profiles.items() if _says_in_use(one)}
    found = published(usable)
    news = found.news
    levels = find_bursts(_levels([(one.moment, one.profile) for one in news]))
    if levels is None:
        return None
    before, after = news[levels.top.before], news[levels.top.peak]
    to_the_end = levels.each[-1].last == len(news) - 1
    last = (*(one.moment for one in news), *found.repeated)[-1]
    shown = _shown(usable, found)
    sites = profile_changes(before.profile, after.profile, IN_USE, granularity)
    return InUseBursts(
        levels=levels,
        before=before.moment,
        after=after.moment,
        last=last if to_the_end else news[levels.each[-1].last].moment,
        seconds=news[-1].until_seconds - news[0].seconds,
        profiles=len(news) + len(found.repeated),
        high_fraction=min(levels.high_fraction, high_fraction(_levels(shown), _times(shown))),
        sites=sites,
        caller=_caller_of_most(sites, after.profile),
    )


def _says_in_use(profile: Profile) -> bool:
    return IN_USE in profile.sample_type_names and bool(profile.columns.time_nanos)


def _caller_of_most(sites: SiteChanges, profile: Profile) -> str:
    more = sites.sites[sites.sites["change"] > 0]["function"]
    return caller_of(profile, str(more.iloc[0]), IN_USE) if len(more) else ""


def _shown(profiles: Mapping[str, Profile], found: Publications) -> list[tuple[str, Profile]]:
    """All in order of time, but those that another follows almost at once."""
    shown = ((name, one) for name, one in profiles.items() if name not in found.at_once)
    return sorted(shown, key=lambda pair: pair[1].columns.time_nanos)


def _times(timed: Sequence[tuple[str, Profile]]) -> FloatArray:
    return np.array([one.columns.time_nanos / 1e9 for _, one in timed], np.float64)


def _levels(timed: Sequence[tuple[str, Profile]]) -> FloatArray:
    return np.array([one.total(IN_USE) for _, one in timed], np.float64)
