"""A condition is one of a few, and fires above its level, once in a while."""

import pytest

from gomem.errors import CaptureError
from gomem.live.trigger import MIN_VALUES, Trigger


@pytest.mark.parametrize(
    ("condition", "level", "factor"),
    [
        ("rss>2GiB", "rss", 2 * 1024**3),
        ("rss > 1.5 mib", "rss", 1.5 * 1024**2),
        ("rss>2GB", "rss", 2e9),
        ("goroutines>10000", "goroutines", 10_000),
    ],
)
def test_a_level(condition, level, factor):
    trigger = Trigger.of(condition, 60)

    assert (level, factor, False) == (trigger.level, trigger.factor, trigger.of_median)


@pytest.mark.parametrize(
    "condition",
    ["", "rss", "rss>", "rss<5", "rss>=5", "heap>5", "rss>5 frogs", "rss>-1", "goroutines>2GiB",
     "rss>1.2*mean", "rss>1e9"],
)  # fmt: skip
def test_what_is_no_condition_is_said_with_one_that_is(condition):
    with pytest.raises(CaptureError, match=r"examples: |not a size"):
        Trigger.of(condition, 60)


def test_it_fires_above_its_level_and_not_at_it():
    trigger = Trigger.of("rss>100", 0)

    assert [False, True] == [trigger.fires(value, 0.0) for value in (100, 101)]


def test_it_cools_down():
    """
    From its last moment on, and not from the last time that the level was above.
    """
    trigger = Trigger.of("rss>100", 10)

    assert [True, False, False, True] == [trigger.fires(200, now) for now in (0, 1, 9.9, 10)]


def test_a_median_wants_values_and_is_of_those_before():
    trigger = Trigger.of("rss>1.2*median", 0)

    early = [trigger.fires(value, 0.0) for value in [1000] + [100] * (MIN_VALUES - 1)]

    assert [False] * MIN_VALUES == early
    assert [False, True] == [trigger.fires(value, 0.0) for value in (120, 121)]
