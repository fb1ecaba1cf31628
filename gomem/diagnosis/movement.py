"""How the total changed, since the baseline or the first snapshot, and whether it may be growth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.analysis.memory.ledger_change import MIN_BYTES, MIN_SHARE
from gomem.causes.checks import grows
from gomem.diagnosis.observations import MIN_READINGS, moves, whole_rise, whole_words
from gomem.text import Bytes, Text, text

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
    may_grow = _goal_above(diagnosis) is None and _grew(account, last, diagnosis.thresholds)
    return whole_words(account, diagnosis.case), may_grow


def reserved_words(diagnosis: Diagnosis) -> tuple[str, bool]:
    """The change of the memory reserved by Go, if no file has RSS; whether it may be growth."""
    account = diagnosis.facts.account
    if account is None or account.quantity != "reserved" or not account.snapshots[1:]:
        return "", False
    may_grow = _grew(account, account.last, diagnosis.thresholds)
    return whole_words(account, diagnosis.case), may_grow


def grew(diagnosis: Diagnosis) -> bool:
    """Whether the total of a capture may be growing."""
    account = diagnosis.facts.account
    if account is None or _goal_above(diagnosis) is not None:
        return False
    return _grew(account, account.last, diagnosis.thresholds)


def goal_reached_words(diagnosis: Diagnosis) -> Text:
    """Say that RSS is below the log's heap goal, if it grew and the live heap did not."""
    account, goal = diagnosis.facts.account, _goal_above(diagnosis)
    limits = diagnosis.thresholds
    if account is None or goal is None or not _rose(account.first, account.last, limits):
        return Text()
    words = (
        "The next GC starts when the heap reaches its goal of {}; until then garbage alone can "
        "raise RSS."
    )
    return text(words, Bytes(goal))


def _goal_above(diagnosis: Diagnosis) -> int | None:
    """The last goal in the log, if no MemStats divide RSS, which is about the goal or less."""
    facts, limits = diagnosis.facts, diagnosis.thresholds
    account, log, live = facts.account, facts.collector, facts.live_heap
    if account is None or account.quantity != "rss" or log is None or live is None:
        return None
    if facts.by_moment[account.last.moment].memstats is not None:
        return None
    goal = log.cost.heap_goal_bytes
    if goal is None or grows(diagnosis.case):
        return None
    return goal if account.last.total_bytes <= limits.rise_ratio * goal else None


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
