"""Base units to text that people read."""

import pickle

import pandas as pd
import pytest

from gomem.text import Rate
from gomem.units import (
    MIB,
    format_age,
    format_bytes,
    format_change,
    format_count,
    format_fraction,
    format_most,
    format_rate,
    format_seconds,
    is_digits,
    is_unknown,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0 B", 0),
        ("1023 B", 1023),
        ("1.00 KiB", 1024),
        ("-1.50 KiB", -1536),
        ("12.5 MiB", 13107200),
        ("1.00 GiB", 2**30 - 1),
        ("10.0 MiB", 10 * 2**20 - 1),
        ("1023 MiB", 1023 << 20),
        ("1.00 GiB", 2**30),
        ("unknown", None),
        ("unknown", pd.NA),
        ("unknown", float("nan")),
    ],
)
def test_bytes(text, value):
    assert text == format_bytes(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0 s", 0),
        ("74.0 µs", 74e-6),
        ("1.20 ms", 0.0012),
        ("2.00 s", 2),
        ("3.00 min", 180),
        ("1.00 s", 0.99999),
    ],
)
def test_seconds(text, value):
    assert text == format_seconds(value)


def test_changes_carry_their_sign():
    assert ["+3.00 MiB", "-17 B", "0 B"] == [format_change(n) for n in (3 << 20, -17, 0)]


def test_fractions_are_per_cent_and_counts_are_grouped():
    assert "12.3 %" == format_fraction(0.123)
    assert ["14 %", "13 %", "<1 %"] == [
        format_most(value, brief=True) for value in (0.132, 0.13, 0.004)
    ]
    assert "1\u202f234\u202f567" == format_count(1234567)


@pytest.mark.parametrize(
    ("text", "are"),
    [("7", True), ("0042", True), ("\u0663", False), ("7\u00b2", False), ("", False)],
)
def test_digits_are_those_that_programs_print(text, are):
    assert are == is_digits(text)


def test_zero_is_known():
    assert not is_unknown(0)
    assert is_unknown(pd.NaT)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("3.9 d", 5692 * 60), ("59 min", 3599), ("1 h", 3600), ("1.7 h", 6120), ("0 s", 0)],
)
def test_an_age_is_never_more_than_it_is(text, seconds):
    assert text == format_age(seconds)


@pytest.mark.parametrize(
    ("text", "rate", "low", "high"),
    [
        pytest.param("1.23 MiB/s", 1.23, None, None, id="no interval"),
        pytest.param("1.23 MiB/s", 1.23, 1.228, 1.232, id="narrow"),
        pytest.param("1.2 MiB/s", 1.23, 1.13, 1.33, id="a tenth"),
        pytest.param("1.2 MiB/s", 1.23, -0.5, 3.1, id="wider than it"),
        pytest.param("410 MiB/s", 412.0, 100.0, 700.0, id="hundreds"),
        pytest.param("1.2 MiB/s", 1.23, float("-inf"), float("inf"), id="endless"),
        pytest.param("-1.2 MiB/s", -1.23, -1.33, -1.13, id="negative"),
    ],
)
def test_a_rate_has_the_digits_that_its_interval_leaves(text, rate, low, high):
    bounds = (None if bound is None else bound * MIB for bound in (low, high))

    assert text == format_rate(rate * MIB, *bounds)


@pytest.mark.parametrize("rate", [0.0, 0.3, -0.3, -0.0])
def test_a_rate_of_less_than_half_a_byte_is_none(rate):
    assert "0 B/s" == format_rate(rate, signed=True)


def test_a_rate_in_a_sentence_keeps_its_interval():
    rate = Rate(1.23 * MIB, 0.2 * MIB, 2.2 * MIB)

    assert "1.2 MiB/s" == rate == pickle.loads(pickle.dumps(rate))  # noqa: S301 - our own
    assert "unknown" == Rate(None)
    assert "1.2 MiB/s" == Rate(1.23 * MIB)
