"""Does the live heap come in bursts, by what collections marked?

A log shows each level when a collection runs: by the dozen while much is allocated, rarely while
little is. So its steps say nothing; its times do. See `analysis.bursts`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gomem.analysis.collector.steps import filled_runs
from gomem.analysis.series.bursts import Bursts, find_uneven_bursts

if TYPE_CHECKING:
    from gomem.analysis.collector.steps import Cycles


@dataclass(frozen=True)
class LiveBursts:
    """Bursts of the live heap, in the run that was watched longest, behind its start-up.

    Attributes:
        levels: The bursts, in bytes.
        cycles: Collections looked at.
        seconds: From the first of them to the last.
    """

    levels: Bursts
    cycles: int
    seconds: float


def live_bursts(cycles: Cycles) -> LiveBursts | None:
    """Find the bursts of the live heap in a log.

    Args:
        cycles: Collections as `gomem.inputs.gctrace.table.CYCLES` describes them. A log too long
            to lie in memory is looked at in groups of them; see `steps.grouped`.

    Returns:
        None if there are none.
    """
    runs = filled_runs(cycles)
    if not runs:
        return None
    longest = max(runs, key=lambda run: run.at[-1] - run.at[0])
    levels = find_uneven_bursts(longest.live, longest.at)
    if levels is None:
        return None
    return LiveBursts(levels, len(longest.at), float(longest.at[-1] - longest.at[0]))
