"""A log in pieces, cut anywhere, says what it says whole."""

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from gomem.analysis.collector.cost import cost_of_collection
from gomem.analysis.collector.heap_pacing import heap_pacing, live_heaps
from gomem.analysis.collector.mmu import mutator_utilization
from gomem.analysis.collector.pauses import gc_pauses
from gomem.analysis.collector.phases import gc_phases
from gomem.analysis.collector.timeline import gc_timeline
from gomem.analysis.collector.triggers import gc_triggers
from tests.gc_logs import cycles_of, packed_cycles

LARGE = {"live": 100, "start": 180, "end": 185, "goal": 200}
LOW = LARGE | {"start": 101, "end": 102, "goal": 100}
CYCLES = cycles_of(
    LARGE,
    LARGE | {"first": 4, "at": 2.001},
    LARGE | {"at": 2.002},  # begins inside the one before
    LARGE | {"forced": " (forced)"},
    LOW | {"at": 4.5, "assist": 0.9},
    LOW | {"number": 7, "at": 7.0},  # one line is missing
    LARGE | {"number": 8, "at": 8.0, "last": 0.9},
    *[LARGE | {"number": number, "at": 3.0 * number, "live": 30} for number in range(1, 4)],
    LARGE | {"number": 4, "at": 9.5, "live": 130, "before": "GC forced\n"},
    LOW | {"number": 5, "at": 9.6},
)


@pytest.fixture(scope="module", params=[2, 5])
def packed(request):
    return packed_cycles(CYCLES, request.param)


@pytest.mark.at_most(7)
@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(lambda one: gc_pauses(one).quantiles, id="quantiles"),
        pytest.param(lambda one: gc_pauses(one).histogram, id="histogram"),
        pytest.param(lambda one: gc_triggers(one).counts, id="triggers"),
        pytest.param(lambda one: gc_triggers(one).gogc, id="gogc"),
        pytest.param(lambda one: heap_pacing(one).summary, id="pacing"),
        pytest.param(gc_phases, id="phases"),
        pytest.param(gc_timeline, id="a window each"),
        pytest.param(lambda one: gc_timeline(one, 4), id="four windows"),
        pytest.param(lambda one: pd.DataFrame(list(live_heaps(one))), id="live"),
        pytest.param(
            lambda one: mutator_utilization(one).curve.drop(columns="at_seconds"), id="mmu"
        ),
    ],
)
def test_frames_are_the_same(packed, answer):
    assert_frame_equal(answer(CYCLES), answer(packed), check_dtype=False)


@pytest.mark.parametrize("rows", [1, 7])
def test_windows_are_the_same_where_a_run_ends_with_a_piece(rows):
    assert_frame_equal(
        gc_timeline(CYCLES, 4), gc_timeline(packed_cycles(CYCLES, rows), 4), check_dtype=False
    )


def test_sums_are_the_same(packed):
    assert cost_of_collection(CYCLES).values == pytest.approx(cost_of_collection(packed).values)
    assert gc_triggers(CYCLES).beyond_any == gc_triggers(packed).beyond_any == 2


def test_utilisation_is_the_same(packed):
    whole, cut = mutator_utilization(CYCLES), mutator_utilization(packed)

    assert whole.mean_fraction == pytest.approx(cut.mean_fraction)
    assert whole.notes == cut.notes != ()
