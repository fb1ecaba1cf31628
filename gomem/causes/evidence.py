"""Evidence that several causes cite: RSS and the heap's sizes at a moment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from gomem.causes.finding import Evidence

if TYPE_CHECKING:
    from gomem.facts.moment import MomentFacts


def rss_evidence(moment: MomentFacts) -> tuple[Evidence, ...]:
    """RSS, with the artefact and the field that say so; none where it is unknown."""
    ledger = moment.ledger
    if ledger is None or ledger.rss_bytes is None:
        return ()
    kind, _, field_name = ledger.rss_source.partition(" ")
    return (Evidence(moment.path(kind), field_name, ledger.rss_bytes, "B"),)


def goal_evidence(moment: MomentFacts) -> tuple[Evidence, ...]:
    """The heap goal of a moment; none where it has none."""
    goal = moment.goal
    return () if goal is None else (Evidence(goal.path, goal.field, goal.size_bytes, "B"),)


def heap_evidence(moment: MomentFacts, *fields: str) -> tuple[Evidence, ...]:
    """Sizes of MemStats by their names; none for one that is unknown."""
    heap, path = moment.heap, moment.path("memstats")
    if heap is None:
        return ()
    known = (name for name in fields if pd.notna(heap[name]))
    return tuple(Evidence(path, name, int(heap[name]), "B") for name in known)
