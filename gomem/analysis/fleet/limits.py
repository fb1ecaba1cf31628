"""How many instances are near their memory limit, and how high is RSS over all captures?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gomem.analysis.fleet.thresholds import NEAR_LIMIT
from gomem.inputs.schema import Column, build_rows
from gomem.numbered import Instance, Service
from gomem.statistics.quantiles import Tally, carries

if TYPE_CHECKING:
    import pandas as pd

LIMIT = "of_limit_fraction"
NEAR = (
    Column("instance", "str", "", "The instance.", Instance),
    Column("service", "str", "", "Its program.", Service),
    Column("fraction", "float64", "fraction", "Of its cgroup's limit in use, at its last capture."),
)
RSS_QUANTILES = (
    Column("service", "str", "", "The program.", Service),
    Column("captures", "int64", "count", "Captures that tell RSS."),
    Column("p50_bytes", "float64", "B", "The median of RSS over all captures."),
    Column("p99_bytes", "float64", "B", "99 in 100 are at most this; missing of too few."),
    Column("max_bytes", "float64", "B", "The largest RSS of any snapshot."),
)


def near_limit(values: pd.DataFrame) -> pd.DataFrame:
    """Return the instances near their memory limit, the nearest first; see `NEAR`.

    `values` has the rows of `population.CURRENT`.
    """
    told = values[(values["name"] == LIMIT) & (values["value"] >= NEAR_LIMIT)]
    rows = zip(told["instance"], told["service"], told["value"], strict=True)
    return build_rows(sorted(rows, key=lambda row: -row[2]), NEAR)


def with_limit(values: pd.DataFrame) -> int:
    """Count the instances that have a limit and whose distance from the limit is known."""
    return int((values["name"] == LIMIT).sum())


def rss_quantiles(levels: pd.DataFrame) -> pd.DataFrame:
    """Return quantiles of RSS over all captures, by service; see `RSS_QUANTILES`."""
    rows: list[tuple[Any, ...]] = []
    for service, found in levels[levels["name"] == "rss_bytes"].groupby("service", sort=True):
        tally = Tally()
        tally.add(found["last"].to_numpy(float))
        p99 = tally.quantile(0.99) if carries(len(tally), 0.99) else None
        rows.append((service, len(tally), tally.median, p99, float(found["most"].max())))
    return build_rows(rows, RSS_QUANTILES)
