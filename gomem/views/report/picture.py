"""The report's first picture on its own: RSS by part, or what stands in for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.errors import CaptureError
from gomem.text import MomentName, text
from gomem.views.figures.gc_timeline import plot_gc_timeline
from gomem.views.figures.groups_over_moments import plot_groups_over_moments
from gomem.views.figures.sites import by_flat, plot_sites
from gomem.views.names import hidden
from gomem.views.share import share

if TYPE_CHECKING:
    from gomem.charts.figure import Drawing
    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.facts.moment import MomentFacts

SITES = 6
IN_USE = "inuse_space"
NOTHING_TO_DRAW = (
    "no picture: no file here says where memory is; wanted smaps, status, MemStats, a heap profile "
    "or a GC log"
)


def picture(diagnosis: Diagnosis, *, redact: bool = False) -> Drawing:
    """Draw RSS by part, before and now; without it what is in use by site, or the GC log.

    CaptureError where there is nothing to draw.
    """
    shown = hidden(diagnosis, redact=redact)
    if moments := _before_and_now(diagnosis):
        known = {
            name: (facts.groups, facts.rss_bytes)
            for name, facts in moments.items()
            if facts.groups is not None
        }
        return plot_groups_over_moments(share(known, shown), name="picture")
    if diagnosis.sites_first is not None and IN_USE in diagnosis.sites[diagnosis.sites_first]:
        rows = by_flat(diagnosis.sites[diagnosis.sites_first][IN_USE].top.head(SITES))
        return plot_sites(rows, "bytes", title="Live heap by allocation site", name="picture")
    if diagnosis.collector is not None and not diagnosis.collector.cycles.empty:
        return plot_gc_timeline(diagnosis.collector.timeline, name="picture")
    raise CaptureError(NOTHING_TO_DRAW)


def _before_and_now(diagnosis: Diagnosis) -> dict[str, MomentFacts]:
    """The baseline's snapshot and its counterpart; else the first, the highest and the last."""
    known = [facts for facts in diagnosis.moments if facts.groups is not None]
    known = [facts for facts in known if facts.rss_bytes is not None] or known
    if not known:
        return {}
    by_name = {facts.name: facts for facts in known}
    now = by_name.get(diagnosis.shown_first or "", known[-1])
    against = diagnosis.baseline_moment(now.name)
    if against is not None and diagnosis.baseline is not None:
        before = diagnosis.baseline.by_moment[against]
        if before.groups is not None:
            name = text("baseline, {}", MomentName(before.name))
            return {name: before, MomentName(now.name): now}
    highest = max(known, key=lambda facts: facts.rss_bytes or 0)
    chosen = sorted({known.index(facts) for facts in (known[0], highest, known[-1])})
    return {MomentName(known[place].name): known[place] for place in chosen}
