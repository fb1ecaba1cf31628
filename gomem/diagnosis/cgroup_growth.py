"""A cgroup's usage and its growth, broken down by memory.stat.

The limit counts the usage of the cgroup, not the RSS of a process: files in tmpfs and shared memory
are in no process's RSS unless it maps them, and the kernel cannot reclaim them; page cache it can.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gomem.analysis.memory.cgroup import (
    ANON,
    ANONYMOUS,
    CACHE,
    FILE,
    SHARED,
    first_known,
    parts_of,
    used_bytes,
)
from gomem.analysis.memory.ledger_change import MIN_BYTES
from gomem.facts.goroutines import level_of
from gomem.inputs.cgroup.parse import USED
from gomem.inputs.disk_free import lines_of_df
from gomem.text import Bytes, Command, File, Rate, Seconds, Share, Text, joined, text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gomem.capture.capture import Capture
    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.facts.moment import MomentFacts

NAMED_SHARE = 0.1  # of the usage, or of its growth: smaller parts are not named
TIMES_RSS = 2  # shared memory that is as many times RSS is mostly not in it
_WHAT_IT_IS = {
    SHARED: " The kernel cannot reclaim files in tmpfs, such as /dev/shm, or shared memory: they "
    "stay until they are removed.",
    CACHE: " The kernel reclaims page cache when it needs memory.",
}
_UNCOUNTED = "that no counter of memory.stat names"
_IS_KERNEL = " That is kernel memory (slab, kmem), if both were read at the same time."
_NAMES = {CACHE: "page cache, which the kernel can reclaim"}
EMPTY = Text()
_LIST_FILES = text(
    "List the files in tmpfs, and remove those that nobody reads: {}.",
    Command("find /dev/shm -type f -size +100k -exec ls -l {} +"),
)


@dataclass(frozen=True)
class CgroupGrowth:
    """How a cgroup's usage grew.

    Attributes:
        sentence: The growth in words, with its largest parts.
        is_held: Whether memory grew that the kernel cannot reclaim.
        is_outside: Whether most of the growth is outside of the processes' anonymous memory.
        next_step: What to do about it; empty if the files do not say.
        seen_in: The file of df that the sentence repeats; empty without one.
    """

    sentence: Text
    is_held: bool
    is_outside: bool
    next_step: Text = EMPTY
    seen_in: str = ""


def cgroup_growth(diagnosis: Diagnosis) -> CgroupGrowth | None:
    """Return the growth of the cgroup from the first snapshot to the last; None if it is small."""
    known = [(moment, parts) for moment in diagnosis.moments if (parts := _parts(moment))]
    if len(known) < 2:
        return None
    used = [used_bytes(moment.cgroup) for moment, _ in known]
    (_, before), (_, after) = known[0], known[-1]
    change = used[-1] - used[0]
    thresholds = diagnosis.thresholds
    if change < MIN_BYTES or used[-1] < thresholds.rise_ratio * used[0]:
        return None
    grown = {name: after[name] - before[name] for name in after}
    named = sorted(grown, key=lambda name: -grown[name])
    named = [name for name in named if grown[name] >= NAMED_SHARE * change]
    held = sum(max(0, size) for name, size in grown.items() if name != CACHE)
    each = (text("{} is {}", Bytes(grown[name]), name) for name in named)
    words = "The cgroup's usage grew from {} to {}{}{}"
    said = text(words, Bytes(used[0]), Bytes(used[-1]), *_in_time([m for m, _ in known], used))
    of = text("; of that growth, {}", joined(", ", each)) if named else Text()
    is_shared = bool(named) and named[0] == SHARED
    seen = _of_df(diagnosis.capture) if is_shared else ""
    more = text(" {} is {}.", File(seen), diagnosis.capture.looks[seen]) if seen else Text()
    what = _WHAT_IT_IS.get(named[0], "") if named else ""
    return CgroupGrowth(
        text("{}{}.{}{}", said, of, what, more),
        is_held=held >= max(MIN_BYTES, (thresholds.rise_ratio - 1) * used[0]),
        is_outside=grown[ANONYMOUS] < change / 2,
        next_step=_LIST_FILES if is_shared else EMPTY,
        seen_in=seen,
    )


def _of_df(capture: Capture) -> str:
    """The file with what df printed of tmpfs; empty without one."""
    names = (source.name for source in capture.passed_over if lines_of_df(source.data))
    return next((name for name in names if name in capture.looks), "")


def usage_words(facts: MomentFacts, at: Text) -> Text:
    """Say how much a cgroup uses, and of what; empty if memory.stat does not say it.

    Of one that is mostly page cache, say the processes' part: another sentence says the rest.
    """
    parts = _parts(facts)
    if not parts:
        return Text()
    parts[_UNCOUNTED] = max(0, used_bytes(facts.cgroup) - sum(parts.values()))
    if facts.is_mostly_page_cache:
        words = "The cgroup's processes use {} of anonymous memory{}."
        return text(words, Bytes(parts[ANONYMOUS]), at)
    return _by_parts(facts, parts, at)


def beyond_rss(facts: MomentFacts | None) -> tuple[Text, Text]:
    """What a cgroup uses, if most of it is shared memory that RSS lacks, and the next step.

    Both are empty if RSS is of the same size, or if memory.stat does not say it.
    """
    parts = {} if facts is None or facts.rss_is_of_cgroup else _parts(facts)
    shared = parts.get(SHARED, 0)
    if facts is None or facts.rss_bytes is None or shared < sum(parts.values()) / 2:
        return EMPTY, EMPTY
    if shared < max(MIN_BYTES, TIMES_RSS * facts.rss_bytes):
        return EMPTY, EMPTY
    return text("{}{}", _by_parts(facts, parts, EMPTY), _WHAT_IT_IS[SHARED]), _LIST_FILES


def _by_parts(facts: MomentFacts, parts: Mapping[str, int], at: Text) -> Text:
    """Say how much a cgroup uses, with its large parts."""
    used = used_bytes(facts.cgroup)
    least = "" if first_known(facts.cgroup, *USED) is not None else "at least "
    named = [name for name in parts if parts[name] >= NAMED_SHARE * used]
    named.sort(key=lambda name: -parts[name])
    each = (
        text("{} {} ({})", Bytes(parts[name]), _NAMES.get(name, name), Share(parts[name] / used))
        for name in named
    )
    of = text(": {}", joined(", ", each)) if named else Text()
    what = _IS_KERNEL if _UNCOUNTED in named else ""
    return text("The cgroup uses {}{}{}{}.{}", least, Bytes(used), at, of, what)


def _parts(facts: MomentFacts) -> dict[str, int]:
    """Return the parts of a cgroup's usage; empty without anonymous memory and page cache."""
    is_known = all(first_known(facts.cgroup, *names) is not None for names in (ANON, FILE))
    return parts_of(facts.cgroup) if is_known else {}


def _in_time(moments: Sequence[MomentFacts], used: Sequence[int]) -> tuple[Text, Text]:
    """In which time, and how fast; empty without times."""
    rise = level_of("cgroup", [(m.time, float(n)) for m, n in zip(moments, used, strict=True)]).rise
    if rise is None or not all(moment.time for moment in moments):
        return Text(), Text()
    return (
        text(" in {}", Seconds(rise.seconds)),
        text(" ({})", Rate(rise.rate, rise.low, rise.high)) * (rise.readings > 2),
    )
