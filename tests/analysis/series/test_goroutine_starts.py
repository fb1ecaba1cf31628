"""When goroutines started, by their numbers: in one go, all along, or woken again."""

import numpy as np
import pytest

from gomem.analysis.series.goroutine_starts import starts_at
from gomem.inputs.goroutines.parse import Waiting


def alike(minutes=None, function="main.serve", state="chan receive"):
    return Waiting(state, minutes, False, False, ("runtime.gopark", function), 0, "main.main")


def starts(numbers, others=(1,), minutes=None):
    """Goroutines in main.serve; `minutes` has how long each has waited."""
    by_wait = {}
    for place, number in enumerate(numbers):
        wait = None if minutes is None else minutes[place]
        by_wait.setdefault(alike(wait), []).append(number)
    return starts_at({alike(function="main.main"): [*others], **by_wait}, "main.serve")


@pytest.mark.parametrize(
    ("numbers", "highest", "in_one_go", "all_along"),
    [
        pytest.param(range(5, 3005), 3008, True, False, id="a pool, and nothing since"),
        pytest.param(range(5, 3005), 9000, True, False, id="a pool, and others since"),
        pytest.param([*range(5, 3005), 7001], 9000, True, False, id="one of them replaced"),
        pytest.param(range(5, 9000, 3), 9000, False, True, id="one of three starts stays"),
        pytest.param(range(5, 3000, 3), 9000, False, False, id="spread, but none of the newest"),
        pytest.param(range(5, 40), 40, False, False, id="few"),
    ],
)
def test_numbers_say_when_they_started(numbers, highest, in_one_go, all_along):
    found = starts(numbers, others=(1, highest))

    assert (in_one_go, all_along) == (found.are_in_one_go, found.come_all_along)
    assert highest - max(numbers) == found.since


def test_what_waits_the_longer_the_older_it_is_came_one_by_one():
    """
    Nothing else ever starts a goroutine there, so the numbers alone look like a pool's.
    """
    ages = [9 - place // 100 for place in range(1000)]

    assert not starts(range(5, 1005), minutes=ages).are_in_one_go
    assert starts(range(5, 1005), minutes=[place % 10 for place in range(1000)]).are_in_one_go


def test_numbers_that_turn_back_were_given_by_several_processors():
    """
    Each P takes 16 numbers at once: a loop uses them up, and what comes one by one takes turns.
    """
    batches = np.arange(5, 1605).reshape(-1, 2, 16)
    in_turns = batches.transpose(0, 2, 1).ravel().tolist()  # 5, 21, 6, 22, …

    assert not starts(in_turns).are_in_one_go
    assert starts([*range(1000, 1605), *range(5, 1000)]).are_in_one_go


def test_without_goroutines_there_is_nothing_to_say():
    assert starts_at({alike(): [7]}, "main.other") is None
