"""RSS that grows by more than the heap of a GC log can have: memory outside Go's heap.

A log from the process's start shows the largest heap that there ever was. Without the beginning,
an earlier heap can have been larger; then RSS must still rise at the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.analysis.collector.steps import pieces_of
from gomem.causes.evidence import known, rss_evidence
from gomem.causes.finding import Finding, Severity
from gomem.text import Bytes, Text, text

if TYPE_CHECKING:
    from gomem.analysis.collector.steps import Cycles
    from gomem.analysis.memory.account import Account
    from gomem.causes.case import Case
    from gomem.causes.cause import Cause

SIZES, STACKS = ("heap_at_mark_end_bytes", "heap_goal_bytes"), "stacks_bytes"


def beyond_log(
    case: Case, cause: Cause, account: Account, files: float, *, least: float, next_step: Text
) -> list[Finding]:
    """Return a finding if most of the rise of RSS is beyond files and the log's largest heap."""
    facts, limits, log = case.facts, case.thresholds, case.facts.collector
    first, last = (facts.by_moment[end.moment] for end in (account.first, account.last))
    if log is None or last.any_memstats is not None:
        return []
    is_whole, heap, stacks = _largest(log.cycles)
    rise = facts.rss_level.rise
    if not heap or (not is_whole and (rise is None or not rise.goes_on)):
        return []
    beyond = account.change_bytes - files - limits.rise_ratio * (heap + stacks)
    if beyond < max(least, limits.most_share * account.change_bytes):
        return []
    words = (
        "Memory outside Go's heap (C, mmap or page cache) grows: about {} of the {} rise in RSS is "
        "more than the log's largest heap, {}"
    )
    return [
        cause.finding(
            Severity.WARNING,
            text(words, Bytes(round(beyond)), Bytes(account.change_bytes), Bytes(heap)),
            moment=last.name,
            size=round(beyond),
            evidence=(
                *rss_evidence(first),
                *rss_evidence(last),
                *known(log.path, "B", {"largest heap or goal": heap}),
            ),
            next_step=next_step,
            confidence="possible",
        )
    ]


def _largest(cycles: Cycles) -> tuple[bool, int, int]:
    """Whether the log has its last process's first GC; its largest heap or goal, and stacks."""
    number, first, sizes = -1, 0, dict.fromkeys((*SIZES, STACKS), 0)
    for piece in pieces_of(cycles, ["run", "number", *sizes]):
        for run, rows in piece.groupby("run", sort=False):
            if run != number:
                number, first = int(str(run)), int(rows["number"].iloc[0])
                sizes = dict.fromkeys(sizes, 0)
            known = rows[[*sizes]].max().fillna(0)
            sizes = {name: max(size, int(known[name])) for name, size in sizes.items()}
    return first == 1, max(sizes[name] for name in SIZES), sizes[STACKS]
