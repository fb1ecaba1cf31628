"""How the total changed, since the baseline or the first snapshot, and whether it may be growth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.analysis.memory.ledger_change import MIN_BYTES, MIN_SHARE
from gomem.diagnosis.observations import MIN_READINGS, moves, whole_rise, whole_words

if TYPE_CHECKING:
    from gomem.analysis.memory.account import Account, Snapshot
    from gomem.causes.thresholds import Thresholds
    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.facts.moment import MomentFacts


def moved_words(diagnosis: Diagnosis, facts: MomentFacts) -> tuple[str, bool]:
    """How RSS changed since the baseline or the first moment; whether that may be growth."""
    name = diagnosis.baseline_moment(facts.name)
    change = None if name is None else diagnosis.change_from_baseline(name, facts.name)
    if change is not None and change.ends is not None:
        return change.sentence, _rose(*change.ends, diagnosis.thresholds)
    account = diagnosis.facts.account
    last = None if account is None else account.of(facts.name)
    if account is None or last is None or len(account.snapshots) < 2:
        return "", False
    return whole_words(account, diagnosis.case), _grew(account, last, diagnosis.thresholds)


def reserved_words(diagnosis: Diagnosis) -> tuple[str, bool]:
    """The change of the memory reserved by Go, if no file has RSS; whether it may be growth."""
    account = diagnosis.facts.account
    if account is None or account.quantity != "reserved" or not account.snapshots[1:]:
        return "", False
    grew = _grew(account, account.last, diagnosis.thresholds)
    return whole_words(account, diagnosis.case), grew


def grew(diagnosis: Diagnosis) -> bool:
    """Whether the total of a capture may be growing."""
    account = diagnosis.facts.account
    return account is not None and _grew(account, account.last, diagnosis.thresholds)


def _grew(account: Account, last: Snapshot, thresholds: Thresholds) -> bool:
    """Whether the total rose by a fifth, unless enough snapshots show that the rise has stopped."""
    rise = whole_rise(account)
    has_stopped = rise is not None and rise.readings >= MIN_READINGS and not rise.goes_on
    return _rose(account.first, last, thresholds) and not has_stopped


def _rose(before: Snapshot, after: Snapshot, thresholds: Thresholds) -> bool:
    change = after.total_bytes - before.total_bytes
    is_large = change >= max(MIN_BYTES, MIN_SHARE * before.total_bytes)
    return is_large and after.total_bytes >= thresholds.rise_ratio * before.total_bytes


def is_total_stable(diagnosis: Diagnosis) -> bool:
    """Whether the capture, without a baseline, shows about the same total at every snapshot."""
    account = diagnosis.facts.account
    if diagnosis.baseline is not None or account is None or not account.snapshots[1:]:
        return False
    return not moves(account, diagnosis.case)
