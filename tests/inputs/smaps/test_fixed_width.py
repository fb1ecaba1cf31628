"""Entries of one shape, read as a table; whatever has another shape is left to others."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gomem.inputs.smaps.fixed_width import AT_ONCE, uniform_entries
from tests.builders import smaps_entry

ENTRY = smaps_entry(0x1000, 0x2000, rss_kib=12)


@given(st.lists(st.integers(0, 99_999_999), min_size=1, max_size=20))
def test_numbers_of_up_to_eight_digits_come_back(sizes):
    text = "".join(smaps_entry(0x1000, 0x2000, rss_kib=size) for size in sizes)

    entries = uniform_entries(text.encode())

    assert entries is not None
    assert sizes == list(entries.fields[b"Rss"])
    assert {b"Size", b"Rss"} <= entries.in_kib
    assert len(sizes) == len(entries.headers) == len(entries.flags)


def test_more_entries_than_are_read_at_once_are_in_order():
    sizes = np.arange(2 * AT_ONCE + 3) % 1000
    text = "".join(smaps_entry(0x1000, 0x2000, rss_kib=size) for size in sizes)

    entries = uniform_entries(text.encode())

    assert entries is not None
    assert np.array_equal(sizes, entries.fields[b"Rss"])


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(ENTRY.replace("      12 kB", "     1 2 kB", 1), id="blank-inside"),
        pytest.param(ENTRY.replace("      12 kB", "     -12 kB", 1), id="minus"),
        pytest.param(ENTRY.replace("      12 kB", "      1: kB", 1), id="behind-nine"),
        pytest.param(ENTRY.replace("      12 kB", "     @12 kB", 1), id="alike-a-blank"),
        pytest.param(ENTRY.replace("      12 kB", "     p12 kB", 1), id="alike-a-zero"),
        pytest.param(ENTRY.replace("      12 kB", "         kB", 1), id="no-number"),
        pytest.param(ENTRY.replace("      12 kB", "100000012 kB", 1), id="nine-digits"),
        pytest.param(ENTRY.replace("      12 kB", "      12 MB", 1), id="other-unit"),
        pytest.param(ENTRY.replace("Rss:", "Rsz:"), id="other-field"),
        pytest.param(ENTRY.replace("VmFlags:", "VmFlagz:"), id="other-flags"),
        pytest.param(ENTRY + "hello\n", id="further-line"),
        pytest.param(ENTRY[:-1], id="no-line-end"),
        pytest.param(ENTRY[:-60], id="cut"),
    ],
)
def test_an_entry_of_another_shape_is_not_guessed(other):
    assert uniform_entries((ENTRY + ENTRY).encode()) is not None
    assert uniform_entries((ENTRY + other).encode()) is None


def test_an_entry_that_has_a_field_twice_is_not_guessed():
    rss = "Rss:                  12 kB\n"
    assert rss in ENTRY

    assert uniform_entries((ENTRY.replace(rss, rss + rss) * 2).encode()) is None


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"1000-2000 ---p 0 0:0 0\n", b"Rss: 1 kB", b"\0" * 99]
)
def test_what_has_no_fields_is_not_read(data):
    assert uniform_entries(data) is None
