"""How much worse may a metric get? User-defined budgets: each is met, broken, or undecided.

A budget is the worst allowed change, in the bad direction. `rss=+10%` lets RSS rise by a tenth.
`B/s=-5%` lets a higher-is-better rate fall by a twentieth. To test a budget, the values before are
shifted by the allowed change. If the values after are worse by more than noise, the budget is
broken; the test is the same as for any change, at 5 %. If the measured change is within the budget,
it is met. A change beyond the budget that could be noise is `?`. With too few values for a test,
only a change far beyond a heap's normal variation breaks a budget. Only a change close to zero, or
far below the budget, meets it.

A budget on a unit applies to each benchmark with that unit. Among many benchmarks some exceed it by
chance; it is broken only if more exceed it than chance explains.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gomem.comparison.direction import direction, least_of
from gomem.comparison.samples import BENCHMARK, BETTER, SAME, WORSE, Comparison
from gomem.comparison.single_values import ALLOCATION_RATE, GC_CPU, HEAP, REQUEST_RATE, RSS
from gomem.errors import CaptureError, did_you_mean
from gomem.inputs.gobench.parse import tidy_unit
from gomem.inputs.schema import Column, build_rows, rows_of
from gomem.numbered import Metric, Unit
from gomem.statistics.rank_tests import ALPHA, MIN_VALUES, beyond_chance, can_tell, rank_sum_p
from gomem.text import Quoted, Words, joined, text
from gomem.units import format_relative, is_unknown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd

    from gomem.statistics.sampling import FloatArray

MET, BROKEN, CANNOT_TELL = "met", "broken", "?"
STATES = (MET, BROKEN, CANNOT_TELL)
BUDGETS = (
    Column("budget", "str", "", "The budget as it was set, such as rss=+10%.", Metric),
    Column("name", "str", "", "The metric of the budget.", Metric),
    Column("unit", "str", "", "The metric's unit, a base unit.", Unit),
    Column("before_n", "int64", "count", "Measurements before."),
    Column("after_n", "int64", "count", "Measurements after."),
    Column("before", "Float64", "", "Median before, in the unit."),
    Column("after", "Float64", "", "Median after, in the unit."),
    Column("allowed", "Float64", "", "The worst median after that the budget allows."),
    Column("change", "Float64", "fraction", "Relative change from before; missing from 0."),
    Column("p_value", "Float64", "fraction", "p-value of the excess over the allowed change."),
    Column("state", "str", "", "met, broken, or ? if the runs cannot decide.", Words),
    Column(
        "note", "str", "", "Why the runs cannot decide, and how many runs could; else empty.", Words
    ),
)
# Short names; a budget also accepts a metric's own name and a unit.
SHORT = {
    "rss": RSS,
    "heap": HEAP,
    "gc_cpu": GC_CPU,
    "allocation_rate": ALLOCATION_RATE,
    "pause_p99": "stw_p99_seconds",
    "longest_pause": "longest_stop_seconds",
    "rps": REQUEST_RATE,
    "latency_p99": "latency_p99_seconds",
}
_SIZE = re.compile(r"([+-]?)([0-9]{1,18}(?:\.[0-9]{1,18})?) ?(%|[A-Za-zµ]*)")
_FACTORS = {
    "B": {"B": 1, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9},
    "s": {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1, "sec": 1},
}
_FACTORS["B"] |= {f"{prefix}iB": 1 << 10 * power for power, prefix in enumerate("KMG", start=1)}
RELATIVE, POINTS = "%", "pp"
POWER_AND_LEVEL = (1.96 + 0.84) ** 2  # normal quantiles of 5 %, two-sided, and of 80 % power
MAX_RUNS = 1000  # number of runs that nobody would measure


@dataclass(frozen=True, slots=True)
class Budget:
    """The worst allowed change of a metric."""

    metric: str  # a metric's name, a short name, a unit, or `NAME:UNIT`
    text: str  # the size as the user wrote it
    size: float  # signed, in `unit`
    unit: str  # `%`, `pp`, a unit of bytes or time; empty for the metric's own unit

    def __str__(self) -> str:
        return f"{self.metric}={self.text}"

    def applied(self, values: FloatArray, unit: str) -> FloatArray:
        """Return values shifted by the allowed change; CaptureError if the units do not match."""
        if self.unit == RELATIVE:
            return values + np.abs(values) * self.size / 100
        return values + self.size * self._factor(unit)

    def _factor(self, unit: str) -> float:
        of_unit = unit.partition("/")[0]
        if self.unit == POINTS and unit == "fraction":
            return 0.01
        if not self.unit and (unit != "fraction" or not self.size):
            return 1.0
        kind = {"sec": "s"}.get(of_unit, of_unit)
        if self.unit in _FACTORS.get(kind, {}):
            return _FACTORS[kind][self.unit]
        wanted = "%, pp" if unit == "fraction" else ", ".join(["%", *_FACTORS.get(kind, {})])
        what = text("{}, of {}; wanted {}", self.unit or "no unit", Unit(unit), wanted)
        raise CaptureError(text("budget {}: {}", Quoted(self), what))


def budget_of(metric: str, size: str) -> Budget:
    """Parse a budget such as `rss`, `+10%`; CaptureError with an example if it is invalid."""
    found = _SIZE.fullmatch(size.strip())
    if not metric.strip() or found is None or not math.isfinite(float(found[2])):
        wanted = "not a size; wanted one such as +10%, +2pp, +64MiB, +5ms or +0"
        raise CaptureError(text("budget {}: {}", Quoted(f"{metric}={size}"), wanted))
    sign = -1.0 if found[1] == "-" else 1.0
    return Budget(metric.strip(), size.strip(), sign * float(found[2]), found[3])


def within_budgets(comparison: Comparison, budgets: Sequence[Budget]) -> Comparison:
    """Return the comparison with the state of each budget; see `BUDGETS`.

    Raises CaptureError if a budget's metric is missing on a side, listing the metrics on both
    sides.
    """
    if not budgets:
        return comparison
    rows = [row for budget in budgets for row in _of_budget(budget, comparison)]
    stands = build_rows(rows, BUDGETS)
    return replace(comparison, budgets=stands, budgets_summary=summed_up(stands))


def _of_budget(budget: Budget, comparison: Comparison) -> list[tuple[Any, ...]]:
    rows = [_row(budget, metric, comparison) for metric in _metrics(budget, comparison.metrics)]
    broken = [row for row in rows if row["state"] == BROKEN]
    p_values = [row["p_value"] for row in rows]
    if broken and len(rows) > 1 and not beyond_chance(p_values, len(broken)):
        for row in broken:
            row["state"] = CANNOT_TELL
            row["note"] = f"no more of the {len(rows)} exceed it than expected by chance"
    return [tuple(row[column.name] for column in BUDGETS) for row in rows]


def _metrics(budget: Budget, metrics: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the metrics that a budget applies to: the one with its name, or all with its unit."""
    both = rows_of(metrics[(metrics["before_n"] > 0) & (metrics["after_n"] > 0)])
    wanted = SHORT.get(budget.metric.lower(), budget.metric)
    unit = tidy_unit(wanted)[0]
    for words in (_full_name, _own_name, _own_unit):
        found = [row for row in both if words(row).lower() in {wanted.lower(), unit.lower()}]
        if found:
            return found
    names = (words(row) for words in (_own_name, _own_unit) for row in both)
    known = dict.fromkeys(filter(None, names))
    short = {long: short for short, long in SHORT.items()}
    told = [short.get(name, name) for name in known]
    near = did_you_mean(budget.metric, [*told, *known], Metric)
    there = joined(", ", map(Metric, told)) or "none"
    what = text("no metric {} on both sides; there are {}", Quoted(budget.metric), there)
    raise CaptureError(text("budget {}: {}{}", Quoted(budget), what, near))


