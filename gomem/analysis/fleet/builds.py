"""What does each build need, and which build is the first that differs from the previous build?

The builds are those of a mixed fleet, or the releases and settings of a matrix. The result has a
row per build and quantity: the median over the instances or runs, with a 95 % interval. A build
differs if a rank test says so, corrected for all builds (Holm 1979), and the medians are far enough
apart to matter. With too few runs for a test, a build differs if the difference is far larger than
the spread within a build. Rates over only the few GCs of a start-up are not representative of a
build, and are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby, pairwise
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from gomem.analysis.fleet import thresholds
from gomem.analysis.fleet.quantities import BY_NAME
from gomem.inputs.schema import Column, build_rows
from gomem.numbered import Build, Service
from gomem.releases import build_order
from gomem.statistics.rank_tests import ALPHA, Summary, can_tell, holm, rank_sum_p, summarise
from gomem.text import Words

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from gomem.statistics.robust import FloatArray

DIFFERS, ALIKE, TOO_FEW = "differs", "~", "?"
BUILDS = (
    Column("service", "str", "", "The program.", Service),
    Column("name", "str", "", "What is measured, one of `QUANTITIES`.", Words),
    Column("unit", "str", "", "Its unit, a base unit.", Words),
    Column("build", "str", "", "The build, release or setting, in order.", Build),
    Column("n", "int64", "count", "Instances or runs of it that tell it."),
    Column("median", "float64", "", "Their median."),
    Column("low", "float64", "", "Lower end of its 95 % interval; missing with too few."),
    Column("high", "float64", "", "Upper end of its 95 % interval; missing with too few."),
    Column("change", "float64", "fraction", "Against the build before it; missing for the first."),
    Column("p_value", "float64", "fraction", "Of no difference from the build before, by ranks."),
    Column("p_adjusted", "float64", "fraction", "The same, corrected for all builds (Holm)."),
    Column("verdict", "str", "", "Against the build before: differs, ~ or ?; or missing.", Words),
)  # fmt: skip
# These vary more with the load than with the build: they are shown, but never reported.
VARYING_WITH_LOAD = ("collections_per_second",)


@dataclass(frozen=True)
class _Step:
    """A build's values of one quantity, with those of the previous build."""

    service: str
    name: str
    build: str
    values: FloatArray
    before: FloatArray | None  # None for the first build
    is_alone: bool  # whether it is the only build, so that no interval is needed

    @property
    def p_value(self) -> float | None:
        if self.before is None or not can_tell(len(self.before), len(self.values)):
            return None
        return rank_sum_p(self.before, self.values)

    def row(self, p_value: float | None, p_adjusted: float | None) -> tuple[Any, ...]:
        """Build a row of `BUILDS`."""
        own = _middle(self.values) if self.is_alone else summarise(self.values)
        named = self.service, self.name, BY_NAME[self.name].unit, self.build, own.n
        summary = own.median, own.low, own.high
        old = None if self.before is None else summarise(self.before).median
        if old is None or own.median is None:
            return *named, *summary, None, None, None, None
        change = (own.median - old) / old if old else None
        verdict = self._verdict(old, own.median, p_adjusted)
        return *named, *summary, change, p_value, p_adjusted, verdict

    def _verdict(self, old: float, new: float, p_adjusted: float | None) -> str:
        apart = abs(new - old)
        least = thresholds.MIN_DIFFERENCE[BY_NAME[self.name].unit]
        if self.name in VARYING_WITH_LOAD or apart < least:
            return ALIKE
        if max(new, old) >= thresholds.MIN_TIMES * min(new, old):
            return DIFFERS
        if p_adjusted is None:
            return TOO_FEW
        matters = apart >= thresholds.MIN_CHANGE * max(old, 0.0)
        return DIFFERS if p_adjusted <= ALPHA and matters else ALIKE


def _middle(values: FloatArray) -> Summary:
    """Return the median without an interval."""
    return Summary(len(values), float(np.median(values)))


def by_build(values: pd.DataFrame, order: Sequence[str] | None = None) -> pd.DataFrame:
    """Compare each quantity of each build with the previous build; see `BUILDS`.

    Args:
        values: A row per instance or run, and quantity; see `population.CURRENT`.
        order: Builds in order; None sorts by release and number.
    """
    places = {build: n for n, build in enumerate(order or build_order(values["build"]))}
    steps: list[_Step] = []
    rates = [name for name, quantity in BY_NAME.items() if quantity.what == "rate"]
    few = values["name"].isin(rates) & (values["n"] < thresholds.MIN_GCS)
    for (service, name), found in values[~few].groupby(["service", "name"], sort=True):
        samples = {str(b): rows["value"].to_numpy(float) for b, rows in found.groupby("build")}
        builds = sorted(samples, key=lambda build: places.get(build, len(places)))
        pairs = pairwise([None, *builds])
        steps += [
            _Step(
                str(service),
                str(name),
                new,
                samples[new],
                samples[old] if old else None,
                len(builds) == 1,
            )
            for old, new in pairs
            if new is not None
        ]
    rank = {name: place for place, name in enumerate(BY_NAME)}
    steps.sort(key=lambda step: (step.service, rank[step.name]))
    rows: list[tuple[Any, ...]] = []
    for _, of_quantity in groupby(steps, key=attrgetter("service", "name")):
        each = list(of_quantity)
        p_values = [step.p_value for step in each]
        rows += [step.row(*p) for step, *p in zip(each, p_values, holm(p_values), strict=True)]
    return build_rows(rows, BUILDS)


def differing(compared: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `BUILDS` that differ from the previous build, in order."""
    return compared[compared["verdict"] == DIFFERS].reset_index(drop=True)
