"""A table that is too long to lie in memory as it is: packed column by column, read in pieces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd
    import pyarrow as pa


PLAIN = frozenset({"int64", "float64"})


class PackedFrame:
    """Rows of a frame, packed without loss; they come out again in pieces, or all together.

    A log's columns repeat themselves: ten million collections take 200 MB packed, 2 GB as a frame.
    """

    def __init__(self, like: pd.DataFrame, min_rows: int = 1) -> None:
        """Begin without a row, with the columns and types of a frame.

        What is appended waits until there are so many rows, and is a piece together.
        """
        self._like = like.iloc[:0]
        self._min_rows = min_rows
        self._pieces: list[tuple[range, dict[str, pa.Buffer]]] = []
        self._waiting: list[pd.DataFrame] = []  # rows that are too few for a piece
        self._rows = 0

    def append(self, piece: pd.DataFrame) -> None:
        """Take further rows."""
        if len(piece):
            self._waiting.append(piece)
            self._rows += len(piece)
        if sum(map(len, self._waiting)) >= self._min_rows:
            self._pack()

    def _pack(self) -> None:
        """Pack what waits as one piece."""
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
        """Memory that the rows take."""
        self._pack()
        return sum(column.size for _, packed in self._pieces for column in packed.values())

    @property
    def empty(self) -> bool:
        """Whether there is no row."""
        return self._rows == 0

    @property
    def columns(self) -> pd.Index:
        """Their names."""
        return self._like.columns

    def __getitem__(self, column: str) -> pd.Series:
        """One column, whole."""
        import pandas as pd

        return pd.concat([piece[column] for piece in self.pieces([column])])

    def pieces(self, columns: Sequence[str] | None = None) -> Iterator[pd.DataFrame]:
        """The rows (or columns of them) piece by piece, numbered from 0; at least one piece."""
        like = self._like if columns is None else self._like[list(columns)]
        self._pack()
        if self.empty:
            yield like
        for rows, packed in self._pieces:
            yield _frame(rows, packed, like)

    def row(self, place: int) -> pd.Series:
        """The row at a place, from 0; IndexError where there is none."""
        self._pack()
        for rows, packed in self._pieces:
            if place in rows:
                return _frame(rows, packed, self._like).loc[place]
        raise IndexError(place)

    def whole(self) -> pd.DataFrame:
        """All rows as one frame, in all the memory that it takes."""
        import pandas as pd

        return pd.concat(list(self.pieces())).reset_index(drop=True)


def _frame(rows: range, packed: dict[str, pa.Buffer], like: pd.DataFrame) -> pd.DataFrame:
    """The columns of a piece that a frame has, with its types."""
    import pandas as pd

    arrays = {name: _unpacked(packed[name], like[name].dtype) for name in like.columns}
    return pd.DataFrame(arrays, index=pd.RangeIndex(rows), copy=False)


def _packed(column: pd.Series) -> pa.Buffer:
    import pyarrow as pa

    # A plain number is kept as it is, NaN too: so it comes out again without being looked at.
    plain = column.to_numpy() if str(column.dtype) in PLAIN else column
    array = pa.array(plain, from_pandas=plain is column)
    if isinstance(array, pa.ChunkedArray):  # of texts that were put together
        array = array.combine_chunks()
    batch = pa.record_batch([array], names=[""])
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="lz4", use_threads=False)
    with pa.ipc.new_stream(sink, batch.schema, options=options) as writer:
        writer.write_batch(batch)
    return sink.getvalue()


def _unpacked(buffer: pa.Buffer, dtype: Any) -> Any:
    """A column as an array, which takes the index of its frame."""
    import pyarrow as pa

    reader = pa.ipc.open_stream(buffer, options=pa.ipc.IpcReadOptions(use_threads=False))
    array = reader.read_next_batch().column(0)
    if str(dtype) in PLAIN:
        return array.to_numpy()
    if str(dtype) in {"Int64", "boolean"}:
        return dtype.__from_arrow__(array)
    return array.to_pandas().astype(dtype).array
