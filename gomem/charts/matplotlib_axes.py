"""Draw a chart on matplotlib Axes, which a user's notebook can change, combine and save.

The figure has the same marks as the SVG. Text and lines use matplotlib's text colour, so a style
sheet for dark backgrounds applies to them, too; type sizes follow `font.size`. No setting of
matplotlib is changed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import NullFormatter, NullLocator

from gomem.charts.chart import FAINT, INK, MUTED, SIZE, Area, Bar, Legend, Line, Words
from gomem.errors import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from gomem.charts.chart import Axis, Chart, Look, Mark, Panel

DOWN = 3.5  # points from an axis to the top of its labels
SLANT = 30  # degrees, for labels that do not fit side by side
TITLE_INCHES, MARGIN_INCHES = 0.26, 0.06  # above a figure without caller's Axes
ROOM_FOR_WORDS = 22.0  # points above a panel that text can take
SMALL, MAX_ROWS = 7.0, 4  # of a legend above the caller's Axes: type size in points, rows
USUAL_FONT_SIZE = 10.0  # matplotlib's default, in points; then type is as large as on a page
_UPRIGHT = {"top": "top", "middle": "center", "bottom": "baseline"}
_ANCHOR = {"start": "left", "middle": "center", "end": "right"}
_EDGES = {"left": 0.0, "right": 1.0, "bottom": 0.0, "top": 1.0}


def draw_on(chart: Chart, axes: Axes | Sequence[Axes] | None = None, title: str = "") -> list[Axes]:
    """Draw a chart on Axes, one per panel, or on a new figure of its size; return the Axes.

    Raises:
        ValueError: There are more or fewer Axes than panels.
    """
    if axes is None:
        return _draw_alone(chart, title)
    given: list[Axes] = list(np.ravel(np.asarray(axes, dtype=object)))
    if len(given) != len(chart.panels):
        wanted = f"{len(chart.panels)}, one for each panel"
        raise ValueError(f"ax: {len(given)} Axes; wanted {wanted}")
    for panel, ax in zip(chart.panels, given, strict=True):
        _draw_panel(ax, panel)
    above = 0.0  # points above the first panel already used
    if any(mark.y == "top" for mark in chart.panels[0].marks if isinstance(mark, Words)):
        above = ROOM_FOR_WORDS
    if chart.legend is not None:  # the caller's Axes have no reserved space for it
        above += _explain_above(given[0], chart.legend, above)
    if title:
        given[0].set_title(printable(title), loc="left", fontsize=_points(SIZE), pad=above + 4)
    return given


def _draw_alone(chart: Chart, title: str) -> list[Axes]:
    """Draw on a new figure of the chart's size, with Axes at its panels, and room for the title."""
    wide, high = chart.width, chart.height + TITLE_INCHES * bool(title)
    places = [(panel.left / wide, panel.bottom / high, panel.width / wide, panel.height / high)
              for panel in chart.panels]  # fmt: skip
    figure = plt.figure(figsize=(wide, high))
    axes = list(map(figure.add_axes, places))
    for panel, ax in zip(chart.panels, axes, strict=True):
        _draw_panel(ax, panel)
    if title:
        corner = {"x": MARGIN_INCHES / wide, "y": 1 - MARGIN_INCHES / high, "ha": "left"}
        figure.suptitle(
            printable(title), fontsize=_points(SIZE + 0.5), va="top", parse_math=False, **corner
        )
    if chart.legend is not None:
        top = chart.legend.top + high - chart.height
        corner_of_legend = chart.legend.left / wide, 1 - top / high
        words = _words_of(chart.legend)
        figure.legend(loc="upper left", bbox_to_anchor=corner_of_legend, **words)
    return axes


