"""Object lifetimes per site: a marker with its 95 % interval, on a logarithmic axis."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gomem.charts.chart import INK, MUTED, Look, Panel
from gomem.charts.figure import Drawing
from gomem.charts.look import BLUE, GREY, ORANGE, PURPLE, VERMILLION
from gomem.charts.time_axis import name_durations
from gomem.inputs.schema import rows_of
from gomem.units import format_bytes, format_seconds, is_unknown
from gomem.views.figures.flame_graph import known_name, shortened
from gomem.views.figures.rows import rows_panel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gomem.analysis.profiles.lifetimes import Lifetimes

NAMES, RATES = 2.7, 1.0  # inches on either side of the rows
NAME_ROOM = 255.0  # width of a name; a character has about seven units
SITES = 12  # maximum number of rows
MIN_SECONDS = 1e-3  # start of the axis: marking alone takes longer in most programs
# Distinct by marker as well as by colour.
LOOKS = {
    "short-lived": (BLUE, "o"),
    "medium-lived": (ORANGE, "s"),
    "long-lived": (PURPLE, "D"),
    "kept": (VERMILLION, "^"),
    "unclear": (GREY, "v"),
}


def plot_lifetimes(lifetimes: Lifetimes, *, name: str = "lifetimes") -> Drawing:
    """Draw the mean lifetimes of the largest sites, the fastest allocator at the top.

    An unbounded interval extends to the end of the axis.
    """
    rows = rows_of(lifetimes.largest(SITES))
    chart, panel = rows_panel(
        len(rows), left=NAMES, right=RATES, width=7.6, row=0.29, head=0.3, foot=0.38
    )
    _scale(panel, rows, lifetimes.seconds)
    names = [shortened(known_name(row["function"]), NAME_ROOM) for row in rows]
    panel.y.name(range(len(names)), names, muted=False)
    labelled: set[str] = set()
    for place, row in enumerate(rows):
        _draw_row(panel, place, row, labelled)
    panel.rule(Look(edge=INK, width=0.8, dash="--", opacity=MUTED), x=lifetimes.seconds)
    chart.explain(panel.labelled(), left=NAMES, top=0.14, columns=5, handle=1.2)
    described = [f"{known_name(row['function'])}: {lifetime_words(row)}" for row in rows]
    return Drawing(name, "Mean lifetime by allocation site", "; ".join(described) + ".", chart)


def lifetime_words(row: dict[str, Any]) -> str:
    """A mean lifetime with its bounds, and its class."""
    low, high = row["lifetime_low"], row["lifetime_high"]
    if is_unknown(high):
        bounds = "unknown" if is_unknown(low) else f"{format_seconds(low)} or more"
    else:
        bounds = f"{format_seconds(low)} to {format_seconds(high)}"
    return f"{bounds}, {row['life']}"


def _scale(panel: Panel, rows: Sequence[dict[str, Any]], seconds: float) -> None:
    known = [row[key] for row in rows for key in ("lifetime_low", "lifetime_high")]
    ends = [float(end) for end in known if not is_unknown(end)]
    high = 10 ** math.ceil(math.log10(max([*ends, seconds])))
    name_durations(panel.x, MIN_SECONDS, float(high))


def _draw_row(panel: Panel, place: int, row: dict[str, Any], labelled: set[str]) -> None:
    colour, mark = LOOKS[row["life"]]
    least, most = panel.x.scale.low, panel.x.scale.high
    if not is_unknown(row["lifetime_low"]):
        high = most if is_unknown(row["lifetime_high"]) else row["lifetime_high"]
        ends = [max(least, float(row["lifetime_low"])), max(least, float(high))]
        panel.line(ends, [place, place], Look(edge=colour, width=2.2))
    if not is_unknown(row["lifetime_seconds"]):
        label = "" if row["life"] in labelled else row["life"]
        labelled.add(row["life"])
        at = max(least, float(row["lifetime_seconds"]))
        panel.line([at], [place], Look(edge=colour, width=0), label, marker=mark, mark_edge=INK)
    rate = f"{format_bytes(row['alloc_bytes_per_second'])}/s"
    panel.words(rate, "right", place, right=6, opacity=MUTED)
