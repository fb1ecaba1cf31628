"""A comparison as text for a terminal of 80 columns: what was found, tables, and what to know."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from gomem.errors import printable
from gomem.units import (
    UNKNOWN,
    format_bytes,
    format_change,
    format_count,
    format_fraction,
    format_seconds,
    is_unknown,
)
from gomem.views.comparison.words import (
    LAYERS,
    NO_GEOMEAN,
    SAMPLE_TYPES,
    are_single,
    benchmarks_of,
    changed_sites,
    ledger_of,
    level_name,
    measured_and_levels,
    metrics_of,
    pair_of,
    rss_change,
    shareable,
    states_counted,
    verdicts_counted,
)
from gomem.views.figures.look import part_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gomem.analysis.comparison.before_after import Comparison

WIDTH = 80
NARROWEST_NAME = 16
SITES_SHOWN = 10
SIDES = ("before", "after")
LEGEND = (
    "±, low and high are 95 % intervals; p is Mann-Whitney's, corrected for all comparisons here"
)
SITES_LEGEND = "± of a site is the farther end of the 95 % interval that sampling leaves"

_Block = list[str]


def render_compare_text(comparison: Comparison, *, before: str, after: str) -> str:
    """Lay a comparison out for people, what was found first, then the numbers behind it.

    Args:
        comparison: The answer.
        before: What was compared, by name.
        after: With what, by name.
    """
    comparison, footnotes = shareable(comparison), _Footnotes()
    blocks = [[f"before: {before}", f"after:  {after}"], _headline(comparison)]
    blocks += _benchmark_blocks(comparison, footnotes)
    blocks += [_level_block(comparison, layer, footnotes) for layer in LAYERS]
    blocks += [_moments_block(comparison), _ledger_block(comparison)]
    blocks += [_sites_block(comparison, name) for name in SAMPLE_TYPES]
    blocks.append(_quiet_sites_block(comparison))
    blocks.append(list(_notes(comparison, footnotes)))
    unread = [f"  {one}" for one in comparison.damaged]
    blocks.append(["what could not be read:", *unread] if unread else [])
    return "\n\n".join("\n".join(map(printable, block)) for block in blocks if block) + "\n"


def format_value(value: float | None, unit: str) -> str:
    """A measurement with its prefix, without what it is measured per: `196 ns` for `sec/op`."""
    if is_unknown(value) or value is None:
        return UNKNOWN
    words = unit.partition("/")[0].split("-")
    if "sec" in words or "s" in words:
        return format_seconds(value)
    if "B" in words or "bytes" in words:
        return format_bytes(value)
    if unit == "fraction":
        return format_fraction(value)
    return format_count(value) if value == round(value) or value >= 1e4 else f"{value:.4g}"


def format_level(value: float | None, unit: str) -> str:
    """A level with its whole unit, as it stands among levels of other units: `1.20 GiB/s`."""
    text = format_value(value, unit)
    return f"{text}/s" if unit.endswith("/s") and text != UNKNOWN else text


def format_difference(difference: float, unit: str) -> str:
    """A difference of two levels with its sign; of fractions, in percentage points."""
    if unit == "fraction":
        return f"{100 * difference:+.1f} pp"
    return f"{'+' if difference > 0 else ''}{format_level(difference, unit)}"


def format_relative(change: float | None) -> str:
    """A change as signed per cent: `-92.9 %`."""
    if is_unknown(change) or change is None:
        return UNKNOWN
    return f"{100 * change:+.1f} %"


def format_p(p: float | None) -> str:
    """`p=0.030`, and `p<0.001` for all below."""
    if is_unknown(p) or p is None:
        return "p unknown"
    return "p<0.001" if p < 0.001 else f"p={p:.3f}"


def format_n(before: int, after: int) -> str:
    """How many measurements: `n=10`, or `n=10+9` where the sides differ."""
    return f"n={before}" if before == after else f"n={before}+{after}"


def format_spread(median: float, low: float | None, high: float | None) -> str:
    """The farther end of a median's interval, in per cent of the median: `± 3 %`."""
    if is_unknown(low) or is_unknown(high) or low is None or high is None:
        return "± ?"
    if low == high:
        return "± 0 %"
    return f"± {100 * max(high - median, median - low) / abs(median):.0f} %" if median else "± ?"


