"""The ledger over the moments: parts stacked in columns, RSS as the line along their tops.

What the runtime claims and never touched is not resident. So a column begins that far below zero:
above zero stands what is resident, and its top is RSS.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gomem.units import format_bytes
from gomem.views.figures.chart import INK, MUTED, Area, Chart, Line, Look, Panel, Scale
from gomem.views.figures.figure import Drawing, name_bytes
from gomem.views.figures.look import EDGE, GREY, LOOK
from gomem.views.words import PARTS, part_name

if TYPE_CHECKING:
    from collections.abc import Mapping

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
RSS = "RSS"


def plot_timeline(ledgers: Mapping[str, Ledger], *, name: str = "timeline") -> Drawing:
    """Draw the ledgers of several moments beside one another, in order, not to scale in time.

    Args:
        ledgers: Ledger by moment, in order.
        name: Unique on its page.
    """
    layers = _layers(ledgers)
    foot = SLANTED_FOOT if _slanted(ledgers) else FOOT
    chart = Chart(WIDTH, HEIGHT)
    panel = chart.panel(left=SCALE, right=LEGEND, top=TOP, bottom=foot)
    tops = _draw_columns(panel, layers, ledgers)
    _draw_rss(panel, ledgers)
    _frame(panel, ledgers, tops)
    _explain(chart, panel)
    return Drawing(name, "Resident memory over the moments", _describe(ledgers), chart)


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


def _draw_columns(panel: Panel, layers: list[_Layer], ledgers: Mapping[str, Ledger]) -> list[int]:
    """Stack the layers from as far below zero as was never touched; return the tops."""
    reached = [one.part(UNTOUCHED) for one in ledgers.values()]
    wide = COLUMN if len(ledgers) <= LABELS else 1.0
    for layer in layers:
        tops = [sum(pair) for pair in zip(reached, layer.sizes, strict=True)]
        resident = [(max(0, low), max(0, top)) for low, top in zip(reached, tops, strict=True)]
        absent = [(min(0, low), min(0, top)) for low, top in zip(reached, tops, strict=True)]
        _draw_layer(panel, layer, resident, wide=wide)
        _draw_layer(panel, layer, absent, wide=wide, ghost=True)
        reached = tops
    return reached


def _draw_layer(
    panel: Panel, layer: _Layer, spans: list[tuple[int, int]], *, wide: float, ghost: bool = False
) -> None:
    """One layer's piece of each column, all as one shape; a ghost is what was never touched."""
    if ghost and not any(top - low for low, top in spans):
        return
    nothing = float("nan")  # between two columns
    places = [(place - wide / 2, place + wide / 2, nothing) for place in range(len(spans))]
    lows = [(low, low, nothing) for low, _ in spans]
    tops = [(top, top, nothing) for _, top in spans]
    look = Look(
        layer.colour, layer.hatch, EDGE, width=0.6 if wide < 1 else 0,
        opacity=GHOST if ghost else 1.0,
    )  # fmt: skip
    x, low, top = (np.array(one, float).ravel() for one in (places, lows, tops))
    panel.area(x, low, top, look, "" if ghost else layer.label)


def _draw_rss(panel: Panel, ledgers: Mapping[str, Ledger]) -> None:
    known = [
        (place, one.rss_bytes)
        for place, one in enumerate(ledgers.values())
        if one.rss_bytes is not None
    ]
    if not known:
        return
    half = CAP if len(ledgers) <= LABELS else 0.5
    apart = float("nan") if len(ledgers) <= LABELS else None  # a stroke a column, or one line
    x = [end for place, _ in known for end in (place - half, place + half, apart)]
    y = [end for _, size in known for end in (size, size, apart)]
    panel.line(
        [at for at in x if at is not None], [at for at in y if at is not None],
        Look(edge=INK, width=CAP_LINE), RSS,
    )  # fmt: skip
    if len(ledgers) <= FEW:
        for place, size in known:
            panel.words(
                format_bytes(size), place, size, up=4, anchor="middle", upright="bottom", bold=True
            )


def _frame(panel: Panel, ledgers: Mapping[str, Ledger], tops: list[int]) -> None:
    low = min(one.part(UNTOUCHED) for one in ledgers.values())
    high = max([1, *tops, *(one.rss_bytes or 0 for one in ledgers.values())])
    panel.x.scale = Scale(-0.6, len(ledgers) - 0.4)
    panel.y.scale = Scale(low, high * 1.02)
    panel.x.name(*_names(ledgers), muted=False, slanted=_slanted(ledgers))
    name_bytes(panel.y, low, high)
    panel.has_foot = False
    panel.rule(Look(edge=INK, width=0.8), y=0)
    if -low > VISIBLE * (high - low):
        panel.words(
            "below zero: claimed by the\nruntime, never touched", "right", "bottom", right=8,
            upright="bottom", size=7.5, opacity=MUTED,
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


def _explain(chart: Chart, panel: Panel) -> None:
    """In the columns' own order: the top of the stack first."""
    lines = [one for one in panel.labelled() if isinstance(one, Line)]
    layers = [one for one in panel.labelled() if isinstance(one, Area)]
    left = SCALE + COLUMNS + 0.1
    chart.explain([*lines, *reversed(layers)], left=left, top=TOP, columns=1)


def _describe(ledgers: Mapping[str, Ledger]) -> str:
    each = [f"{moment} {format_bytes(one.rss_bytes)}" for moment, one in ledgers.items()]
    return "RSS by moment: " + "; ".join(each) + "."
