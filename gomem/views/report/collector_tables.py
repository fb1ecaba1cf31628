"""Tables about the collections in a log: the numbers of the figures, and the costs."""

from __future__ import annotations

from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING

from gomem.inputs.schema import rows_of
from gomem.units import format_bytes, format_count, format_seconds
from gomem.views.document import Cell, Table
from gomem.views.figures.gc_activity import KINDS
from gomem.views.figures.gc_timeline import shared
from gomem.views.tables import (
    Column,
    Row,
    clock,
    count,
    noted,
    rate,
    seconds,
    share,
    shown_by,
    size,
    table,
    words,
)
from gomem.views.values import (
    NOTHING,
    between,
    bytes_cell,
    cores_cell,
    count_cell,
    fraction_cell,
    seconds_cell,
    slope_cell,
)
from gomem.views.words import PACING, PHASES, TIMES, TRIGGERS

if TYPE_CHECKING:
    import pandas as pd

    from gomem.analysis.collector.cost import GcCost
    from gomem.analysis.collector.heap_pacing import LiveHeap
    from gomem.analysis.collector.mmu import MutatorUtilization
    from gomem.analysis.collector.pauses import GcPauses
    from gomem.analysis.collector.triggers import GcTriggers

MAX_ROWS = 24  # of phases, runs, lines
TIMELINE = (
    clock("start", "begin_seconds"),
    count("GCs", "cycles"),
    size("live heap", "heap_live_p50_bytes"),
    size("heap up to", "heap_at_mark_end_high_bytes"),
    size("goal", "heap_goal_p50_bytes"),
    seconds("pause", "stopped_p50_seconds"),
    seconds("longest pause", "stopped_max_seconds"),
    seconds("total pause", "stopped_seconds"),
)
HISTOGRAM = (
    words("what", lambda row: TIMES[row["what"]][0]),
    Column(
        "from, to",
        lambda row: Cell(
            f"{format_seconds(row['low_seconds'])} to {format_seconds(row['high_seconds'])}"
        ),
    ),
    count("n", "cycles"),
)
MMU = (
    seconds("window", "window_seconds"),
    share("program keeps at least", "minimum_fraction"),
    clock("worst window starts", "at_seconds"),
    count("run", "run"),
)
ACTIVITY = (
    clock("start", "begin_seconds"),
    count("GCs", "cycles"),
    *(shown_by(cores_cell)(label, f"{kind}_cores") for kind, (label, _, _) in KINDS.items()),
    share("all but idle", "gc_cpu_fraction"),
    rate("allocation rate", "allocation_rate_bytes_per_second"),
)
SCAVENGES = (
    clock("after", "log_seconds"),
    count("GC", "after_cycle"),
    words("line", lambda row: row["event"] + (", forced" if row["forced"] else "")),
    size("returned", "released_bytes"),
    size("at once", "released_eager_bytes"),
    size("released in total", "released_total_bytes"),
)


def _carried(quantile: float, row: dict[float, Row]) -> Cell:
    own = row[quantile]
    return seconds_cell(own["seconds"]) if own["is_carried"] else NOTHING


def _interval(row: dict[float, Row]) -> Cell:
    ends = row[0.99]["low_seconds"], row[0.99]["high_seconds"]
    return between(*ends, seconds_cell) if row[0.99]["is_carried"] else NOTHING


def _paced(name: str, row: Row) -> Cell:
    return (bytes_cell if row["what"].endswith("_bytes") else fraction_cell)(row[name])


QUANTILES = (
    noted("per GC", lambda row: TIMES[row[1.0]["what"]]),
    Column("median", partial(_carried, 0.5)),
    Column("p90", partial(_carried, 0.9)),
    Column("p99", partial(_carried, 0.99)),
    Column("p99, 95 % interval", _interval),
    seconds("max", lambda row: row[1.0]["seconds"]),
    count("n", lambda row: row[0.99]["n"]),
)
PACED = (
    noted("per GC", lambda row: PACING[row["what"]]),
    Column("p10", partial(_paced, "p10")),
    Column("median", partial(_paced, "p50")),
    Column("p90", partial(_paced, "p90")),
    Column("highest", partial(_paced, "max")),
    count("n", "n"),
)
WHY = (
    noted("why", lambda row: (row["trigger"], TRIGGERS[row["trigger"]])),
    count("GCs", "cycles"),
    share("share", "fraction"),
    seconds("GC CPU time", "gc_cpu_seconds"),
    seconds("total pause", "stopped_seconds"),
)


