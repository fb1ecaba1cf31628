"""Order frames over many snapshots, and add each snapshot's time."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    dtype = pd.CategoricalDtype(pd.Index(list(times), dtype="str"), ordered=True)
    for column in columns:
        ordered[column] = pd.Categorical(frame[column], dtype=dtype)
    if is_timed and TIME.name not in frame:
        known = pd.to_datetime(list(times.values()), utc=True).as_unit("ns").array
        codes = ordered[columns[-1]].cat.codes.to_numpy()
        taken = known.take(codes, allow_fill=True)
        ordered.insert(frame.columns.get_loc(columns[-1]) + 1, TIME.name, taken)
        told = frame.attrs.get("columns", Dictionary())
        ordered.attrs["columns"] = Dictionary({**told, **dictionary_of((TIME,))})
    return ordered
