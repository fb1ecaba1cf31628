"""Windows of two sides: what is compared where they are unlike."""

import pandas as pd
import pytest

from gomem.comparison.samples import compare_samples
from gomem.comparison.windows import GROWING, Window, incomparable, not_compared, windows_table
from tests.builders import samples_frame


@pytest.mark.parametrize(
    ("before", "after", "apart"),
    [
        pytest.param(Window(10.0), Window(30.0), False, id="three-times"),
        pytest.param(Window(10.0), Window(30.1), True, id="more"),
        pytest.param(Window(30.1), Window(10.0), True, id="the-other-way"),
        pytest.param(Window(10.0, requests=800), Window(99.0, requests=800), False, id="as-much"),
        pytest.param(
            Window(10.0, requests=800), Window(99.0, requests=900), True, id="not-as-much"
        ),
        pytest.param(Window(10.0), Window(None), False, id="no-clock"),
    ],
)
def test_what_grows_with_time_is_not_compared_over_windows_so_unlike(before, after, apart):
    assert (set(GROWING) if apart else set()) == set(incomparable([before], [after]))


def test_of_several_runs_the_middle_ones_count():
    assert {} == incomparable([Window(n) for n in (9.0, 10.0, 900.0)], [Window(12.0)])


@pytest.mark.parametrize(
    ("after", "apart"), [((9.9, 60.0), False), ((10.0, 60.0), False), ((10.1, 60.0), True)]
)
def test_logs_without_a_second_in_common_are_of_different_phases(after, apart):
    reasons = incomparable([Window(log=(0.0, 10.0))], [Window(log=after)])

    assert apart == ("gc_cpu_fraction" in reasons)
    assert apart == any("0 s to 10.0 s before" in r for r in reasons.values())


def test_what_is_not_compared_keeps_both_sides_and_says_why():
    old = pd.concat([samples_frame(name, "B", [1.0] * 4) for name in ("TotalAlloc", "RSS")])
    new = old.assign(value=9.0)

    metrics = not_compared(compare_samples(old, new).metrics, {"TotalAlloc": "because"})

    total, rss = metrics.to_dict("records")
    assert (1.0, 9.0, "?", "because") == tuple(
        total[name] for name in ("before_median", "after_median", "verdict", "note")
    )
    assert pd.isna([total["change"], total["difference"], total["p_value"]]).all()
    assert ("worse", 8.0) == (rss["verdict"], rss["difference"])


def test_a_side_says_how_many_runs_there_are_and_what_they_cover():
    windows = [Window(2.0, 5, 800), Window(4.0, 7, 800), Window(9.0)]

    row = windows_table([("before", "1", "2", windows)]).iloc[0]

    assert ("before", 3, "1", "2", 4.0, 6, 800) == tuple(row)
