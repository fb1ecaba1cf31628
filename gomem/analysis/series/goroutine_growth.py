"""Does the number of goroutines grow, where do they wait, and what do they hold?

They are counted by goroutine profiles or by runtime/metrics. Where neither is there, two things
follow their number: StackInuse, and in heap profiles `runtime.malg`, which makes a goroutine's
descriptor. Descriptors are used again and never freed, so they show the most that there were at
once.

What a goroutine holds is its stack, and the heap that its own functions allocate and that stays:
the stacks of the heap profiles that begin where the goroutines begin, and rise with them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gomem.analysis.series.trends import SURE_FROM, Trend, trend_of
from gomem.units import KIB

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

PART = 0.1  # of those that came: fewer are of the work that goes on beside them
SMALLEST_STACK = 2 * KIB  # _StackMin of runtime/stack.go, since Go 1.4
DESCRIPTOR_BYTES = 384  # of a goroutine: 376 to 440 by release, in the size class above
DESCRIPTORS = frozenset({"runtime.malg", "runtime.newproc1", "runtime.allgadd"})


@dataclass(frozen=True)
class GoroutineGrowth:
    """The number of goroutines over the moments of a capture, and what goes with it.

    Attributes:
        count: How many there are; None if fewer than two moments say.
        counted_beside: By how much the number grew between the moments of `stacks`; None if those
            are not counted.
        stacks: StackInuse, at moments that count the goroutines too if any does; None if fewer than
            two say.
        descriptors_bytes: By how much descriptors surely rise in heap profiles.
        waiting: The function in which those that came wait; empty if no profile says.
        created: The function that most of them began with; empty if no profile says.
        begun: All functions that a tenth of them began with, or more.
        heap_bytes: By how much the heap surely rises that their own functions allocate.
    """

    count: Trend | None
    counted_beside: float | None
    stacks: Trend | None
    descriptors_bytes: float
    waiting: str
    created: str
    begun: frozenset[str]
    heap_bytes: float

    @property
    def rises(self) -> bool:
        """Whether their number rises: surely, or from moment to moment where those are few."""
        if self.count is None:
            return False
        return self.count.rises or (self.count.only_rises and self.count.moments < SURE_FROM)

    @property
    def stopped(self) -> bool:
        """Whether it rose, and has stayed since."""
        count = self.count
        return count is not None and count.moments >= SURE_FROM and count.shape == "plateau"

    @property
    def stack_bytes_each(self) -> float | None:
        """By how much stacks rose for each goroutine more; None if that is not known."""
        if self.stacks is None or self.counted_beside is None or self.counted_beside <= 0:
            return None
        return max(0.0, self.stacks.grown) / self.counted_beside


def goroutine_growth(
    counts: FloatArray,
    seconds: FloatArray | None = None,
    *,
    stacks: Trend | None = None,
    counted_beside: float | None = None,
    profiles: Sequence[pd.DataFrame] = (),
    growth: pd.DataFrame | None = None,
) -> GoroutineGrowth:
    """Measure how goroutines grow.

    Args:
        counts: How many there are, at the moments that say so, in order.
        seconds: When those moments were; None if only their order is known.
        stacks: How StackInuse moves over the moments.
        counted_beside: By how much the number grew between those moments, if they count it.
        profiles: Goroutines by stack, of the moments that have a goroutine profile: `goroutines`,
            `function`, and `stack`, innermost first.
        growth: How stacks of the heap profiles grow; see `analysis.profiles.growth.GROWTH`.
    """
    waiting, created, begun = _where(profiles)
    return GoroutineGrowth(
        count=trend_of(counts, seconds),
        counted_beside=counted_beside,
        stacks=stacks,
        descriptors_bytes=_surely_grown(growth, descriptors=True),
        waiting=waiting,
        created=created,
        begun=begun,
        heap_bytes=_surely_grown(growth, begun_with=begun) if begun else 0.0,
    )


def begins(stack: str, functions: Collection[str]) -> bool:
    """Whether a stack, outermost first, begins with one of these functions."""
    return stack.partition(";")[0] in functions


def is_of_descriptors(stack: str) -> bool:
    """Whether a stack is of the runtime, making a goroutine's descriptor or listing it."""
    return not DESCRIPTORS.isdisjoint(stack.split(";"))


def _where(profiles: Sequence[pd.DataFrame]) -> tuple[str, str, frozenset[str]]:
    """Where those wait that the last profile has beyond the first, and with what they began.

    With what most of them did, and with what all did that are no small part.
    """
    nothing = "", "", frozenset[str]()
    if not profiles:
        return nothing
    first, last = (
        one.assign(stack=one.get("stack", "")).groupby(["function", "stack"])["goroutines"].sum()
        for one in (profiles[0], profiles[-1])
    )
    came = last if len(profiles) == 1 else last - first.reindex(last.index).fillna(0)
    if came.empty:
        return nothing
    function, stack = came.idxmax()
    outermost = came.index.get_level_values("stack").str.rpartition(";").get_level_values(2)
    by_begin = came.groupby(outermost).sum()
    part = by_begin >= PART * came[came > 0].sum()
    begun = by_begin.index[part & (by_begin > 0)]
    return str(function), str(stack).rpartition(";")[2], frozenset(begun) - {""}


def _surely_grown(
    growth: pd.DataFrame | None, *, descriptors: bool = False, begun_with: Collection[str] = ()
) -> float:
    """By how much the stacks of descriptors, or that begin with these functions, surely rise."""
    if growth is None or growth.empty:
        return 0.0
    rows = growth[(growth["shape"] == "ramp") & (growth["slope_low"] > 0)]
    if descriptors:
        rows = rows[rows["stack"].map(is_of_descriptors).astype(bool)]
    if begun_with:
        rows = rows[rows["stack"].map(lambda stack: begins(stack, begun_with)).astype(bool)]
    return float((rows["last"] - rows["first"]).sum())
