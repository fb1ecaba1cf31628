"""RSS by owner at the snapshots that get a bar, all broken down into the same parts.

Bars are compared, so they have the same parts: those that all their snapshots separate. If the last
snapshot has a finer breakdown, it is shown below its bar. If some snapshot's bounds are too wide,
the parts are those of the ledgers, in which Go's sizes can be upper bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gomem.analysis.memory.account import Snapshot, common_division
from gomem.analysis.memory.bounds import Interval, total
from gomem.analysis.memory.groups import side_by_side
from gomem.analysis.memory.readings import ALL
from gomem.diagnosis.part_words import groups_of, is_at_most, most_of, part_key, part_name
from gomem.inputs.schema import rows_of
from gomem.text import MomentName, text
from gomem.units import is_unknown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.facts.moment import MomentFacts


@dataclass(frozen=True)
class Owner:
    """A part of memory, or several that cannot be separated.

    Attributes:
        key: Its group, or its groups joined by `+`.
        name: Its name in sentences.
        groups: Its groups of the account.
        sizes: Its size at each snapshot, in bytes: that of the ledger, else its likely bounds.
        lengths: Its size in each bar, in bytes: that of the ledger, else the middle of its bounds.
        is_bounded: Whether some length is only an upper bound.
    """

    key: str
    name: str
    groups: frozenset[str]
    sizes: tuple[Interval, ...]
    lengths: tuple[float, ...]
    is_bounded: bool = False

    @property
    def change_bytes(self) -> float:
        """Approximate growth from the first snapshot to the last."""
        return self.lengths[-1] - self.lengths[0]

    @property
    def change(self) -> Interval:
        """The bounds of the growth from the first snapshot to the last."""
        return self.sizes[-1] - self.sizes[0]


def change_of(parts: Iterable[Owner]) -> Interval:
    """The bounds of the growth of several parts together."""
    return total(part.change for part in parts)


@dataclass(frozen=True)
class Owners:
    """The snapshots that get a bar, and their parts.

    Attributes:
        quantity: The total quantity; one of `account.QUANTITIES`.
        labels: The snapshots' names.
        totals: The sum of each snapshot's parts, in bytes.
        beyond: Memory reserved by Go but not in RSS at each snapshot, in bytes.
        parts: The parts that all snapshots have, in the order of `readings.GROUPS`.
        finer: The finer parts of the last snapshot, by the key of the coarse part.
    """

    quantity: str
    labels: tuple[str, ...]
    totals: tuple[int, ...]
    beyond: tuple[int, ...]
    parts: tuple[Owner, ...]
    finer: dict[str, tuple[Owner, ...]]


def owners_of(diagnosis: Diagnosis) -> Owners | None:
    """Return the bars of a capture, at most three; None if the size of the process is unknown."""
    shown = compared(diagnosis)
    if not shown:
        return None
    account = diagnosis.facts.account
    assert account is not None
    return owners_at(account.quantity, shown)


def compared(diagnosis: Diagnosis) -> _Shown:
    """The snapshots in the first picture: baseline and capture, or first to last."""
    return _baseline_and_now(diagnosis) or _first_peak_and_last(diagnosis)


def owners_at(quantity: str, shown: Sequence[tuple[str, Snapshot, MomentFacts]]) -> Owners:
    """Divide named snapshots into the parts that all of them separate."""
    labels, snapshots, moments = zip(*shown, strict=True)
    division, finest = common_division(snapshots), common_division(snapshots[-1:])
    parts = _owners(division, snapshots, moments)
    if len(division) == 1:
        parts = _by_ledgers(snapshots, moments) or parts
    finer = {}
    for part in parts:
        within = [groups for groups in finest if groups < part.groups]
        if len(inside := _owners(within, snapshots[-1:], moments[-1:])) > 1:
            finer[part.key] = inside
    beyond = (
        0 if moment.groups is None else moment.groups.drawn(moment.rss_bytes)[1]
        for moment in moments
    )
    totals = tuple(snapshot.total_bytes for snapshot in snapshots)
    return Owners(quantity, labels, totals, tuple(beyond), parts, finer)


def _owners(
    division: Iterable[frozenset[str]],
    snapshots: Sequence[Snapshot],
    moments: Sequence[MomentFacts],
) -> tuple[Owner, ...]:
    owners = []
    for groups in division:
        likely = tuple(snapshot.likely.together(groups) for snapshot in snapshots)
        sizes = tuple(
            _of_ledger(moment, groups) or size for moment, size in zip(moments, likely, strict=True)
        )
        named = part_key(groups), part_name(groups, moments)
        owners.append(Owner(*named, groups, sizes, tuple(size.middle for size in sizes)))
    return tuple(owner for owner in owners if any(size.high > 0 for size in owner.sizes))


def _of_ledger(moment: MomentFacts, groups: frozenset[str]) -> Interval | None:
    """The size of a part by a snapshot's ledger; None if that has no row for it, or a bound."""
    if moment.groups is None or moment.rss_bytes is None:
        return None
    size = 0
    for row in rows_of(moment.groups.rows):
        inside = groups_of(row["group"], row["name"])
        if inside and inside <= groups and not is_at_most(moment, row["group"]):
            size += row["bytes"]
        elif not inside or inside & groups:
            return None
    return Interval.exactly(size)


