"""The order in which the runs of two sides were taken."""

from types import SimpleNamespace

import pandas as pd
import pytest

from gomem.comparison.side import APART, IN_TURNS, order_note


def side(*seconds):
    """A run for each, begun so many seconds after midnight; None has no time."""
    return [
        SimpleNamespace(
            capture=SimpleNamespace(
                moments=pd.DataFrame({"time": pd.to_datetime([at], unit="s", utc=True)})
            )
        )
        for at in seconds
    ]


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        pytest.param((1, 3, 5), (2, 4, 6), IN_TURNS, id="alternating"),
        pytest.param((1, 2, 5, 6), (3, 4, 7, 8), "", id="two-at-a-time: 3 of 7 changes"),
        pytest.param((1, 3, 5, 6), (2, 4, 7, 8), IN_TURNS, id="5 of 7 changes"),
        pytest.param((1, 4), (2, 3), IN_TURNS, id="2 of 3 changes"),
        pytest.param((1, 2), (3, 4), APART.format(first="before", second="after"), id="apart"),
        pytest.param((3, 4), (1, 2), APART.format(first="after", second="before"), id="reversed"),
        pytest.param((1,), (2, 3), "", id="one-run"),
        pytest.param((1, None), (3, 4), "", id="a-run-without-a-time"),
    ],
)
def test_runs_in_turns_and_one_side_after_the_other(before, after, said):
    assert said == order_note(side(*before), side(*after))
