"""What is the current value of each instance of a fleet, and with which instances is it compared?

The value comes from the instance's last capture that has the quantity. An instance is compared with
others of the same service and, if there are enough, of the same build. So a release that needs more
memory does not make its instances outliers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gomem.analysis.fleet.frames import KEYS
from gomem.analysis.fleet.quantities import BY_NAME
from gomem.analysis.fleet.thresholds import MIN_INSTANCES, MIN_OF_BUILD
from gomem.inputs.schema import Column, build_rows, dictionary_of
from gomem.numbered import Service
from gomem.statistics.quantiles import Tally, carries
from gomem.text import Words

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from gomem.statistics.robust import FloatArray

CURRENT = (
    *KEYS,
    Column("name", "str", "", "What is measured, one of `QUANTITIES`.", Words),
    Column("unit", "str", "", "Its unit, a base unit.", Words),
    Column("n", "int64", "count", "Snapshots behind it; of a rate, GCs."),
    Column("value", "float64", "", "At the end of the instance's last capture that tells it."),
)
DISTRIBUTIONS = (
    Column("service", "str", "", "The program.", Service),
    Column("name", "str", "", "What is measured, one of `QUANTITIES`.", Words),
    Column("unit", "str", "", "Its unit, a base unit.", Words),
    Column("instances", "int64", "count", "Instances that tell it."),
    Column("least", "float64", "", "The least of them."),
    Column("p25", "float64", "", "A quarter is at most this."),
    Column("p50", "float64", "", "The median."),
    Column("p75", "float64", "", "Three quarters are at most this."),
    Column("p99", "float64", "", "99 in 100 are at most this; missing of too few."),
    Column("most", "float64", "", "The most of them."),
)
_SHARES = (0.25, 0.5, 0.75, 0.99)


@dataclass(frozen=True)
class Population:
    """The instances of a service, with the values of one quantity."""

    service: str
    name: str
    rows: pd.DataFrame  # rows of `CURRENT`, one per instance

    @property
    def unit(self) -> str:
        """The unit of the values."""
        return BY_NAME[self.name].unit

    @property
    def values(self) -> FloatArray:
        """One value per instance."""
        return self.rows["value"].to_numpy(float)

    def others_of(self, place: int) -> FloatArray:
        """Return the values with which the instance at a position is compared."""
        builds = self.rows["build"].to_numpy(object)
        same = builds == builds[place]
        if same.sum() <= MIN_OF_BUILD:
            same = np.ones(len(builds), bool)
        same[place] = False
        return self.values[same]


def in_time(frame: pd.DataFrame) -> pd.DataFrame:
    """Sort rows by time; rows without a time come first, by capture name."""
    return frame.sort_values(["time", "capture"], kind="stable", na_position="first")


def current(levels: pd.DataFrame) -> pd.DataFrame:
    """Return the last value of each instance and quantity; see `CURRENT`."""
    known = in_time(levels[levels["name"].isin(list(BY_NAME))])
    last = known.drop_duplicates(["service", "instance", "name"], keep="last")
    found = last.rename(columns={"last": "value"})[[column.name for column in CURRENT]]
    found = found.reset_index(drop=True)
    found.attrs["columns"] = dictionary_of(CURRENT)
    return found


def populations(values: pd.DataFrame) -> Iterator[Population]:
    """Yield a population per service and quantity, unless too few instances have a value."""
    for (service, name), rows in values.groupby(["service", "name"], sort=True):
        if len(rows) >= MIN_INSTANCES:
            yield Population(str(service), str(name), rows.reset_index(drop=True))


def distributions(values: pd.DataFrame) -> pd.DataFrame:
    """Return the distribution of each quantity over the instances of a service."""
    rows: list[tuple[Any, ...]] = []
    for (service, name), found in values.groupby(["service", "name"], sort=True):
        tally = Tally()
        tally.add(found["value"].to_numpy(float))
        ends = tally[0], *(_quantile(tally, share) for share in _SHARES), tally.max
        rows.append((service, name, BY_NAME[str(name)].unit, len(tally), *ends))
    order = {name: place for place, name in enumerate(BY_NAME)}
    rows.sort(key=lambda row: (row[0], order[row[1]]))
    return build_rows(rows, DISTRIBUTIONS)


def _quantile(tally: Tally, share: float) -> float | None:
    if share > max(_SHARES[:-1]) and not carries(len(tally), share):
        return None
    return tally.quantile(share)
