"""What does the memory consist of, and what changed? Arithmetic on the account.

An observation is a measured fact, whether or not anything is wrong. gomem reports every change of
at least 8 MiB and a fifth of the level, with its size, its shape and its holder. Findings judge
observations, and are kept separate. Whether a change of the total may be growth is asked here, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gomem.analysis.memory.groups import GARBAGE
from gomem.analysis.memory.ledger_change import MIN_BYTES, MIN_SHARE
from gomem.analysis.memory.readings import ALL
from gomem.causes.checks import grows
from gomem.causes.goroutines import where_words
from gomem.causes.sites import changed_sites, share_words
from gomem.diagnosis.changes import change_words, is_stable
from gomem.diagnosis.goal_ahead import goal_ahead
from gomem.diagnosis.level_at_end import alike_at_the_end, peak_and_level
from gomem.diagnosis.part_words import level_words, part_name
from gomem.facts.profiles import ALLOCATED, IN_USE, that_count
from gomem.text import Bytes, Count, MomentName, Rate, Seconds, Text, text
from gomem.units import MIB

if TYPE_CHECKING:
    from gomem.analysis.memory.account import Account, Part, Snapshot
    from gomem.analysis.series.level import Rise
    from gomem.causes.cause import Case
    from gomem.causes.thresholds import Thresholds
    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.facts.moment import MomentFacts
    from gomem.inputs.pprof.table import Profile

MOVED_SHARE, MOVED_BYTES = 0.2, 8 * MIB  # of the level, and in bytes; a change must exceed both
GOROUTINES_MOVED, GOROUTINES_RATIO = 100, 1.5
MIN_SECONDS = 1.0  # between moments; shorter intervals give no rate
MIN_READINGS = 3  # for a shape and a direction


@dataclass(frozen=True)
class Observation:
    """A measured fact, with its numbers.

    Attributes:
        sentence: The fact in words.
        group: The subject: groups of the account joined by `+`, or `in_use`, or `goroutines`.
        change_low: Minimum growth, in bytes or goroutines.
        change_high: Maximum growth.
        shape: One of `shapes.SHAPES`; empty for fewer than three readings.
        moment: The last snapshot that shows the fact; None if no snapshot does.
    """

    sentence: Text
    group: str
    change_low: float
    change_high: float
    shape: str
    moment: str | None


def observations(case: Case) -> tuple[Observation, ...]:
    """Return all reportable changes, the total first."""
    account = case.facts.account
    return (
        *(() if account is None or account.quantity == "in_use" else _of_account(account, case)),
        *_of_in_use(case),
        *_of_goroutines(case),
    )


# From the account


def _of_account(account: Account, case: Case) -> list[Observation]:
    if len(account.snapshots) < 2:
        return []
    change = float(account.change_bytes)
    whole = Observation(
        whole_words(account, case),
        "+".join(sorted(ALL)),
        change,
        change,
        _shape(whole_rise(account)),
        account.last.moment,
    )
    parts = (part for part in account.parts if account.parts[1:] and _has_moved(part))
    return [whole, *(_of_part(part, account, case) for part in parts)]


def _has_moved(part: Part) -> bool:
    level = max(part.before.middle, part.after.middle)
    return part.change.surely_moves and abs(part.change.middle) >= max(
        MOVED_SHARE * level, MOVED_BYTES
    )


def _of_part(part: Part, account: Account, case: Case) -> Observation:
    rise = account.rise(part.groups)
    sentence = text(
        "{} {} from {} to {}{}{}",
        part_name(part.groups, case.facts.moments),
        "grew" if part.change.middle > 0 else "fell",
        level_words(part.before),
        level_words(part.after),
        _within(account),
        _still(rise, account),
    )
    return Observation(
        sentence.sentence(),
        "+".join(sorted(part.groups)),
        part.change.low,
        part.change.high,
        _shape(rise),
        account.last.moment,
    )


def whole_rise(account: Account) -> Rise | None:
    """The rise of the total since the program had started; None without two times."""
    return account.level(ALL).since_start.rise


def _shape(rise: Rise | None) -> str:
    return "" if rise is None or rise.readings < MIN_READINGS else rise.shape


def _still(rise: Rise | None, account: Account) -> Text:
    """Say that growth continues to the end, with its rate if the moments have times."""
    if rise is None or rise.readings < MIN_READINGS or not rise.goes_on or rise.shape != "ramp":
        return Text()
    if _has_levelled_off(account):
        return Text()
    is_timed = account.is_timed
    rate = text(" ({})", Rate(rise.rate, rise.low, rise.high)) if is_timed else ""
    return text(" and is still growing{}", rate)


def level_since(account: Account) -> Text:
    """Say for how long the total has been stable, if several snapshots at the end show that."""
    stable = alike_at_the_end(account.snapshots, is_stable)
    last, since = account.last, account.snapshots[-stable]
    if account.change_bytes <= 0 or stable < MIN_READINGS or stable == len(account.snapshots):
        return Text()
    if since.seconds is None or last.seconds is None or not account.is_timed:
        return text(", and has been level since {}", MomentName(since.moment))
    if last.seconds - since.seconds < MIN_SECONDS:
        return Text()
    return text(", and has been level for {}", Seconds(last.seconds - since.seconds))


def _has_levelled_off(account: Account) -> bool:
    """Whether the total was stable at the end, and grew by less than half of its usual step."""
    before, last = account.snapshots[-2:]
    values = account.level(ALL).since_start.values
    usual = (values[-1] - values[0]) / (len(values) - 1)
    return is_stable(before, last) and last.total_bytes - before.total_bytes < usual / 2


def _within(account: Account) -> Text:
    first, last = account.first.seconds, account.last.seconds
    if first is None or last is None or last - first < MIN_SECONDS:
        return Text()
    return text(" in {}", Seconds(last - first))


def whole_words(account: Account, case: Case) -> Text:
    """How the total changed from first to last snapshot, and which parts explain the change."""
    first, last = account.first, account.last
    has_moved = abs(account.change_bytes) >= MIN_BYTES
    direction = _still(whole_rise(account), account) or level_since(account)
    return change_words(
        account.quantity,
        first,
        last,
        account.parts,
        case.facts.moments,
        before=text("at {}", MomentName(first.moment)),
        meanwhile=_within(account) + direction * (has_moved and not _is_garbage(account, case)),
        peak=_between(account, case.thresholds.peak_ratio),
    )


def _is_garbage(account: Account, case: Case) -> bool:
    """Whether most of a rise was allocated since the last GC: it ends at the heap goal."""
    if goal_ahead(account, case.facts) is not None:
        return True
    garbage = (part.change.low for part in account.parts if part.groups == frozenset({GARBAGE}))
    return sum(garbage) > case.thresholds.most_share * account.change_bytes > 0


def moves(account: Account, case: Case) -> bool:
    """Whether the total changed from first to last snapshot, or peaked in between."""
    peak = _between(account, case.thresholds.peak_ratio)
    return bool(peak) or not is_stable(account.first, account.last)


def _between(account: Account, ratio: float) -> Text:
    """The highest or lowest snapshot between the first and the last, if it is far off both."""
    by_size = sorted(account.snapshots, key=lambda snapshot: snapshot.total_bytes)
    ends = account.first.total_bytes, account.last.total_bytes
    lowest, highest = by_size[0], by_size[-1]
    if highest.total_bytes >= max(ratio * max(ends), max(ends) + MOVED_BYTES):
        return text(" (peak {} at {})", Bytes(highest.total_bytes), MomentName(highest.moment))
    if lowest.total_bytes <= min(min(ends) / ratio, min(ends) - MOVED_BYTES):
        return text(" (only {} at {})", Bytes(lowest.total_bytes), MomentName(lowest.moment))
    return Text()


# From profiles and goroutines


def _of_in_use(case: Case) -> list[Observation]:
    """In-use heap in the first and the last profile, and who has more."""
    profiles = [*that_count(IN_USE, case.facts.profiles.in_order).items()]
    if len(profiles) < 2:
        return []
    (start, first), (moment, last) = profiles[0], profiles[-1]
    before, after = first.total(IN_USE), last.total(IN_USE)
    change = after - before
    if abs(change) < _notable(before, after):
        return []
    reached, there = profiles[-_level_at_the_end(profiles)]
    seconds, since = _seconds_between(first, there), _seconds_between(there, last)
    sites = changed_sites(case) if change > 0 else ()
    whose = Text()
    if sites:
        whose = text(", {} from {}", share_words(sites[0].share, case.thresholds), sites[0].words)
    level = text(", and was then level for {}", Seconds(since)) if since > 0 else Text()
    sentence = text(
        "{}from {} to {}{}, inuse_space {} from {} to {}{}{} (heap profiles show the heap up to "
        "two GCs earlier)",
        "" if case.baseline is None else "within this capture, ",
        MomentName(start),
        MomentName(reached),
        text(" ({})", Seconds(seconds)) if seconds > 0 else "",
        "rose" if change > 0 else "fell",
        Bytes(before),
        Bytes(after),
        whose,
        level,
    )
    return [Observation(sentence.sentence(), "in_use", change, change, "", moment)]


def _notable(before: int, after: int) -> float:
    """The least change of a level, in bytes, that is worth a sentence."""
    return max(MOVED_SHARE * max(before, after), MOVED_BYTES)


def _level_at_the_end(profiles: list[tuple[str, Profile]]) -> int:
    """How many profiles at the end show one level, if a GC has run between them."""

    def is_alike(earlier: Profile, last: Profile) -> bool:
        level = last.total(IN_USE)
        return abs(level - earlier.total(IN_USE)) < max(MIN_BYTES, MIN_SHARE * level)

    in_order = [profile for _, profile in profiles]
    stable = alike_at_the_end(in_order, is_alike)
    return stable if _is_later(in_order[-stable], in_order[-1]) else 1


def _is_later(earlier: Profile, last: Profile) -> bool:
    """Whether a GC has run between two profiles: what was allocated is as of a GC, too."""
    counted = that_count(ALLOCATED, {"earlier": earlier, "last": last})
    return len(counted) == 2 and last.total(ALLOCATED) > earlier.total(ALLOCATED)


def _seconds_between(earlier: Profile, later: Profile) -> float:
    return (later.columns.time_nanos - earlier.columns.time_nanos) / 1e9


def _of_goroutines(case: Case) -> list[Observation]:
    """How the number of goroutines changed, and where they wait."""
    counts = case.facts.goroutine_counts
    if len(counts) < 2:
        return []
    before, after = counts[0].goroutines, counts[-1].goroutines
    change = after - before
    larger, smaller = max(before, after), max(1, min(before, after))
    if abs(change) < GOROUTINES_MOVED or larger < GOROUTINES_RATIO * smaller:
        return []
    growth = case.facts.goroutines
    seconds = None if growth.count is None else growth.count.seconds
    within = Text()
    if seconds and case.facts.goroutines_are_timed:
        a_second = text(" ({} a second)", Count(round(change / seconds))) if change > 0 else ""
        within = text(" in {}{}", Seconds(seconds), a_second)
    sentence = text(
        "Goroutines {} from {} to {}{}{}{}",
        "rose" if change > 0 else "fell",
        Count(before),
        Count(after),
        within,
        peak_and_level(counts),
        where_words(growth.waiting, case.thresholds) if change > 0 else "",
    )
    return [Observation(sentence.sentence(), "goroutines", change, change, "", counts[-1].moment)]


# How the total changed, since the baseline or the first snapshot, and whether it may be growth


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
    """The change of the memory reserved by Go, if no file has RSS; whether it may be growth.

    Since the baseline, unless the capture itself shows a change.
    """
    account, against = diagnosis.facts.account, diagnosis.change_against_baseline
    if against is not None and against.ends is not None and not (account and account.snapshots[1:]):
        rose = _rose(*against.ends, diagnosis.thresholds, more=_headroom(against.earlier))
        return against.sentence, rose
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
    """Say that RSS is below the heap goal, if it grew and the live heap did not."""
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
    """The last goal, if no MemStats divide RSS, and all that came since can be garbage.

    By some of their fields, or because RSS is about the log's goal or less.
    """
    facts, limits = diagnosis.facts, diagnosis.thresholds
    account, log, live = facts.account, facts.collector, facts.live_heap
    if account is not None and (ahead := goal_ahead(account, facts)) is not None:
        return ahead
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


def _headroom(moment: MomentFacts) -> float:
    """How far the heap would have grown until its next GC."""
    goal, allocated = (moment.told(name) for name in ("NextGC", "HeapAlloc"))
    return 0.0 if goal is None or allocated is None else max(0.0, goal - allocated)


def _rose(before: Snapshot, after: Snapshot, thresholds: Thresholds, *, more: float = 0.0) -> bool:
    """Whether the total rose; by `more`, it rises without growing."""
    change = after.total_bytes - before.total_bytes - more
    is_large = change >= max(MIN_BYTES, MIN_SHARE * before.total_bytes)
    return is_large and after.total_bytes >= thresholds.rise_ratio * before.total_bytes


def is_total_stable(diagnosis: Diagnosis) -> bool:
    """Whether the capture, without a baseline, shows about the same total at every snapshot."""
    account = diagnosis.facts.account
    if diagnosis.baseline is not None or account is None or not account.snapshots[1:]:
        return False
    return not moves(account, diagnosis.case)
