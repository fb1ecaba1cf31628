"""The minimum mutator utilisation: what the program keeps in the worst window of each length."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.units import format_fraction, format_seconds
from gomem.views.figures.figure import FAINT, INK, MUTED, Drawing, new_figure, style
from gomem.views.figures.look import BLUE
from gomem.views.figures.time_axis import draw_durations

if TYPE_CHECKING:
    from gomem.analysis.collector.mutator_utilization import MutatorUtilization

WIDTH, HEIGHT = 7.6, 2.4  # inches, as all lengths here
LEFT, RIGHT, TOP, FOOT = 0.62, 1.25, 0.15, 0.42
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)


def plot_mmu(utilization: MutatorUtilization, *, name: str = "mmu") -> Drawing:
    """Draw the curve, and the mean beside it.

    Args:
        utilization: The answer.
        name: Unique on its page.
    """
    curve = utilization.curve.dropna(subset=["minimum_fraction"])
    with style():
        figure = new_figure(WIDTH, HEIGHT)
        width, height = WIDTH - LEFT - RIGHT, HEIGHT - TOP - FOOT
        axes = figure.add_axes((LEFT / WIDTH, FOOT / HEIGHT, width / WIDTH, height / HEIGHT))
        axes.plot(
            curve["window_seconds"], curve["minimum_fraction"], color=BLUE, lw=1.8, marker="o",
            ms=4, clip_on=False,
        )  # fmt: skip
        windows = utilization.curve["window_seconds"]
        draw_durations(axes, windows.min(), windows.max(), along="x")
        axes.set_xlabel("length of the window", alpha=MUTED, fontsize=7.5, labelpad=2)
        axes.set_ylim(0, 1)
        axes.yaxis.set_ticks(SHARES, [f"{100 * share:.0f} %" for share in SHARES], alpha=MUTED)
        axes.grid(visible=True, axis="y", color=INK, alpha=FAINT, lw=0.6)
        mean = utilization.mean_fraction
        if mean is not None:
            axes.axhline(mean, color=INK, lw=1.0, ls="--")
            axes.annotate(
                f"{format_fraction(mean)}\nover all", (1, mean), (6, 0), va="center",
                xycoords=axes.get_yaxis_transform(), textcoords="offset points", fontsize=7.5,
            )  # fmt: skip
    return Drawing(name, "Minimum mutator utilisation", _describe(utilization), figure)


def _describe(utilization: MutatorUtilization) -> str:
    known = utilization.curve.dropna(subset=["minimum_fraction"])
    each = [
        f"{format_seconds(window)} {format_fraction(kept)}"
        for window, kept in zip(known["window_seconds"], known["minimum_fraction"], strict=True)
    ]
    over_all = format_fraction(utilization.mean_fraction)
    return f"Kept in the worst window: {', '.join(each)}. Over all: {over_all}."
