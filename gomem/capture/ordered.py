"""Order frames over many snapshots, and add each snapshot's time."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import pandas as pd

from gomem.inputs.schema import Column, Dictionary, dictionary_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

TIME = Column("time", "datetime64[ns, UTC]", "", "Time of the moment; missing if unknown.")


def in_order(
    frame: pd.DataFrame, times: Mapping[str, datetime | None], *columns: str, is_timed: bool = True
) -> pd.DataFrame:
    """Return the rows with snapshot names as ordered categoricals, in the order of the capture.

    So pivots, groups and sorts follow that order. `columns` have the names; by default only
    `moment`. The column `time` is added after the last of `columns`, unless it exists.
    """
    columns = columns or ("moment",)
    ordered = frame.copy(deep=False)
    dtype, known = _order(tuple(times.items()))
    for column in columns:
        named = pd.Categorical(frame[column], dtype=dtype)
        ordered[column] = named
    if is_timed and TIME.name not in frame:
        taken = known.take(named.codes, allow_fill=True)
        ordered.insert(frame.columns.get_loc(columns[-1]) + 1, TIME.name, taken)
        told = frame.attrs.get("columns", Dictionary())
        ordered.attrs["columns"] = Dictionary({**told, **dictionary_of((TIME,))})
    return ordered


@lru_cache(maxsize=16)
def _order(times: tuple[tuple[str, datetime | None], ...]) -> tuple[pd.CategoricalDtype, Any]:
    """Return the dtype of the names, and the times as an array: a capture has many frames."""
    names = pd.Index([name for name, _ in times], dtype="str")
    known = pd.to_datetime([time for _, time in times], utc=True).as_unit("ns").array
    return pd.CategoricalDtype(names, ordered=True), known
