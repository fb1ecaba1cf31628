"""Can the files show that a process is healthy?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gomem.analysis.memory.groups import UNDIVIDED
from gomem.analysis.memory.readings import ALL
from gomem.analysis.series.level import Level
from gomem.causes.collecting import (
    collector_is_busy,
    cost_is_open,
    costlier_since_start,
    costs_at_a_pace,
    grew_at_each,
)
from gomem.diagnosis.few_fields import heap_level, step_of
from gomem.diagnosis.goal_ahead import goal_ahead
from gomem.diagnosis.live_by_fields import risen_without_gc, was_as_large_before
from gomem.diagnosis.live_level import level_at_end
from gomem.diagnosis.observations import goal_reached_words, grew, level_since
from gomem.diagnosis.said_in_text import is_within
from gomem.diagnosis.swings import lows_of_swings
from gomem.facts.live_heap import heap_needs_of
from gomem.facts.profiles import IN_USE, that_count
from gomem.facts.told_beside import texts_beside
from gomem.inputs.kubernetes import tells_of_kills
from gomem.inputs.measurements import has_series
from gomem.text import File, Text, text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gomem.capture.capture import Capture
    from gomem.causes.thresholds import Thresholds
    from gomem.diagnosis.diagnosis import Diagnosis

LEVEL = ("flat", "decline")  # shapes
THIN = "data-thin"  # a finding: insufficient evidence for another
MIN_READINGS = 3  # readings of RSS, or GCs, for a verdict other than the current state


def can_be_healthy(diagnosis: Diagnosis) -> bool:
    """Return whether a problem would show: in a log that is long enough, or in RSS over time.

    A problem that shows, but in too little evidence to decide, is open.
    """
    facts, limits = diagnosis.facts, diagnosis.thresholds
    if series_not_read(diagnosis.capture) or collector_is_busy(facts, limits):
        return False
    log, least = diagnosis.collector, limits.healthy_log_seconds
    is_log_open = log is not None and (
        costlier_since_start(log, limits) is not None
        or costs_at_a_pace(log, limits)
        or grew_at_each(log)  # a start-up, or a leak
    )
    is_thin = any(each.code == THIN for each in diagnosis.findings)
    if is_log_open or is_thin or cost_is_open(facts, limits):
        return False
    if risen_without_gc(diagnosis) or is_told_otherwise(diagnosis) or ends_at_a_jump(diagnosis):
        return False
    if log is not None and log.cost.cycles >= MIN_READINGS and log.cost.seconds >= least:
        return True
    is_alone = len(diagnosis.moments) == 1 and diagnosis.baseline is None
    if is_alone or not shows_rss(diagnosis) or is_at_its_highest(diagnosis):
        return False
    return is_accounted_for(diagnosis)


def is_told_otherwise(diagnosis: Diagnosis) -> bool:
    """Whether a text says that memory ran out, or gives a limit that RSS is near."""
    capture = diagnosis.capture
    if any(tells_of_kills(data) for data in texts_beside(capture).values()):
        return True
    last = diagnosis.moments[-1] if diagnosis.moments else None
    unit, near = capture.unit, diagnosis.thresholds.limit_near_fraction
    if unit is None or not unit.bytes or last is None or not is_within(unit, last):
        return False
    return last.rss_bytes is not None and last.rss_bytes >= near * unit.bytes


def ends_at_a_jump(diagnosis: Diagnosis) -> bool:
    """Whether the live heap rose far above what it was, and no reading shows that it is level."""
    live, log, limits = diagnosis.facts.live_heap, diagnosis.collector, diagnosis.thresholds
    if live is not None and not live.level.is_rough:
        before, last = float(np.median(live.level.values)), float(live.level.values[-1])
    elif live is None and log is not None:  # of a few collections
        before, last = log.cost.heap_live_first_bytes or 0, log.cost.heap_live_last_bytes or 0
    else:
        return False
    is_far = last >= limits.jump_ratio * before and last - before >= limits.spike_bytes
    return is_far and (live is None or level_at_end(live.level) is None)


def is_at_its_highest(diagnosis: Diagnosis) -> bool:
    """Whether the total rose, is about as high as it ever was, and has not been level since.

    MemStats would say what rose: live heap, or garbage.
    """
    facts, account = diagnosis.facts, diagnosis.facts.account
    if account is None or len(account.snapshots) < MIN_READINGS:
        return False
    if account.is_timed and level_since(account):
        return False
    last = facts.by_moment.get(account.last.moment)  # none has a log's collection
    if last is not None and last.memstats is not None:
        return False
    sizes = account.level(ALL).since_start.values
    if goal_reached_words(diagnosis):  # with garbage, by a log; fields leave it open
        return goal_ahead(account, facts) is not None
    if sizes[-1] < sizes.max() / diagnosis.thresholds.rise_ratio:
        return False  # it came back
    return diagnosis.thresholds.has_grown(int(sizes[0]), int(sizes[-1]))


def is_accounted_for(diagnosis: Diagnosis) -> bool:
    """Whether files say what most of the last RSS is: its parts, or live objects and their room.

    RSS that stays at one level can still be a cache that was emptied, or C's. Without RSS, what Go
    reserved must at least be known twice.
    """
    facts, limits = diagnosis.facts, diagnosis.thresholds
    account = facts.account
    if account is None or account.quantity != "rss":
        return account is None or len(account.snapshots) > 1
    last, rss = facts.by_moment[account.last.moment], account.last.total_bytes
    unknown = rss if last.groups is None else last.groups.sizes.get(UNDIVIDED, 0)
    if last.rss_is_of_cgroup and last.is_mostly_page_cache:
        return True
    most = max((need.most_bytes for need in heap_needs_of(facts)), default=0.0)
    return unknown - most <= limits.most_share * rss


def shows_no_growth(diagnosis: Diagnosis) -> bool:
    """Whether several readings show that the total has not grown, or grows no longer.

    Without a total, a program's log or a container's readings can show it.
    """
    account = diagnosis.facts.account
    is_open = bool(risen_without_gc(diagnosis)) and not was_as_large_before(diagnosis)
    if grew(diagnosis) or series_not_read(diagnosis.capture) or is_open:
        return False
    if account is None or len(account.snapshots) < MIN_READINGS:
        return _other_levels_stay(diagnosis)
    seconds = (account.last.seconds or 0.0) - (account.first.seconds or 0.0)
    if account.is_timed and seconds < diagnosis.thresholds.healthy_log_seconds:
        return False
    return not is_at_its_highest(diagnosis)


def series_not_read(capture: Capture) -> list[str]:
    """Return the files of no known form that have a series of sizes of memory."""
    unread = {*capture.unread_evidence}
    return [
        source.name
        for source in capture.passed_over
        if source.name in unread and has_series(source.data, source.name)
    ]


def unread_series_words(capture: Capture) -> Text:
    """Say which file can show growth and was not read; empty if there is none."""
    names = series_not_read(capture)
    if not names:
        return Text()
    words = "{} has a series of sizes that gomem does not read: it can show whether memory grows."
    return text(words, File(names[0]))


def shows_rss(diagnosis: Diagnosis) -> bool:
    """Return whether RSS is broken down, or has enough readings to show that it does not grow.

    A single reading of MemStats is not enough: it shows neither growth nor RSS.
    """
    own = [moment for moment in diagnosis.moments if not moment.rss_is_listed]
    if len(own) == 1 and own[0].rss_bytes is None and own[0].mappings is None:
        return False
    divided = any(moment.memstats is not None or moment.mappings is not None for moment in own)
    readings = sum(moment.rss_bytes is not None for moment in diagnosis.moments)
    return diagnosis.owners is not None and (divided or readings >= MIN_READINGS)


# Sizes other than RSS: the heap that a log has, and containers' working sets


def _other_levels_stay(diagnosis: Diagnosis) -> bool:
    """Whether at least one size has several readings, and no size, nor any number, has grown."""
    limits = diagnosis.thresholds
    containers = (container.sizes for container in diagnosis.facts.containers)
    known = [(sizes, 1) for sizes in containers if len(sizes) >= MIN_READINGS]
    heap = heap_level(diagnosis)
    if heap is not None and len(heap[1]) >= MIN_READINGS:
        name, stats = heap
        known.append((tuple(map(int, stats[name])), step_of(diagnosis.capture, name)))
    profiles = that_count(IN_USE, diagnosis.capture.heap_profiles).values()
    in_use = [profile.total(IN_USE) for profile in profiles]
    counts = [count.goroutines for count in diagnosis.facts.goroutine_counts]
    is_more = bool(counts) and counts[-1] >= limits.goroutine_growth_ratio * counts[0]
    if not known or (is_more and bool(counts[1:])):
        return False
    has_more = bool(in_use) and limits.has_grown(in_use[0], in_use[-1])
    return not has_more and all(stays(sizes, limits, step) for sizes, step in known)


def stays(sizes: Sequence[int], limits: Thresholds, step: int = 1) -> bool:
    """Whether sizes stay at a level, or swing about one whose lows do not rise.

    Sizes rounded to a step can differ by one step and be the same.
    """
    if max(sizes) - min(sizes) <= step:
        return True
    lows = lows_of_swings(sizes, limits.rise_ratio)
    if lows and not limits.has_grown(sizes[0], int(lows[-1])):
        return True  # it falls to what it was at first
    rise = Level("", np.arange(len(sizes), dtype=float), np.array(sizes, float)).rise
    if rise is None or limits.has_grown(int(rise.first), int(rise.last)):
        return False
    half = len(sizes) // 2
    if rise.shape == "saw-tooth":
        return not limits.has_grown(min(sizes[:half]), min(sizes[half:]))
    return rise.shape in LEVEL
