"""Were the runs of two sides taken in turns, or one side after the other?

A machine and its load drift. What drifted between all runs of one side and all of the other cannot
be told from the change that was made; where the runs alternate, both sides have had their share.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gomem.diagnosis.diagnosis import Diagnosis

LEAST_RUNS = 2  # a side: one after one has no order to choose
IN_TURNS = "the runs of both sides were taken in turns"
APART = (
    "all runs of {first} were taken before those of {second}: what drifted in between, such as the "
    "machine or the load, counts as a change here; take them in turns"
)


def order_note(before: Sequence[Diagnosis], after: Sequence[Diagnosis]) -> str:
    """A sentence on the order of the runs; empty where a run has no time, or they are few.

    In turns means that the side changes at least half as often as it can from run to run.
    """
    if min(len(before), len(after)) < LEAST_RUNS:
        return ""
    runs = [(_began(one), side) for side, runs in enumerate((before, after)) for one in runs]
    if any(time is None for time, _ in runs):
        return ""
    sides = [side for _, side in sorted(runs)]
    changes = sum(one != other for one, other in pairwise(sides))
    if changes == 1:
        names = ("before", "after")
        return APART.format(first=names[sides[0]], second=names[1 - sides[0]])
    most = 2 * min(len(before), len(after)) - (len(before) == len(after))
    return IN_TURNS if changes >= most / 2 else ""


def _began(diagnosis: Diagnosis) -> Any:
    """When its first moment was, by a clock of its own."""
    times = diagnosis.capture.moments["time"].dropna()
    return None if times.empty else times.min()
