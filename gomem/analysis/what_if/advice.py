"""Which GOMEMLIMIT and which GOGC for a container of so much memory?

GOMEMLIMIT is what the container may use less what is not Go's and a margin: the runtime keeps to it
by collecting as often as it takes. So it is there for the day on which the heap is larger than it
was in the log, and GOGC is chosen such that the load of the log does not come near it: the largest
one under which all that Go would hold, at the upper end of its interval, stays below.

How far the live heap may grow from there: where GOGC's goal reaches the limit's, the limit begins
to decide, and collections come more often; where the live heap reaches it, there is no room left,
collecting takes up to half of the CPU, and the heap goes past the limit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gomem.inputs.schema import Column, build_rows
from gomem.units import MIB

if TYPE_CHECKING:
    import pandas as pd

MARGIN = 0.10  # Go's GC guide leaves 5 to 10 % for what the runtime does not know about
GOGC_TRIED = (25, 50, 75, 100, 150, 200, 300, 400, 600, 800)
STEPS = (
    Column("step", "str", "", "What is added, or taken off."),
    Column("bytes", "int64", "B", "How much; below 0 where it is taken off."),
    Column("source", "str", "", "Where the number is from; empty where it is rounding."),
)


@dataclass(frozen=True)
class PodAdvice:
    """A GOMEMLIMIT and a GOGC for a container.

    Attributes:
        container_bytes: What the container may use.
        container_source: What says so.
        gomemlimit_bytes: The GOMEMLIMIT, in whole MiB; None if nothing is left for Go.
        gogc: GOGC in per cent; None if none of those tried leaves room.
        steps: The limit's arithmetic, see `STEPS`; adds up to it.
        held_bytes: What Go would hold with them, at the upper end of its interval.
        live_bytes: The live heap today.
        limit_decides_bytes: The live heap from which on the limit decides, not GOGC.
        met_bytes: The live heap at which it and the limit meet.
        expected: The row of the grid for them.
    """

    container_bytes: int
    container_source: str
    gomemlimit_bytes: int | None
    gogc: int | None
    steps: pd.DataFrame
    held_bytes: int | None
    live_bytes: float
    limit_decides_bytes: float | None
    met_bytes: float | None
    expected: pd.Series | None


def limit_steps(container_bytes: int, source: str) -> pd.DataFrame:
    """GOMEMLIMIT's arithmetic where nothing says what is in the container besides Go's memory."""
    margin = -round(MARGIN * container_bytes)
    left = container_bytes + margin
    rounded = left // MIB * MIB - left
    rows = [
        ("limit", container_bytes, source),
        ("margin for what is not Go's", margin, "10 % of it: nothing here says how much that is"),
        ("rounded down to 1 MiB", rounded, ""),
    ]
    return build_rows(rows, STEPS)


def fitting_gogc(tried: pd.DataFrame, gomemlimit_bytes: int, beside_bytes: float) -> int | None:
    """The largest GOGC of a grid, in per cent, under which what Go holds stays below a limit."""
    held = tried["retained_bytes_high"].astype(float) + beside_bytes
    fits = tried.loc[held <= gomemlimit_bytes, "gogc"]
    return None if fits.empty else int(fits.max())
