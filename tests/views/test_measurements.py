"""Measured values in words."""

import pandas as pd
import pytest

from gomem.views.measurements import (
    format_difference,
    format_level,
    format_p,
    format_spread,
    format_value,
)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (1.5e-6, "sec/op", "1.50 µs"),
        (2048.0, "B/op", "2.00 KiB"),
        (2048.0, "B/s", "2.00 KiB"),
        (3e-3, "p99-sec", "3.00 ms"),
        (0.125, "fraction", "12.5 %"),
        (11.0, "allocs/op", "11"),
        (2.5, "hits/op", "2.5"),
        (12345.6, "hits/op", "12\u202f346"),
        (None, "sec/op", "unknown"),
        (pd.NA, "B", "unknown"),
    ],
)
def test_a_value_is_shown_in_its_units_prefix(value, unit, text):
    assert text == format_value(value, unit)


@pytest.mark.parametrize(
    ("p", "text"), [(0.0301, "p=0.030"), (1e-9, "p<0.001"), (1.0, "p=1.000"), (pd.NA, "p unknown")]
)
def test_a_p_is_never_shown_as_zero(p, text):
    assert text == format_p(p)


@pytest.mark.parametrize(
    ("median", "low", "high", "text"),
    [
        (100.0, 97.0, 101.0, "± 3 %"),
        (-100.0, -101.0, -97.0, "± 3 %"),
        (0.0, 0.0, 0.0, "± 0 %"),
        (0.0, 0.0, 5.0, ""),
        (100.0, pd.NA, pd.NA, ""),
        (100.0, 0.0, 120.0, "± 100 %"),
        (100.0, -1.0, 120.0, ""),
    ],
)
def test_a_spread_is_the_farther_end(median, low, high, text):
    assert text == format_spread(median, low, high)


@pytest.mark.parametrize(
    ("difference", "unit", "text"),
    [
        (2048.0, "B", "+2.00 KiB"),
        (-2048.0, "B/s", "-2.00 KiB/s"),
        (0.0131, "fraction", "+1.3 pp"),
        (-1.5e-3, "s", "-1.50 ms"),
        (0.0, "count", "0"),
    ],
)
def test_a_difference_has_a_sign_and_its_unit(difference, unit, text):
    assert text == format_difference(difference, unit)


def test_a_level_has_its_whole_unit():
    assert ["1.00 KiB/s", "1.00 KiB"] == [format_level(1024.0, unit) for unit in ("B/s", "B")]