def _by_ledgers(snapshots: Sequence[Snapshot], moments: Sequence[MomentFacts]) -> tuple[Owner, ...]:
    """Divide snapshots as their ledgers do; empty if RSS or a part is unknown at one of them."""
    divided = [moment.groups for moment in moments if moment.rss_bytes is not None]
    known = [groups for groups in divided if groups is not None]
    rows = rows_of(side_by_side(known)) if len(known) == len(moments) else []
    rows = [row for row in rows if not row["within"]]
    named = frozenset[str]().union(*(groups_of(row["group"], row["name"]) for row in rows))
    owners = []
    for row in rows:
        lengths = tuple(row[str(place)] for place in range(len(moments)))
        if any(map(is_unknown, lengths)):
            return ()
        groups = groups_of(row["group"], row["name"]) or ALL - named
        sizes = tuple(
            _bounds(snapshot.likely.together(groups), moment, row["group"], length)
            for snapshot, moment, length in zip(snapshots, moments, lengths, strict=True)
        )
        is_bounded = any(is_at_most(moment, row["group"]) for moment in moments)
        owners.append(Owner(row["group"], row["name"], groups, sizes, lengths, is_bounded))
    return tuple(owner for owner in owners if any(owner.lengths))


def _bounds(likely: Interval, moment: MomentFacts, group: str, length: int) -> Interval:
    """Return the bounds of a part: from the least that is likely to the most by the ledger."""
    if not is_at_most(moment, group):
        return Interval.exactly(length)
    return Interval(min(likely.low, length), most_of(moment, group))


_Shown = list[tuple[str, "Snapshot", "MomentFacts"]]


def _baseline_and_now(diagnosis: Diagnosis) -> _Shown:
    """The snapshot shown first, after its counterpart in the baseline; empty without a baseline."""
    account, baseline = diagnosis.facts.account, diagnosis.baseline
    old_account = None if baseline is None else baseline.facts.account
    if baseline is None or old_account is None or account is None:
        return []
    name = account.last.moment if diagnosis.shown_first is None else diagnosis.shown_first
    against = diagnosis.baseline_moment(name)
    before, after = old_account.of(against or ""), account.of(name)
    if before is None or after is None or old_account.quantity != account.quantity:
        return []
    label = text("{} of the baseline", MomentName(before.moment))
    return [
        (label, before, baseline.by_moment[before.moment]),
        (MomentName(name), after, diagnosis.by_moment[name]),
    ]


def _first_peak_and_last(diagnosis: Diagnosis) -> _Shown:
    """The first and the last snapshot, and the highest if it is far above both."""
    account = diagnosis.facts.account
    if account is None or account.quantity not in {"rss", "reserved"}:
        return []
    first, last = account.first, account.last
    highest = max(account.snapshots, key=lambda snapshot: snapshot.total_bytes)
    ends = max(first.total_bytes, last.total_bytes)
    is_peak = highest.total_bytes >= diagnosis.thresholds.peak_ratio * ends
    shown = [first, *([highest] if is_peak else []), *([last] if last is not first else [])]
    return [
        (MomentName(snapshot.moment), snapshot, diagnosis.by_moment[snapshot.moment])
        for snapshot in shown
    ]
