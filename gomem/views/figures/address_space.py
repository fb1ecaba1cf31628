"""The address space as a strip: regions in order of address, as wide as they are mapped.

The filled part of a box is what is resident of it, so that filled area is memory. Colour and
hatching say the kind, as they do in the ledger. Gaps between regions have no width: the distance
from a program at 4 MiB to a heap at 768 GiB is no memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.units import format_bytes, format_fraction
from gomem.views.figures.figure import INK, MUTED, Drawing, new_figure, style
from gomem.views.figures.look import edge_of, look_of_kind

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

WIDTH, STRIP = 7.6, 0.95  # inches, as all lengths here
SIDE, TOP, FOOT, LEGEND = 0.06, 0.28, 0.30, 0.24
LEGEND_COLUMNS = 5
LABELLED = 0.10  # of the strip: a box this wide has room for its address below
WORDED = 0.17  # and one this wide for its sizes above
APART = 0.002  # of the strip, between two boxes
THIN = 0.0015  # of the strip: narrower than this a box cannot be seen, and stands in the table


def plot_address_space(
    regions: pd.DataFrame, *, name: str = "address-space", moment: str = ""
) -> Drawing:
    """Draw the regions of one moment.

    Args:
        regions: See `analysis.memory.address_space.REGIONS`.
        name: Unique on its page.
        moment: The moment, for the figure's title.
    """
    kinds = list(dict.fromkeys(regions["kind"]))
    rows = -(-len(kinds) // LEGEND_COLUMNS)
    height = TOP + STRIP + FOOT + LEGEND * max(1, rows)
    with style():
        figure = new_figure(WIDTH, height)
        low = (FOOT + LEGEND * max(1, rows)) / height
        axes = figure.add_axes((SIDE / WIDTH, low, 1 - 2 * SIDE / WIDTH, STRIP / height))
        _draw_boxes(axes, regions)
        _draw_legend(axes, kinds)
    title = f"The address space at {moment}" if moment else "The address space"
    return Drawing(name, title, _describe(regions), figure)


def _draw_boxes(axes: Axes, regions: pd.DataFrame) -> None:
    """A box a region, filled from below as far as it is resident."""
    whole = max(1, int(regions["size_bytes"].sum()))
    reached = 0.0
    for row in regions.itertuples():
        wide = row.size_bytes / whole
        if wide >= THIN:
            _draw_box(axes, row, reached, wide)
        reached += wide + APART
    axes.set_xlim(-APART, max(reached, 1) + APART)
    axes.set_ylim(0, 1)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines["bottom"].set_visible(False)


def _draw_box(axes: Axes, row: object, left: float, wide: float) -> None:
    kind, size, rss = row.kind, row.size_bytes, row.rss_bytes  # type: ignore[attr-defined]
    colour, hatch = look_of_kind(kind)
    share = min(1.0, rss / size) if size else 0.0
    axes.bar(left, share, wide, align="edge", color=colour, hatch=hatch, lw=0,
             edgecolor=edge_of(colour, INK))  # fmt: skip
    axes.bar(left, 1, wide, align="edge", color="none", edgecolor=INK, lw=0.6, alpha=MUTED)
    if wide >= LABELLED:
        start = f"{row.start:x}"  # type: ignore[attr-defined]
        axes.text(left, -0.05, start, ha="left", va="top", fontsize=7, alpha=MUTED, clip_on=False)
    if wide >= WORDED:
        words = f"{format_bytes(rss)} of {format_bytes(size)}"
        axes.text(left, 1.05, words, ha="left", va="bottom", fontsize=7, clip_on=False)


def _draw_legend(axes: Axes, kinds: list[str]) -> None:
    from matplotlib.patches import Patch

    handles = []
    for kind in kinds:
        colour, hatch = look_of_kind(kind)
        edge = edge_of(colour, INK)
        handles.append(Patch(facecolor=colour, hatch=hatch, edgecolor=edge, lw=0.6, label=kind))
    axes.legend(handles=handles, loc="upper left", bbox_to_anchor=(-0.005, -0.22),
                ncols=LEGEND_COLUMNS, handlelength=1.6, handleheight=1.0,
                columnspacing=1.4, borderaxespad=0)  # fmt: skip


def _describe(regions: pd.DataFrame) -> str:
    each = [
        f"{row.kind} from {row.start:x}: {format_bytes(row.rss_bytes)} of "
        f"{format_bytes(row.size_bytes)} resident"
        for row in regions.itertuples()
        if row.rss_bytes
    ]
    sums = regions[["size_bytes", "rss_bytes"]].sum()
    share = sums["rss_bytes"] / max(1, sums["size_bytes"])
    return f"{'; '.join(each)}. Of what is mapped {format_fraction(share)} is resident."
