"""Is it said that the live heap is level?"""

import numpy as np
import pytest

import gomem
from gomem.analysis.series.level import Level
from gomem.diagnosis.live_level import level_at_end
from gomem.units import MIB
from tests.builders import FIXTURES


def _level(values, seconds=None, error=0.0):
    seconds = np.arange(len(values), dtype=float) if seconds is None else np.array(seconds, float)
    return Level("marks", seconds, np.array(values, float) * MIB, np.full(len(values), error * MIB))


@pytest.mark.parametrize(
    ("values", "readings"),
    [
        pytest.param([40, 41, 40, 41], 4, id="all alike"),
        pytest.param([4, 14, 40, 41, 40, 41], 4, id="a fill that has ended"),
        pytest.param([80, 60, 40, 41, 40, 41], 4, id="a fall that has ended"),
    ],
)
def test_readings_that_are_alike_at_the_end_are_a_level(values, readings):
    stretch = level_at_end(_level(values))

    assert (readings, readings == len(values)) == (stretch.readings, stretch.is_whole)
    assert (40 * MIB, 41 * MIB) == (stretch.least, stretch.most)


@pytest.mark.parametrize(
    "values",
    [
        pytest.param([10, 20, 30, 40, 50, 60], id="a line"),
        pytest.param([100, 101.5, 103, 104.5, 106, 108], id="a slow line, within a tenth"),
        pytest.param([10, 40, 10, 40, 10, 40], id="a saw-tooth"),
        pytest.param([40, 41], id="two readings"),
        pytest.param([40, 41, 40, 41, 40, 60], id="a rise in the last reading"),
    ],
)
def test_other_readings_are_none(values):
    assert level_at_end(_level(values)) is None


def test_a_level_lasts_for_a_third_of_the_time():
    values = [10, 40, 40, 40]

    assert level_at_end(_level(values, [0, 1, 2, 3])) is not None
    assert level_at_end(_level(values, [0, 8, 9, 10])) is None


def test_readings_differ_by_their_errors():
    values = [20, 24, 20, 24]

    assert level_at_end(_level(values)) is None
    assert level_at_end(_level(values, error=1.5)) is not None


def _said(name):
    diagnosis = gomem.diagnose(FIXTURES / "laboratory" / "captures" / f"{name}.tar.gz")
    return [str(words) for words in diagnosis.verdict.whose]


def test_a_healthy_process_whose_heap_filled_is_said_to_be_level():
    assert "The live heap is level: 40 MiB to 41 MiB at the last 4 GCs seen (3.7 s)." in _said(
        "geod-b"
    )


def test_profiles_that_lag_behind_a_level_heap_are_no_growth():
    said = " ".join(_said("sessiond-h"))

    assert "The live heap is level" in said
    assert "inuse_space rose" not in said


def test_a_heap_that_grows_is_not_said_to_be_level():
    assert "level" not in " ".join(_said("hubd-f"))
