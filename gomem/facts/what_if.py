"""The input of `what_if` from a capture: settings, non-heap memory, the container's limit."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gomem.analysis.memory.limits import advise_gomemlimit
from gomem.analysis.what_if.grid import MemoryNow
from gomem.analysis.what_if.what_if import Asked, WhatIf, what_if
from gomem.facts.settings import ASSUMED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gomem.facts.capture import CaptureFacts
    from gomem.facts.moment import MomentFacts

CGROUP = "the cgroup of the capture"
SIZES = ["HeapInuse", "HeapReleased", "HeapSys", "HeapAlloc", "Sys", "MSpanSys", "GCSys"]


def what_if_of(facts: CaptureFacts, asked: Asked) -> WhatIf | None:
    """Answer `what_if` for a capture's log, with the data of its snapshots; None without a log.

    Without a given container size, the cgroup's limit is used, if the capture has one.
    """
    if facts.collector is None:
        return None
    gogc = facts.settings.gogc
    is_known = gogc.known_by != ASSUMED and gogc.is_constant
    return what_if(
        facts.collector.cycles,
        facts.go_version,
        gogc_fraction=float(gogc.value) if is_known else None,
        memory_limit_bytes=facts.collector.memory_limit_bytes,
        memory=_memory_now(facts.moments),
        asked=_for_container(asked, facts.moments),
    )


def _memory_now(moments: Sequence[MomentFacts]) -> MemoryNow | None:
    """Return the memory at the last snapshot with MemStats."""
    for facts in reversed(moments):
        row = facts.memstats
        if row is not None and not row.reindex(SIZES).isna().any():
            size = {name: int(row[name]) for name in SIZES}
            return MemoryNow(
                retained_bytes=size["HeapSys"] - size["HeapReleased"],
                beside_bytes=size["Sys"] - size["HeapSys"],
                growing_bytes=size["MSpanSys"] + size["GCSys"],
                slack_bytes=size["HeapInuse"] - size["HeapAlloc"],
                heap_sys_bytes=size["HeapSys"],
                rss_bytes=facts.rss_bytes,
            )
    return None


def _for_container(asked: Asked, moments: Sequence[MomentFacts]) -> Asked:
    """Add the container's size, and a GOMEMLIMIT that leaves room for memory outside Go."""
    limit, source = asked.container_bytes, asked.container_source
    if limit is None:
        told = [moment.cgroup_use for moment in moments if moment.cgroup_use is not None]
        if not told or told[-1].limit_bytes is None:
            return asked
        limit, source = told[-1].limit_bytes, CGROUP
    steps = None
    for facts in reversed(moments):
        if facts.ledger is not None and facts.rss_bytes is not None and facts.mappings is not None:
            advice = advise_gomemlimit(
                limit, facts.ledger.parts, facts.rss_bytes, facts.cgroup_use, source
            )
            steps = advice.steps
            break
    return replace(asked, container_bytes=limit, container_source=source, steps=steps)
