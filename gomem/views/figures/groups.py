"""Whose the resident memory is: a filled bar a group, and hollow what Go claims besides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gomem.charts.chart import INK, MUTED, Chart, Look, Panel, Scale
from gomem.charts.figure import Drawing, name_bytes
from gomem.charts.look import GROUP_LOOK, NONE, edge_of
from gomem.charts.svg import POINTS
from gomem.inputs.schema import rows_of
from gomem.units import format_bytes, format_fraction, is_unknown

if TYPE_CHECKING:
    from gomem.analysis.memory.groups import MemoryGroups

WIDTH = 7.6  # inches, as all lengths here
ROW = 0.27
NAMES, NUMBERS = 2.15, 1.62  # beside the bars: names to their left, numbers to their right
BYTES = 0.88  # right of the bars: where bytes end, and shares have the rest
AXIS = 0.38
TOP = 0.08
BAR = 0.62  # of a row
TOTAL = "RSS"

_Row = tuple[str, str, int | None, int | None]  # group, name, resident bytes, claimed bytes


def plot_groups(
    groups: MemoryGroups, rss_bytes: int | None, *, name: str = "groups", moment: str = ""
) -> Drawing:
    """Draw one moment's groups without those of 0 bytes; all hollow if no file says RSS."""
    rows = _rows(groups, rss_bytes)
    height = TOP + ROW * max(1, len(rows)) + AXIS
    chart = Chart(WIDTH, height)
    panel = chart.panel(left=NAMES, right=NUMBERS, top=TOP, bottom=AXIS)
    _frame(panel, rows)
    for place, row in enumerate(rows):
        _draw_row(panel, place, row, rss_bytes)
    title = f"Resident memory by whose it is: {moment}" if moment else "Resident memory"
    return Drawing(name, title, describe_groups(rows), chart)


def _rows(groups: MemoryGroups, rss_bytes: int | None) -> list[_Row]:
    rows: list[_Row] = []
    for row in rows_of(groups.rows):
        rows.append((row["group"], row["name"], _known(row["bytes"]), _known(row["claimed_bytes"])))
        rows += [
            (one["group"], one["name"], None, int(one["claimed_bytes"]))
            for one in rows_of(groups.claims_within(row["group"]))
        ]
    shown = [row for row in rows if row[2] or row[3]]
    return shown if rss_bytes is None else [*shown, (TOTAL, TOTAL, rss_bytes, None)]


def _known(size: Any) -> int | None:
    return None if is_unknown(size) else int(size)


def _draw_row(panel: Panel, place: int, row: _Row, rss_bytes: int | None) -> None:
    group, name, size, claimed = row
    resident, beyond = size or 0, max(0, (claimed or 0) - (size or 0))
    colour, hatch = GROUP_LOOK.get(group, (INK, ""))
    opacity = MUTED if group == TOTAL else 1.0
    if resident:
        look = Look(colour, hatch, edge_of(colour, INK), opacity=opacity)
        panel.bar(0, place - BAR / 2, resident, BAR, look)
    if beyond:
        panel.bar(resident, place - BAR / 2, beyond, BAR, Look(NONE, "", INK, opacity=MUTED))
    words: dict[str, Any] = {"y": place, "anchor": "end", "bold": group == TOTAL}
    panel.words(name, "left", right=-7, **words)
    if size is None:
        words["opacity"] = MUTED
    panel.words(
        format_bytes(claimed if size is None else size), "right", right=BYTES * POINTS, **words
    )
    if size is None:
        panel.words("claimed", "right", right=NUMBERS * POINTS, **words)
    elif rss_bytes:
        share = format_fraction(size / rss_bytes)
        panel.words(share, "right", right=NUMBERS * POINTS, opacity=MUTED, **words)


def _frame(panel: Panel, rows: list[_Row]) -> None:
    high = max((max(size or 0, claimed or 0) for *_, size, claimed in rows), default=0) or 1
    panel.x.scale = Scale(0, high * 1.01)
    panel.y.scale = Scale(max(1, len(rows)) - 0.5, -0.5)
    name_bytes(panel.x, 0, high)
    panel.rule(Look(edge=INK), x=0)


def describe_groups(rows: list[_Row]) -> str:
    """The figure in words: each group with what is resident and what Go claims."""
    return "; ".join(_described(*row) for row in rows) + "."


def _described(_: str, name: str, size: int | None, claimed: int | None) -> str:
    if size is None:
        return f"{name} {format_bytes(claimed)} claimed"
    more = f" of {format_bytes(claimed)} claimed" if claimed is not None and claimed > size else ""
    return f"{name} {format_bytes(size)}{more}"
