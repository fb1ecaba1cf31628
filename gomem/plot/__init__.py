"""Figures for notebooks: the data first, an optional `ax=`, and matplotlib Axes as the result.

    from gomem import plot

    plot.waterfall("captures/api", "3-later")
    plot.levels(capture, ["Rss", "HeapInuse"], ax=axes[0])
    with plot.style("paper"):
        plot.mmu("gctrace.log").figure.savefig("mmu.pdf")

Data is a diagnosis, a capture, the result of a reader, or a path. A figure of a single snapshot
shows the one named by `moment`, by default the one that the verdict describes; an unknown name
raises KeyError. Without `ax`, the figure gets new Axes. A function returns one Axes, or a list if
the figure has several panels. Missing data raises CaptureError. Only the flame graph is an SVG,
because it is interactive.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from gomem.errors import did_you_mean
from gomem.plot.collector import gc_activity, gc_timeline, mmu, pauses, scavenges, what_if
from gomem.plot.data import PAGE as PAGE
from gomem.plot.memory import (
    address_space,
    groups,
    heap_return,
    ledger_change,
    ledger_over_time,
    levels,
    scavenger,
    small_multiples,
    waterfall,
)
from gomem.plot.profiles import flame, forest, growth, lifetimes, site_changes, sites, spike

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "address_space", "flame", "forest", "gc_activity", "gc_timeline", "groups", "growth",
    "heap_return", "ledger_change", "ledger_over_time", "levels", "lifetimes", "mmu",
    "pauses", "scavenger", "scavenges", "site_changes", "sites", "small_multiples", "spike",
    "style", "waterfall", "what_if",
]  # fmt: skip

INK, GROUND = "#e8e8e8", "#17191c"  # for a dark background
HOUSE: dict[str, Any] = {
    "font.size": 10, "axes.linewidth": 0.6, "hatch.linewidth": 0.6, "figure.dpi": 110,
    "savefig.dpi": 200, "svg.fonttype": "none", "pdf.fonttype": 42,
}  # fmt: skip
STYLES: dict[str, dict[str, Any]] = {
    "light": {},
    "dark": {
        **dict.fromkeys(("text.color", "axes.edgecolor", "xtick.color", "ytick.color"), INK),
        **dict.fromkeys(("figure.facecolor", "axes.facecolor", "savefig.facecolor"), GROUND),
    },
    "paper": {"font.family": "serif", "savefig.bbox": "tight", "savefig.dpi": 300},
}


def __dir__() -> list[str]:
    return list(__all__)


@contextmanager
def style(name: str = "light") -> Iterator[None]:
    """Apply a house style to all figures drawn and saved in the block: `light`, `dark`, or `paper`.

    All styles use the colours of Okabe and Ito, with hatching where colours are alike; `paper` has
    serif type and crops figures. Raises ValueError for an unknown style.
    """
    from matplotlib import pyplot as plt

    if name not in STYLES:
        raise ValueError(f"{name}: wanted one of {', '.join(STYLES)}{did_you_mean(name, STYLES)}")
    settings: Any = HOUSE | STYLES[name]
    with plt.rc_context(settings):
        yield
