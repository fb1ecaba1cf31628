"""Did it change from before to after, by how much, and could the difference be noise?

Benchmarks are not normally distributed and have outliers, so no distribution is assumed. A sample
is summarised by its median with an interval. Two samples are compared by a rank test from
`gomem.statistics.rank_tests`.

The verdict depends on the p-value of each metric alone, as in benchstat: the result for one
benchmark must not depend on how many others the file has. So one in twenty unchanged metrics is
called changed. The p-value corrected for multiple tests (Holm 1979) is also shown, and a row is
marked if only its uncorrected p is below 5 %. The corrected p-value keeps the chance of any false
positive in the table at or below 5 %, even if the metrics are correlated.

If even disjoint samples could not reach 5 %, there are too few values and the verdict is `?`. A
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

# Of the median before. Where functions and stacks happen to lie moves times by more than this from
# one build to the next (Mytkowicz and others 2009), so nobody can act on less.
MIN_CHANGE = 0.005

BETTER, WORSE, CHANGED, NO_CLAIM, TOO_FEW = "better", "worse", "changed", "~", "?"
SAME = "same"
VERDICTS = (BETTER, WORSE, CHANGED, SAME, NO_CLAIM, TOO_FEW)
CLAIMS = (BETTER, WORSE, CHANGED)
NO_CHANGE_SHOWN = (SAME, NO_CLAIM, TOO_FEW)
TOLD = ("better", "exact", "layer", "least")  # of samples, where their frame has it
BENCHMARK = "benchmark"  # the layer of what a benchmark file holds
LAYERS = (BENCHMARK, "memory", "collector", "load", "")
FAMILY_NOTE = f"p < {ALPHA} uncorrected, but not after Holm correction for {{}} comparisons"
TOO_SMALL_NOTE = "the change is beyond noise, but too small to matter"
INTERVAL_NOTE = (
    f"no 95 % interval of the median: it needs at least {MIN_INTERVAL_VALUES} values per side"
)


METRICS = (
    Column("name", "str", "", "What was measured.", Metric),
    Column("unit", "str", "", "Unit of the medians, a base unit.", Unit),
    Column("layer", "str", "", "Its subject: benchmark, memory, collector, load.", Words),
    Column("before_n", "int64", "count", "Measurements before."),
    Column("before_median", "Float64", "", "Their median, in the unit."),
    Column("before_low", "Float64", "", "Lower end of its 95 % interval; missing with too few."),
    Column("before_high", "Float64", "", "Upper end of its 95 % interval; missing with too few."),
    Column("after_n", "int64", "count", "Measurements after."),
    Column("after_median", "Float64", "", "Their median, in the unit."),
    Column("after_low", "Float64", "", "Lower end of its 95 % interval; missing with too few."),
    Column("after_high", "Float64", "", "Upper end of its 95 % interval; missing with too few."),
    Column("difference", "Float64", "", "Median after less median before, in the unit."),
    Column("change", "Float64", "fraction", "Difference over median before; missing from 0."),
    Column("p_value", "Float64", "fraction", "Two-sided Mann-Whitney test, of this metric alone."),
    Column("p_adjusted", "Float64", "fraction", "The same, corrected for all comparisons (Holm)."),
    Column("better", "str", "", "lower or higher; missing if neither is better.", Words),
    Column(
        "verdict",
        "str",
        "",
        "better, worse, changed; same where it is beyond noise, but smaller than matters; ~ where "
        "it may be noise; ? where too few values can tell.",
        Words,
    ),
    Column(
        "equivalence",
        "str",
        "",
        "Shown to be equivalent, or no worse, within the margin, or ?; missing without a margin.",
        Words,
    ),
    Column("p_no_worse", "Float64", "fraction", "That it is worse by more than the margin."),
    Column("note", "str", "", "What to know before trusting the row; else empty.", Words),
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
    Column("metrics", "int64", "count", "Metrics that both sides have."),
    Column(
        "before", "Float64", "", "Geometric mean of the medians; missing if one is not above 0."
    ),
    Column("after", "Float64", "", "Geometric mean of the medians; missing if one is not above 0."),
    Column("change", "Float64", "fraction", "Geometric mean of the ratios, less 1."),
)


@dataclass(frozen=True)
class Judgement:
    """What a comparison comes down to."""

    verdict: str  # better, worse, mixed (some of both), same, or `?` where too few values can tell
    sentence: str  # what changed, by how much, and why as far as it is known
    details: tuple[str, ...] = ()  # in sentences: the price, what is new or gone, what it rests on


NOTHING_MEASURED = Judgement(TOO_FEW, "Nothing was measured on both sides.")


@dataclass(frozen=True)
class Comparison:
    """What became of each metric, part and site."""

    metrics: pd.DataFrame  # a row for each name and unit of either side; see `METRICS`
    # A row for each unit that several benchmarks share; see `GEOMEANS`.
    geomeans: pd.DataFrame = field(default_factory=partial(empty, GEOMEANS))
    # Which moments of the captures were compared, and RSS then by part and by owner, in bytes; of
    # several on a side, of those that `change` is of. See `gomem.comparison.moments`.
    moments: pd.DataFrame = field(default_factory=pd.DataFrame)
    ledger: pd.DataFrame = field(default_factory=pd.DataFrame)
    groups: pd.DataFrame = field(default_factory=pd.DataFrame)
    # Allocation sites by sample type, and what each allocated a request, or a second, between the
    # moments; see `gomem.comparison.sites`.
    sites: pd.DataFrame = field(default_factory=pd.DataFrame)
    site_rates: pd.DataFrame = field(default_factory=pd.DataFrame)
    # What lies between the first and the last moment compared, of each side; see `windows`.
    windows: pd.DataFrame = field(default_factory=pd.DataFrame)
    # What moved between the last moments, a `gomem.diagnosis.changes.Change`; None without
    # captures. With several on a side it is that of those whose RSS is in the middle.
    change: Any = None
    findings: pd.DataFrame = field(default_factory=pd.DataFrame)  # which causes are new or gone
    # The settings of the runtime that differ; see `gomem.comparison.settings`.
    settings: pd.DataFrame = field(default_factory=partial(empty, DIFFERING))
    unlike: str = ""  # why the sides are not judged, as of different programs; empty where they are
    judgement: Judgement = NOTHING_MEASURED  # what it comes down to
    # The values behind the metrics, one a row; see `SAMPLES`.
    samples: pd.DataFrame = field(default_factory=partial(empty, SAMPLES))
    # The rates of GC that counters tell between the moments; the rest of GC is of the whole log.
    by_counters: frozenset[str] = frozenset()
    least_change: float = MIN_CHANGE  # of the median before: a smaller change is `same`
    margin: float | None = None  # the same, within which `equivalence` was asked for, if it was
    # Metrics that say little of what they are of, by name, each with the reason.
    too_little: Mapping[str, str] = field(default_factory=dict)
    # How each budget stands, where some were set; see `gomem.comparison.budgets`.
    budgets: pd.DataFrame = field(default_factory=pd.DataFrame)
    budgets_summary: str = ""  # the same in a sentence; empty without budgets
    notes: tuple[str, ...] = ()  # what to know before trusting any of it
    damaged: tuple[Damage, ...] = ()  # what of either side could not be read
    # By sample type, a function that makes the call tree of how the heap profile behind `sites`
    # changed; empty where a side has none.
    change_trees: Mapping[str, Callable[[], Any]] = field(default_factory=dict)

    @property
    def regressions(self) -> pd.DataFrame:
        """The metrics that are worse."""
        return self.metrics[self.metrics["verdict"] == WORSE]

    @property
    def largest_claim(self) -> pd.Series | None:
        """Of the benchmarks that changed beyond noise, the one that changed most, relatively."""
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
    """Compare repeated measurements: a row for each name and unit, in the sides' order.

    A side has the columns `name`, `unit`, `value`, a row for each measurement; missing values do
    not count. Used if there: `better` (lower, higher, neither; missing leaves it to the unit),
    `exact` (the value has no noise), `layer`, and `least` (a smaller difference, in the unit,
    matters to nobody). A change below `least_change`, of the median before, is neither better nor
    worse; with a `margin`, each metric is asked whether it is no worse than that.

    With one value a side, as two captures give, nothing tells a change from noise: there is the
    difference but no p, and the verdict is `?`, unless the value is exact and repeats itself.
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
        """Declared to have no noise, and the values show none."""
        return self.declared_exact and len(set(self.before)) < 2 and len(set(self.after)) < 2

    @property
    def can_differ(self) -> bool:
        """Whether the test could decide, given enough values: both sides have some, not all equal.

        A metric that cannot differ does not count among the comparisons that p is corrected for.
        """
        has_both = bool(self.before and self.after)
        return has_both and not self.exact and len({*self.before, *self.after}) > 1

    @property
    def p_value(self) -> float | None:
        return None if self.exact else rank_sum_p(np.array(self.before), np.array(self.after))

    @property
    def can_tell(self) -> bool:
        """Whether there are enough values for a change to show."""
        return self.exact or can_tell(len(self.before), len(self.after))

    @property
    def direction(self) -> str | None:
        """Which values are better, as far as anything says so."""
        better = self.better or better_by_unit(self.unit)
        return better if better in {"lower", "higher"} else None

    def within(self, margin: float | None) -> dict[str, Any]:
        """What the row of `METRICS` says of a margin; nothing where none was asked for."""
        shown: tuple[str | None, float | None] = None, None
        if margin is not None and self.before and self.after:
            sides = np.array(self.before), np.array(self.after)
            shown = equivalence(*sides, margin, self.direction)
        return {"equivalence": shown[0], "p_no_worse": shown[1]}

    def cells(
        self, p_value: float | None, p_adjusted: float | None, family: int, least_change: float
    ) -> dict[str, Any]:
        """The row of `METRICS`; the family is how many comparisons this one is among."""
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
            return CHANGED  # beyond noise, but of equal medians, which have no direction
        if abs(difference) < self.least or (change is not None and abs(change) < least_change):
            return SAME
        if self.direction not in {"lower", "higher"}:
            return CHANGED
        return BETTER if (difference < 0) == (self.direction == "lower") else WORSE

    def _notes(self, p_value: float | None, p_adjusted: float | None, family: int) -> Iterator[str]:
        counts = len(self.before), len(self.after)
        if self.declared_exact and not self.exact:
            yield "declared exact, but the values vary: compared as a sample"
        if not all(counts):
            yield f"measured only {'before' if counts[0] else 'after'}"
        elif not self.can_tell:
            many = "one value" if counts == (1, 1) else "too few values"
            few = "is" if counts == (1, 1) else "are"
            yield (
                f"{many} per side {few} not enough to tell a change from noise: a test needs at "
                f"least {MIN_VALUES}"
            )
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
    """Every value with what it is of; see `SAMPLES`."""
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
    if not old & new:
        yield "no metric is on both sides, so none is compared"
    levels = {sample.name for sample in samples if sample.layer in LAYERS[1:-1]}  # notes on rows
    alone = {"before": old - new - levels, "after": new - old - levels}
    for side, names in ((side, sorted(names)) for side, names in alone.items() if names):
        yield text("only {}: {}", side, joined(", ", map(Metric, names)))


def _by_chance(metrics: pd.DataFrame, compared: int) -> Iterator[str]:
    """How many of the changes stand for the whole table, where there are enough to ask."""
    claimed = metrics["p_value"] <= ALPHA
    standing = int((claimed & (metrics["p_adjusted"] <= ALPHA)).sum())
    if compared * ALPHA >= 1 and claimed.any():
        yield (
            f"with unchanged code, about {compared * ALPHA:.0f} of {compared} comparisons would "
            f"have p < {ALPHA} by chance; here {int(claimed.sum())} have it, and {standing} still "
            "do after Holm correction"
        )
