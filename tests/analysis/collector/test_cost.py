"""What the collector costs: hand-computed cases, and bounds that hold."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gomem.analysis.collector.cost import Allocated, Quantiles, cost_of_collection, cpu_fractions
from gomem.analysis.collector.steps import gc_steps
from gomem.inputs.gctrace.table import read_gctrace
from gomem.statistics.quantiles import Tally
from gomem.units import MIB

FORM = (
    "gc {number} @{at:.3f}s 1%: {stop}+1.0+{last} ms clock, "
    "0.10+{assist}/{background}/{idle}+0.20 ms cpu, {start}->{end}->{live} MB, {goal} MB goal, "
    "0 MB stacks, 0 MB globals, {p} P{forced}\n"
)
USUAL = {
    "number": 1, "at": 0.0, "stop": "0.010", "last": "0.020", "assist": "0.30", "background": "1.4",
    "idle": "5.0", "start": 10, "end": 12, "live": 5, "goal": 12, "p": 2, "forced": "",
}  # fmt: skip


def log_of(*changes):
    """Collections a second apart, one second being 1000 ms; each as usual but for its changes."""
    lines = (
        FORM.format(**USUAL | {"number": number, "at": float(number)} | change)
        for number, change in enumerate(changes, start=1)
    )
    return "".join(lines).encode()


def summary_of(*changes):
    return cost_of_collection(read_gctrace(log_of(*changes)).cycles)


def test_a_hand_computed_log():
    """
    Of three collections a second apart, the steps are two; each one's CPU is 0.1 + 0.3 + 1.4 + 0.2
    = 2 ms of 2 Ps times 1 s, its idle marking left out. Between two starts 10 - 5 MiB are new, and
    12 - 10 while marking.
    """
    summary = summary_of({}, {}, {"forced": " (forced)"})

    assert (3, 1, 1, 0) == (summary.cycles, summary.runs, summary.forced, summary.periodic)
    assert 2.0 == summary.seconds
    assert 0.001 == pytest.approx(summary.gc_cpu_fraction)
    assert 0.3 / 1.7 == pytest.approx(summary.assist_fraction)
    assert 7 * MIB == summary.allocation_rate.value
    assert Quantiles(3, 0.00003, 0.00003, 0.00003, 0.00003) == summary.stw
    assert Quantiles(2, 1.0, 1.0, 1.0, 1.0) == summary.interval
    assert 12 * MIB == summary.heap_peak_bytes
    assert 12 * MIB == summary.heap_goal_bytes


def test_the_rounding_bound_of_the_allocation_rate():
    """
    Two collections freed 7 MiB each, known to 1 MiB, and the heap grew by 0, known to 1 MiB: 14
    MiB in 2 s, give or take 3 MiB.
    """
    rate = summary_of({}, {}, {}).allocation_rate

    assert (5.5 * MIB, 7 * MIB, 8.5 * MIB) == (rate.low, rate.value, rate.high)


def test_what_the_heap_grew_by_was_allocated_too():
    """
    In one second 4 MiB more, and 7 freed: 11 MiB. Freed are 6 at least and 8 at most; that the
    heap grew by 4 is known to 1 MiB either way.
    """
    rate = summary_of({}, {"start": 14, "end": 15}).allocation_rate

    assert (9 * MIB, 11 * MIB, 13 * MIB) == (rate.low, rate.value, rate.high)


def test_a_heap_that_grew_while_it_was_swept_is_known_to_the_same_mebibyte():
    """
    12 MiB when marking ended and 14 live after it: 10 that the heap grew by, less 2; freed are -3
    at least and -1 at most.
    """
    rate = summary_of({"live": 14}, {"start": 20, "end": 22}).allocation_rate

    assert (6 * MIB, 8 * MIB, 10 * MIB) == (rate.low, rate.value, rate.high)


def test_nothing_freed_is_no_less_than_nothing():
    """
    All that two marks met was live: 20 MiB in 2 s is what the heap grew by, known to 1 MiB.
    """
    rate = summary_of(*live(10, 20, 30, freed=0)).allocation_rate

    assert (9.5 * MIB, 10 * MIB) == (rate.low, rate.value)


def test_quantiles_are_pauses_that_happened():
    sample = Tally()
    sample.add(np.array([4.0, 1.0, np.nan, 3.0, 2.0]))

    assert Quantiles(4, 2.0, 4.0, 4.0, 4.0) == Quantiles.of(sample)


def test_one_collection_has_a_pause_and_no_rate():
    summary = summary_of({})

    assert 0.00003 == summary.stw.p99
    assert None is summary.gc_cpu_fraction
    assert None is summary.allocation_rate.value
    assert None is summary.interval.p50


def test_no_collection_leaves_everything_open():
    summary = cost_of_collection(read_gctrace(b"hello\n").cycles)

    assert 0 == summary.cycles
    assert {0, None} == set(summary.values.values())


def test_a_restart_is_no_interval():
    """
    From the last collection of a process to the first of the next there is no time to speak of.
    """
    cycles = read_gctrace(log_of({}, {}) + log_of({}, {}, {})).cycles

    summary = cost_of_collection(cycles)

    assert 2 == summary.runs
    assert 3 == summary.interval.n
    assert 3.0 == summary.seconds


def test_a_missing_collection_is_no_interval():
    cycles = read_gctrace(log_of({}, {"number": 3}, {"number": 4})).cycles

    assert 1 == cost_of_collection(cycles).interval.n


def test_no_goal_is_unknown():
    assert None is summary_of({"goal": 17592186044415}).heap_goal_bytes


def test_the_values_carry_their_units():
    values = summary_of({}, {}).values

    assert 7 * MIB == values["allocation_rate_bytes_per_second"]
    assert 0.00003 == values["stw_p99_seconds"]
    assert 1.0 == values["interval_p50_seconds"]
    assert 2 == values["stw_n"]


def test_tables_of_several_logs_stack():
    tables = [summary_of({}, {}).table, summary_of().table]

    stacked = pd.concat(tables, keys=["busy", "idle"], names=["capture"])

    assert [2, 0] == stacked["cycles"].to_list()
    assert tables[0].dtypes.to_list() == tables[1].dtypes.to_list()


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 40), st.floats(0, 40), st.floats(0, 40)), min_size=2))
def test_the_true_allocation_rate_lies_within_the_bound(sizes):
    """
    Floor every size as the runtime does: what was really allocated stays between low and high.
    """
    changes, allocated, live_before = [], 0.0, 0.0
    for new, during, freed in sizes:
        start = live_before + new
        end = start + during
        live = max(end - freed, 0.0)
        changes.append({"start": int(start), "end": int(end), "live": int(live)})
        allocated += new + during
        live_before = live
    first_new, last_during = sizes[0][0], sizes[-1][1]
    true_rate = max(0.0, allocated - first_new - last_during) * MIB / (len(sizes) - 1)

    rate = summary_of(*changes).allocation_rate

    assert rate.low <= true_rate * (1 + 1e-9)
    assert true_rate <= rate.high * (1 + 1e-9)
    assert rate.low <= rate.value <= rate.high


def test_quantiles_are_the_smallest_that_so_many_do_not_exceed():
    """
    Of 1 to 200: half, nine in ten, 99 in 100.
    """
    sample = Tally()
    sample.add(np.arange(200.0, 0.0, -1.0))

    assert Quantiles(200, 100.0, 180.0, 198.0, 200.0) == Quantiles.of(sample)


def test_the_p99_of_a_log_is_its_second_longest_stop_of_two_hundred():
    """
    Stops of 1 to 200 ms before marking, and 20 µs after it.
    """
    summary = summary_of(*({"stop": f"{n}.0"} for n in range(1, 201)))

    assert (0.10002, 0.18002, 0.19802, 0.20002) == pytest.approx(
        (summary.stw.p50, summary.stw.p90, summary.stw.p99, summary.stw.max)
    )
    assert 0.2 == summary.longest_stop_seconds


def test_sizes_are_of_the_first_the_last_and_the_largest():
    """
    The largest heap is at a start or at the end of a mark.
    """
    lines = {"live": 3, "goal": 30}, {"start": 40, "end": 20, "live": 9}, {"live": 7, "goal": 14}

    summary = summary_of(*lines)

    assert (3, 7, 14, 40) == tuple(
        size // MIB
        for size in (
            summary.heap_live_first_bytes,
            summary.heap_live_last_bytes,
            summary.heap_goal_bytes,
            summary.heap_peak_bytes,
        )
    )
    assert 50 * MIB == summary_of({"end": 50}, {}).heap_peak_bytes


def test_marking_is_assists_and_background_of_what_the_ps_allow():
    """
    Of two steps of a second on 2 Ps, each marks 0.3 + 1.4 ms.
    """
    summary = summary_of({}, {}, {})

    assert 4.0 == summary.available_cpu_seconds
    assert 2 * 0.0017 / 4 == pytest.approx(summary.marking_cpu_fraction)
    assert 8.0 == summary_of({"p": 4}, {"p": 4}, {"p": 4}).available_cpu_seconds


def test_of_marking_what_a_line_tells_is_counted():
    """
    Where a line has lost what assists did, background marking is there: 1.4 of 2 × 1000 ms.
    """
    cycles = read_gctrace(log_of({}, {})).cycles.assign(cpu_assist_seconds=np.nan)

    assert 0.0014 / 2 == pytest.approx(cost_of_collection(cycles).marking_cpu_fraction)


def live(*sizes, freed=1, **change):
    return [{"live": size, "start": size, "end": size + freed, **change} for size in sizes]


@pytest.mark.parametrize(
    ("sizes", "steady"),
    [
        pytest.param([10, 10, 10], 2, id="it stays"),
        pytest.param([10, 20, 40, 80], 0, id="it doubles"),
        pytest.param([40, 10, 20, 40], 3, id="no higher than it was"),
        pytest.param([10, 100, 100, 100], 2, id="a step, and it stays"),
        pytest.param([0, 0, 0], 2, id="less than the log tells"),
    ],
)
def test_collections_that_no_growth_of_the_heap_explains(sizes, steady):
    summary = summary_of(*live(*sizes))

    assert steady == summary.steady_cycles
    assert steady * 0.0017 == pytest.approx(summary.steady_marking_cpu_seconds)


def test_a_restart_fills_its_heap_anew():
    """
    Each process has a first collection of its own, whatever the one before had.
    """
    cycles = read_gctrace(log_of(*live(80, 80)) + log_of(*live(10, 10, 10))).cycles

    assert 1 + 2 == cost_of_collection(cycles).steady_cycles


def test_a_gap_in_the_log_makes_the_bounds_of_the_rate_wider():
    """
    Four collections in two rows of two: each row's growth is known to 1 MiB, and what each of the
    two freed.
    """
    cycles = read_gctrace(log_of({}, {}, {"number": 5, "at": 5.0}, {"number": 6, "at": 6.0})).cycles

    rate = cost_of_collection(cycles).allocation_rate

    assert (5 * MIB, 7 * MIB, 9 * MIB) == (rate.low, rate.value, rate.high)


def test_before_any_step_nothing_was_allocated():
    """
    And to a byte: of two steps 7 MiB each were freed, known to 1 MiB, and the heap did not grow.
    """
    so_far = Allocated()

    assert (0, 0, 0) == (so_far.freed, so_far.least_freed, so_far.grown)
    so_far.add(gc_steps(read_gctrace(log_of({}, {}, {})).cycles))
    rate = so_far.rate
    assert (5.5 * MIB, 7 * MIB, 8.5 * MIB) == (rate.low, rate.value, rate.high)


def test_a_rate_below_nothing_is_nothing():
    """
    A heap that shrinks while nothing is allocated: rounding alone would make it negative.
    """
    assert 0 == summary_of(*live(10, 10, 10, end=10)).allocation_rate.low


@pytest.mark.parametrize(("number", "is_known"), [(2, True), (9, False)])
def test_a_log_that_is_mostly_gaps_has_no_share_of_the_cpu(number, is_known):
    cost = summary_of({}, {"number": number, "at_seconds": 60.0})

    assert is_known == (cost.gc_cpu_fraction is not None)
    assert is_known == (cost.marking_cpu_fraction is not None)


def test_each_run_has_a_share_of_its_own():
    """
    Runs of 2 s on two Ps: 2.0 and 41 ms of CPU in each second, which cpu_seconds takes.
    """
    assists = ["0.30"] * 3 + ["39.3"] * 3
    runs = [
        {"number": place % 3 + 1, "at": float(place % 3), "assist": assist}
        for place, assist in enumerate(assists)
    ]
    cycles = read_gctrace(log_of(*runs)).cycles
    first, second = cpu_fractions(cycles).values()

    assert pytest.approx([0.001, 0.0205]) == [first, second]
    assert pytest.approx((first + second) / 2) == cost_of_collection(cycles).gc_cpu_fraction
