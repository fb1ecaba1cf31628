"""How high do RSS and the heap lie most of the time, and how high at worst?

A quantile is the lowest level that at least this share of the moments does not exceed: "99 % of
the moments below 200 MB". It is told only of as many moments as carry it: of fewer than a hundred,
the 99th percentile is just the highest. Moments stand for time where they were taken at even
intervals, as a collector does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gomem.inputs.schema import Column, build_rows
from gomem.statistics.quantiles import carries

if TYPE_CHECKING:
    import pandas as pd

LEAST_MOMENTS = 20  # with fewer, a table of all of them says more
QUANTILES = {"p50_bytes": 0.5, "p99_bytes": 0.99, "p999_bytes": 0.999}
LEVELS = ("rss_bytes", "HeapAlloc", "HeapInuse")
LEVEL_QUANTILES = (
    Column("level", "str", "", "`rss_bytes`, or a field of MemStats."),
    Column("moments", "int64", "count", "Moments that say it."),
    Column("p50_bytes", "Int64", "B", "Half of the moments are at or below."),
    Column("p99_bytes", "Int64", "B", "99 % are at or below; missing of fewer than 100 moments."),
    Column("p999_bytes", "Int64", "B", "99.9 % are; missing of fewer than 1000 moments."),
    Column("max_bytes", "int64", "B", "The highest of all."),
)


def level_quantiles(levels: pd.DataFrame) -> pd.DataFrame:
    """A row for each level, a column in bytes, that enough moments have; see `LEVEL_QUANTILES`."""
    rows = []
    for name in LEVELS:
        sample = levels[name].dropna() if name in levels else []
        if len(sample) >= LEAST_MOMENTS:
            values = np.asarray(sample, np.float64)
            carried = [carries(len(values), share) for share in QUANTILES.values()]
            sizes = np.quantile(values, list(QUANTILES.values()), method="inverted_cdf")
            told = [int(one) if tells else None for one, tells in zip(sizes, carried, strict=True)]
            rows.append((name, len(values), *told, int(values.max())))
    return build_rows(rows, LEVEL_QUANTILES)
