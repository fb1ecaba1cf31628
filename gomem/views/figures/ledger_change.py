"""The change from one ledger to another: a bar for each part.

Parts that rose are on the right, parts that fell on the left. Below is the change of RSS, the sum
of all parts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from gomem.charts.chart import INK, Look, Scale
from gomem.charts.figure import Drawing, name_bytes
from gomem.charts.look import LOOK
from gomem.units import format_bytes, format_change, minus
from gomem.views.figures.rows import RSS, memory_bar, memory_panel, name_row
from gomem.views.words import part_name

if TYPE_CHECKING:
    from gomem.analysis.memory.ledger_change import LedgerChange

NAMES, NUMBERS = 2.3, 1.05  # inches: names left of the bars, numbers right of them
SMALL = 0.002  # of the largest change: smaller bars are invisible, but the table has the number


def plot_ledger_change(
    change: LedgerChange, *, name: str = "ledger-change", before: str = "", after: str = ""
) -> Drawing:
    """Draw the change of a ledger, without parts that are unchanged or unknown."""
    known = change.parts.dropna(subset=["change_bytes"])
    every = dict(zip(known["part"], known["change_bytes"].astype("int64"), strict=True))
    least = SMALL * max(map(abs, every.values()), default=0)
    rows = [(str(part), int(size)) for part, size in every.items() if abs(size) > least]
    description = _describe(change, rows)
    if change.rss_change_bytes is not None:
        rows.append((RSS, change.rss_change_bytes))
    chart, panel = memory_panel(len(rows), left=NAMES, right=NUMBERS)
    for place, (part, size) in enumerate(rows):
        memory_bar(panel, place, 0, size, LOOK.get(part))
        numbers = [(minus(format_change(size)), NUMBERS, 1.0)]
        name_row(panel, place, _label(part, size), numbers, bold=part == RSS)
    sizes = [0, *(size for _, size in rows)]
    low, high = min(sizes), max(sizes)
    room = 0.01 * max(1, high - low)
    panel.x.scale = Scale(low - room, high + room)
    name_bytes(panel.x, low, high)
    panel.rule(Look(edge=INK, width=0.8), x=0)
    title = f"Change from {before} to {after}, by part" if before else "Change by part"
    return Drawing(name, title, description, chart)


def _label(part: str, size: int) -> str:
    """The name of a part; a negative part is named after the change of reserved memory."""
    if part == "heap_untouched":
        return "heap newly in RSS" if size > 0 else "more heap not in RSS"
    return part_name(part)


def _describe(change: LedgerChange, rows: list[tuple[str, int]]) -> str:
    parts = [f"{_label(part, size)} {minus(format_change(size))}" for part, size in rows]
    unknown = change.parts.loc[change.parts["change_bytes"].map(pd.isna), "part"]
    missing = f" Unknown on at least one side: {', '.join(map(part_name, unknown))}."
    rss = change.rss_change_bytes
    whole = "RSS is unknown on at least one side"
    if rss is not None:
        whole = f"RSS {'rose' if rss > 0 else 'fell'} by {format_bytes(abs(rss))}"
    moved = "; ".join(parts) or "no change"
    return f"{whole}. By part: {moved}.{missing if len(unknown) else ''}"
