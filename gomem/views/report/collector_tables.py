"""What a log says about collections, as tables: costs, times, reasons, pacing, phases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.inputs.schema import rows_of
from gomem.units import format_bytes, format_seconds
from gomem.views.document import Cell, Table
from gomem.views.values import (
    NOTHING,
    between,
    bytes_cell,
    clock_cell,
    count_cell,
    fraction_cell,
    rate_cell,
    seconds_cell,
    slope_cell,
)
from gomem.views.words import PACING, PHASES, TIMES, TRIGGERS

if TYPE_CHECKING:
    import pandas as pd

    from gomem.analysis.collector.cost import GcCost
    from gomem.analysis.collector.heap_pacing import HeapPacing
    from gomem.analysis.collector.live_heap import LiveHeap
    from gomem.analysis.collector.pauses import GcPauses
    from gomem.analysis.collector.triggers import GcTriggers

PHASES_SHOWN = 24
RUNS_SHOWN = 24


def costs_table(gc: GcCost) -> Table:
    """What the collector cost, and what made it work."""
    mib = "to 1 MiB, rounded down"
    rate = gc.allocation_rate
    between = ""
    if rate.low is not None and rate.high is not None:
        between = f"{format_bytes(rate.low)}/s to {format_bytes(rate.high)}/s with rounding"
    per_second = NOTHING if rate.value is None else Cell(f"{format_bytes(rate.value)}/s")
    rows = (
        (Cell("collections"), count_cell(gc.cycles), Cell(_why(gc))),
        (Cell("watched for"), seconds_cell(gc.seconds), Cell("first collection to last")),
        (
            Cell("GC CPU"),
            fraction_cell(gc.gc_cpu_fraction),
            Cell("of what GOMAXPROCS allowed; idle marking left out, stops from their request"),
        ),
        (
            Cell("of it, marking"),
            fraction_cell(gc.marking_cpu_fraction),
            Cell("by assists and background workers"),
        ),
        (
            Cell("assists"),
            fraction_cell(gc.assist_fraction),
            Cell("of marking, done by allocating goroutines"),
        ),
        (Cell("allocation rate"), per_second, Cell(between)),
        (Cell("longest single stop"), seconds_cell(gc.longest_stop_seconds), Cell("")),
        (Cell("live heap, first"), bytes_cell(gc.heap_live_first_bytes), Cell(mib)),
        (Cell("live heap, last"), bytes_cell(gc.heap_live_last_bytes), Cell(mib)),
        (Cell("largest heap"), bytes_cell(gc.heap_peak_bytes), Cell(mib)),
        (Cell("last goal"), bytes_cell(gc.heap_goal_bytes), Cell(mib)),
    )
    return Table("Costs of collection", ("", "value", "what it is"), "<><", rows)


def _why(gc: GcCost) -> str:
    runs = f", in {gc.runs} runs of the program" if gc.runs > 1 else ""
    return f"{gc.forced} forced, {gc.periodic} periodic{runs}"


def times_table(pauses: GcPauses) -> Table:
    """Quantiles of all times of collections, with their 95 % intervals."""
    rows = tuple(_quantile_row(pauses.quantiles, what) for what in TIMES)
    columns = ("each collection", "median", "p90", "p99", "p99, 95 %", "longest", "n")
    return Table("Times of collections", columns, "<>>>>>>", rows)


def _quantile_row(quantiles: pd.DataFrame, what: str) -> tuple[Cell, ...]:
    name, meaning = TIMES[what]
    own = quantiles[quantiles["what"] == what].set_index("quantile")
    p99 = own.loc[0.99]
    return (
        Cell(name, note=meaning),
        *(
            seconds_cell(own["seconds"][quantile]) if own["is_carried"][quantile] else NOTHING
            for quantile in (0.5, 0.9, 0.99)
        ),
        between(p99["low_seconds"], p99["high_seconds"], seconds_cell)
        if p99["is_carried"]
        else NOTHING,
        seconds_cell(own["seconds"][1.0]),
        count_cell(int(p99["n"])),
    )


def triggers_table(triggers: GcTriggers) -> Table:
    """Why collections ran, and what each reason cost."""
    rows = tuple(
        (
            Cell(row["trigger"], note=TRIGGERS[row["trigger"]]),
            count_cell(row["cycles"]),
            fraction_cell(row["fraction"]),
            seconds_cell(row["gc_cpu_seconds"]),
            seconds_cell(row["stopped_seconds"]),
        )
        for row in rows_of(triggers.counts)
    )
    columns = ("why", "collections", "of all", "GC CPU", "world stopped")
    return Table("Why collections ran", columns, "<>>>>", rows)


def triggers_notes(triggers: GcTriggers) -> tuple[str, ...]:
    """How GOGC is known, which decides what counts as driven by a memory limit."""
    known = triggers.gogc.dropna(subset=["gogc_fraction"])
    if known.empty:
        return (
            "GOGC is off or not known, so only goals that no GOGC makes count as a memory limit's",
        )
    one = known.iloc[0]
    value = f"GOGC is taken to be {100 * float(one['gogc_fraction']):.0f}"
    return (f"{value}, from {one['known_from']}",)


def pacing_table(pacing: HeapPacing) -> Table:
    """Survival, overshoot and room, over the collections."""
    rows = tuple(_pacing_row(row) for row in rows_of(pacing.summary))
    columns = ("each collection", "p10", "median", "p90", "highest", "n")
    return Table("How collections were paced", columns, "<>>>>>", rows)


def _pacing_row(row: dict[str, float]) -> tuple[Cell, ...]:
    what = str(row["what"])
    name, meaning = PACING[what]
    cell = bytes_cell if what.endswith("_bytes") else fraction_cell
    return (
        Cell(name, note=meaning),
        *(cell(row[name]) for name in ("p10", "p50", "p90", "max")),
        count_cell(int(row["n"])),
    )


def live_heap_table(live: tuple[LiveHeap, ...]) -> Table:
    """The slope of the live heap in each run; of very many, those that were watched longest."""
    longest = sorted(live, key=lambda one: one.seconds, reverse=True)[:RUNS_SHOWN]
    shown = sorted(longest, key=lambda one: one.run)
    rows = tuple(
        (
            Cell(f"run {one.run}"),
            clock_cell(one.begin_seconds),
            seconds_cell(one.seconds),
            bytes_cell(one.first_bytes),
            bytes_cell(one.last_bytes),
            slope_cell(one.slope_bytes_per_second),
            between(one.slope_low, one.slope_high, slope_cell),
            count_cell(one.cycles),
        )
        for one in shown
    )
    columns = ("", "from", "for", "first", "last", "slope", "95 % interval", "n")
    caption = "The live heap, once it had filled"
    if len(shown) < len(live):
        caption += f": the longest {len(shown)} of {len(live)} runs"
    return Table(caption, columns, "<>>>>>>>", rows)


def growth_words(live: LiveHeap | None) -> str:
    """Whether the live heap grows, in a sentence; empty if that cannot be said."""
    if live is None or live.slope_low is None or live.slope_high is None:
        return ""
    seconds = format_seconds(live.seconds)
    if live.slope_low > 0:
        return f"the live heap grew over the last {seconds}, beyond chance"
    if live.slope_high < 0:
        return f"the live heap shrank over the last {seconds}, beyond chance"
    return (
        f"over the last {seconds} the live heap neither grew nor shrank beyond chance and rounding"
    )


def phases_table(phases: pd.DataFrame) -> Table:
    """The phases of each run; of very many, the longest."""
    longest = phases.assign(length=phases["end_seconds"] - phases["begin_seconds"])
    shown = longest.sort_values("length", ascending=False, kind="stable").head(PHASES_SHOWN)
    rows = tuple(_phase_row(row) for row in rows_of(shown.sort_index()))
    columns = ("phase", "from", "for", "collections", "interval", "allocation", "GC CPU", "live")
    more = len(phases) - len(shown)
    caption = "Phases" + (f", the longest {len(shown)} of {len(phases)}" if more else "")
    return Table(caption, columns, "<>>>>>>>", rows)


def _phase_row(row: dict[str, float]) -> tuple[Cell, ...]:
    name = str(row["phase"])
    return (
        Cell(name, note=PHASES[name]),
        clock_cell(row["begin_seconds"]),
        seconds_cell(row["length"]),
        count_cell(int(row["cycles"])),
        seconds_cell(row["interval_p50_seconds"]),
        rate_cell(row["allocation_rate_bytes_per_second"]),
        fraction_cell(row["gc_cpu_fraction"]),
        bytes_cell(row["heap_live_p50_bytes"]),
    )
