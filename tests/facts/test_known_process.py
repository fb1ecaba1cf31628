"""Whose row is it, of a table with several processes? That of the profiles' executable."""

import pytest

from gomem.capture.load import load
from gomem.diagnosis.diagnosis import diagnose
from tests.pprof_messages import (
    INUSE_SPACE,
    STRINGS,
    TWO_FUNCTIONS,
    TWO_LOCATIONS,
    field,
    message,
    sample,
    strings,
)

PS = "  PID   RSS COMMAND\n11531 658528 python\n{}11881 63452 svc\n"
"""What ps prints of several processes."""


def profile_of(executable: str) -> bytes:
    """A heap profile whose first mapping is an executable."""
    mapping = message(3, field(1, 1), field(5, len(STRINGS)))
    used = sample(1, 2, value=64 << 20)
    code = (TWO_LOCATIONS, TWO_FUNCTIONS, strings(*STRINGS, executable))
    return b"".join([INUSE_SPACE, used, mapping, *code])


@pytest.fixture
def incident(tmp_path):
    def written(*rows):
        for number, row in enumerate(rows, start=1):
            folder = tmp_path / f"{number}"
            folder.mkdir()
            (folder / "ps").write_text(PS.format(row))
            (folder / "heap.pb.gz").write_bytes(profile_of("/usr/local/bin/orders-service-v2"))
        return diagnose(load(tmp_path))

    return written


def test_of_several_processes_the_profiled_one_is_meant(incident):
    found = incident(" 1961 79480 orders-service-\n", " 1961 107904 orders-service-\n")

    assert [79480 * 1024, 107904 * 1024] == [moment.rss_bytes for moment in found.moments]


def test_a_table_without_it_shows_others(incident):
    found = incident("", " 1961 107904 orders-service-\n")

    assert [None, 107904 * 1024] == [moment.rss_bytes for moment in found.moments]


def test_if_no_table_has_it_the_largest_is_told_as_that(incident):
    found = incident("", "")

    assert [658528 * 1024] * 2 == [moment.rss_bytes for moment in found.moments]
    assert "the largest of 2 processes" in found.verdict.where + found.verdict.headline
