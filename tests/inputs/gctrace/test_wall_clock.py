"""Wall times of log collectors: in UTC to the nanosecond, or unknown."""

import numpy as np
import pytest

from gomem.inputs.gctrace.unwrap import parse_stamp, parse_stamps

STAMPS = [
    ("2026-11-20T03:53:49Z", "2026-11-20T03:53:49"),
    ("2026-11-20T03:53:49.5Z", "2026-11-20T03:53:49.5"),
    ("2026-11-20T03:53:49,25Z", "2026-11-20T03:53:49.25"),
    ("2026-11-20T03:53:49.123456789Z", "2026-11-20T03:53:49.123456789"),
    ("2026-11-20T03:53:49.1234567891Z", "2026-11-20T03:53:49.123456789"),
    ("2026-11-20 03:53:49Z", "2026-11-20T03:53:49"),
    ("2026-11-20T03:53:49+0100", "2026-11-20T02:53:49"),
    ("2026-11-20T03:53:49+05:30", "2026-11-19T22:23:49"),
    ("2026-11-20T03:53:49.5-08:15", "2026-11-20T12:08:49.5"),
    ("1678-01-01T00:00:00Z", "1678-01-01T00:00:00"),
    ("1677-12-31T23:59:59Z", "NaT"),
    ("2261-12-31T23:59:59Z", "2261-12-31T23:59:59"),
    ("2262-01-01T00:00:00Z", "NaT"),
    ("1795146829470512", "2026-11-20T03:53:49.470512"),
    ("0", "1970-01-01"),
    ("9214646399999999", "2261-12-31T23:59:59.999999"),
    ("9214646400000000", "NaT"),
    ("01795146829470512", "NaT"),
    ("2026-13-20T03:53:49Z", "NaT"),
    ("2026-11-20T03:53:49", "NaT"),
    ("yesterday", "NaT"),
    (None, "NaT"),
]


@pytest.mark.parametrize(("stamp", "time"), STAMPS)
def test_a_stamp_is_a_time_in_utc_or_unknown(stamp, time):
    """
    Microseconds have sixteen digits; years that 64 bits of nanoseconds do not hold are unknown.
    """
    np.testing.assert_array_equal(np.datetime64(time, "ns"), parse_stamp(stamp))
    np.testing.assert_array_equal(np.array([time], "datetime64[ns]"), parse_stamps([stamp]))


def test_stamps_of_several_kinds_are_each_as_they_are():
    stamps, times = zip(*STAMPS, strict=True)

    np.testing.assert_array_equal(np.array(times, "datetime64[ns]"), parse_stamps(stamps))
