"""Times of files: only those that a frame can hold."""

from datetime import UTC, datetime, timedelta

import pytest

from gomem.sources.times import file_time, known_time, time_of_seconds


@pytest.mark.parametrize(
    ("time", "known"),
    [
        (datetime(1, 1, 1, tzinfo=UTC), False),  # Go's zero time
        (datetime(1678, 1, 1, tzinfo=UTC) - timedelta(microseconds=1), False),
        (datetime(1678, 1, 1, tzinfo=UTC), True),
        (datetime(2262, 1, 1, tzinfo=UTC) - timedelta(microseconds=1), True),
        (datetime(2262, 1, 1, tzinfo=UTC), False),
    ],
)
def test_a_time_lies_where_64_bits_of_nanoseconds_hold_it(time, known):
    assert (time if known else None) == known_time(time)


@pytest.mark.parametrize("seconds", [1e300, float("inf"), float("nan"), -1e12, 1e11])
def test_seconds_that_are_no_time_are_unknown(seconds):
    assert time_of_seconds(seconds) is None


def test_seconds_are_since_1970(tmp_path):
    assert datetime(1970, 1, 1, 0, 0, 1, 500_000, UTC) == time_of_seconds(1.5)
    assert file_time(tmp_path / "nothing") is None
