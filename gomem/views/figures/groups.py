"""RSS by owner: a filled bar per group, and hollow for memory reserved by Go outside RSS."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.charts.chart import INK, MUTED, Look, Panel, Scale
from gomem.charts.figure import Drawing, name_bytes
from gomem.charts.look import GROUP_LOOK, NONE
from gomem.inputs.schema import rows_of
from gomem.units import format_bytes, format_fraction
from gomem.views.figures.rows import BAR, BYTES, RSS, memory_bar, memory_panel, name_row

if TYPE_CHECKING:
    from gomem.analysis.memory.groups import MemoryGroups

NAMES, NUMBERS = 2.15, 1.62  # inches: names left of the bars, numbers right of them
SMALL = 0.005  # of the largest group: smaller groups without RSS are invisible
_Row = tuple[str, str, int | None, int | None]  # group, name, resident bytes, reserved bytes


def plot_groups(
    groups: MemoryGroups, rss_bytes: int | None, *, name: str = "groups", moment: str = ""
) -> Drawing:
    """Draw one moment's groups, except those of 0 bytes; all are hollow if RSS is unknown."""
    rows: list[_Row] = []
    for group in rows_of(groups.rows):
        rows.append((group["group"], group["name"], group["bytes"], group["claimed_bytes"]))
        claims = rows_of(groups.claims_within(group["group"]))
        rows += [(part["group"], part["name"], None, part["claimed_bytes"]) for part in claims]
    least = SMALL * max((row[2] or row[3] or 0 for row in rows), default=0)
    rows = [row for row in rows if row[2] or (row[3] or 0) > least]
    if rss_bytes is not None:
        rows.append((RSS, RSS, rss_bytes, None))
    chart, panel = memory_panel(len(rows), left=NAMES, right=NUMBERS)
    high = max((max(size or 0, claimed or 0) for *_, size, claimed in rows), default=0) or 1
    panel.x.scale = Scale(0, high * 1.01)
    name_bytes(panel.x, 0, high)
    panel.rule(Look(edge=INK), x=0)
    for place, row in enumerate(rows):
        _draw_row(panel, place, row, rss_bytes)
    title = f"RSS by owner at {moment}" if moment else "RSS by owner"
    return Drawing(name, title, "; ".join(_described(*row) for row in rows) + ".", chart)


def _draw_row(panel: Panel, place: int, row: _Row, rss_bytes: int | None) -> None:
    group, name, size, claimed = row
    resident, beyond = size or 0, max(0, (claimed or 0) - (size or 0))
    if resident:
        memory_bar(panel, place, 0, resident, GROUP_LOOK.get(group))
    if beyond:
        hollow = Look(NONE, "", INK, opacity=MUTED)
        panel.bar(resident, place - BAR / 2, beyond, BAR, hollow)
    if size is None:
        numbers = [(format_bytes(claimed), BYTES, MUTED), ("retained", NUMBERS, MUTED)]
    else:
        numbers = [(format_bytes(size), BYTES, 1.0)]
        if rss_bytes:
            numbers.append((format_fraction(size / rss_bytes), NUMBERS, MUTED))
    name_row(panel, place, name, numbers, bold=group == RSS)


def _described(_: str, name: str, size: int | None, claimed: int | None) -> str:
    if size is None:
        return f"{name} {format_bytes(claimed)} retained"
    is_more = claimed is not None and claimed > size
    more = f" of {format_bytes(claimed)} retained" if is_more else ""
    return f"{name} {format_bytes(size)}{more}"
