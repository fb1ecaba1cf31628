"""The address space as a strip: regions in order of address, with their mapped size as width.

The filled part of a box is resident, so filled area is memory. Colour and hatching show the kind,
as in the ledger. Gaps between regions have no width: the distance from a program at 4 MiB to a heap
at 768 GiB is not memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gomem.charts.chart import INK, MUTED, Bar, Chart, Look, Panel, Scale
from gomem.charts.figure import Drawing
from gomem.charts.look import edge_of, look_of_kind
from gomem.units import format_bytes, format_fraction

if TYPE_CHECKING:
    import pandas as pd

WIDTH, STRIP = 7.6, 0.95  # inches, as all lengths here
SIDE, TOP, FOOT, LEGEND = 0.06, 0.28, 0.30, 0.24
LEGEND_COLUMNS = 5
LABELLED = 0.10  # of the strip; boxes this wide have an address below
WORDED = 0.17  # of the strip; boxes this wide have their sizes above
APART = 0.002  # of the strip, between boxes
THIN = 0.0015  # of the strip: narrower boxes are invisible and only in the table


def plot_address_space(
    regions: pd.DataFrame, *, name: str = "address-space", moment: str = ""
) -> Drawing:
    """Draw the regions of one moment: rows of `analysis.memory.address_space.REGIONS`."""
    kinds = list(dict.fromkeys(regions["kind"]))
    below = FOOT + LEGEND * max(1, -(-len(kinds) // LEGEND_COLUMNS))
    chart = Chart(WIDTH, TOP + STRIP + below)
    _draw_boxes(chart.panel(left=SIDE, right=SIDE, top=TOP, bottom=below), regions)
    looks = {kind: look_of_kind(kind) for kind in kinds}
    samples = [
        Bar(0, 0, 0, 0, Look(colour, hatch, edge_of(colour, INK)), kind)
        for kind, (colour, hatch) in looks.items()
    ]
    chart.explain(samples, left=SIDE, top=TOP + STRIP + FOOT, columns=LEGEND_COLUMNS)
    title = f"The address space at {moment}" if moment else "The address space"
    return Drawing(name, title, _describe(regions), chart)


def _draw_boxes(panel: Panel, regions: pd.DataFrame) -> None:
    """A box per region, filled from the bottom by its resident share."""
    sizes = regions["size_bytes"].tolist()
    whole = max(1, sum(sizes))
    reached = 0.0
    for row in regions[["kind", "start", "size_bytes", "rss_bytes"]].itertuples(index=False):
        wide = row.size_bytes / whole
        if wide >= THIN:
            _draw_box(panel, row, reached, wide)
        reached += wide + APART
    panel.x.scale = Scale(-APART, max(reached, 1) + APART)
    panel.has_foot = False


def _draw_box(panel: Panel, row: Any, left: float, wide: float) -> None:
    size, rss = row.size_bytes, row.rss_bytes
    colour, hatch = look_of_kind(row.kind)
    share = min(1.0, rss / size) if size else 0.0
    panel.bar(left, 0, wide, share, Look(colour, hatch, edge_of(colour, INK), width=0))
    panel.bar(left, 0, wide, 1, Look(edge=INK, opacity=MUTED))
    if wide >= LABELLED:
        panel.words(f"{row.start:#x}", left, "bottom", up=-3, upright="top", size=7, opacity=MUTED)
    if wide >= WORDED:
        words = f"{format_bytes(rss)} of {format_bytes(size)}"
        panel.words(words, left, "top", up=3, upright="bottom", size=7)


def _describe(regions: pd.DataFrame) -> str:
    each = [
        f"{row.kind} from {row.start:#x}: {format_bytes(row.rss_bytes)} of "
        f"{format_bytes(row.size_bytes)} resident"
        for row in regions.itertuples()
        if row.rss_bytes
    ]
    sums = regions[["size_bytes", "rss_bytes"]].sum()
    share = sums["rss_bytes"] / max(1, sums["size_bytes"])
    whole = format_fraction(share, brief=True)
    return f"{'; '.join(each)}. {whole} of the memory shown is resident."
