"""Figures of a gctrace log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.errors import CaptureError
from gomem.plot.data import all_axes, collector_of, diagnosis_of, name_of, one_axes
from gomem.text import CaptureName, text
from gomem.views.figures.gc_activity import plot_gc_activity
from gomem.views.figures.gc_timeline import plot_gc_timeline
from gomem.views.figures.mmu import plot_mmu
from gomem.views.figures.pauses import plot_gc_pauses
from gomem.views.figures.scavenges import plot_gc_scavenges
from gomem.views.figures.what_if_grid import plot_what_if_grid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from gomem.plot.data import Data, Log


def gc_timeline(log: Log, *, ax: Sequence[Axes] | None = None) -> list[Axes]:
    """Draw the heap's saw-tooth with its goal, and below it the pause of each GC.

    `log` is a gctrace log, or data that includes one. Returns two Axes.
    """
    return all_axes(plot_gc_timeline(collector_of(log).timeline), ax, name_of(log))


def gc_activity(log: Log, *, ax: Sequence[Axes] | None = None) -> list[Axes]:
    """Draw GC CPU by kind of work, and below it the allocation rate.

    `log` as for `gc_timeline`. Returns two Axes.
    """
    return all_axes(plot_gc_activity(collector_of(log).timeline), ax, name_of(log))


def pauses(log: Log, *, ax: Sequence[Axes] | None = None) -> list[Axes]:
    """Draw the distributions of GC pauses and of intervals between GCs.

    `log` as for `gc_timeline`. Returns two Axes.
    """
    return all_axes(plot_gc_pauses(collector_of(log).pauses), ax, name_of(log))


def mmu(log: Log, *, ax: Axes | None = None) -> Axes:
    """Draw the program's share of CPU in the worst window of each length.

    `log` as for `gc_timeline`.
    """
    return one_axes(plot_mmu(collector_of(log).utilization), ax, name_of(log))


def what_if(log: Data, *, ax: Axes | None = None) -> Axes:
    """Draw the estimated GCs per second and peak heap for other values of GOGC and GOMEMLIMIT.

    `log` is a capture with a gctrace log that is long enough for estimates.
    """
    diagnosis = diagnosis_of(log)
    answer = diagnosis.what_if
    if answer is None:
        what = "{} has no gctrace log; run it with GODEBUG=gctrace=1"
        raise CaptureError(text(what, CaptureName(diagnosis.capture.file_name)))
    if answer.refused is not None:
        raise CaptureError(text("no estimates for other settings: {}", answer.refused))
    return one_axes(plot_what_if_grid(answer.grid), ax, name_of(log))


def scavenges(log: Log, *, ax: Sequence[Axes] | None = None) -> list[Axes]:
    """Draw the memory released by the scavenger, in total and by line of the log.

    `log` was made with `GODEBUG=gctrace=1,scavtrace=1`. A line of the scavenger has no time; the
    GCs around the line show when it was written. Returns two Axes.
    """
    collector = collector_of(log)
    lines = collector.scavenges
    if lines["log_seconds"].isna().all():
        raise CaptureError("no line of the scavenger; run with GODEBUG=gctrace=1,scavtrace=1")
    return all_axes(
        plot_gc_scavenges(lines, float(collector.timeline["end_seconds"].iloc[-1])),
        ax,
        name_of(log),
    )
