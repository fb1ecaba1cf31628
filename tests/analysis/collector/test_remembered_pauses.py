"""Stops that MemStats remember: those of the collections wanted, of the last process."""

import pandas as pd
import pytest

from gomem.analysis.collector.pauses import remembered_pauses
from tests.builders import FIXTURES, diagnosed


def ring(*rows):
    """Pauses by number, minute and seconds."""
    return pd.DataFrame(
        {
            "dump": 0,
            "number": [number for number, _, _ in rows],
            "end": [pd.Timestamp(f"2026-01-01 00:{minute:02}Z") for _, minute, _ in rows],
            "pause_seconds": [seconds for _, _, seconds in rows],
        }
    )


def test_those_that_are_wanted_count():
    """
    The third to the fifth.
    """
    known = ring((2, 2, 9.0), (3, 3, 0.3), (4, 4, 0.5), (5, 5, 0.4), (6, 6, 9.0))

    told = remembered_pauses(known, last=5, cycles=3, seconds=10.0)

    assert [0.3, 0.4, 0.5] == list(told.stopped.values)
    assert (4, 10.0) == (told.longest_number, told.seconds)


def test_no_time_need_be_known():
    told = remembered_pauses(ring((1, 1, 0.1), (2, 2, 0.2)), last=2, cycles=2, seconds=None)

    assert (2, None) == (len(told.stopped), told.seconds)


def test_of_some_that_are_forgotten_nobody_knows_the_share_of_the_time():
    told = remembered_pauses(ring((4, 4, 0.5), (5, 5, 0.4)), last=5, cycles=3, seconds=10.0)

    assert (2, None) == (len(told.stopped), told.seconds)


def test_of_two_processes_the_later_one_counts():
    known = ring((2, 9, 0.2), (1, 8, 0.1), (1, 1, 7.0), (2, 2, 8.0), (3, 3, 9.0))

    told = remembered_pauses(known, last=2, cycles=2, seconds=None)

    assert [0.1, 0.2] == list(told.stopped.values)


@pytest.mark.parametrize("known", [ring((2, 2, 0.1), (6, 6, 0.1)), ring()])
def test_where_none_is_remembered_none_is_told(known):
    assert remembered_pauses(known, last=5, cycles=3, seconds=10.0) is None


def test_they_add_up_to_what_the_runtime_counts():
    """
    Two sources of a real process: the ring, and PauseTotalNs between the moments.
    """
    diagnosis = diagnosed(FIXTURES / "captures/healthy-go1.27.3")
    counted = diagnosis.facts.counters
    last = counted.last.count("NumGC")

    told = remembered_pauses(diagnosis.capture.pauses, last, counted.cycles, counted.seconds)

    assert (counted.cycles, counted.seconds) == (len(told.stopped), told.seconds)
    assert told.stopped.sum_at_least(0) == pytest.approx(counted.paused_seconds)
