"""Which allocation sites changed between two profiles by more than their sampling can explain?"""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from gomem.tables.schema import Column, build

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]

SITES = (
    Column("function", "str", "", "Who allocates."),
    Column("before", "Float64", "", "Flat value before, in the profile's unit; 0 if not there."),
    Column("after", "Float64", "", "Flat value after, in the profile's unit; 0 if not there."),
    Column("change", "Float64", "", "After less before."),
    Column("low", "Float64", "", "Lower end of the change's 95 % interval; missing if unknown."),
    Column("high", "Float64", "", "Upper end of the change's 95 % interval; missing if unknown."),
    Column("state", "str", "", "new, gone, grew, shrank, or ~ where it may be sampling noise."),
)
FLAT = ["flat", "flat_low", "flat_high"]
# Of what has so many bytes in all, nothing is sampled with probability exp(-bytes / rate), whatever
# the sizes of its objects. At 2.5 %, the upper end of the interval, that is 3.69 times the rate.
UNSEEN_SAMPLES = -log(0.025)


def compare_sites(
    before: pd.DataFrame,
    after: pd.DataFrame,
    *,
    before_unseen_high: float | pd.Series = 0.0,
    after_unseen_high: float | pd.Series = 0.0,
) -> pd.DataFrame:
    """Compare the flat values of two sampled profiles, site by site.

    The interval of a difference is made of the intervals of its two terms, which need not be
    symmetric (Zou and Donner 2008). A site whose interval holds 0 may not have changed.

    Args:
        before: Columns `function` (each once), `flat`, `flat_low`, `flat_high`.
        after: The same.
        before_unseen_high: What a site may have that the profile before does not show: the upper
            end of the 95 % interval of a count of 0, which is 3.7 samples, in the profile's unit.
            0 for a profile that counts everything. One number, or one for each function.
        after_unseen_high: The same, of the profile after.

    Returns:
        A row for each function of either side, the largest change first; see `SITES`.

    Raises:
        ValueError: A function stands in one profile twice.
    """
    old, new = before.set_index("function")[FLAT], after.set_index("function")[FLAT]
    functions = old.index.union(new.index, sort=False)
    old_flat, old_low, old_high = _aligned(old, functions, before_unseen_high)
    new_flat, new_low, new_high = _aligned(new, functions, after_unseen_high)
    change = new_flat - old_flat
    low = change - np.hypot(new_flat - new_low, old_high - old_flat)
    high = change + np.hypot(new_high - new_flat, old_flat - old_low)
    appeared, vanished = ~functions.isin(old.index), ~functions.isin(new.index)
    states = {
        "new": (low > 0) & appeared,
        "grew": low > 0,
        "gone": (high < 0) & vanished,
        "shrank": high < 0,
    }
    columns = {
        "function": functions.to_numpy(dtype=object),
        "before": old_flat,
        "after": new_flat,
        "change": change,
        "low": low,
        "high": high,
        "state": np.select(list(states.values()), list(states), "~"),
    }
    largest_first = np.lexsort((columns["function"], -np.abs(change)))
    return build({name: values[largest_first] for name, values in columns.items()}, SITES)


def unseen_high(
    rate_bytes: float | None, object_bytes: pd.Series | None = None
) -> float | pd.Series:
    """What a site may have of which a sampled profile shows nothing: `compare_sites` asks for it.

    Args:
        rate_bytes: MemProfileRate; unknown if None.
        object_bytes: Mean size of an object by function, for a bound in objects instead of bytes.
            Where it is 0 or unknown, so is the bound.
    """
    unseen_bytes = UNSEEN_SAMPLES * (np.nan if rate_bytes is None else rate_bytes)
    if object_bytes is None:
        return unseen_bytes
    return unseen_bytes / object_bytes.where(object_bytes > 0)


def _aligned(
    side: pd.DataFrame, functions: pd.Index, unseen_high: float | pd.Series
) -> tuple[Values, Values, Values]:
    """Flat value and interval of every function; one that the profile does not show has 0."""
    if side.index.has_duplicates:
        twice = side.index[side.index.duplicated()][0]
        raise ValueError(f"function {twice!r} stands in one profile twice")
    flat, low, high = (
        side[name].reindex(functions).to_numpy(dtype=float, na_value=np.nan, copy=True)
        for name in FLAT
    )
    unseen = ~functions.isin(side.index)
    flat[unseen], low[unseen] = 0.0, 0.0
    if isinstance(unseen_high, pd.Series):
        high[unseen] = unseen_high.reindex(functions[unseen]).to_numpy(dtype=float, na_value=np.nan)
    else:
        high[unseen] = unseen_high
    return flat, low, high
