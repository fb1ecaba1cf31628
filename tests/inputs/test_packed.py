"""Packed tables: the same rows, types and numbers as the frames they were made of."""

import pandas as pd
import pytest

from gomem.inputs.packed import PackedFrame

FRAME = pd.DataFrame(
    {
        "bytes": pd.array([1, None, 3, 4, 5], "Int64"),
        "flag": pd.array([True, None, False, True, True], "boolean"),
        "seconds": [0.5, 1.5, float("nan"), 3.5, 4.5],
        "name": pd.array(["a", "b", "c", "d", "e"], "str"),
    }
)


def packed_in(*sizes):
    packed, start = PackedFrame(FRAME), 0
    for size in sizes:
        packed.append(FRAME.iloc[start : start + size])
        start += size
    return packed


@pytest.mark.parametrize("sizes", [(5,), (2, 3), (2, 0, 3), (1, 1, 1, 1, 1)])
def test_rows_come_out_as_they_went_in(sizes):
    packed = packed_in(*sizes)

    assert (5, False, 4) == (len(packed), packed.empty, len(packed.columns))
    assert 0 < packed.stored_bytes
    assert [size for size in sizes if size] == [len(piece) for piece in packed.pieces()]
    pd.testing.assert_frame_equal(FRAME, packed.whole())
    pd.testing.assert_series_equal(FRAME["bytes"], packed["bytes"])
    pd.testing.assert_frame_equal(
        FRAME[["name", "bytes"]], pd.concat(packed.pieces(["name", "bytes"]))
    )


def test_rows_wait_for_one_another_until_they_are_a_piece():
    packed = PackedFrame(FRAME, min_rows=3)
    for row in range(5):
        packed.append(FRAME.iloc[row : row + 1])

    assert 5 == len(packed)
    assert [3, 2] == [len(piece) for piece in packed.pieces()]
    pd.testing.assert_frame_equal(FRAME, packed.whole())


@pytest.mark.parametrize("place", range(5))
def test_a_row_is_found_in_its_piece(place):
    pd.testing.assert_series_equal(FRAME.loc[place], packed_in(2, 3).row(place))


def test_a_row_that_there_is_not():
    with pytest.raises(IndexError):
        packed_in(2, 3).row(5)


def test_no_rows_are_one_empty_piece_with_its_types():
    packed = packed_in(0)

    assert (0, True, 0) == (len(packed), packed.empty, packed.stored_bytes)
    assert FRAME.dtypes.to_dict() == packed.whole().dtypes.to_dict()
    (piece,) = packed.pieces(["flag"])
    assert ["flag"] == list(piece.columns)
