"""What the collector costs: hand-computed cases, and bounds that hold."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gomem.analysis.collector.gc_cost import Quantiles, cost_of_collection
from gomem.analysis.tally import Tally
from gomem.inputs.gctrace.read import read_gctrace
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
