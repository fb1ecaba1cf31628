"""The numbers that the collector's figures are drawn of, as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.inputs.schema import rows_of
from gomem.units import format_count, format_seconds
from gomem.views.document import Cell, Table
from gomem.views.figures.gc_activity import KINDS
from gomem.views.figures.gc_timeline import shared
from gomem.views.values import (
    bytes_cell,
    clock_cell,
    cores_cell,
    count_cell,
    fraction_cell,
    rate_cell,
    seconds_cell,
)
from gomem.views.words import TIMES

if TYPE_CHECKING:
    import pandas as pd

    from gomem.analysis.collector.mmu import MutatorUtilization
    from gomem.analysis.collector.pauses import GcPauses

TABLE_ROWS = 24


def timeline_table(timeline: pd.DataFrame) -> Table:
    """The numbers of the figure, in fewer windows."""
    rows = tuple(_timeline_row(row) for row in rows_of(timeline))
    columns = (
        "from", "collections", "live", "heap up to", "goal", "stop", "longest stop", "stopped",
    )  # fmt: skip
    caption = "Heap and pauses over time"
    if shared(timeline):
        caption += "; live heap, goal and stop are medians of the collections of a row"
    return Table(caption, columns, "<>>>>>>>", rows)


def _timeline_row(row: dict[str, float]) -> tuple[Cell, ...]:
    return (
        clock_cell(row["begin_seconds"]),
        count_cell(int(row["cycles"])),
        bytes_cell(row["heap_live_p50_bytes"]),
        bytes_cell(row["heap_at_mark_end_high_bytes"]),
        bytes_cell(row["heap_goal_p50_bytes"]),
        seconds_cell(row["stopped_p50_seconds"]),
        seconds_cell(row["stopped_max_seconds"]),
        seconds_cell(row["stopped_seconds"]),
    )


def histogram_table(pauses: GcPauses) -> Table:
    """The bars of the figure."""
    rows = tuple(
        (
            Cell(TIMES[row["what"]][0]),
            Cell(f"{format_seconds(row['low_seconds'])} to {format_seconds(row['high_seconds'])}"),
            count_cell(row["cycles"]),
        )
        for row in rows_of(pauses.histogram)
        if row["cycles"]
    )
    return Table("How many collections took how long", ("what", "from, to", "n"), "<>>", rows)


def mmu_table(utilization: MutatorUtilization) -> Table:
    """The curve, and where each worst window begins."""
    many = utilization.curve["run"].dropna().unique().size > 1
    rows = tuple(
        (
            seconds_cell(row["window_seconds"]),
            fraction_cell(row["minimum_fraction"]),
            clock_cell(row["at_seconds"]),
            *((count_cell(row["run"]),) if many else ()),
        )
        for row in rows_of(utilization.curve)
    )
    columns = ("window", "the program keeps at least", "worst from", *(("run",) if many else ()))
    return Table("Minimum mutator utilisation", columns, "<>>>" if many else "<>>", rows)


def activity_table(timeline: pd.DataFrame) -> Table:
    """The numbers of the figure, in fewer windows."""
    rows = tuple(
        (
            clock_cell(row["begin_seconds"]),
            count_cell(int(row["cycles"])),
            *(cores_cell(row[f"{kind}_cores"]) for kind in KINDS),
            fraction_cell(row["gc_cpu_fraction"]),
            rate_cell(row["allocation_rate_bytes_per_second"]),
        )
        for row in rows_of(timeline)
    )
    labels = (label for label, _, _ in KINDS.values())
    columns = ("from", "collections", *labels, "all but idle", "allocation rate")
    caption = "GC CPU in cores, as a share of GOMAXPROCS, and allocation"
    return Table(caption, columns, "<>>>>>>>", rows)


def scavenges_table(scavenges: pd.DataFrame) -> Table:
    """Lines that gave back most, in order of time."""
    worked = scavenges[scavenges["released_bytes"].fillna(0) > 0]
    most = worked.sort_values("released_bytes", ascending=False, kind="stable").head(TABLE_ROWS)
    rows = tuple(
        (
            clock_cell(row["log_seconds"]),
            count_cell(row["after_cycle"]),
            Cell(row["event"] + (", forced" if row["forced"] else "")),
            bytes_cell(row["released_bytes"]),
            bytes_cell(row["released_eager_bytes"]),
            bytes_cell(row["released_total_bytes"]),
        )
        for row in rows_of(most.sort_index())
    )
    columns = ("after", "collection", "line", "gave back", "at once", "released in all")
    caption = f"The {len(rows)} lines that gave back most, of {format_count(len(scavenges))}"
    return Table(caption, columns, "<><>>>", rows)
