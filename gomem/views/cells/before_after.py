"""Before against after in a notebook: benchmarks, the collector, allocation sites."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gomem.units import (
    format_bytes,
    format_change,
    format_count,
    format_fraction,
    format_seconds,
    is_unknown,
)
from gomem.views.cells.ledger import ledgers_table
from gomem.views.comparison.text import (
    format_n,
    format_p,
    format_relative,
    format_spread,
    format_value,
)
from gomem.views.comparison.words import benchmarks_of
from gomem.views.figures.figure import FAINT, INK, MUTED, Drawing, draw_byte_axis, new_figure, style
from gomem.views.figures.ledger_over_moments import plot_timeline
from gomem.views.figures.look import BLUE, ORANGE
from gomem.views.writers.cells import NOTHING, UNKNOWN_CELL, Shown, rows_table, sentences

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pandas as pd
    from matplotlib.axes import Axes

    from gomem.analysis.collector.gc_cost import GcSummary
    from gomem.analysis.comparison.before_after import Comparison
    from gomem.analysis.memory.rss_vs_heap import Ledger
    from gomem.diagnosis.diagnosis import Diagnosis

WIDTH, ROW, HEAD, FOOT = 7.4, 0.3, 0.36, 0.42  # inches, as all lengths here
NAMES, NUMBERS = 2.3, 1.5  # beside the rows
SITE_NAMES = 2.6
SITES_SHOWN = 10
NAME_CHARACTERS = 40
MARKERS = {"before": (ORANGE, "s", 0.16), "after": (BLUE, "o", -0.16)}
NO_CLAIM = "~"
NO_BENCHMARKS = "Neither capture holds a benchmark that both sides could be compared by."
NO_LEDGERS = (
    "On neither side does a file say where memory is: there is no smaps, status or MemStats."
)
NO_PROFILES = "There are no two heap profiles to compare."
ALLOCATED = "alloc_space"

_GC_ROWS: tuple[tuple[str, str, Callable[[Any], str]], ...] = (
    ("collections in the log", "cycles", format_count),
    ("time that the log covers", "seconds", format_seconds),
    ("from one collection to the next, median", "interval_p50_seconds", format_seconds),
    ("the world stopped for a collection, median", "stw_p50_seconds", format_seconds),
    ("the same, 99 %", "stw_p99_seconds", format_seconds),
    ("longest single stop", "longest_stop_seconds", format_seconds),
    ("CPU that the collector took", "gc_cpu_fraction", format_fraction),
    ("marking done by allocating goroutines", "assist_fraction", format_fraction),
    ("allocated each second", "allocation_rate_bytes_per_second", format_bytes),
    ("largest heap in the log", "heap_peak_bytes", format_bytes),
    ("heap goal at the end", "heap_goal_bytes", format_bytes),
)


def plot_benchmarks(comparison: Comparison, *, name: str = "benchmarks") -> Drawing | Shown:
    """Draw medians with their 95 % intervals, each as a multiple of the median before.

    Rows whose median before is 0 have no
    multiple; they are in the table alone.

    Args:
        comparison: The answer to draw.
        name: Unique on its page.
    """
    metrics = benchmarks_of(comparison)
    both = metrics[metrics["after_median"].notna() & metrics["before_median"].notna()]
    rows = both[both["before_median"] > 0].to_dict("records")
    if not rows:
        return sentences(NO_BENCHMARKS)
    height = HEAD + ROW * len(rows) + FOOT
    with style():
        figure = new_figure(WIDTH, height)
        axes = figure.add_axes(_row_box(NAMES, NUMBERS, height))
        for place, row in enumerate(rows):
            for side in MARKERS:
                _draw_median(axes, place, row, side)
        _frame_metrics(axes, rows)
    return Drawing(name, "Medians before and after", _describe_metrics(rows), figure)


def benchmarks_table(comparison: Comparison) -> Shown:
    """Medians with their intervals, the change, and whether it can be told from noise."""
    metrics = benchmarks_of(comparison)
    if metrics.empty:
        return NOTHING
    names = ["what", "unit", "before", "after", "change", "verdict", "sureness", "note"]
    headings = [(name, "", name in {"before", "after", "change"}) for name in names]
    rows = [_benchmark_row(row) for row in metrics.to_dict("records")]
    if not any(metrics["note"]):
        headings, rows = headings[:-1], [row[:-1] for row in rows]
    caption = (
        "Medians with 95 % intervals. ~: may be noise. p: Mann-Whitney, corrected for there being "
        "so many comparisons."
    )
    return rows_table(headings, rows, caption)


def _benchmark_row(row: Mapping[str, Any]) -> list[tuple[str, str, bool]]:
    sureness = f"{format_p(row['p_adjusted'])}, {format_n(row['before_n'], row['after_n'])}"
    return [
        (row["name"], "", False),
        (row["unit"], "", False),
        *(_median_cell(row, side) for side in MARKERS),
        (_or_dash(row["change"], format_relative), "", True),
        (row["verdict"], "", False),
        (sureness, "", False),
        (row["note"], "", False),
    ]


def read_benchmarks(comparison: Comparison) -> Shown:
    """How many rows changed, which changed most, and what to know before believing it."""
    metrics = benchmarks_of(comparison)
    if metrics.empty:
        return sentences(*_notes(comparison))
    claimed = metrics[metrics["verdict"] != NO_CLAIM]
    counts = claimed["verdict"].value_counts()
    found = ", ".join(f"{number} {verdict}" for verdict, number in counts.items()) or "none"
    return sentences(
        f"Of {len(metrics)} rows, these differ by more than noise: {found}.",
        _largest(claimed),
        *_notes(comparison),
    )


def _notes(comparison: Comparison) -> list[str]:
    return [f"{note[0].upper()}{note[1:]}." for note in comparison.notes]


def gc_table(before: GcSummary | None, after: GcSummary | None) -> Shown:
    """What the collector cost on both sides."""
    sides = [summary.values if summary is not None else {} for summary in (before, after)]
    if not any(sides):
        return sentences("Neither capture holds a gctrace log; run with GODEBUG=gctrace=1.")
    headings = [("the collector", "", False), ("before", "", True), ("after", "", True)]
    rows = [
        [(words, "", False), *((_or_dash(side.get(key), shown), "", True) for side in sides)]
        for words, key, shown in _GC_ROWS
    ]
    caption = "From the gctrace logs. One log a side: the table shows differences, not their noise."
    return rows_table(headings, rows, caption)


def plot_memory(before: Diagnosis, after: Diagnosis, *, name: str = "memory") -> Drawing | Shown:
    """Draw the ledgers of both sides, each at its moment with the largest RSS."""
    ledgers = _fullest(before, after)
    if not ledgers:
        return sentences(NO_LEDGERS)
    drawing = plot_timeline(ledgers, name=name)
    return replace(drawing, title="Resident memory before and after")


def memory_table(before: Diagnosis, after: Diagnosis) -> Shown:
    """The same ledgers, part by part."""
    ledgers = _fullest(before, after)
    if not ledgers:
        return NOTHING
    return ledgers_table(ledgers, "Each side at its moment with the largest RSS.")


def _fullest(before: Diagnosis, after: Diagnosis) -> dict[str, Ledger]:
    """A ledger a side; sides on which nothing says where memory is are left out."""
    fullest = {}
    for side, diagnosis in (("before", before), ("after", after)):
        ledgers = diagnosis.ledgers
        if ledgers:
            moment = max(ledgers, key=lambda one: ledgers[one].rss_bytes or 0)
            fullest[f"{side}, {moment}"] = ledgers[moment]
    return fullest


def plot_sites(comparison: Comparison, *, name: str = "sites") -> Drawing | Shown:
    """Draw how much the sites that changed most have allocated since the start, on both sides."""
    rows = _allocated(comparison).head(SITES_SHOWN).to_dict("records")
    if not rows:
        return sentences(NO_PROFILES)
    height = HEAD + ROW * max(1, len(rows)) + FOOT
    with style():
        figure = new_figure(WIDTH, height)
        axes = figure.add_axes(_row_box(SITE_NAMES, 0.7, height))
        high = max([1.0, *(max(row["before"], row["after"]) for row in rows)])
        for place, row in enumerate(rows):
            for side, (colour, _, shift) in MARKERS.items():
                axes.barh(place - shift, row[side], 0.3, color=colour, edgecolor=INK, lw=0.6,
                          hatch="////" if side == "before" else "")  # fmt: skip
        _frame_rows(axes, [_short(row["function"]) for row in rows], [row["state"] for row in rows])
        axes.set_xlim(0, high * 1.02)
        draw_byte_axis(axes, 0, high, along="x")
        _legend(axes, bars=True)
    return Drawing(name, "Allocation sites before and after", _describe_sites(rows), figure)


def sites_table(comparison: Comparison) -> Shown:
    """The same sites with the interval of their change."""
    sites = _allocated(comparison)
    if sites.empty:
        return NOTHING
    headings = [
        ("function", "", False), ("before", "", True), ("after", "", True), ("change", "", True),
        ("95 % interval of the change", "", True), ("state", "", False),
    ]  # fmt: skip
    rows = [
        [
            (row["function"], "", False),
            *((format_bytes(row[side]), f"{row[side]:,.0f} B", True) for side in MARKERS),
            (_signed(row["change"]), f"{row['change']:,.0f} B", True),
            (f"{_signed(row['low'])} to {_signed(row['high'])}", "", True),
            (row["state"], "", False),
        ]
        for row in sites.head(SITES_SHOWN).to_dict("records")
    ]
    more = len(sites) - len(rows)
    caption = "Bytes allocated since the start, by function, the largest change first" + (
        f"; {more} more changed less." if more > 0 else "."
    )
    return rows_table(headings, rows, caption)


def _allocated(comparison: Comparison) -> pd.DataFrame:
    sites = comparison.sites
    return sites[sites["sample_type"] == ALLOCATED] if len(sites) else sites


def _row_box(left: float, right: float, height: float) -> tuple[float, float, float, float]:
    return left / WIDTH, FOOT / height, (WIDTH - left - right) / WIDTH, 1 - (FOOT + HEAD) / height


def _draw_median(axes: Axes, place: int, row: Mapping[str, Any], side: str) -> None:
    colour, marker, shift = MARKERS[side]
    base = row["before_median"]
    median, low, high = (row[f"{side}_{key}"] for key in ("median", "low", "high"))
    if not is_unknown(low) and not is_unknown(high):
        axes.plot([low / base, high / base], [place - shift] * 2, color=colour, lw=2.2, zorder=3)
    axes.plot(
        [median / base], [place - shift], ls="none", marker=marker, ms=5, color=colour,
        mec=INK, mew=0.6, zorder=4,
    )  # fmt: skip


def _frame_metrics(axes: Axes, rows: list[dict[str, Any]]) -> None:
    ends = ("after_median", "after_high", "before_high")
    known = [(row[end], row["before_median"]) for row in rows for end in ends]
    high = max(1.0, *(end / base for end, base in known if not is_unknown(end)))
    names = [_short(f"{row['name']}  {row['unit']}") for row in rows]
    words = [f"{format_relative(row['change'])}  {row['verdict']}" for row in rows]
    _frame_rows(axes, names, words)
    axes.set_xlim(-0.02 * high, high * 1.08)
    axes.axvline(1, color=INK, lw=0.8, alpha=MUTED)
    axes.grid(visible=True, axis="x", color=INK, alpha=FAINT, lw=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(labelcolor=INK)
    axes.set_xlabel("multiple of the median before", alpha=MUTED)
    _legend(axes, bars=False)


def _frame_rows(axes: Axes, names: list[str], words: list[str]) -> None:
    """Names left of the rows, words right of them."""
    axes.set_ylim(max(1, len(names)) - 0.5, -0.5)
    axes.set_yticks(range(len(names)), names)
    for place, word in enumerate(words):
        axes.annotate(
            word, (1, place), (8, 0), xycoords=axes.get_yaxis_transform(),
            textcoords="offset points", va="center", annotation_clip=False,
        )  # fmt: skip


def _legend(axes: Axes, *, bars: bool) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = [
        Patch(
            facecolor=colour,
            edgecolor=INK,
            lw=0.6,
            hatch="////" if side == "before" else "",
            label=side,
        )
        if bars
        else Line2D([], [], color=colour, marker=marker, ms=5, mec=INK, mew=0.6, lw=2.2, label=side)
        for side, (colour, marker, _) in MARKERS.items()
    ]
    axes.legend(
        handles=handles, loc="lower left", bbox_to_anchor=(0, 1), ncols=2, borderaxespad=0.2,
        handlelength=1.8,
    )  # fmt: skip


def _describe_metrics(rows: list[dict[str, Any]]) -> str:
    each = [
        f"{row['name']}: {format_value(row['before_median'], row['unit'])} before, "
        f"{format_value(row['after_median'], row['unit'])} after, {row['verdict']}"
        for row in rows
    ]
    return "; ".join(each) + "."


def _describe_sites(rows: list[dict[str, Any]]) -> str:
    each = []
    for row in rows:
        before, after = (format_bytes(row[side]) for side in MARKERS)
        each.append(f"{row['function']}: {before} before, {after} after")
    return "; ".join(each) + "."


def _median_cell(row: Mapping[str, Any], side: str) -> tuple[str, str, bool]:
    """A median with how far its interval reaches; the interval itself is behind it."""
    median, low, high = (row[f"{side}_{key}"] for key in ("median", "low", "high"))
    if is_unknown(median):
        return UNKNOWN_CELL, "", True
    text = format_value(median, row["unit"])
    if is_unknown(low) or is_unknown(high) or low == high:
        return text, "", True
    ends = f"{format_value(low, row['unit'])} to {format_value(high, row['unit'])}"
    return f"{text} {format_spread(median, low, high)}", ends, True


def _largest(claimed: pd.DataFrame) -> str:
    known = claimed[claimed["change"].notna()]
    if known.empty:
        return ""
    row = known.loc[known["change"].abs().astype(float).idxmax()]
    sides = [format_value(row[f"{side}_median"], row["unit"]) for side in MARKERS]
    change = format_relative(row["change"])
    name = f"{row['name']} in {row['unit']}"
    return f"The largest change: {name}, from {sides[0]} to {sides[1]} ({change})."


def _or_dash(value: Any, shown: Callable[[Any], str]) -> str:
    return UNKNOWN_CELL if is_unknown(value) else shown(value)


def _signed(change: float | None) -> str:
    return UNKNOWN_CELL if is_unknown(change) else format_change(change)


def _short(text: str) -> str:
    return text if len(text) <= NAME_CHARACTERS else f"…{text[1 - NAME_CHARACTERS :]}"
