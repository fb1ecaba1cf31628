"""Axes of time: the clock of a log, and durations over many decades."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.units import MICROSECOND, MILLISECOND, NANOSECOND
from gomem.views.figures.figure import FAINT, INK, MUTED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Steps that people count time in, in seconds.
_STEPS = (
    *(digit * 10.0**power for power in range(-4, 1) for digit in (1, 2, 5)),
    *(10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1800.0),
    *(3600.0, 7200.0, 10800.0, 21600.0, 43200.0, 86400.0, 172800.0, 604800.0),
)
AT_THE_EDGE = 0.03  # of the axis: a label in the middle of such a tick would be cut off
_UNITS = ((86400.0, "d"), (3600.0, "h"), (60.0, "min"), (1.0, "s"), (MILLISECOND, "ms"))
_SHORT_UNITS = ((1.0, "s"), (MILLISECOND, "ms"), (MICROSECOND, "µs"), (NANOSECOND, "ns"))


def time_ticks(low: float, high: float, at_most: int = 8) -> list[float]:
    """Round times from `low` to `high`, in seconds."""
    step = next((one for one in _STEPS if (high - low) / one <= at_most), _STEPS[-1])
    first = int(low // step) + (low % step > 0)
    return [step * number for number in range(first, int(high // step) + 1)][: 4 * at_most]


def time_label(seconds: float, step: float) -> str:
    """A time of a tick, in the unit of the step between two: `90 s`, `1.5 h`, `0`."""
    if seconds == 0:
        return "0"
    size, unit = next((one for one in _UNITS if step >= one[0]), _UNITS[-1])
    return f"{seconds / size:g} {unit}"


def duration_label(seconds: float) -> str:
    """A duration that is a power of ten: `10 µs`, `1 ms`, `100 s`."""
    size, unit = next((one for one in _SHORT_UNITS if seconds >= 0.999 * one[0]), _SHORT_UNITS[-1])
    return f"{seconds / size:.0f} {unit}"


def draw_clock(axes: Axes, low: float, high: float, *, labelled: bool = True) -> None:
    """Ticks, labels and faint lines for the time since the log began, along x."""
    ticks = time_ticks(low, high)
    step = ticks[1] - ticks[0] if len(ticks) > 1 else high - low
    labels = [time_label(tick, step) if labelled else "" for tick in ticks]
    axes.set_xlim(low, high if high > low else low + 1)
    axes.xaxis.set_ticks(ticks, labels, alpha=MUTED)
    if ticks and high - ticks[-1] < AT_THE_EDGE * (high - low):
        axes.get_xticklabels()[-1].set_horizontalalignment("right")
    axes.grid(visible=True, axis="x", color=INK, alpha=FAINT, lw=0.6)
    axes.set_axisbelow(True)


def draw_durations(axes: Axes, low: float, high: float, *, along: str) -> None:
    """A logarithmic axis of durations, its lines a decade apart."""
    decades = [10.0**power for power in range(-7, 8) if low <= 1.001 * 10.0**power <= 1.002 * high]
    axis = axes.xaxis if along == "x" else axes.yaxis
    if along == "x":
        axes.set_xscale("log")
        axes.set_xlim(low, high)
    else:
        axes.set_yscale("log")
        axes.set_ylim(low, high)
    axis.set_ticks([], minor=True)  # first, or whoever asks for labels makes a hundred ticks
    axis.set_ticks(decades, [duration_label(decade) for decade in decades], alpha=MUTED)
    if along == "x" and decades and 1.01 * decades[-1] >= high:
        axes.get_xticklabels()[-1].set_horizontalalignment("right")
    axes.grid(visible=True, axis="x" if along == "x" else "y", color=INK, alpha=FAINT, lw=0.6)
    axes.set_axisbelow(True)