def _slope(per_second: float | None, live: LiveHeap) -> Cell:
    return slope_cell(per_second, live.slope_low, live.slope_high)


LIVE_HEAP = (
    words("", lambda live: f"run {live.run}"),
    clock("start", attrgetter("begin_seconds")),
    seconds("duration", attrgetter("seconds")),
    size("first", attrgetter("first_bytes")),
    size("last", attrgetter("last_bytes")),
    Column("median slope", lambda live: _slope(live.slope_bytes_per_second, live)),
    Column(
        "95 % interval",
        lambda live: between(live.slope_low, live.slope_high, lambda end: _slope(end, live)),
    ),
    count("GCs", attrgetter("cycles")),
)
TENTHS = 20  # GCs of a run, from which on its first and last level are medians of several
PHASE = (
    noted("phase", lambda row: (row["phase"], PHASES[row["phase"]])),
    clock("start", "begin_seconds"),
    seconds("duration", "length"),
    count("GCs", "cycles"),
    seconds("GC interval", "interval_p50_seconds"),
    rate("alloc rate", "allocation_rate_bytes_per_second"),
    share("GC CPU", "gc_cpu_fraction"),
    size("live heap (median)", "heap_live_p50_bytes"),
)


def timeline_table(timeline: pd.DataFrame) -> Table:
    """The numbers of the figure, in fewer windows."""
    caption = "Heap and pauses over time"
    if shared(timeline):
        caption += "; live heap, goal and pause are medians over the GCs of a row"
    return table(caption, TIMELINE, timeline)


def histogram_table(pauses: GcPauses) -> Table:
    """The bars of the figure."""
    drawn = pauses.histogram[pauses.histogram["cycles"] != 0]
    return table("GCs by duration", HISTOGRAM, drawn)


def mmu_table(utilization: MutatorUtilization) -> Table:
    """The curve, and the start of each worst window, with its run if there are several."""
    are_many = utilization.curve["run"].dropna().unique().size > 1
    columns = MMU if are_many else MMU[:-1]
    return table("Minimum mutator utilisation", columns, utilization.curve)


def activity_table(timeline: pd.DataFrame) -> Table:
    """The numbers of the figure, in fewer windows."""
    return table("GC CPU in cores, as a share of GOMAXPROCS, and allocation", ACTIVITY, timeline)


def scavenges_table(scavenges: pd.DataFrame) -> Table:
    """Lines with the largest releases, in order of time."""
    worked = scavenges[scavenges["released_bytes"].fillna(0) > 0]
    most = worked.sort_values("released_bytes", ascending=False, kind="stable").head(MAX_ROWS)
    lines = "line that returned" if len(most) == 1 else f"{len(most)} lines that returned"
    caption = f"The {lines} most, of {format_count(len(scavenges))}"
    return table(caption, SCAVENGES, most.sort_index())


