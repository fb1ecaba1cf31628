"""Compare two benchmark files: match benchmarks by full name; geometric means per unit."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from gomem.comparison.samples import (
    BENCHMARK,
    GEOMEANS,
    MIN_CHANGE,
    NO_CHANGE_SHOWN,
    compare_samples,
)
from gomem.comparison.settings import differing_bench_settings
from gomem.inputs.gobench.table import Bench, matched_samples
from gomem.inputs.schema import build_rows
from gomem.numbered import Unit
from gomem.text import Quoted, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gomem.comparison.samples import Comparison

DRIFT = (
    "timings also depend on the load of the machine; interleave the runs of the two sides to "
    "cancel it"
)


def compare_bench(
    before: Bench, after: Bench, *, least_change: float = MIN_CHANGE, margin: float | None = None
) -> Comparison:
    """Compare two benchmark files with `compare_samples`, matching names by `matched_samples`."""
    old, new = (side.assign(layer=BENCHMARK) for side in matched_samples(before, after))
    compared = compare_samples(old, new, least_change=least_change, margin=margin)
    timed = compared.metrics["unit"].isin(["sec/op", "B/s"])
    claimed = ~compared.metrics["verdict"].isin(NO_CHANGE_SHOWN) & timed
    drift = [DRIFT] if claimed.any() else []
    return replace(
        compared,
        geomeans=geometric_means(compared.metrics),
        settings=differing_bench_settings(before, after),
        notes=(*_unit_notes(before, after), *compared.notes, *drift),
        damaged=(*before.damaged, *after.damaged),
    )


def geometric_means(metrics: pd.DataFrame) -> pd.DataFrame:
    """Compute the geometric means for each unit with several metrics that both sides measured."""
    both = metrics[(metrics["before_n"] > 0) & (metrics["after_n"] > 0)]
    rows = []
    for unit, group in both.groupby("unit", sort=False):
        if len(group) > 1:
            old, new = (group[f"{side}_median"].to_numpy(float) for side in ("before", "after"))
            ratio = _geometric_mean([_ratio(*pair) for pair in zip(old, new, strict=True)])
            change = None if ratio is None else ratio - 1
            rows.append((unit, len(group), _geometric_mean(old), _geometric_mean(new), change))
    return build_rows(rows, GEOMEANS)


def _unit_notes(before: Bench, after: Bench) -> Iterator[str]:
    """Notes on units whose metadata has conflicting values."""
    units = pd.concat([before.units, after.units])
    for (unit, key), values in units.groupby(["unit", "key"], sort=False)["value"]:
        given = values.unique()
        if len(given) > 1:
            said = "{} of {} is given as {}; the first is used"
            yield text(said, Quoted(key), Unit(unit), Quoted(", ".join(sorted(map(str, given)))))


def _ratio(before: float, after: float) -> float:
    """Return after / before: 1 for two zeros, NaN if only `before` is zero."""
    if before == after:
        return 1.0
    return after / before if before else float("nan")


def _geometric_mean(values: Iterable[float]) -> float | None:
    array = np.array(list(values))
    return float(np.exp(np.log(array).mean())) if (array > 0).all() else None
