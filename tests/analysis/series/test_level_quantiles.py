"""Quantiles of levels: only as many as the moments carry, and what they do not exceed."""

import numpy as np
import pandas as pd
import pytest

from gomem.analysis.series.level import MIN_MOMENTS, level_quantiles


def of(count):
    """RSS of 1, 2, … bytes, in no order."""
    values = np.random.default_rng(0).permutation(np.arange(1, count + 1))
    return level_quantiles(pd.DataFrame({"rss_bytes": pd.array(values, "Int64")}))


def test_of_a_thousand_moments_all_quantiles_are_told():
    """
    Of 1, 2, … 1 000 half do not exceed 500, 99 % not 990, and 99.9 % not 999.
    """
    (row,) = of(1000).to_dict("records")

    assert (500, 990, 999, 1000) == (
        row["p50_bytes"], row["p99_bytes"], row["p999_bytes"], row["max_bytes"],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("count", "p99", "p999"),
    [(99, False, False), (100, True, False), (999, True, False), (1000, True, True)],
)
def test_a_quantile_takes_as_many_moments_as_carry_it(count, p99, p999):
    (row,) = of(count).to_dict("records")

    assert (p99, p999) == (not pd.isna(row["p99_bytes"]), not pd.isna(row["p999_bytes"]))


def test_of_few_moments_nothing_is_told():
    """
    A table shows 19 as well.
    """
    assert of(19).empty
    assert 1 == len(of(20))


def test_moments_that_say_nothing_do_not_count():
    levels = pd.DataFrame({"HeapAlloc": [1.0, np.nan] * MIN_MOMENTS})

    (row,) = level_quantiles(levels).to_dict("records")

    assert ("HeapAlloc", MIN_MOMENTS, 1) == (row["level"], row["moments"], row["max_bytes"])
