"""RSS by owner at the snapshots that get a bar, all broken down into the same parts.

Bars are compared, so they have the same parts: those that all their snapshots separate. If the last
snapshot has a finer breakdown, it is shown below its bar.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gomem.analysis.memory.account import Snapshot, common_division
from gomem.analysis.memory.bounds import total
from gomem.diagnosis.part_words import part_key, part_name
from gomem.text import MomentName, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gomem.analysis.memory.bounds import Interval
    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.facts.moment import MomentFacts


@dataclass(frozen=True)
class Owner:
    """A part of memory, or several that cannot be separated.

    Attributes:
        key: Its group, or its groups joined by `+`.
        name: Its name in sentences.
        sizes: Its likely bounds at each snapshot, in bytes.
    """

    key: str
    name: str
    sizes: tuple[Interval, ...]

    @property
    def change_bytes(self) -> float:
        """Approximate growth from the first snapshot to the last."""
        return self.sizes[-1].middle - self.sizes[0].middle

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
    finer = {
        part_key(groups): inside
        for groups in division
        if len(
            inside := _owners([part for part in finest if part < groups], snapshots[-1:], moments)
        )
        > 1
    }
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
    owners = (
        Owner(
            part_key(groups),
            part_name(groups, moments),
            tuple(snapshot.likely.together(groups) for snapshot in snapshots),
        )
        for groups in division
    )
    return tuple(owner for owner in owners if any(size.high > 0 for size in owner.sizes))


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
