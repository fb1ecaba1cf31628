"""Stamps in names: ISO 8601 and Unix seconds, as scripts write them."""

from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from gomem.capture.clock import time_in_name, time_of


@pytest.mark.parametrize(
    ("name", "time"),
    [
        ("2026-11-20_03-53-49,123456789", "2026-11-20T03:53:49.123456+00:00"),
        ("20261120035349z", "2026-11-20T03:53:49+00:00"),
        ("2026-11-20T03:53:49-08:15", "2026-11-20T12:08:49+00:00"),
        ("2026-11-20T03:53:49+14:00", "2026-11-19T13:53:49+00:00"),
    ],
)
def test_a_stamp_with_a_fraction_or_a_zone(name, time):
    assert time == time_in_name(name).isoformat()


@pytest.mark.parametrize(
    ("name", "own", "modified", "said"),
    [
        ("1795146829/heap", 5, 7, (1795146829, "name")),
        ("1600000000/heap-1795146829", 5, 7, (1795146829, "name")),
        ("1600000000/1/heap", 5, 7, (5, "its own clock")),
        ("heap", None, 7, (7, "file")),
        ("heap", None, None, (None, "")),
    ],
)
def test_a_name_comes_before_the_own_clock_and_that_before_the_file(name, own, modified, said):
    """
    The file's name, or its folder's, and no folder's further up.
    """
    times = [None if one is None else datetime.fromtimestamp(one, UTC) for one in (own, modified)]
    source = SimpleNamespace(name=name, modified=times[1])

    found, by = time_of(source, SimpleNamespace(time=times[0]))

    assert said == (None if found is None else int(found.timestamp()), by)