def _full_name(row: dict[str, Any]) -> str:
    return f"{row['name']}:{row['unit']}"


def _own_name(row: dict[str, Any]) -> str:
    """A level's own name; benchmarks go by their unit, or by name and unit."""
    return "" if row["layer"] == BENCHMARK else str(row["name"])


def _own_unit(row: dict[str, Any]) -> str:
    return str(row["unit"]) if row["layer"] == BENCHMARK else ""


def _row(budget: Budget, metric: dict[str, Any], comparison: Comparison) -> dict[str, Any]:
    before, after = (_values(comparison.samples, metric, side) for side in ("before", "after"))
    allowed = budget.applied(before, metric["unit"])
    sign = _sign(budget, metric["better"])
    state, p, note = _state(before, after, allowed, sign, metric["unit"])
    if reason := comparison.too_little.get(metric["name"], ""):
        state, note = CANNOT_TELL, reason
    kept = {name: metric[name] for name in ("name", "unit", "change")}
    counts = {"before_n": len(before), "after_n": len(after)}
    sides = {"before": before, "after": after, "allowed": allowed}
    medians = {name: float(np.median(values)) for name, values in sides.items()}
    told = {"budget": str(budget), "p_value": p, "state": state, "note": note}
    return kept | counts | medians | told


def _sign(budget: Budget, better: str | None) -> float:
    """1 if higher is worse, -1 if lower is; if neither, the sign of the budget."""
    if better in {"lower", "higher"}:
        return 1.0 if better == "lower" else -1.0
    return -1.0 if budget.text.startswith("-") else 1.0


