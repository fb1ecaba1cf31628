"""Did it change from before to after, by how much, and could the difference be noise?

Benchmarks are not normally distributed and have outliers, so no distribution is assumed. A sample
is summarised by its median with an interval. Two samples are compared by a rank test from
`gomem.statistics.rank_tests`.

As in benchstat, each metric is judged by its own p-value, so that the result for one benchmark does
not depend on how many others are compared. At the 5 % level, about one in twenty unchanged metrics
is called changed. The p-value corrected for multiple tests (Holm 1979) is also shown, and a row is
marked if only its uncorrected p is below 5 %. The corrected p-value keeps the chance of any false
positive in the table at or below 5 %, even if the metrics are correlated.

If there are so few values that even samples without overlap give p > 5 %, the verdict is `?`. A
change below `MIN_CHANGE` is `same`: metrics with almost no variance give a small p even for one
part in a million. benchstat has no such threshold and shows it as +0.00%. `~` does not mean that
nothing changed. To show that, use `equivalence` in `statistics.rank_tests`.

The p-value cannot say why two runs differ. Sequential runs also differ because the load on the
machine changes, as benchmarks of unchanged code show. Only interleaved runs cancel it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from gomem.comparison.settings import DIFFERING
from gomem.comparison.single_values import better_by_unit
from gomem.inputs.schema import Column, build_rows, empty
from gomem.numbered import Metric, Unit
from gomem.statistics.rank_tests import (
    ALPHA,
    MIN_INTERVAL_VALUES,
    MIN_VALUES,
    can_tell,
    equivalence,
    holm,
    rank_sum_p,
    summarise,
)
from gomem.text import Words, joined, text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from gomem.errors import Damage

# Of the median before. The placement of functions and stacks alone changes times by more than this
# from one build to the next (Mytkowicz and others 2009), so nobody can act on less.
MIN_CHANGE = 0.005

BETTER, WORSE, CHANGED, NO_CLAIM, TOO_FEW = "better", "worse", "changed", "~", "?"
SAME = "same"
VERDICTS = (BETTER, WORSE, CHANGED, SAME, NO_CLAIM, TOO_FEW)
CLAIMS = (BETTER, WORSE, CHANGED)
NO_CHANGE_SHOWN = (SAME, NO_CLAIM, TOO_FEW)
TOLD = ("better", "exact", "layer", "least")  # optional columns of a side
BENCHMARK = "benchmark"  # the layer of benchmark results
LAYERS = (BENCHMARK, "memory", "collector", "load", "")
FAMILY_NOTE = f"p < {ALPHA} by itself, but not significant among {{}} comparisons (Holm)"
CANNOT_TELL = f"per side cannot tell small changes from noise; use at least {MIN_VALUES} per side"
ONE_VALUE_NOTE = f"one value {CANNOT_TELL}"
TOO_SMALL_NOTE = "the change is beyond noise, but too small to matter"
INTERVAL_NOTE = (
    f"no 95 % interval of the median: it needs at least {MIN_INTERVAL_VALUES} values per side"
)


METRICS = (
    Column("name", "str", "", "What was measured.", Metric),
    Column("unit", "str", "", "Unit of the medians, a base unit.", Unit),
    Column("layer", "str", "", "Its subject: benchmark, memory, collector, load.", Words),
    Column("before_n", "int64", "count", "Measurements before."),
    Column("before_median", "Float64", "", "Median, in the unit."),
    Column("before_low", "Float64", "", "Lower end of its 95 % interval; missing if unknown."),
    Column("before_high", "Float64", "", "Upper end of its 95 % interval; missing if unknown."),
    Column("after_n", "int64", "count", "Measurements after."),
    Column("after_median", "Float64", "", "Median, in the unit."),
    Column("after_low", "Float64", "", "Lower end of its 95 % interval; missing if unknown."),
    Column("after_high", "Float64", "", "Upper end of its 95 % interval; missing if unknown."),
    Column("difference", "Float64", "", "Median after minus median before, in the unit."),
    Column("change", "Float64", "fraction", "Difference / median before; missing from 0."),
    Column("p_value", "Float64", "fraction", "Two-sided Mann-Whitney test, of this metric alone."),
    Column("p_adjusted", "Float64", "fraction", "That p, corrected for all comparisons (Holm)."),
    Column("better", "str", "", "lower or higher; missing if neither is better.", Words),
    Column(
        "verdict",
        "str",
        "",
        "better, worse or changed; same if beyond noise, but too small to matter; ~ if it might "
        "be noise; ? with too few values.",
        Words,
    ),
    Column(
        "equivalence",
        "str",
        "",
        "Shown to be equivalent, or no worse, within the margin, or ?; missing without a margin.",
        Words,
    ),
    Column("p_no_worse", "Float64", "fraction", "p-value of being worse by more than the margin."),
    Column("note", "str", "", "A caveat on the row; else empty.", Words),
)
SAMPLES = (
    Column("side", "str", "", "before or after.", Words),
    Column("name", "str", "", "What was measured.", Metric),
    Column("unit", "str", "", "Its unit, a base unit.", Unit),
    Column("layer", "str", "", "Its subject, as in the metrics.", Words),
    Column("value", "float64", "", "One measurement, in the unit."),
)
GEOMEANS = (
    Column("unit", "str", "", "Unit of the means.", Unit),
    Column("metrics", "int64", "count", "Number of metrics that both sides have."),
    Column("before", "Float64", "", "Geometric mean of medians; missing if any is not above 0."),
    Column("after", "Float64", "", "Geometric mean of medians; missing if any is not above 0."),
    Column("change", "Float64", "fraction", "Geometric mean of the ratios, minus 1."),
)


@dataclass(frozen=True)
class Judgement:
    """The overall result of a comparison."""

    verdict: str  # better, worse, mixed, same, or `?` if there are too few values
    sentence: str  # what changed, by how much, and why if known
    details: tuple[str, ...] = ()  # sentences: the cost, new and resolved causes, the basis
    has_other_work: bool = False  # the live heaps differ, so the settings are not all that does


NOTHING_MEASURED = Judgement(TOO_FEW, "No metric was measured on both sides.")


@dataclass(frozen=True)
class Comparison:
    """The result of a comparison: each metric, part and site on both sides."""

    metrics: pd.DataFrame  # a row per name and unit; see `METRICS`
    # A row per unit that several benchmarks share; see `GEOMEANS`.
    geomeans: pd.DataFrame = field(default_factory=partial(empty, GEOMEANS))
    # The compared moments, and RSS at each by part and by owner, in bytes; with several captures
    # per side, of the captures behind `change`. See `gomem.comparison.moments`.
    moments: pd.DataFrame = field(default_factory=pd.DataFrame)
    ledger: pd.DataFrame = field(default_factory=pd.DataFrame)
    groups: pd.DataFrame = field(default_factory=pd.DataFrame)
    # Allocation sites by sample type, and what each allocated between the moments, per request or
    # per second; see `gomem.comparison.sites`.
    sites: pd.DataFrame = field(default_factory=pd.DataFrame)
    site_rates: pd.DataFrame = field(default_factory=pd.DataFrame)
    # The window from the first to the last compared moment of each side; see `windows`.
    windows: pd.DataFrame = field(default_factory=pd.DataFrame)
    # What changed between the last moments, a `gomem.diagnosis.changes.Change`; None without
    # captures. With several captures per side, between those with the median RSS.
    change: Any = None
    findings: pd.DataFrame = field(default_factory=pd.DataFrame)  # which causes are new or gone
    # The runtime settings that differ; see `gomem.comparison.settings`.
    settings: pd.DataFrame = field(default_factory=partial(empty, DIFFERING))
    # Seconds from before to after, if both sides are of one process; else None.
    process_seconds: float | None = None
    unlike: str = ""  # why the sides are not judged, such as different programs; else empty
    judgement: Judgement = NOTHING_MEASURED  # the overall result
    # The values behind the metrics, one per row; see `SAMPLES`.
    samples: pd.DataFrame = field(default_factory=partial(empty, SAMPLES))
    # GC rates computed from counters at the moments; other GC metrics cover the whole log.
    by_counters: frozenset[str] = frozenset()
    least_change: float = MIN_CHANGE  # fraction of the median before; a smaller change is `same`
    # fraction of the median before, for `equivalence`; None if not requested
    margin: float | None = None
    # Metrics with too few data, by name, each with the reason.
    too_little: Mapping[str, str] = field(default_factory=dict)
    # The state of each budget that was set; see `gomem.comparison.budgets`.
    budgets: pd.DataFrame = field(default_factory=pd.DataFrame)
    budgets_summary: str = ""  # the budgets in a sentence; empty without budgets
    notes: tuple[str, ...] = ()  # caveats
    damaged: tuple[Damage, ...] = ()  # parts of either side that could not be read
    # By sample type, a function that returns the call tree of the changes behind `sites`; empty if
    # a side has no profile.
    change_trees: Mapping[str, Callable[[], Any]] = field(default_factory=dict)

    @property
    def regressions(self) -> pd.DataFrame:
        """The metrics that are worse."""
        return self.metrics[self.metrics["verdict"] == WORSE]

    @property
    def largest_claim(self) -> pd.Series | None:
        """The benchmark with the largest relative change beyond noise."""
        of_benchmarks = self.metrics["layer"] == BENCHMARK
        claimed = of_benchmarks & ~self.metrics["verdict"].isin(NO_CHANGE_SHOWN)
        sizes = self.metrics.loc[claimed, "change"].abs().dropna()
        return None if sizes.empty else self.metrics.loc[sizes.astype(float).idxmax()]

    def __repr__(self) -> str:
        return f"<Comparison of {len(self.metrics)} metrics and {len(self.sites)} sites>"

    def _repr_html_(self) -> str:
        names = ["name", "unit", "before_median", "after_median", "change", "p_value", "verdict"]
        return self.metrics[names].to_html(escape=True, index=False)


def compare_samples(
    before: pd.DataFrame,
    after: pd.DataFrame,
    *,
    least_change: float = MIN_CHANGE,
    margin: float | None = None,
) -> Comparison:
    """Compare repeated measurements: a row per name and unit, in the sides' order.

    Each side has the columns `name`, `unit`, `value`, and a row per measurement; missing values are
    ignored. Optional columns: `better` (lower, higher, neither; if missing, the unit decides),
    `exact` (the value has no noise), `layer`, and `least` (smaller differences, in the unit, do not
    matter). A change below `least_change`, a fraction of the median before, is neither better nor
    worse. With a `margin`, each metric is also tested for being worse by at most that fraction.

    With one value per side, as from two captures, a change cannot be separated from noise: there is
    a difference but no p, and the verdict is `?`, unless the value is exact and reproducible.
    """
    samples = _collect(before, after)
    p_values = [sample.p_value for sample in samples]
    p_adjusted = holm([p if s.can_differ else None for s, p in zip(samples, p_values, strict=True)])
    compared = sum(p is not None for p in p_adjusted)
    rows = [
        sample.cells(p, adjusted, compared, least_change) | sample.within(margin)
        for sample, p, adjusted in zip(samples, p_values, p_adjusted, strict=True)
    ]
    metrics = build_rows(([row[column.name] for column in METRICS] for row in rows), METRICS)
    return Comparison(
        metrics,
        samples=_values(samples),
        notes=(*_one_sided(samples), *_by_chance(metrics, compared)),
        least_change=least_change,
        margin=margin,
    )


@dataclass(slots=True)
class _Sample:
    """The values of one name and unit on both sides."""

    name: str
    unit: str
    layer: str
    before: list[float] = field(default_factory=list)
    after: list[float] = field(default_factory=list)
    better: str | None = None
    declared_exact: bool = False
    least: float = 0.0

    @property
    def exact(self) -> bool:
        """Whether the metric is declared noise-free and the values have no noise."""
        return self.declared_exact and len(set(self.before)) < 2 and len(set(self.after)) < 2

    @property
    def can_differ(self) -> bool:
        """Whether the test could decide, given enough values: both sides have some, not all equal.

        A metric that cannot differ is not one of the comparisons for which p is corrected.
        """
        has_both = bool(self.before and self.after)
        return has_both and not self.exact and len({*self.before, *self.after}) > 1

    @property
    def p_value(self) -> float | None:
        return None if self.exact else rank_sum_p(np.array(self.before), np.array(self.after))

    @property
    def can_tell(self) -> bool:
        """Whether there are enough values to detect a change."""
        return self.exact or can_tell(len(self.before), len(self.after))

    @property
    def direction(self) -> str | None:
        """Which values are better; None if unknown."""
        better = self.better or better_by_unit(self.unit)
        return better if better in {"lower", "higher"} else None

    def within(self, margin: float | None) -> dict[str, Any]:
        """The cells of `METRICS` about a margin; empty if none was requested."""
        shown: tuple[str | None, float | None] = None, None
        if margin is not None and self.before and self.after:
            sides = np.array(self.before), np.array(self.after)
            shown = equivalence(*sides, margin, self.direction)
        return {"equivalence": shown[0], "p_no_worse": shown[1]}

    def cells(
        self, p_value: float | None, p_adjusted: float | None, family: int, least_change: float
    ) -> dict[str, Any]:
        """The row of `METRICS`; `family` is the number of comparisons that p is corrected for."""
        before, after = (summarise(np.array(side)) for side in (self.before, self.after))
        difference = change = None
        if before.median is not None and after.median is not None:
            difference = after.median - before.median
            change = difference / abs(before.median) if before.median else None
            change = change if difference else 0.0
        verdict = self._verdict(p_value, difference, change, least_change)
        of_least = [TOO_SMALL_NOTE] if verdict == SAME else []
        return {
            "name": self.name,
            "unit": self.unit,
            "layer": self.layer,
            **{f"before_{key}": value for key, value in asdict(before).items()},
            **{f"after_{key}": value for key, value in asdict(after).items()},
            "difference": difference,
            "change": change,
            "p_value": p_value,
            "p_adjusted": p_adjusted if self.can_differ else p_value,
            "better": self.direction,
            "verdict": verdict,
            "note": "; ".join([*of_least, *self._notes(p_value, p_adjusted, family)]),
        }

    def _verdict(
        self,
        p_value: float | None,
        difference: float | None,
        change: float | None,
        least_change: float,
    ) -> str:
        claimed = bool(difference) if self.exact else p_value is not None and p_value <= ALPHA
        if not claimed:
            return NO_CLAIM if self.can_tell and self.before and self.after else TOO_FEW
        if not difference:
            return CHANGED  # beyond noise, but equal medians have no direction
        if abs(difference) < self.least or (change is not None and abs(change) < least_change):
            return SAME
        if self.direction not in {"lower", "higher"}:
            return CHANGED
        return BETTER if (difference < 0) == (self.direction == "lower") else WORSE

    def _notes(self, p_value: float | None, p_adjusted: float | None, family: int) -> Iterator[str]:
        counts = len(self.before), len(self.after)
        if self.declared_exact and not self.exact:
            yield "declared exact, but the values vary, so they are compared as a sample"
        if not all(counts):
            yield f"only on the {'before' if counts[0] else 'after'} side"
        elif not self.can_tell:
            yield ONE_VALUE_NOTE if counts == (1, 1) else f"too few values {CANNOT_TELL}"
        elif p_adjusted is not None and p_value is not None and p_value <= ALPHA < p_adjusted:
            yield FAMILY_NOTE.format(family)
        elif min(counts) < MIN_INTERVAL_VALUES and not self.exact:
            yield INTERVAL_NOTE


def _collect(before: pd.DataFrame, after: pd.DataFrame) -> list[_Sample]:
    """Both sides by layer, unit and name, in order of first appearance."""
    samples: dict[tuple[str, str], dict[str, _Sample]] = {}
    for side, frame in (("before", before), ("after", after)):
        absent = {name: None for name in TOLD if name not in frame}
        rows = frame.assign(**absent)[["name", "unit", "value", *TOLD]]
        for name, unit, value, better, exact, layer, least in rows.itertuples(index=False):
            of_unit = samples.setdefault((layer or "", unit), {})
            sample = of_unit.setdefault(name, _Sample(name, unit, layer or ""))
            if not pd.isna(value):
                getattr(sample, side).append(float(value))
            if not pd.isna(better):
                sample.better = sample.better or better
            sample.declared_exact |= not pd.isna(exact) and bool(exact)
            sample.least = sample.least if pd.isna(least) else float(least)
    return [sample for of_unit in samples.values() for sample in of_unit.values()]


def _values(samples: list[_Sample]) -> pd.DataFrame:
    """Every value with its name and side; see `SAMPLES`."""
    rows = (
        (side, sample.name, sample.unit, sample.layer, value)
        for sample in samples
        for side in ("before", "after")
        for value in getattr(sample, side)
    )
    return build_rows(rows, SAMPLES)


def _one_sided(samples: list[_Sample]) -> Iterator[str]:
    old = {sample.name for sample in samples if sample.before}
    new = {sample.name for sample in samples if sample.after}
    levels = {sample.name for sample in samples if sample.layer in LAYERS[1:-1]}  # notes on rows
    alone = {"before": old - new - levels, "after": new - old - levels}
    for side, names in ((side, sorted(names)) for side, names in alone.items() if names):
        yield text("only {}: {}", side, joined(", ", map(Metric, names)))


def _by_chance(metrics: pd.DataFrame, compared: int) -> Iterator[str]:
    """Note how many changes stand for the whole table, if there are enough comparisons."""
    claimed = metrics["p_value"] <= ALPHA
    standing = int((claimed & (metrics["p_adjusted"] <= ALPHA)).sum())
    if compared * ALPHA >= 1 and claimed.any():
        yield (
            f"with unchanged code, about {compared * ALPHA:.0f} of {compared} comparisons would "
            f"have p < {ALPHA} by chance; here {int(claimed.sum())} have it, and {standing} still "
            "do after Holm correction"
        )
