"""The ledger over the moments: parts stacked in columns, RSS as the line along their tops.

What the runtime claims and never touched is not resident. So a column begins that far below zero:
above zero stands what is resident, and its top is RSS.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gomem.units import format_bytes
from gomem.views.figures.figure import INK, MUTED, Drawing, draw_byte_axis, new_figure, style
from gomem.views.figures.look import EDGE, GREY, LOOK
from gomem.views.words import PARTS, part_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes

    from gomem.analysis.memory.rss_vs_heap import Ledger

WIDTH, HEIGHT = 7.6, 3.5  # inches, as all lengths here
SCALE, LEGEND = 0.78, 1.95  # beside the columns: the scale to their left, the legend to their right
COLUMNS = WIDTH - SCALE - LEGEND
FOOT, SLANTED_FOOT, TOP = 0.42, 0.85, 0.28
CHARACTER = 0.085  # about as wide as one is in a name below
FEW = 7  # so many moments have room for a value on each column
LABELS = 12  # so many names fit below
LABEL_CHARACTERS = 16
COLUMN, CAP = 0.62, 0.37  # width of a column, and half of the stroke on top of it; a moment is 1
CAP_LINE = 2.0
VISIBLE = 0.01  # of the scale: below, there is nothing to be explained
GHOST = 0.3  # opacity of what was never touched
SMALL = 0.005  # of the largest RSS: parts that stay below it are drawn as one
UNTOUCHED = "heap_untouched"
REST = "other parts"


def plot_timeline(ledgers: Mapping[str, Ledger], *, name: str = "timeline") -> Drawing:
    """Draw the ledgers of several moments beside one another, in order, not to scale in time.

    Args:
        ledgers: Ledger by moment, in order.
        name: Unique on its page.
    """
    layers = _layers(ledgers)
    with style():
        figure = new_figure(WIDTH, HEIGHT)
        foot = SLANTED_FOOT if _slanted(ledgers) else FOOT
        box = (SCALE / WIDTH, foot / HEIGHT, COLUMNS / WIDTH, 1 - (foot + TOP) / HEIGHT)
        axes = figure.add_axes(box)
        tops = _draw_columns(axes, layers, ledgers)
        _draw_rss(axes, ledgers)
        _frame(axes, ledgers, tops)
        _draw_legend(axes, layers, any(one.rss_bytes is not None for one in ledgers.values()))
    return Drawing(name, "Resident memory over the moments", _describe(ledgers), figure)


@dataclass(frozen=True)
class _Layer:
    """One part over all moments, in bytes."""

    label: str
    colour: str
    hatch: str
    sizes: tuple[int, ...]


def _layers(ledgers: Mapping[str, Ledger]) -> list[_Layer]:
    """The parts that show, in the ledger's order, and one layer for those that do not."""
    threshold = SMALL * max((one.rss_bytes or 0 for one in ledgers.values()), default=0)
    layers, small = [], [0] * len(ledgers)
    for part in PARTS:
        sizes = tuple(one.part(part) for one in ledgers.values())
        if part == UNTOUCHED or not any(sizes):
            continue
        if max(sizes) >= threshold:
            layers.append(_Layer(part_name(part), *LOOK[part], sizes))
        else:
            small = [sum(pair) for pair in zip(small, sizes, strict=True)]
    if any(small):
        layers.append(_Layer(REST, GREY, "++++", tuple(small)))
    return layers


def _draw_columns(axes: Axes, layers: list[_Layer], ledgers: Mapping[str, Ledger]) -> list[int]:
    """Stack the layers from as far below zero as was never touched; return the tops."""
    reached = [one.part(UNTOUCHED) for one in ledgers.values()]
    wide = COLUMN if len(ledgers) <= LABELS else 1.0
    for layer in layers:
        tops = [sum(pair) for pair in zip(reached, layer.sizes, strict=True)]
        resident = [(max(0, low), max(0, top)) for low, top in zip(reached, tops, strict=True)]
        absent = [(min(0, low), min(0, top)) for low, top in zip(reached, tops, strict=True)]
        _draw_layer(axes, layer, resident, wide=wide)
        _draw_layer(axes, layer, absent, wide=wide, ghost=True)
        reached = tops
    return reached


