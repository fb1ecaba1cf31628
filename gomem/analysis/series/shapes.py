"""What shape does a level have: flat, a ramp, a step, a plateau, a saw-tooth, a decline?

The shape shows where the rises and falls are. A level that filled at the start and then stayed has
a slope, too, but is not a leak. `level` says how far and how fast it moved, and whether it is still
moving.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from gomem.statistics.sampling import FloatArray

SHAPES = ("flat", "ramp", "step", "plateau", "saw-tooth", "decline")
NOISE = 3.0  # standard deviations: a smaller range is that of sampling
MOVES = 0.1  # of the level: a smaller range is no change worth a name
MIN_SWING, MIN_STEP = 0.5, 0.6  # of the range
STEEP = 2.0  # times the share of the time that an interval takes: above, its rise stands out


def shape_of(
    seconds: FloatArray,
    levels: FloatArray,
    noise: float = 0.0,
    since_seconds: FloatArray | None = None,
) -> str:
    """Name how a level moves, as one of `SHAPES`, by where its rises and falls lie.

    A fall as deep as half the range, after or before a rise as high, is a saw-tooth; a fall alone
    a decline. A rise of which most comes in one interval, and far faster than it took on average,
    is a step; one that has ended by the last third a plateau; any other a ramp.

    Times ascend; noise is the standard deviation of a level that is an estimate; `since_seconds` is
    the earliest time that each reading may be of, where readings lag.
    """
    extent = levels.max() - levels.min()
    if extent <= max(NOISE * noise, MOVES * levels.max()):
        return "flat"
    steps = np.diff(levels) / extent
    rises, falls = steps[steps > 0].sum(), -steps[steps < 0].sum()
    if falls >= MIN_SWING:
        return "saw-tooth" if rises >= MIN_SWING else "decline"
    if _has_step(steps, seconds, seconds if since_seconds is None else since_seconds):
        return "step"
    late = np.interp(seconds[0] + (seconds[-1] - seconds[0]) * 2 / 3, seconds, levels)
    return "plateau" if levels[-1] - late <= MOVES * extent else "ramp"


def _has_step(steps: FloatArray, seconds: FloatArray, since_seconds: FloatArray) -> bool:
    """Whether one interval has most of the rise, beyond what its time gives a steady one."""
    largest = int(steps.argmax())
    whole = seconds[-1] - seconds[0]
    taken = (seconds[largest + 1] - since_seconds[largest]) / whole
    return bool(steps[largest] >= MIN_STEP and steps[largest] >= STEEP * taken)
