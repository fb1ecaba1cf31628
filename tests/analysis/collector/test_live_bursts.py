"""Bursts of the live heap in a log."""

import pandas as pd
import pytest

from gomem.analysis.collector.live_bursts import live_bursts
from gomem.units import MIB
from tests.gc_logs import cycles_of, packed_cycles

LOW = [{"at": second, "live": 15} for second in (0.5, 1.0, 1.5, 2.0)]
HIGH = [{"at": 2.1, "live": 30}, {"at": 2.2, "live": 50}, {"at": 2.3, "live": 65}]


def later(changes, seconds):
    return [one | {"at": one["at"] + seconds} for one in changes]


PERIOD = [*LOW, *HIGH]


def test_collections_that_come_thick_in_a_burst_are_one_burst():
    """
    Two in 10 s, each over in the 2.2 s until the next collection.
    """
    found = live_bursts(cycles_of(*PERIOD, *later(PERIOD, 4), *later(LOW, 8)))

    assert (18, 9.5) == (found.cycles, found.seconds)
    assert (2, 15 * MIB, 65 * MIB) == (
        len(found.levels.each), found.levels.low, found.levels.highest,
    )  # fmt: skip


def test_the_heap_that_first_fills_is_no_low():
    """
    Behind the start-up it stands at 40 and rises to 65, by half at most.
    """
    start = [{"at": 0.1 * n, "live": n} for n in range(1, 4)]
    busy = [{"at": 1.0 + n, "live": 65 if n in {3, 7} else 40} for n in range(12)]
    found = live_bursts(cycles_of(*start, *busy))

    assert 40 * MIB == found.levels.low


def test_the_run_that_was_watched_longest_is_taken():
    """
    The program started anew: 8 s of bursts behind one of 1 s.
    """
    short = [{"at": 0.1 * n, "live": 10 * n, "number": n} for n in range(1, 9)]
    long = [one | {"number": n} for n, one in enumerate([*PERIOD, *later(PERIOD, 4)], start=1)]
    found = live_bursts(cycles_of(*short, *long, {"at": 9.0, "live": 15, "number": 15}))

    assert 2 == len(found.levels.each)


@pytest.mark.parametrize("changes", [[], [{}], [{"at": 1.0 + n} for n in range(9)]])
def test_without_a_burst_there_is_none(changes):
    assert live_bursts(cycles_of(*changes, {})) is None
    assert live_bursts(cycles_of({}).iloc[:0]) is None


def test_a_log_in_pieces_tells_the_same():
    cycles = cycles_of(*PERIOD, *later(PERIOD, 4), *later(LOW, 8))

    assert isinstance(cycles, pd.DataFrame)
    assert live_bursts(cycles) == live_bursts(packed_cycles(cycles, 5))
