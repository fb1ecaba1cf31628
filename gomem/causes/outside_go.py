"""A check shared by several causes: does memory outside Go grow?

One snapshot shows only the size, which might be normal for the program, so the finding is a note.
Growth is computed from the account: native memory at each snapshot, with bounds if smaps is
missing. If the memory has certainly grown enough to matter, a score estimates the probability that
the growth continues. The score uses the linearity of the rise, its share in the last third of the
time, and the length of the series.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gomem.analysis.memory.bounds import Interval
from gomem.analysis.memory.groups import NATIVE
from gomem.analysis.series.level import Level, Rise
from gomem.causes.evidence import known, rss_evidence, watched_evidence
from gomem.causes.scores import bounded_log, scores
from gomem.text import Bytes, Count, Rate, Share, Text, text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gomem.analysis.memory.account import Account
    from gomem.causes.cause import Case
    from gomem.causes.finding import Evidence
    from gomem.facts.moment import MomentFacts

CODE = "native-memory"
NAME = "C and other native memory"
_NATIVE = frozenset({NATIVE})


@dataclass(frozen=True)
class Growth:
    """Memory outside Go that grows.

    Attributes:
        rise: The rise over time.
        rss_bytes: RSS at the last snapshot of the rise.
        is_timed: Whether the snapshots have times; else they are numbered.
        confidence: `likely` or `possible`.
        ends: The first and the last snapshot, each with the bounds of this memory.
    """

    rise: Rise
    rss_bytes: int
    is_timed: bool
    confidence: str
    ends: tuple[tuple[MomentFacts, Interval], tuple[MomentFacts, Interval]]

    def title(self, what: str) -> Text:
        """Return the title: what grows, how fast, to what size, and its share of RSS."""
        rise, grown = self.rise, self._surely_grown
        size = rise.last if grown is None else self.ends[1][1].low
        first, last = Bytes(round(rise.first)), Bytes(round(size))
        share = text(" ({} of RSS)", Share(size / self.rss_bytes))
        about = "" if grown is None else "about "
        least = "" if grown is None or last == Bytes(round(rise.last)) else "at least "
        if self.is_timed:
            rate = Rate(rise.rate, rise.low, rise.high)
            words = "{} grows by {}{} and has reached {}{}{}"
            return text(words, Text(what), about, rate, least, last, share)
        if grown is None:
            return text("{} grows: {} → {}{}", Text(what), first, last, share)
        words = "{} has grown by at least {}, to at least {}{}"
        return text(words, Text(what), Bytes(round(grown)), last, share)

    @property
    def _surely_grown(self) -> float | None:
        """The least growth, if its bounds are far apart; else None."""
        (_, first), (_, last) = self.ends
        change = last - first
        return change.low if change.is_wide and change.low > 0 else None

    def evidence(self) -> tuple[Evidence, ...]:
        """Return the rise in numbers."""
        first, last = self.ends
        levels = (*_level_at("first", *first, self.rise.first),
                  *_level_at("last", *last, self.rise.last))  # fmt: skip
        path = str(Count(self.rise.readings, "snapshot"))
        return (*levels, *(watched_evidence(path, self.rise) if self.is_timed else ()))


def _level_at(
    which: str, moment: MomentFacts, size: Interval, level: float
) -> tuple[Evidence, ...]:
    """Return the memory by mappings, or its bounds by RSS and MemStats."""
    what, path = f"{NAME}, {which}", moment.path("smaps")
    if moment.mappings is None:
        paths = [row.artefact for row in rss_evidence(moment)]
        if moment.memstats is not None or moment.told("Sys") is not None:
            paths.append(moment.path("memstats"))
        path = ", ".join(paths)
    if not size.width:
        return known(path, "B", {what: level})
    return known(path, "B", {f"{what}, at least": size.low, f"{what}, at most": size.high})


def outside_go(
    case: Case, size_of: Callable[[MomentFacts], int], least_bytes: int
) -> list[tuple[MomentFacts, Growth | None]]:
    """Return the snapshots with at least `least_bytes` of this memory; the last has the growth.

    Args:
        case: The case.
        size_of: A function that returns the resident bytes of this memory at a snapshot with
            mappings.
        least_bytes: The cause's own threshold, for the size and the growth.
    """
    saying = [m for m in case.facts.of_last_process if m.mappings is not None]
    much = [
        moment
        for moment in saying
        if size_of(moment) >= case.thresholds.notable(least_bytes, moment.rss_bytes)
    ]
    if not much or much[-1] is not saying[-1]:
        return [(moment, None) for moment in much]
    grows = growth(case, least_bytes, size_of)
    return [*((moment, None) for moment in much[:-1]), (much[-1], grows)]


def growth(
    case: Case, least_bytes: int, size_of: Callable[[MomentFacts], int] | None = None
) -> Growth | None:
    """Return the growth of memory outside Go; None if it does not grow by enough to matter.

    Args:
        case: The case.
        least_bytes: The minimum growth.
        size_of: A function that returns the size of one kind, used if every snapshot has mappings;
            otherwise the growth is of all kinds.
    """
    account, level = case.facts.account_of_rss, _level(case, size_of)
    values = None if level is None else _features(case, level, least_bytes)
    if account is None or level is None or level.rise is None or values is None:
        return None
    thresholds, sure = case.thresholds, scores()[CODE].probability(values)
    if sure < thresholds.possible_probability:
        return None
    has_enough = level.rise.readings >= thresholds.growth_readings and not level.is_rough
    has_grown = thresholds.has_grown(round(level.rise.first), round(level.rise.last))
    likely = has_enough and has_grown and sure >= thresholds.likely_probability
    moments = _moments(case, account)
    first, *_, last = zip(moments, _sizes(account, moments, size_of), strict=True)
    return Growth(
        level.rise,
        account.last.total_bytes,
        account.is_timed,
        "likely" if likely else "possible",
        (first, last),
    )


def is_level(case: Case, size_of: Callable[[MomentFacts], int] | None = None) -> bool:
    """Return whether several snapshots show that memory outside Go is constant."""
    level, limits = _level(case, size_of), case.thresholds
    if level is None or len(level) < limits.growth_readings:
        return False
    low, high = level.values - level.each_error, level.values + level.each_error
    return not limits.has_grown(round(low.min()), round(high.max()))


def features(case: Case) -> dict[str, float] | None:
    """Return the inputs of the score; None if the memory has not certainly grown enough."""
    level = _level(case, None)
    return None if level is None else _features(case, level, case.thresholds.native_bytes)


def _sizes(
    account: Account, moments: Sequence[MomentFacts], size_of: Callable[[MomentFacts], int] | None
) -> list[Interval]:
    """Return the size of this memory at each snapshot of the account."""
    if size_of is not None and all(moment.mappings is not None for moment in moments):
        return [Interval.exactly(size_of(moment)) for moment in moments]
    return account.levels(_NATIVE)[1]


def _moments(case: Case, account: Account) -> list[MomentFacts]:
    return [case.facts.by_moment[snapshot.moment] for snapshot in account.snapshots]


def _level(case: Case, size_of: Callable[[MomentFacts], int] | None) -> Level | None:
    """Return the level of this memory at each snapshot; None without an account of RSS."""
    account = case.facts.account_of_rss
    if account is None:
        return None
    seconds, _ = account.levels(_NATIVE)
    sizes = _sizes(account, _moments(case, account), size_of)
    middles = np.array([size.middle for size in sizes])
    return Level(
        "account", np.array(seconds), middles, np.array([size.width / 2 for size in sizes])
    )


def _features(case: Case, level: Level, least_bytes: int) -> dict[str, float] | None:
    rise = level.rise
    if rise is None:
        return None
    lows, highs = level.values - level.errors, level.values + level.errors
    surely = float(lows[-1] - highs[:-1].min())
    rss = case.facts.account_of_rss.last.total_bytes if case.facts.account_of_rss else None
    if surely < case.thresholds.notable(least_bytes, rss):
        return None
    return {
        "linear_share": rise.linear_share,
        "late_share": rise.late_share,
        "seconds": bounded_log(rise.seconds),
    }