def _draw_layer(
    axes: Axes, layer: _Layer, spans: list[tuple[int, int]], *, wide: float, ghost: bool = False
) -> None:
    """One layer's piece of each column, all as one shape; a ghost is what was never touched."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    if ghost and not any(top - low for low, top in spans):
        return
    half = wide / 2
    corners = [
        corner
        for place, (low, top) in enumerate(spans)
        for corner in (
            (place - half, low),
            (place + half, low),
            (place + half, top),
            (place - half, top),
            (place - half, low),
        )
    ]
    turns = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY] * len(spans)
    axes.add_artist(
        PathPatch(
            Path(corners, turns), facecolor=layer.colour, hatch=layer.hatch,
            edgecolor=EDGE, lw=0.6 if wide < 1 else 0, alpha=GHOST if ghost else 1.0,
            label="" if ghost else layer.label,
        )
    )  # fmt: skip


def _draw_rss(axes: Axes, ledgers: Mapping[str, Ledger]) -> None:
    known = [
        (place, one.rss_bytes)
        for place, one in enumerate(ledgers.values())
        if one.rss_bytes is not None
    ]
    if not known:
        return
    places, sizes = zip(*known, strict=True)
    if len(ledgers) <= LABELS:
        begins, ends = [place - CAP for place in places], [place + CAP for place in places]
        axes.hlines(sizes, begins, ends, color=INK, lw=CAP_LINE, label="RSS")
    else:
        axes.step(places, sizes, color=INK, lw=CAP_LINE, where="mid", label="RSS")
    if len(ledgers) <= FEW:
        for place, size in known:
            axes.annotate(
                format_bytes(size), (place, size), (0, 4), textcoords="offset points",
                ha="center", va="bottom", weight="bold",
            )  # fmt: skip


def _frame(axes: Axes, ledgers: Mapping[str, Ledger], tops: list[int]) -> None:
    low = min(one.part(UNTOUCHED) for one in ledgers.values())
    high = max([1, *tops, *(one.rss_bytes or 0 for one in ledgers.values())])
    axes.set_xlim(-0.6, len(ledgers) - 0.4)
    axes.set_ylim(low, high * 1.02)
    slanted: dict[str, Any] = {"rotation": 30, "ha": "right", "rotation_mode": "anchor"}
    axes.set_xticks(*_names(ledgers), **(slanted if _slanted(ledgers) else {}))
    draw_byte_axis(axes, low, high, along="y")
    axes.spines["bottom"].set_visible(False)
    axes.axhline(0, color=INK, lw=0.8)
    if -low > VISIBLE * (high - low):
        axes.text(
            1.02, 0, "below zero: claimed by the\nruntime, never touched",
            transform=axes.transAxes, va="bottom", alpha=MUTED, fontsize=7.5,
        )  # fmt: skip


def _names(ledgers: Mapping[str, Ledger]) -> tuple[list[int], list[str]]:
    """Where names stand below, and which: all of a few, every so many of many."""
    places = list(range(0, len(ledgers), -(-len(ledgers) // LABELS)))
    names = list(ledgers)
    return places, [_short(names[place]) for place in places]


def _slanted(ledgers: Mapping[str, Ledger]) -> bool:
    """Whether names side by side would run into one another."""
    _, names = _names(ledgers)
    return max(map(len, names), default=0) * CHARACTER > 0.9 * COLUMNS / max(1, len(names))


def _short(moment: str) -> str:
    if len(moment) <= LABEL_CHARACTERS:
        return moment
    return moment[: LABEL_CHARACTERS - 1] + "…"


def _draw_legend(axes: Axes, layers: list[_Layer], has_rss: bool) -> None:
    """In the columns' own order: the top of the stack first."""
    handles, labels = axes.get_legend_handles_labels()
    by_label = dict(zip(labels, handles, strict=True))
    order = [*(["RSS"] if has_rss else []), *(layer.label for layer in reversed(layers))]
    axes.legend(
        [by_label[label] for label in order], order,
        loc="upper left", bbox_to_anchor=(1.01, 1.02), borderaxespad=0, handlelength=1.6,
        handleheight=1.0, labelspacing=0.55,
    )  # fmt: skip


def _describe(ledgers: Mapping[str, Ledger]) -> str:
    each = [f"{moment} {format_bytes(one.rss_bytes)}" for moment, one in ledgers.items()]
    return "RSS by moment: " + "; ".join(each) + "."