def costs_table(gc: GcCost) -> Table:
    """The costs of the collector, and what triggered it."""
    mib, allocated = "rounded down to whole MiB", gc.allocation_rate
    first = gc.heap_live_first_bytes
    runs = f", in {gc.runs} processes" if gc.runs > 1 else ""
    rounding, over = "", ", over all runs" if gc.runs > 1 else ""
    if allocated.low is not None and allocated.high is not None:
        ends = f"{format_bytes(allocated.low)}/s to {format_bytes(allocated.high)}/s"
        rounding = f"{ends}: the log rounds sizes to MiB"
    per_second = None if allocated.value is None else f"{format_bytes(allocated.value)}/s"
    rows = (
        ("GCs", count_cell(gc.cycles), f"{gc.forced} forced, {gc.periodic} periodic{runs}"),
        ("log covers", seconds_cell(gc.seconds), "from the first GC to the last"),
        ("GC CPU", fraction_cell(gc.gc_cpu_fraction),
         f"share of GOMAXPROCS{over}: includes the time to stop the world, excludes idle marking"),
        ("marking", fraction_cell(gc.marking_cpu_fraction),
         "share of GOMAXPROCS by assists and background workers"),
        ("assists", fraction_cell(gc.assist_fraction),
         "share of marking that allocating goroutines did"),
        ("allocation rate", Cell(per_second) if per_second else NOTHING, rounding),
        ("longest STW phase", seconds_cell(gc.longest_stop_seconds),
         "each GC has two STW phases; its pause is their sum"),
        ("live heap, first GC", Cell("<1 MiB") if first == 0 else bytes_cell(first), mib),
        ("live heap, last GC", bytes_cell(gc.heap_live_last_bytes), mib),
        ("largest heap", bytes_cell(gc.heap_peak_bytes), mib),
        ("last goal", bytes_cell(gc.heap_goal_bytes), f"goal of the last GC itself, {mib}"),
    )  # fmt: skip
    cells = tuple((Cell(name), value, Cell(means)) for name, value, means in rows)
    return Table("GC costs", ("", "value", "notes"), "<><", cells)


def times_table(pauses: GcPauses) -> Table:
    """Quantiles of the durations of collections, with their 95 % intervals."""
    every = rows_of(pauses.quantiles)
    rows = [{row["quantile"]: row for row in every if row["what"] == what} for what in TIMES]
    return table("GC times", QUANTILES, rows)


NO_GOGC = (
    "no file states GOGC, so a GC counts as limit-driven if no constant GOGC explains its goal"
)


def triggers_notes(triggers: GcTriggers) -> tuple[str, ...]:
    """What counts as driven by a memory limit if GOGC is unknown."""
    is_limited = int(triggers.of("limit")["cycles"]) > 0
    if not is_limited or triggers.gogc_is_known or triggers.gogc["gogc_fraction"].notna().any():
        return ()  # off has no number
    return (NO_GOGC,)


def live_heap_table(live: tuple[LiveHeap, ...]) -> Table:
    """The slope of the live heap in each run; if there are too many runs, the longest ones."""
    shown = sorted(live, key=lambda run: run.seconds, reverse=True)[:MAX_ROWS]
    caption = "Live heap from the GC at which it first reaches its median"
    if max(run.cycles for run in shown) >= TENTHS:
        caption += "; first and last are medians of a tenth of these GCs"
    if len(shown) < len(live):
        caption += f"; the longest {len(shown)} of {len(live)} runs"
    columns = LIVE_HEAP if len(live) > 1 else LIVE_HEAP[1:]
    return table(caption, columns, sorted(shown, key=lambda run: run.run))


def growth_words(live: LiveHeap | None, runs: int) -> str:
    """Say whether the live heap of the longest run grows; empty if it is unknown."""
    if live is None or live.slope_low is None or live.slope_high is None:
        return ""
    where = f"in run {live.run}, the longest, the" if runs > 1 else "the"
    moved = "had no significant trend"
    if live.slope_low > 0 or live.slope_high < 0:
        moved = f"{'grew' if live.slope_low > 0 else 'shrank'} significantly"
    return f"{where} live heap {moved} in these {format_seconds(live.seconds)}"


def phases_table(phases: pd.DataFrame) -> Table:
    """The phases of each run; if there are too many, the longest ones."""
    longest = phases.assign(length=phases["end_seconds"] - phases["begin_seconds"])
    shown = longest.sort_values("length", ascending=False, kind="stable").head(MAX_ROWS)
    more = f", the longest {len(shown)} of {len(phases)}" if len(shown) < len(phases) else ""
    return table(f"Phases of the program, by allocation rate{more}", PHASE, shown.sort_index())
