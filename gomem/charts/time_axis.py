"""Time axes: a log's clock, a clock for two panels, and durations over many decades."""

from __future__ import annotations

from dataclasses import replace

from gomem.charts.chart import Axis, Chart, Panel, Scale
from gomem.units import MICROSECOND, MILLISECOND, NANOSECOND

WIDTH = 7.6  # inches, as all lengths here
LEFT, RIGHT, FOOT = 0.78, 0.12, 0.3
# Usual time steps, in seconds.
_STEPS = (
    *(digit * 10.0**power for power in range(-4, 1) for digit in (1, 2, 5)),
    *(10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1800.0),
    *(3600.0, 7200.0, 10800.0, 21600.0, 43200.0, 86400.0, 172800.0, 604800.0),
)
MANY_DECADES = 5  # of durations on an axis
AT_THE_EDGE = 0.03  # of the axis: a centred label at such a tick would be cut off
_UNITS = (  # smallest tick distance, size, name
    (86400.0, 86400.0, "d"), (3600.0, 3600.0, "h"), (60.0, 60.0, "min"),
    (100 * MILLISECOND, 1.0, "s"), (MILLISECOND, MILLISECOND, "ms"),
)  # fmt: skip
_SHORT_UNITS = ((1.0, "s"), (MILLISECOND, "ms"), (MICROSECOND, "µs"), (NANOSECOND, "ns"))


def time_ticks(low: float, high: float, at_most: int = 8) -> list[float]:
    """Return round times from `low` to `high`, in seconds."""
    step = next((step for step in _STEPS if (high - low) / step <= at_most), _STEPS[-1])
    first = int(low // step) + (low % step > 0)
    return [step * number for number in range(first, int(high // step) + 1)][: 4 * at_most]


def time_label(seconds: float, step: float) -> str:
    """Format a tick's time in the unit of the tick distance: `90 s`, `1.5 h`, `0`."""
    if seconds == 0:
        return "0"
    _, size, unit = next((row for row in _UNITS if step >= row[0]), _UNITS[-1])
    return f"{seconds / size:g} {unit}"


def duration_label(seconds: float) -> str:
    """Format a duration that is a power of ten: `10 µs`, `1 ms`, `100 s`."""
    size, unit = next((row for row in _SHORT_UNITS if seconds >= 0.999 * row[0]), _SHORT_UNITS[-1])
    return f"{seconds / size:.0f} {unit}"


def name_times(
    axis: Axis, low: float, high: float, *, labelled: bool = True, at_most: int = 8
) -> None:
    """Add ticks, labels and faint lines for the time since the log began."""
    axis.scale = Scale(low, high if high > low else low + 1)
    ticks = time_ticks(low, high, at_most)
    step = ticks[1] - ticks[0] if len(ticks) > 1 else high - low
    axis.name(ticks, [time_label(at, step) if labelled else "" for at in ticks], grid=True)
    if ticks and high - ticks[-1] < AT_THE_EDGE * (high - low):
        axis.end_last()


def name_durations(axis: Axis, low: float, high: float) -> None:
    """Set a logarithmic axis of durations, with a line per decade."""
    axis.scale = Scale(low, high, log=True)
    decades = [10.0**power for power in range(-7, 8) if low <= 1.001 * 10.0**power <= 1.002 * high]
    axis.name(decades, [duration_label(decade) for decade in decades], grid=True)
    if decades and 1.01 * decades[-1] >= high:
        axis.end_last()
        if len(decades) > MANY_DECADES:  # the label before the last needs its room
            axis.ticks = [*axis.ticks[:-2], replace(axis.ticks[-2], label=""), axis.ticks[-1]]


def one_panel(height: float, *, top: float) -> tuple[Chart, Panel]:
    """Make a chart of one panel with time labels, below `top` for a heading."""
    chart = Chart(WIDTH, height)
    return chart, chart.panel(left=LEFT, right=RIGHT, top=top, bottom=FOOT)


def upper_and_lower(
    height: float, lower: float, *, top: float, gap: float
) -> tuple[Chart, Panel, Panel]:
    """Make a chart of two panels, of which only the lower has time labels.

    `lower` is the height of the lower panel, `top` the space above the upper one for a legend, and
    `gap` the space between them for a heading.
    """
    chart = Chart(WIDTH, height)
    above = chart.panel(left=LEFT, right=RIGHT, top=top, bottom=FOOT + lower + gap)
    below = chart.panel(left=LEFT, right=RIGHT, top=height - FOOT - lower, bottom=FOOT)
    return chart, above, below
