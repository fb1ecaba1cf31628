"""A table that is too long to lie in memory as it is: packed column by column, read in pieces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd
    import pyarrow as pa


class PackedFrame:
    """Rows of a frame, packed without loss; they come out again in pieces, or all together.

    A log's columns repeat themselves: ten million collections take 200 MB packed, 2 GB as a frame.
    """

    def __init__(self, like: pd.DataFrame) -> None:
        """Begin without a row, with the columns and types of a frame."""
        self._like = like.iloc[:0]
        self._pieces: list[tuple[int, dict[str, pa.Buffer]]] = []
        self._rows = 0

    def append(self, piece: pd.DataFrame) -> None:
        """Take further rows."""
        if len(piece):
            packed = {name: _packed(piece[name]) for name in piece.columns}
            self._pieces.append((len(piece), packed))
            self._rows += len(piece)

    def __len__(self) -> int:
        return self._rows

    @property
    def stored_bytes(self) -> int:
        """Memory that the rows take."""
        return sum(one.size for _, packed in self._pieces for one in packed.values())

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
        import pandas as pd

        like = self._like if columns is None else self._like[list(columns)]
        if self.empty:
            yield like
        start = 0
        for rows, packed in self._pieces:
            index = pd.RangeIndex(start, start + rows)
            arrays = {name: _unpacked(packed[name], like[name].dtype) for name in like.columns}
            yield pd.DataFrame(arrays, index=index, copy=False)
            start += rows

    def whole(self) -> pd.DataFrame:
        """All rows as one frame, in all the memory that it takes."""
        import pandas as pd

        return pd.concat(list(self.pieces())).reset_index(drop=True)


def _packed(column: pd.Series) -> pa.Buffer:
    import pyarrow as pa

    batch = pa.record_batch([pa.array(column)], names=[""])
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="zstd", use_threads=False)
    with pa.ipc.new_stream(sink, batch.schema, options=options) as writer:
        writer.write_batch(batch)
    return sink.getvalue()


def _unpacked(buffer: pa.Buffer, dtype: object) -> Any:
    """A column as an array, which takes the index of its frame."""
    import pyarrow as pa

    array = pa.ipc.open_stream(buffer).read_all().column(0)
    if str(dtype) in {"Int64", "boolean"}:
        return array.to_pandas(types_mapper=lambda _: dtype).array
    return array.to_pandas().astype(dtype).array
