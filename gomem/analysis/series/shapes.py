"""What shape does a level have: flat, a ramp, a step, a plateau, a saw-tooth, a decline?

The shape shows where a level rises and falls. A level that filled at the start and then stayed has
a slope, too, but is not a leak. `level` computes how far and how fast a level changed, and whether
it is still changing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from gomem.statistics.sampling import FloatArray

SHAPES = ("flat", "ramp", "step", "plateau", "saw-tooth", "decline")
NOISE = 3.0  # standard deviations: a smaller range is sampling noise
MOVES = 0.1  # of the level: a smaller range is called flat
MIN_SWING, MIN_STEP = 0.5, 0.6  # of the range
STEEP = 2.0  # times the interval's share of the time: a steeper rise is a step


def comes_and_goes(values: FloatArray) -> bool:
    """Return whether a reading is at most half of an earlier and of a later one."""
    before = np.maximum.accumulate(values)[:-2]
    after = np.maximum.accumulate(values[::-1])[::-1][2:]
    return bool((MIN_SWING * np.minimum(before, after) >= values[1:-1]).any())


def shape_of(
    seconds: FloatArray,
    levels: FloatArray,
    noise: float = 0.0,
    since_seconds: FloatArray | None = None,
) -> str:
    """Return the shape of a level, one of `SHAPES`, by where it rises and falls.

    A fall of half the range, before or after an equally large rise, makes a saw-tooth; a fall alone
    makes a decline. A rise mostly within one interval, and far faster than average, is a step. A
    rise that has ended by the last third is a plateau; any other is a ramp.

    Times ascend. `noise` is the standard deviation of a level that was estimated from samples. A
    heap profile shows an earlier time than its own: `since_seconds` has the earliest one possible,
    for each reading.
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
    """Return whether one interval has most of the rise, beyond the share of a steady one."""
    largest = int(steps.argmax())
    whole = seconds[-1] - seconds[0]
    taken = (seconds[largest + 1] - since_seconds[largest]) / whole
    return bool(steps[largest] >= MIN_STEP and steps[largest] >= STEEP * taken)
