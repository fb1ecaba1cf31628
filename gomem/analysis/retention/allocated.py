"""Which sites allocated the memory that a keeper retains, according to the samples in the dump?

The runtime samples one allocation per `MemProfileRate` bytes, and the dump names the samples that
are still in use. So a site's share of a keeper's bytes is an estimate, with a 95 % interval. No
record in the dump has the rate; it is computed from the bytes that all samples together represent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gomem.inputs.schema import Column, build, empty
from gomem.statistics.sampling import interval, limit_ratios, sampling_of_counts, scale_of
from gomem.text import Function
from gomem.units import KIB

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from gomem.inputs.heapdump.table import HeapDump

ALLOCATED = (
    Column("keeper", "int64", "", "Row of the keeper."),
    Column(
        "function", "str", "", "The function that allocated, below the runtime's own.", Function
    ),
    Column("bytes", "float64", "B", "Estimate of what it allocated of the keeper's bytes."),
    Column("low", "float64", "B", "Lower end of the 95 % interval."),
    Column("high", "float64", "B", "Upper end."),
)
DEFAULT_RATE = 512 * KIB
MAX_RATE = float(1 << 40)
ALL_SAMPLED = 0.98  # of the live bytes are in samples: from here on, every allocation was recorded


def allocated_by(
    dump: HeapDump, keeper_of_object: NDArray[np.int64], keepers: pd.DataFrame
) -> pd.DataFrame:
    """Return a row per keeper and allocating function that has a sample in use; see `ALLOCATED`."""
    samples = dump.samples.dropna()
    target = samples["target"].to_numpy(np.int64)
    keeper = keeper_of_object[target]
    samples, target, keeper = samples[keeper >= 0], target[keeper >= 0], keeper[keeper >= 0]
    if not len(samples):
        return empty(ALLOCATED)
    size = dump.columns.objects.size[target].astype(np.float64)
    scale = scale_of(size, rate_of(size, float(keepers["bytes"].sum())))
    function = dump.buckets["function"].to_numpy()[samples["bucket"].to_numpy(np.int64)]
    names, site = np.unique(function.astype(str), return_inverse=True)
    cells, cell = np.unique(keeper * len(names) + site, return_inverse=True)
    whole = sampling_of_counts(size, np.ones(len(size)), scale)

    def summed(part: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.bincount(cell, part, len(cells)).astype(np.float64)

    estimate = summed(size * scale)
    low, high = interval(estimate, whole.mapped(summed))
    kept = keepers["bytes"].to_numpy()[cells // len(names)]
    columns = {"keeper": cells // len(names), "function": names[cells % len(names)].tolist()}
    columns |= {"bytes": np.minimum(estimate, kept), "low": np.minimum(low, kept)}
    frame = build(columns | {"high": np.minimum(high, kept)}, ALLOCATED)
    ordered = frame.sort_values(["keeper", "bytes"], ascending=[True, False], ignore_index=True)
    ordered.attrs = frame.attrs
    return ordered


def rate_of(size: NDArray[np.float64], live_bytes: float) -> float:
    """Return the sampling rate at which samples represent this many bytes.

    The result is Go's default rate if that rate is plausible.
    """
    if size.sum() >= ALL_SAMPLED * live_bytes:
        return 1.0
    low, high = limit_ratios(np.array([float(len(size))]))
    default = float((size * scale_of(size, DEFAULT_RATE)).sum())
    if default * low[0] <= live_bytes <= default * high[0]:
        return float(DEFAULT_RATE)
    least, most = 1.0, MAX_RATE
    for _ in range(100):
        middle = (least * most) ** 0.5
        if float((size * scale_of(size, middle)).sum()) < live_bytes:
            least = middle
        else:
            most = middle
    return most
