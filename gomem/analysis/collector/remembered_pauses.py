"""Which stops of the world does MemStats remember, of some collections?

PauseNs is a ring of the last 256 collections, each with both of its stops in one number. Dumps that
lie no more than 256 collections apart remember all of them between the first and the last.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gomem.statistics.quantiles import Tally

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class RememberedPauses:
    """Stops of the world by MemStats' ring."""

    stopped: Tally  # how long each collection stopped the world, in seconds, both stops together
    longest_number: int  # the collection that did so for longest
    # The time that they are of; None since the start, and where some are forgotten.
    seconds: float | None


def remembered_pauses(
    pauses: pd.DataFrame, last: int, cycles: int, seconds: float | None
) -> RememberedPauses | None:
    """The stops of so many collections up to the last; None if none of them is remembered.

    Of a number that comes twice in `PAUSES`, because a process was started anew, the later one
    counts.
    """
    own = pauses.sort_values("end", kind="stable").drop_duplicates("number", keep="last")
    own = own[own["number"].between(last - cycles + 1, last)]
    if own.empty:
        return None
    stopped = Tally()
    stopped.add(own["pause_seconds"].to_numpy(float))
    longest = int(own.loc[own["pause_seconds"].idxmax(), "number"])
    return RememberedPauses(stopped, longest, seconds if len(own) == cycles else None)
