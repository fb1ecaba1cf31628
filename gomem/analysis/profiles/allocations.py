"""Who allocates, and how sure is a number that was sampled? See `sampling` for the latter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gomem.analysis.profiles.sampling import Sampling, interval, sampling_of
from gomem.inputs.pprof.table import top_order
from gomem.inputs.schema import Column, build

if TYPE_CHECKING:
    import pandas as pd

    from gomem.inputs.pprof.table import Profile

FloatArray = NDArray[np.float64]

SITES = (
    Column("function", "str", "", "Function, line, file or package, as pprof prints it."),
    Column("flat", "int64", "", "Allocated there; in the unit of the sample type."),
    Column("flat_low", "Int64", "", "Lower end of flat's 95 % interval."),
    Column("flat_high", "Int64", "", "Upper end of flat's 95 % interval."),
    Column("flat_fraction", "float64", "fraction", "Flat by the profile's total."),
    Column("cum", "int64", "", "Allocated there or in what it called."),
    Column("cum_low", "Int64", "", "Lower end of cum's 95 % interval."),
    Column("cum_high", "Int64", "", "Upper end of cum's 95 % interval."),
    Column("cum_fraction", "float64", "fraction", "Cum by the profile's total."),
)


@dataclass(frozen=True)
class AllocationSites:
    """Who has most of one sample type.

    Attributes:
        sample_type: Which, such as `inuse_space`.
        unit: Its unit, as the profile declares it.
        total: The whole profile's.
        top: Rows as in `SITES`, in pprof's order.
        note: Why there are no intervals; empty where there are.
    """

    sample_type: str
    unit: str
    total: int
    top: pd.DataFrame
    note: str = ""


def top_sites(
    profile: Profile,
    sample_type: str | None = None,
    n: int | None = None,
    granularity: str = "functions",
    *,
    cum: bool = False,
) -> AllocationSites:
    """Find who has the most, and between which bounds the truth lies in 95 of 100 cases.

    Args:
        profile: A profile of any kind; only sampled heap profiles have intervals.
        sample_type: Which of its values; the default one if None.
        n: How many rows; all if None.
        granularity: What a row stands for; see `Profile.top`.
        cum: Order by cum rather than by flat.

    Raises:
        ValueError: There is no such sample type or granularity.
    """
    chosen = profile.sample_type(sample_type)
    values, nodes = profile.values(sample_type), profile.nodes(granularity)
    flat, cumulative = nodes.flat(values), nodes.cum(values)
    rows = top_order(nodes, flat, cumulative, by_cum=cum)[:n]
    sampling = sampling_of(profile, chosen.type)
    total = profile.total(sample_type)
    columns: dict[str, Any] = {
        "function": [nodes.names[row] for row in rows.tolist()],
        "flat": flat[rows],
        "cum": cumulative[rows],
        "flat_fraction": flat[rows] / (total or np.nan),
        "cum_fraction": cumulative[rows] / (total or np.nan),
    }
    if isinstance(sampling, Sampling):
        columns |= _intervals("flat", flat, nodes.flat, sampling, rows)
        columns |= _intervals("cum", cumulative, nodes.cum, sampling, rows)
    note = "" if isinstance(sampling, Sampling) else sampling
    return AllocationSites(chosen.type, chosen.unit, total, build(columns, SITES), note)


def _intervals(
    word: str, sums: NDArray[np.int64], add_up: Any, sampling: Sampling, rows: NDArray[np.int64]
) -> dict[str, Any]:
    """The bounds of some nodes' sums, rounded outwards to whole numbers."""
    of_rows = sampling.mapped(lambda part: add_up(part)[rows])
    low, high = interval(sums[rows].astype(np.float64), of_rows)
    unknown = np.isnan(low)
    return {
        f"{word}_low": _whole(np.floor(low), unknown),
        f"{word}_high": _whole(np.ceil(high), unknown),
    }


def _whole(numbers: FloatArray, unknown: NDArray[np.bool_]) -> np.ma.MaskedArray[Any, Any]:
    return np.ma.masked_array(np.where(unknown, 0, numbers).astype(np.int64), unknown)