def _values(samples: pd.DataFrame, metric: dict[str, Any], side: str) -> FloatArray:
    chosen = samples["side"] == side
    for key in ("name", "unit", "layer"):
        chosen &= samples[key] == metric[key]
    return samples.loc[chosen, "value"].to_numpy(float)


def _state(
    before: FloatArray, after: FloatArray, allowed: FloatArray, sign: float, unit: str
) -> tuple[str, float | None, str]:
    """Judge one metric: its state, p, and a note."""
    is_beyond = sign * (np.median(after) - np.median(allowed)) > 0
    if len(set(before)) == len(set(after)) == 1 and min(len(before), len(after)) > 1:
        return (BROKEN if is_beyond else MET), None, ""  # no variation, as in most counts
    if not can_tell(len(before), len(after)):
        return _of_few(before, after, allowed, sign, unit)
    p = rank_sum_p(allowed, after)
    if not is_beyond:
        return MET, p, ""
    if p is not None and p <= ALPHA:
        return BROKEN, p, ""
    return CANNOT_TELL, p, f"exceeded, but the excess might be noise{_more(allowed, after)}"


def _of_few(
    before: FloatArray, after: FloatArray, allowed: FloatArray, sign: float, unit: str
) -> tuple[str, float | None, str]:
    """Judge too few values for a test: only nearly equal or far apart values are decided."""
    old, new, worst = (float(np.median(values)) for values in (before, after, allowed))
    few = "one value" if len(before) == len(after) == 1 else "a few values"
    if sign * (new - worst) > 0:
        state, wanted = _toward(worst, new, sign, unit), {WORSE: BROKEN}
    else:
        state, wanted = _toward(old, new, sign, unit), {BETTER: MET, SAME: MET}
    if state in wanted:
        return wanted[state], None, f"by {few} per side"
    return CANNOT_TELL, None, f"{few} per side cannot decide; use {MIN_VALUES} or more"


def _toward(old: float, new: float, sign: float, unit: str) -> str:
    sides = (old, new) if sign > 0 else (new, old)
    return direction(*sides, least=least_of(unit))


def _more(before: FloatArray, after: FloatArray) -> str:
    """How many runs would detect this difference, by Noether's formula (1987)."""
    above = (after[:, None] > before[None, :]).mean()
    share = above + (after[:, None] == before[None, :]).mean() / 2
    if share == 0.5:
        return ""
    runs = math.ceil(POWER_AND_LEVEL / (6 * (share - 0.5) ** 2))
    return f"; about {runs} runs per side would decide" if runs <= MAX_RUNS else ""


def summed_up(budgets: pd.DataFrame) -> str:
    """Summarise all budgets in one sentence; empty if there are none."""
    if budgets.empty:
        return ""
    parts = []
    for state, words in ((BROKEN, "broken"), (MET, "met"), (CANNOT_TELL, "unclear")):
        rows = budgets[budgets["state"] == state]
        named = text(" ({})", joined(", ", _named(rows))) if state != MET and len(rows) else ""
        parts += [text("{} {}{}", str(len(rows)), words, named)] if len(rows) else []
    noun = "Budget" if len(budgets) == 1 else "Budgets"
    return text("{}: {}.", noun, joined(", ", parts))


def _named(rows: pd.DataFrame, most: int = 3) -> Iterable[str]:
    for row in rows_of(rows.head(most)):
        change = (
            "" if is_unknown(row["change"]) else f" {format_relative(row['change'], brief=True)}"
        )
        allowed = row["budget"].partition("=")[2]
        yield text("{}{} where {} is allowed", row["name"], change, allowed)
    if len(rows) > most:
        yield "…"