def _explain_above(ax: Axes, legend: Legend, above: float) -> float:
    """Draw a compact legend `above` points over Axes, and return its height in points."""
    columns = max(legend.columns, -(-len(legend.entries) // MAX_ROWS))
    small = {"fontsize": _points(SMALL), "columnspacing": 1.0, "labelspacing": 0.25}
    words = _words_of(replace(legend, columns=columns)) | small
    high = ax.get_window_extent().height * 72 / ax.figure.dpi
    corner = 0.0, 1 + (above + 2) / max(1.0, high)
    ax.legend(loc="lower left", bbox_to_anchor=corner, **words)
    return -(-len(legend.entries) // columns) * _points(SMALL) * 1.5 + 2


def _draw_panel(ax: Axes, panel: Panel) -> None:
    """Draw a panel; scales first, because text at an edge depends on them."""
    for which, axis in (("x", panel.x), ("y", panel.y)):
        if axis.scale.log:
            ax.set(**{f"{which}scale": "log"})
        ax.set(**{f"{which}lim": (axis.scale.low, axis.scale.high)})
        _name(ax, which, axis)
    ax.set_axisbelow(True)
    for side in ("top", "left", "right"):
        ax.spines[side].set_visible(False)
    ax.spines["bottom"].set_visible(panel.has_foot)
    for mark in panel.marks:
        _draw(ax, panel, mark)


def _name(ax: Axes, which: str, axis: Axis) -> None:
    side = ax.xaxis if which == "x" else ax.yaxis
    side.set_minor_locator(NullLocator())
    side.set_minor_formatter(NullFormatter())
    labels = [printable(tick.label) for tick in axis.ticks]
    named = side.set_ticks([tick.value for tick in axis.ticks], labels)
    side.set_tick_params(length=0, labelsize=_points(SIZE))
    if which == "x" and not axis.slanted:  # align labels at the top, whatever letters they have
        side.set_tick_params(pad=DOWN + 0.8 * _points(SIZE))
    for drawn, tick in zip(named, axis.ticks, strict=True):
        drawn.label1.set(alpha=MUTED if axis.muted else 1.0, parse_math=False)
        if which == "x" and not axis.slanted:
            drawn.label1.set(va="baseline")
        if which == "x" and axis.slanted:
            drawn.label1.set(rotation=SLANT, ha="right", rotation_mode="anchor")
        elif which == "x" and tick.anchor is not None:
            drawn.label1.set(ha=_ANCHOR[tick.anchor])
    if axis.grid:
        side.grid(visible=True, color=_colour(INK), alpha=FAINT, linewidth=0.6)


def _draw(ax: Axes, panel: Panel, mark: Mark) -> None:
    if isinstance(mark, Bar):
        corner = (mark.left, mark.low)
        ax.add_patch(Rectangle(corner, mark.width, mark.height, **_filled(mark)))
    elif isinstance(mark, Area):
        ax.fill_between(mark.x, mark.low, mark.high, **_filled(mark))
    elif isinstance(mark, Line):
        seen = panel.x.scale.holds(mark.x) & panel.y.scale.holds(mark.y)
        ax.plot(mark.x, np.where(seen, mark.y, np.nan), **_lined(mark))
    elif isinstance(mark, Words):
        _write(ax, mark)
    elif mark.x is not None:
        ax.axvline(mark.x, **_stroke(mark.look))
    elif mark.y is not None:
        ax.axhline(mark.y, **_stroke(mark.look))


def _write(ax: Axes, words: Words) -> None:
    at_x, at_y = isinstance(words.x, str), isinstance(words.y, str)
    ax.annotate(
        "\n".join(map(printable, words.text.split("\n"))),
        (_EDGES.get(str(words.x), words.x), _EDGES.get(str(words.y), words.y)),
        (words.right, words.up),
        xycoords=("axes fraction" if at_x else "data", "axes fraction" if at_y else "data"),
        textcoords="offset points",
        ha=_ANCHOR[words.anchor],
        va=_UPRIGHT[words.upright],
        fontsize=_points(words.size),
        fontweight="bold" if words.bold else "normal",
        color=_colour(INK),
        alpha=words.opacity,
        annotation_clip=False,
        parse_math=False,
    )


def _words_of(legend: Legend) -> dict[str, Any]:
    """The legend's samples in column order, so that rows read as on a page."""
    columns = max(1, min(legend.columns, len(legend.entries)))
    entries = [entry for column in range(columns) for entry in legend.entries[column::columns]]
    samples = [
        Line2D([], [], **_lined(entry)) if isinstance(entry, Line) else Patch(**_filled(entry))
        for entry in entries
    ]
    return {
        "handles": samples, "ncols": columns, "frameon": False, "fontsize": _points(SIZE),
        "handlelength": legend.handle, "borderpad": 0, "borderaxespad": 0, "columnspacing": 1.4,
        "labelspacing": 0.4,
    }  # fmt: skip


def _filled(mark: Bar | Area) -> dict[str, Any]:
    look = mark.look
    return {
        "facecolor": _colour(look.fill), "edgecolor": _colour(look.edge), "hatch": look.hatch,
        "linewidth": look.width, "linestyle": look.dash or "-", "alpha": look.opacity,
        "label": printable(mark.label),
    }  # fmt: skip


def _lined(line: Line) -> dict[str, Any]:
    own = {"linestyle": "none"} if not line.look.width else _stroke(line.look)
    colour = _colour(line.look.edge)
    edge = colour if line.mark_edge == "none" else _colour(line.mark_edge)
    return own | {
        "color": colour, "marker": line.marker or "none", "markersize": line.size,
        "markeredgecolor": edge, "markeredgewidth": 0.6, "label": printable(line.label),
    }  # fmt: skip


def _stroke(look: Look) -> dict[str, Any]:
    return {
        "color": _colour(look.edge), "linewidth": look.width, "linestyle": look.dash or "-",
        "alpha": look.opacity,
    }  # fmt: skip


def _points(size: float) -> float:
    """Scale a page's type size by the font setting."""
    return size * float(plt.rcParams["font.size"]) / USUAL_FONT_SIZE


def _colour(colour: str) -> str:
    return str(plt.rcParams["text.color"]) if colour == INK else colour
