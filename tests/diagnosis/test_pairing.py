"""Which moment stands against which: one rule, whoever asks."""

import pytest

import gomem
from gomem.diagnosis.pairing import counterpart_of, counterparts, first_pair
from tests.builders import FIXTURES, diagnosed

HEALTHY = FIXTURES / "captures/healthy-go1.27.3"


@pytest.mark.parametrize(
    ("before", "after", "pairs"),
    [
        pytest.param(["1", "2"], ["1", "2"], [("1", "1"), ("2", "2")], id="same-names"),
        pytest.param(["1", "2"], ["2", "3"], [("2", "2"), ("2", "3")], id="last-has-no-namesake"),
        pytest.param(["1", "2"], ["a", "b"], [("2", "b")], id="no-name-in-common"),
        pytest.param([], ["a"], [], id="nothing-before"),
        pytest.param(["a"], [], [], id="nothing-after"),
    ],
)
def test_moments_of_one_name_stand_together_and_the_last_is_never_alone(before, after, pairs):
    assert pairs == counterparts(before, after)


@pytest.mark.parametrize(
    ("before", "after", "first"),
    [
        pytest.param(["1", "2"], ["1", "2"], ("1", "1"), id="same-names"),
        pytest.param(["1", "2", "3"], ["x", "2", "3"], ("2", "2"), id="the-first-in-common"),
        pytest.param(["1", "3"], ["2", "3"], ("3", "3"), id="one-in-common"),
        pytest.param(["12:01", "12:02"], ["13:01", "13:02"], ("12:01", "13:01"), id="times"),
        pytest.param([], ["a"], None, id="nothing-before"),
    ],
)
def test_between_begins_at_the_first_in_common_or_the_first_of_each(before, after, first):
    assert first == first_pair(before, after)


def test_a_moment_between_without_a_namesake_stands_against_nothing():
    assert counterpart_of("x", ["1", "2"], ["1", "x", "2"]) is None
    assert "2" == counterpart_of("2", ["1", "2"], ["1", "x", "2"])


def test_goroutines_are_counted_in_one_place():
    """
    A goroutine profile leaves the runtime's own out; since 1.26 runtime/metrics count them too.
    """
    facts = diagnosed(HEALTHY).by_moment["2-steady"]
    metrics = gomem.compare(HEALTHY, HEALTHY).metrics.set_index("name")

    last = diagnosed(HEALTHY).moments[-1]
    assert 12 == facts.metrics["/sched/goroutines:goroutines"]
    assert 5 == facts.goroutine_count
    assert last.goroutine_count == metrics.loc["goroutines", "before_median"]
