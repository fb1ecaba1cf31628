"""Survival, overshoot and headroom: by hand, and against GOGC."""

import pytest

from gomem.analysis.collector.heap_pacing import UsualRoom, heap_pacing
from gomem.units import MIB
from tests.builders import FIXTURES, diagnosed
from tests.gc_logs import cycles_of


def test_a_hand_computed_log():
    """
    Of 18 MiB, 10 live on; marking ends at 22 MiB, 2 above the goal of 20; the next goal leaves
    25 - 10 = 15 MiB.
    """
    first = heap_pacing(cycles_of({"end": 22}, {"goal": 25})).cycles.iloc[0]

    assert 10 / 18 == pytest.approx(first["survival_fraction"])
    assert 2 * MIB == first["overshoot_bytes"]
    assert 0.1 == pytest.approx(first["overshoot_fraction"])
    assert 15 * MIB == first["headroom_bytes"]
    assert 1.5 == pytest.approx(first["headroom_fraction"])


def test_below_the_goal_is_no_overshoot():
    assert 0 == heap_pacing(cycles_of({"end": 12})).cycles["overshoot_bytes"].iloc[0]


def test_the_summary_is_of_collections_that_happened():
    """
    Goals missed by 1 to 10 MiB: one, five and nine of the ten are at most this.
    """
    answer = heap_pacing(cycles_of(*({"end": 20 + missed} for missed in range(10, 0, -1))))
    row = answer.summary.set_index("what").loc["overshoot_bytes"]

    assert [10, MIB, 5 * MIB, 9 * MIB, 10 * MIB] == row.to_list()
    assert not answer.is_rounded


def test_the_usual_room_is_of_the_later_half_of_the_time():
    """
    Twelve collections of a start-up in 1.2 s, 5 MiB live of a goal of 10; four of work from 5 s on,
    20 of 50, of which three have a next goal. With two such, all count.
    """
    early = [{"at": 0.1 * n, "live": 5, "goal": 10} for n in range(1, 13)]
    later = [{"at": 5 + n, "live": 20, "goal": 50} for n in range(4)]

    answer, less = (heap_pacing(cycles_of(*early, *later[:count])) for count in (4, 3))

    assert UsualRoom(20 * MIB, 30 * MIB, 1.5, is_steady=True) == answer.usual
    assert UsualRoom(5 * MIB, 5 * MIB, 1.0, is_steady=False) == less.usual
    assert 5 * MIB == answer.summary.set_index("what")["p50"]["headroom_bytes"]


@pytest.mark.parametrize(("most", "steady"), [(25, True), (26, False)])
def test_a_heap_of_one_size_moves_by_half_of_it_at_most(most, steady):
    """
    From 15 MiB to 25, 20 being the median; and to 26.
    """
    live = [20] * 8 + [15, 15, 20, 20, 20, most, most, 20]

    usual = heap_pacing(cycles_of(*({"live": one, "goal": 60} for one in live))).usual

    assert steady == usual.is_steady


def test_of_each_run_the_later_half_counts():
    """
    A second run begins when the first has ended; 10, 30 and 10, 40 MiB above what is live.
    """
    run = [{"at": at, "number": at, "live": 10} for at in range(1, 7)]
    first, second = (
        [one | {"goal": 20 if one["at"] < 4 else 10 + room} for one in run] for room in (30, 40)
    )

    usual = heap_pacing(cycles_of(*first, *second)).usual

    assert 30 * MIB == usual.headroom_bytes


def test_no_goal_leaves_room_unknown():
    """
    GOGC=off: nothing is overshot, and there is no room to speak of.
    """
    summary = heap_pacing(cycles_of({}, {}, goal=17592186044415)).summary.set_index("what")

    assert [2, 0, 0, 0, 0] == list(summary["n"])


def test_the_next_goal_of_a_missing_collection_is_not_known():
    assert heap_pacing(cycles_of({}, {"number": 3})).cycles["headroom_bytes"].isna().all()


def test_the_room_of_a_real_run_is_its_gogc():
    """
    Two sources, one number: runtime/metrics of the healthy capture say GOGC=100.
    """
    diagnosis = diagnosed(FIXTURES / "captures/healthy-go1.27.3")
    metrics = diagnosis.moments[-1].metrics

    pacing = heap_pacing(diagnosis.capture.gc.cycles).summary.set_index("what")

    gogc = metrics["/gc/gogc:percent"] / 100
    assert gogc == pytest.approx(pacing["p50"]["headroom_fraction"], abs=2 / 26)
