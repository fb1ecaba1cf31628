"""RSS that grows by more than the heap of a GC log can have: memory outside Go's heap.

A log from the process's start shows the largest heap that there ever was. Without the beginning,
an earlier heap can have been larger; then RSS must still rise at the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from gomem.causes.evidence import known, rss_evidence
from gomem.causes.finding import Finding, Severity
from gomem.text import Bytes, Text, text

if TYPE_CHECKING:
    from gomem.analysis.memory.account import Account
    from gomem.causes.case import Case
    from gomem.causes.cause import Cause

SIZES = ("heap_at_mark_end_bytes", "heap_goal_bytes")


def beyond_log(
    case: Case, cause: Cause, account: Account, files: float, *, least: float, next_step: Text
) -> list[Finding]:
    """Return a finding if most of the rise of RSS is beyond files and the log's largest heap."""
    facts, limits, log = case.facts, case.thresholds, case.facts.collector
    first, last = (facts.by_moment[end.moment] for end in (account.first, account.last))
    if log is None or last.any_memstats is not None:
        return []
    rows = log.cycles[["run", "number", *SIZES, "stacks_bytes"]]
    rows = rows[rows["run"] == rows["run"].max()]
    heap = rows[[*SIZES]].max().max()
    if pd.isna(heap):
        return []
    rise = facts.rss_level.rise
    is_whole = int(rows["number"].iloc[0]) == 1
    if not is_whole and (rise is None or not rise.goes_on):
        return []
    stacks = rows["stacks_bytes"].max()
    most = int(heap) + (0 if pd.isna(stacks) else int(stacks))
    beyond = account.change_bytes - files - limits.rise_ratio * most
    if beyond < max(least, limits.most_share * account.change_bytes):
        return []
    words = (
        "Memory outside Go's heap (C, mmap or page cache) grows: about {} of the {} rise in RSS is "
        "more than the log's largest heap, {}"
    )
    return [
        cause.finding(
            Severity.WARNING,
            text(words, Bytes(round(beyond)), Bytes(account.change_bytes), Bytes(int(heap))),
            moment=last.name,
            size=round(beyond),
            evidence=(
                *rss_evidence(first),
                *rss_evidence(last),
                *known(log.path, "B", {"largest heap or goal": int(heap)}),
            ),
            next_step=next_step,
            confidence="possible",
        )
    ]
