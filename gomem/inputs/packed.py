"""A table that is too long to lie in memory as it is: packed column by column, read in pieces."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd


class PackedFrame:
    """Rows of a frame, packed as Feather; they come out again in pieces, or all together.

    A log's columns repeat themselves: ten million collections take 200 MB packed, 2 GB as a frame.
    """

    def __init__(self, like: pd.DataFrame) -> None:
        """Begin without a row, with the columns and types of a frame."""
        self._like = like.iloc[:0]
        self._pieces: list[tuple[int, bytes]] = []

    def append(self, piece: pd.DataFrame) -> None:
        """Take further rows."""
        if len(piece):
            bare, packed = piece.reset_index(drop=True), io.BytesIO()
            bare.attrs = {}  # a dictionary of the columns would be packed with every piece
            bare.to_feather(packed, compression="zstd")
            self._pieces.append((len(piece), packed.getvalue()))

    def __len__(self) -> int:
        return sum(rows for rows, _ in self._pieces)

    @property
    def stored_bytes(self) -> int:
        """Memory that the rows take."""
        return sum(len(packed) for _, packed in self._pieces)

    @property
    def empty(self) -> bool:
        """Whether there is no row."""
        return not self._pieces

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

        names = list(self.columns if columns is None else columns)
        if self.empty:
            yield self._like[names]
        start = 0
        for rows, packed in self._pieces:
            piece = pd.read_feather(io.BytesIO(packed), columns=names, use_threads=False)
            piece.index = pd.RangeIndex(start, start + rows)
            yield piece
            start += rows

    def whole(self) -> pd.DataFrame:
        """All rows as one frame, in all the memory that it takes."""
        import pandas as pd

        return pd.concat(list(self.pieces())).reset_index(drop=True)
