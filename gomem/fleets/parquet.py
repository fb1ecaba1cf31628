"""Convert frames to Parquet and back. The files contain the data dictionary, with the types."""

from __future__ import annotations

import io
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from gomem.analysis.fleet.frames import KINDS
from gomem.inputs.schema import dictionary_of
from gomem.sources.dataset import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_TYPES = {
    "str": pa.string(),
    "object": pa.string(),
    "float64": pa.float64(),
    "int64": pa.int64(),
    "Int64": pa.int64(),
    "bool": pa.bool_(),
    "datetime64[ns, UTC]": pa.timestamp("ns", "UTC"),
}
_FRAME_TYPES = {
    pa.int64(): pd.Int64Dtype(),
    pa.string(): pd.StringDtype(na_value=np.nan),  # pandas' `str` type
}


@cache
def schema_of(kind: str) -> pa.Schema:
    """Return a kind's schema, with unit and meaning of each column in its metadata."""
    return pa.schema(
        pa.field(
            column.name,
            _TYPES[column.dtype],
            metadata={"unit": column.unit, "means": column.means},
        )
        for column in KINDS[kind]
    )


def packed(frames: Mapping[str, pd.DataFrame]) -> dict[tuple[str, str], bytes]:
    """Return Parquet files by kind and month; a kind without rows has no file."""
    return {
        (kind, month): _parquet(rows, kind)
        for kind, frame in frames.items()
        if len(frame)
        for month, rows in _by_month(frame)
    }


def frame_of(table: pa.Table, kind: str) -> pd.DataFrame:
    """Return rows as a frame with the types and dictionary of a kind; drop unknown columns."""
    columns = KINDS[kind]
    known = set(table.column_names)
    chosen = table.select([column.name for column in columns if column.name in known])
    frame = chosen.to_pandas(types_mapper=_FRAME_TYPES.get)
    types = {column.name: column.dtype for column in columns if column.name in known}
    frame = frame.astype(types)
    frame.attrs["columns"] = dictionary_of(columns)
    return frame


def _by_month(frame: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    months = frame["time"].dt.strftime("%Y-%m").fillna(UNKNOWN)
    for month in sorted(months.unique()):
        yield month, frame[months == month]


def _parquet(rows: pd.DataFrame, kind: str) -> bytes:
    table = pa.Table.from_pandas(rows, schema=schema_of(kind), preserve_index=False)
    written = io.BytesIO()
    pq.write_table(table.replace_schema_metadata(None), written, compression="zstd")
    return written.getvalue()
