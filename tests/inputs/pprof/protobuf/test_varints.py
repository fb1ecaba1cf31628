"""Numbers of one to ten bytes, read many at once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gomem.inputs.pprof.protobuf.varints import (
    CHUNK_BYTES,
    CUT,
    PADDING,
    TOO_LONG,
    VarintError,
    chunks,
    read_each,
    read_runs,
)
from tests.pprof_messages import number

WORDS = st.integers(min_value=0, max_value=2**64 - 1)


def padded(*parts):
    starts = np.cumsum([PADDING, *map(len, parts)])
    buffer = bytes(PADDING) + b"".join(parts) + bytes(PADDING)
    return np.frombuffer(buffer, np.uint8), starts[:-1], starts[1:]


@given(st.lists(WORDS, min_size=1))
def test_each_number_is_read_back(words):
    data, starts, stops = padded(*map(number, words))

    values, after = read_each(data, starts)

    assert words == values.view(np.uint64).tolist()
    assert stops.tolist() == after.tolist()


@given(st.lists(st.lists(WORDS), min_size=1))
def test_runs_are_read_back_with_their_lengths(runs):
    """
    A run stands behind its length, as in a message; empty ones count none.
    """
    bodies = [b"".join(map(number, run)) for run in runs]
    data, _, stops = padded(*(number(len(body)) + body for body in bodies))

    values, counts = read_runs(data, stops - [len(body) for body in bodies], stops)

    assert [word for run in runs for word in run] == values.astype(np.uint64).tolist()
    assert [len(run) for run in runs] == counts.tolist()


@given(st.lists(st.lists(WORDS, min_size=1), min_size=1), st.integers(0, 40))
def test_runs_far_apart_are_read_back(runs, distance):
    """
    What lies between is passed over, be it marked or not.
    """
    bodies = [b"".join(map(number, run)) for run in runs]
    gap = b"\xff" * distance + b"\x00"
    data, _, stops = padded(*(gap + body for body in bodies))

    values, counts = read_runs(data, stops - [len(body) for body in bodies], stops)

    assert [word for run in runs for word in run] == values.astype(np.uint64).tolist()
    assert [len(run) for run in runs] == counts.tolist()


@pytest.mark.parametrize("gap", [b"\x00", b"\x00" * 40], ids=["dense", "sparse"])
def test_a_number_that_is_too_long_is_found_where_it_begins(gap):
    data, starts, stops = padded(gap, b"\x05\x85\x01", gap, b"\x07" + b"\x80" * 10 + b"\x01")

    with pytest.raises(VarintError, match=TOO_LONG) as caught:
        read_runs(data, starts[[1, 3]], stops[[1, 3]])

    assert starts[3] + 1 == caught.value.place


def test_runs_longer_than_a_chunk_are_joined():
    words = np.arange(300_000)
    body = b"".join(map(number, words.tolist()))
    data, _, stops = padded(number(len(body)), body, number(len(body)), body)

    values, counts = read_runs(data, stops[[1, 3]] - len(body), stops[[1, 3]])

    assert [300_000, 300_000] == counts.tolist()
    assert (np.tile(words, 2) == values).all()


def test_a_chunk_has_as_many_runs_as_fit_and_one_at_least():
    half = CHUNK_BYTES // 2

    cut = list(chunks(np.array([half, half, 1, 2 * CHUNK_BYTES, 5, 6])))

    assert [(0, 2), (2, 3), (3, 4), (4, 6)] == cut


def test_a_run_that_ends_within_a_number_is_an_error_that_names_the_run():
    data, _, stops = padded(b"\x01", b"\x05", b"\x02", b"\x05\x85")

    with pytest.raises(VarintError, match=CUT) as caught:
        read_runs(data, stops[[0, 2]], stops[[1, 3]])

    assert 1 == caught.value.index


@pytest.mark.parametrize("read", ["each", "runs"])
def test_a_number_of_eleven_bytes_is_an_error(read):
    data, starts, stops = padded(b"\x0b", b"\x80" * 10 + b"\x01")

    with pytest.raises(VarintError, match=TOO_LONG):
        read_each(data, starts[1:]) if read == "each" else read_runs(data, starts[1:], stops[1:])
