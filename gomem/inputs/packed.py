"""A table too long for memory: packed column by column, and read in pieces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd
    import pyarrow as pa


PLAIN = frozenset({"int64", "float64"})


class PackedFrame:
    """Rows of a frame, packed without loss; they are read back in pieces, or all together.

    Columns of a log compress well: ten million collections take 200 MB packed, 2 GB as a frame.
    """

    def __init__(self, like: pd.DataFrame, min_rows: int = 1) -> None:
        """Create an empty table with the columns and types of a frame.

        Appended rows wait until there are `min_rows` of them, and then form a piece.
        """
        self._like = like.iloc[:0]
        self._min_rows = min_rows
        self._pieces: list[tuple[range, dict[str, pa.Buffer]]] = []
        self._waiting: list[pd.DataFrame] = []  # rows not packed yet
        self._rows = 0

    def append(self, piece: pd.DataFrame) -> None:
        """Append rows."""
        if len(piece):
            self._waiting.append(piece)
            self._rows += len(piece)
        if sum(map(len, self._waiting)) >= self._min_rows:
            self._pack()

    def _pack(self) -> None:
        """Pack the waiting rows as one piece."""
        import pandas as pd

        if not self._waiting:
            return
        piece = pd.concat(self._waiting, ignore_index=True)
        self._waiting.clear()
        packed = {name: _packed(piece[name]) for name in piece.columns}
        self._pieces.append((range(self._rows - len(piece), self._rows), packed))

    def __len__(self) -> int:
        return self._rows

    @property
    def stored_bytes(self) -> int:
        """Memory used by the rows."""
        self._pack()
        return sum(column.size for _, packed in self._pieces for column in packed.values())

    @property
    def empty(self) -> bool:
        """Whether there are no rows."""
        return self._rows == 0

    @property
    def columns(self) -> pd.Index:
        """The column names."""
        return self._like.columns

    def __getitem__(self, column: str) -> pd.Series:
        """Return one complete column."""
        import pandas as pd

        return pd.concat([piece[column] for piece in self.pieces([column])])

    def pieces(self, columns: Sequence[str] | None = None) -> Iterator[pd.DataFrame]:
        """Yield the rows (or some columns) in pieces, numbered from 0; at least one piece."""
        like = self._like if columns is None else self._like[list(columns)]
        self._pack()
        if self.empty:
            yield like
        for rows, packed in self._pieces:
            yield _frame(rows, packed, like)

    def row(self, place: int) -> pd.Series:
        """Return the row at a position, from 0; raises IndexError if there is none."""
        self._pack()
        for rows, packed in self._pieces:
            if place in rows:
                return _frame(rows, packed, self._like).loc[place]
        raise IndexError(place)

    def whole(self) -> pd.DataFrame:
        """Return all rows as one frame, uncompressed."""
        import pandas as pd

        return pd.concat(list(self.pieces())).reset_index(drop=True)


def _frame(rows: range, packed: dict[str, pa.Buffer], like: pd.DataFrame) -> pd.DataFrame:
    """Unpack a piece, with the columns and types of a frame."""
    import pandas as pd

    arrays = {name: _unpacked(packed[name], like[name].dtype) for name in like.columns}
    return pd.DataFrame(arrays, index=pd.RangeIndex(rows), copy=False)


def _packed(column: pd.Series) -> pa.Buffer:
    import pyarrow as pa

    # Plain numbers, including NaN, are stored as they are, so that unpacking need not inspect them.
    plain = column.to_numpy() if str(column.dtype) in PLAIN else column
    array = pa.array(plain, from_pandas=plain is column)
    if isinstance(array, pa.ChunkedArray):  # concatenated texts
        array = array.combine_chunks()
    batch = pa.record_batch([array], names=[""])
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="lz4", use_threads=False)
    with pa.ipc.new_stream(sink, batch.schema, options=options) as writer:
        writer.write_batch(batch)
    return sink.getvalue()


def _unpacked(buffer: pa.Buffer, dtype: Any) -> Any:
    """Return a column as an array, without an index."""
    import pyarrow as pa

    reader = pa.ipc.open_stream(buffer, options=pa.ipc.IpcReadOptions(use_threads=False))
    array = reader.read_next_batch().column(0)
    if str(dtype) in PLAIN:
        return array.to_numpy()
    if str(dtype) in {"Int64", "boolean"}:
        return dtype.__from_arrow__(array)
    return array.to_pandas().astype(dtype).array