class _Footnotes:
    """Each text once, numbered in the order of its first use."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def mark(self, note: str) -> str:
        if not note:
            return ""
        return f"[{self._numbers.setdefault(note, len(self._numbers) + 1)}]"

    @property
    def lines(self) -> list[str]:
        return [f"[{number}] {note}" for note, number in self._numbers.items()]


def _headline(comparison: Comparison) -> _Block:
    measured, levels = measured_and_levels(comparison.metrics)
    lines = [verdicts_counted(measured)] if len(measured) else []
    if len(levels):
        lines.append(f"{len(levels)} levels of one capture a side: differences, no verdict")
    resident = rss_change(comparison)
    lines += [f"{resident[0]}, {format_relative(resident[1])}"] if resident else []
    return lines or ["nothing measured on either side"]


def _benchmark_blocks(comparison: Comparison, footnotes: _Footnotes) -> Iterator[_Block]:
    benchmarks = benchmarks_of(comparison)
    for unit in benchmarks["unit"].unique():
        rows = [[unit, "before", "after", "verdict", "change", "", ""]]
        of_unit = benchmarks[benchmarks["unit"] == unit]
        rows += [_metric_row(row, footnotes) for row in of_unit.to_dict("records")]
        means = comparison.geomeans[comparison.geomeans["unit"] == unit]
        rows += [_geomean_row(row, footnotes) for row in means.to_dict("records")]
        yield _aligned(rows, "<<<<><<")


def _metric_row(row: dict[str, Any], footnotes: _Footnotes) -> list[str]:
    sides = [_side(row, side) for side in SIDES]
    sureness = f"{format_p(row['p_adjusted'])} {format_n(row['before_n'], row['after_n'])}"
    judged = [row["verdict"], format_relative(row["change"]), sureness]
    return [level_name(row["name"]), *sides, *judged, footnotes.mark(row["note"])]


def _side(metric: dict[str, Any], side: str) -> str:
    median, low, high = (metric[f"{side}_{key}"] for key in ("median", "low", "high"))
    if is_unknown(median):
        return "-"
    shown = format_level if metric["layer"] in LAYERS else format_value
    return f"{shown(median, metric['unit'])} {format_spread(median, low, high)}"


def _geomean_row(row: dict[str, Any], footnotes: _Footnotes) -> list[str]:
    means = [format_value(row[side], row["unit"]) for side in SIDES]
    note = footnotes.mark(NO_GEOMEAN if UNKNOWN in means else "")
    return ["geomean", *means, "", format_relative(row["change"]), "", note]


def _level_block(comparison: Comparison, layer: str, footnotes: _Footnotes) -> _Block:
    """One value a side has a difference; several have a median and a verdict."""
    metrics = metrics_of(comparison, layer)
    if metrics.empty:
        return []
    pair = pair_of(comparison, "of_metrics")
    heading = f"{layer} at {pair}" if layer == "memory" and pair else layer
    records = metrics.to_dict("records")
    if not are_single(metrics):
        rows = [[heading, "before", "after", "verdict", "change", "", ""]]
        return _aligned(rows + [_metric_row(row, footnotes) for row in records], "<<<<><<")
    rows = [[heading, "before", "after", "change", "", ""]]
    rows += [_level_row(row, footnotes) for row in records]
    if len({row[-1] for row in rows[1:] if row[-1]}) == 1 and metrics["difference"].notna().all():
        mark = max(row[-1] for row in rows)  # what all rows say stands at their head
        rows = [[*row[:-1], mark if row is rows[0] else ""] for row in rows]
    return _aligned(rows, "<>>>><")


def _level_row(row: dict[str, Any], footnotes: _Footnotes) -> list[str]:
    """One value a side; of an equal pair there is nothing to say that could be noise."""
    unit, difference = row["unit"], row["difference"]
    values = [row[f"{side}_median"] for side in SIDES]
    sides = ["-" if is_unknown(value) else format_level(value, unit) for value in values]
    if is_unknown(difference):
        return [level_name(row["name"]), *sides, "", "", footnotes.mark(row["note"])]
    changes = [format_difference(difference, unit), format_relative(row["change"])]
    note = footnotes.mark(row["note"]) if difference else ""
    return [level_name(row["name"]), *sides, *changes, note]


def _moments_block(comparison: Comparison) -> _Block:
    """RSS of all moments, where there are several: which of them the tables are of stands there."""
    if len(comparison.moments) < 2:
        return []
    rows = [["RSS by moment", "before", "after", "change"]]
    for row in comparison.moments.to_dict("records"):
        sizes = [format_bytes(row[f"{side}_rss_bytes"]) for side in SIDES]
        name = row["before"]
        name = name if row["after"] == name else f"{name} against {row['after']}"
        rows.append([name, *sizes, format_change(row["change_bytes"])])
    return _aligned(rows, "<>>>")


def _ledger_block(comparison: Comparison) -> _Block:
    pair = pair_of(comparison, "of_metrics")
    if pair is None:
        return []
    rows = [[f"RSS by part at {pair}", "before", "after", "change"]]
    for row in ledger_of(comparison, pair).to_dict("records"):
        sizes = [format_bytes(row[side]) for side in SIDES]
        rows.append([part_name(row["part"]), *sizes, format_change(row["change"])])
    return _aligned(rows, "<>>>") if len(rows) > 1 else []


def _sites_block(comparison: Comparison, sample_type: str) -> _Block:
    """The largest changes of a sample type, if there are any beyond noise."""
    changed = changed_sites(comparison.sites, sample_type)
    if changed.empty:
        return []
    heading = f"{sample_type}{_at(comparison)}: {states_counted(comparison.sites, sample_type)}"
    rows = [["", "before", "after", "change", "", ""]]
    rows += [_site_row(row) for row in changed.head(SITES_SHOWN).to_dict("records")]
    more = len(changed) - SITES_SHOWN
    return [heading, *_aligned(rows, "<>>>><"), *([f"and {more} more"] if more > 0 else [])]


def _quiet_sites_block(comparison: Comparison) -> _Block:
    """Sample types of which no site changed."""
    sites = comparison.sites
    quiet = [
        f"{name} ({states_counted(sites, name)})"
        for name in SAMPLE_TYPES
        if changed_sites(sites, name).empty and states_counted(sites, name)
    ]
    words = f"no site changed beyond sampling noise{_at(comparison)}: {', '.join(quiet)}"
    return _wrapped(words) if quiet else []


def _at(comparison: Comparison) -> str:
    pair = pair_of(comparison, "of_sites")
    return f" at {pair}" if pair else ""


def _site_row(row: dict[str, Any]) -> list[str]:
    shown = format_bytes if row["unit"] == "bytes" else format_count
    sides = [shown(row[side]) for side in SIDES]
    sign = "+" if row["change"] > 0 else ""
    spread = format_spread(row["change"], row["low"], row["high"])
    return [row["function"], *sides, sign + shown(row["change"]), spread, row["state"]]


def _notes(comparison: Comparison, footnotes: _Footnotes) -> Iterator[str]:
    legends = []
    if not are_single(comparison.metrics) or len(benchmarks_of(comparison)):
        legends.append(LEGEND)
    if len(comparison.sites):
        legends.append(SITES_LEGEND)
    for line in (*legends, *footnotes.lines, *(f"note: {note}" for note in comparison.notes)):
        yield from _wrapped(line)


def _wrapped(line: str) -> _Block:
    return textwrap.wrap(
        line, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )


def _aligned(rows: Sequence[Sequence[str]], sides: str) -> _Block:
    """Columns as wide as their widest cell, which stands left (`<`) or right (`>`) in them.

    A first cell that would make the table wider than the terminal stands on a line of its own.
    """
    rows = [[printable(cell.replace("\u202f", " ")) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    room = max(NARROWEST_NAME, WIDTH - sum(2 + width for width in widths[1:] if width))
    widths[0] = max((len(row[0]) for row in rows if len(row[0]) <= room), default=0)
    lines = []
    for row in rows:
        if len(row[0]) > widths[0]:
            lines.append(row[0])
            row = ["", *row[1:]]  # noqa: PLW2901 - its name stands above it
        cells = (f"{cell:{s}{w}}" for cell, s, w in zip(row, sides, widths, strict=True))
        lines.append("  ".join(cells).rstrip())
    return lines
