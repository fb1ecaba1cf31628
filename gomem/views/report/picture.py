"""The report's first picture on its own: RSS by owner, or its replacement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.diagnosis.owners import compared
from gomem.errors import CaptureError
from gomem.views.figures.gc_timeline import plot_gc_timeline
from gomem.views.figures.groups_over_moments import plot_groups_over_moments
from gomem.views.figures.sites import by_flat, plot_sites
from gomem.views.names import hidden
from gomem.views.share import share

if TYPE_CHECKING:
    from gomem.charts.figure import Drawing
    from gomem.diagnosis.diagnosis import Diagnosis

SITES = 6
IN_USE = "inuse_space"
NOTHING_TO_DRAW = (
    "no picture: no file here says where memory is; wanted smaps, status, MemStats, a heap profile "
    "or a GC log"
)


def picture(diagnosis: Diagnosis, *, redact: bool = False) -> Drawing:
    """Draw RSS by owner, before and now; without RSS, in-use memory by site, or the GC log.

    Raises CaptureError if there is nothing to draw.
    """
    shown = hidden(diagnosis, redact=redact)
    known = {
        name: (facts.groups, facts.rss_bytes)
        for name, _, facts in compared(diagnosis)
        if facts.groups is not None
    }
    if known:
        return plot_groups_over_moments(share(known, shown), name="picture")
    if diagnosis.sites_first is not None and IN_USE in diagnosis.sites[diagnosis.sites_first]:
        rows = by_flat(diagnosis.sites[diagnosis.sites_first][IN_USE].top.head(SITES))
        return plot_sites(rows, "bytes", title="Live heap by allocation site", name="picture")
    if diagnosis.collector is not None and not diagnosis.collector.cycles.empty:
        return plot_gc_timeline(diagnosis.collector.timeline, name="picture")
    raise CaptureError(NOTHING_TO_DRAW)
