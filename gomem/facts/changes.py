"""What moved between two moments, of one capture or of two."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from gomem.analysis.mappings.changes import match_mappings
from gomem.analysis.memory.ledger import PART_OF_KIND
from gomem.analysis.memory.ledger_change import LedgerChange, change_ledger

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from gomem.facts.moment import MomentFacts


@dataclass(frozen=True)
class Change:
    """From one moment to another, of one capture or of two.

    Attributes:
        before: The earlier moment, or the baseline's.
        after: The later one.
        ledger: What moved, part by part, with the verdict.
        mappings: Mappings matched; None if one side has no smaps.
    """

    before: str
    after: str
    ledger: LedgerChange
    mappings: pd.DataFrame | None


def change_between(
    before: MomentFacts, after: MomentFacts, *, same_process: bool | None = None
) -> Change | None:
    """Compare two moments; None if one of them has no ledger.

    Args:
        before: The earlier one, or the baseline's.
        after: The later one.
        same_process: Whether addresses mean the same on both sides; None to find out.
    """
    if before.ledger is None or after.ledger is None:
        return None
    both = before.mappings is not None and after.mappings is not None
    return Change(
        before.name,
        after.name,
        change_ledger(
            before.ledger.parts,
            after.ledger.parts,
            before.rss_bytes,
            after.rss_bytes,
            zero_where_absent=frozenset(PART_OF_KIND.values()) if both else frozenset(),
        ),
        match_mappings(before.mappings, after.mappings, same_process=same_process)
        if before.mappings is not None and after.mappings is not None
        else None,
    )


def changes_over_time(moments: Sequence[MomentFacts]) -> tuple[Change, ...]:
    """From each moment with a ledger to the next."""
    known = [one for one in moments if one.ledger is not None]
    found = (change_between(before, after) for before, after in pairwise(known))
    return tuple(one for one in found if one is not None)


def change_over_all(moments: Sequence[MomentFacts]) -> Change | None:
    """From the first moment with a ledger to the last, if there are three or more."""
    known = [one for one in moments if one.ledger is not None]
    return change_between(known[0], known[-1]) if len(known) > 2 else None
