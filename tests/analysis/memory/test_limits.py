"""Limits: the worst case, what kills, when, and the arithmetic of a GOMEMLIMIT."""

import math

import numpy as np
import pandas as pd
import pytest

from gomem.analysis.memory.cgroup import LAZY_FREE, cgroup_use
from gomem.analysis.memory.limits import (
    NEVER,
    address_space_use,
    advise_gomemlimit,
    time_to_limit,
    worst_case_rss,
)
from gomem.units import MIB
from tests.builders import FIXTURES, diagnosed, memstats_row


def parts(**sizes: int | tuple[int, int]) -> pd.DataFrame:
    """Parts in MiB; a pair is what is resident and what the runtime claims."""
    pairs = [size if isinstance(size, tuple) else (size, None) for size in sizes.values()]
    frame = pd.DataFrame(
        {
            "part": list(sizes),
            "bytes": [have * MIB for have, _ in pairs],
            "claimed_bytes": [None if said is None else said * MIB for _, said in pairs],
        }
    )
    return frame.astype({"claimed_bytes": "Int64"})


LEDGER = parts(
    heap_objects=100, heap_idle=10, stacks=4, heap_untouched=-60, runtime_metadata=(3, 5), binary=2
)  # RSS 59


def test_the_worst_case_is_all_that_is_mapped_and_the_rest_as_it_is():
    """
    59 resident + 60 never touched + 2 of the runtime's own; 20 given back can come on top.
    """
    found = worst_case_rss(LEDGER, 59 * MIB, memstats_row(HeapReleased=20 * MIB))

    assert 121 * MIB == found.worst_bytes
    assert 141 * MIB == found.retaken_bytes
    assert found.retaken_bytes == found.steps["bytes"].sum()


def test_what_was_given_back_and_is_still_resident_is_not_counted_twice():
    """
    20 MiB given back with MADV_FREE, all of them still in RSS.
    """
    ledger = parts(heap_objects=10, heap_released_resident=20, runtime_metadata=(1, 1))

    found = worst_case_rss(ledger, 31 * MIB, memstats_row(HeapReleased=20 * MIB))

    assert 31 * MIB == found.worst_bytes == found.retaken_bytes


def test_without_memstats_the_worst_case_is_unknown():
    assert worst_case_rss(LEDGER, 59 * MIB, None) is None


def test_the_worst_case_is_what_the_zeroing_release_made_true():
    """
    Two sources, one number: what 1.23.4 could have had resident, 1.24.2 has. Only the runtime's
    own 2 MiB that no release touches, and the tables of another run, lie between.
    """
    old = diagnosed(FIXTURES / "captures/zeroing-go1.23.4").moments[-1]
    new = diagnosed(FIXTURES / "captures/zeroing-go1.24.2").moments[-1]

    worst = worst_case_rss(old.ledger.parts, old.rss_bytes, old.memstats).worst_bytes

    assert old.rss_bytes < 0.1 * new.rss_bytes
    assert worst >= new.rss_bytes
    assert worst == pytest.approx(new.rss_bytes, rel=0.03)


def test_the_worst_case_of_sys_and_of_the_ledger_are_one():
    """
    Two sources, one number: Sys - HeapReleased, and what is not Go's.
    """
    moment = diagnosed(FIXTURES / "captures/zeroing-go1.27.3").moments[-1]
    row, ledger = moment.memstats, moment.ledger

    worst = worst_case_rss(ledger.parts, moment.rss_bytes, row).worst_bytes

    not_go = sum(ledger.part(part) for part in ("binary", "thread_stacks", "kernel"))
    by_sys = int(row["Sys"] - row["HeapReleased"]) + not_go
    assert worst == pytest.approx(by_sys, rel=0.001)


CGROUP = {
    "memory.current": 480 * MIB,
    "memory.max": 512 * MIB,
    "anon": 300 * MIB,
    "file": 150 * MIB,
    "shmem": 20 * MIB,
    "kernel": 25 * MIB,
    "slab_reclaimable": 5 * MIB,
    "sock": 2 * MIB,
    "inactive_file": 90 * MIB,
}


def test_page_cache_fills_a_cgroup_and_does_not_kill():
    """
    480 of 512 are charged; 130 of page cache and 5 of slab can go: 345 cannot.
    """
    use = cgroup_use(CGROUP)

    assert 32 * MIB == use.headroom_bytes
    assert 345 * MIB == use.unreclaimable_bytes
    assert 167 * MIB == use.unreclaimable_headroom_bytes
    assert 390 * MIB == use.working_set_bytes
    assert "anon" == use.killer
    assert use.current_bytes == use.counters["bytes"].sum()


def test_a_cgroup_without_a_limit_has_no_headroom():
    use = cgroup_use({**CGROUP, "memory.max": None})

    assert use.headroom_bytes is None


def test_the_first_versions_names_are_read_too():
    use = cgroup_use(
        {
            "memory.usage_in_bytes": 100 * MIB,
            "memory.limit_in_bytes": 9223372036854771712,
            "total_rss": 90 * MIB,
            "total_cache": 10 * MIB,
            "total_inactive_file": 4 * MIB,
        }
    )

    assert use.limit_bytes is None
    assert 96 * MIB == use.working_set_bytes
    assert 90 * MIB == use.unreclaimable_bytes


def test_the_lowest_limit_above_a_cgroup_of_the_first_version_holds():
    """
    Its own file has none; memory.stat has that of a cgroup above it.
    """
    charged = {"memory.usage_in_bytes": 100 * MIB, "memory.limit_in_bytes": None}
    use = cgroup_use(charged | {"hierarchical_memory_limit": 512 * MIB})

    assert (512 * MIB, True, 412 * MIB) == (
        use.limit_bytes, use.limit_is_known, use.headroom_bytes,
    )  # fmt: skip


def test_without_a_current_charge_nothing_is_known():
    assert cgroup_use({"memory.max": 512 * MIB}) is None


def grow(*sizes_mib: float):
    """The time to 200 MiB of a size taken every 10 s."""
    seconds = pd.Series(np.arange(len(sizes_mib)) * 10.0)
    return time_to_limit(seconds, pd.Series(sizes_mib) * MIB, 200 * MIB)


def test_a_ramp_reaches_its_limit():
    """
    100, 110, … 140 MiB, 1 MiB/s: 60 MiB are left, a minute. A straight line has no scatter.
    """
    found = grow(100, 110, 120, 130, 140)

    assert 60 == pytest.approx(found.seconds)
    assert (60, 60) == pytest.approx((found.soonest_seconds, found.latest_seconds))


def test_a_level_size_never_gets_there():
    found = grow(120, 121, 119, 121, 119)

    assert NEVER == found.latest_seconds


def test_a_falling_size_never_gets_there_at_any_slope():
    found = grow(150, 140, 130, 120, 110)

    assert (NEVER, NEVER) == (found.seconds, found.soonest_seconds)


def test_what_is_above_its_limit_is_there_now():
    assert 0 == grow(180, 190, 210).seconds


@pytest.mark.parametrize(
    ("sizes", "goes_on"),
    [
        pytest.param((100, 120, 140, 160, 180), True, id="a ramp"),
        pytest.param((100, 160, 180, 180, 180), False, id="it has filled"),
        pytest.param((100, 180, 180, 180), False, id="of four, too"),
        pytest.param((100, 140, 180), True, id="of three in a line"),
    ],
)
def test_memory_that_has_levelled_off_reaches_no_limit(sizes, goes_on):
    assert goes_on == grow(*sizes).goes_on


def test_two_moments_have_no_interval():
    assert grow(100, 110) is None


def test_the_interval_is_students():
    """
    Sizes 100, 104, 102 at 0, 10, 20 s: slope 0.1 MiB/s, its standard error sqrt(6/200) = 0.1732,
    t(1) = 12.706, so 0.1 ± 2.201.
    """
    found = grow(100, 104, 102)

    assert 0.1 == pytest.approx(found.slope_bytes_per_second / MIB)
    assert (-2.1007, 2.3007) == pytest.approx(
        (found.slope_low / MIB, found.slope_high / MIB), abs=1e-3
    )
    assert math.isinf(found.latest_seconds)


def test_gomemlimit_is_the_limit_less_what_is_not_gos_less_a_margin():
    """
    512 - 2 of program - 286 charged beside RSS (345 - 59) - 25.6 margin = 198.4, in whole MiB.
    """
    advice = advise_gomemlimit(512 * MIB, LEDGER, 59 * MIB, cgroup_use(CGROUP))

    assert 198 * MIB == advice.gomemlimit_bytes
    assert 198 * MIB == advice.steps["bytes"].sum()
    assert advice.enough


def test_a_limit_below_what_go_holds_is_said_to_be_too_small():
    """
    64 - 2 - 3.2 = 58 MiB, and Go holds 100 + 4 + 3.
    """
    advice = advise_gomemlimit(64 * MIB, LEDGER, 59 * MIB)

    assert not advice.enough
    assert "raise the container's limit" in advice.note


def test_where_nothing_divides_the_heap_all_of_it_may_be_needed():
    """
    Without MemStats 100 MiB are resident, in use or not; with them 10 MiB are in use.
    """
    undivided = parts(heap_unexplained=100, runtime_metadata=3, binary=2)
    divided = parts(heap_objects=10, heap_idle=90, runtime_metadata=3, binary=2)

    unknown, known = (advise_gomemlimit(512 * MIB, one, 105 * MIB) for one in (undivided, divided))

    assert (103 * MIB, 13 * MIB) == (unknown.needed_bytes, known.needed_bytes)
    assert "Go has 103 MiB in RSS now; only MemStats would show how much" in unknown.note
    assert "Go uses 13 MiB now" in known.note


def test_no_gomemlimit_fits_a_limit_that_others_fill():
    advice = advise_gomemlimit(2 * MIB, parts(heap_objects=1, native_heap=50), 51 * MIB)

    assert advice.gomemlimit_bytes is None


# ---- each number alone


def test_a_limit_of_an_exbibyte_is_none():
    """
    Version 1 writes its largest number for no limit.
    """

    def limits(number):
        use = cgroup_use({"memory.current": 1, "memory.max": number, "memory.high": number})
        return use.limit_bytes, use.high_bytes

    assert [(None, None), (2**60 - 1, 2**60 - 1)] == [limits(2**60), limits(2**60 - 1)]
    assert (None, None) == limits(None)


def test_without_a_limit_nothing_is_left_and_nothing_a_share():
    use = cgroup_use({**CGROUP, "memory.max": None})

    assert (None, None) == (use.headroom_bytes, use.unreclaimable_headroom_bytes)
    assert use.counters["of_limit_fraction"].isna().all()


def test_the_counters_of_a_group():
    """
    In MiB: file without shmem, kernel without slab, what is given back apart, and the rest.
    """
    use = cgroup_use({**CGROUP, "memory.peak": 500 * MIB, "oom_kill": 0}, 50 * MIB)
    counters = use.counters.set_index("counter")

    assert {
        "anon": 250, "file": 130, "shmem": 20, "kernel": 20, "slab_reclaimable": 5, "sock": 2,
        LAZY_FREE: 50, "rest": 3,
    } == (counters["bytes"] // MIB).to_dict()  # fmt: skip
    assert {"file", "slab_reclaimable", LAZY_FREE} == set(counters.index[counters["reclaimable"]])
    assert 250 / 512 == counters.loc["anon", "of_limit_fraction"]
    assert (500 * MIB, 0, 295 * MIB) == (use.peak_bytes, use.oom_kills, use.unreclaimable_bytes)


def test_counters_that_run_ahead_of_what_they_are_part_of_leave_nothing_of_it():
    """
    They are kept per CPU, and lag.
    """
    ahead = {**CGROUP, "shmem": CGROUP["file"] + 1, "slab_reclaimable": CGROUP["kernel"] + 1}
    counters = cgroup_use(ahead).counters.set_index("counter")["bytes"]

    assert (0, 0) == (counters["file"], counters["kernel"])
    assert 480 * MIB == counters.sum()


def test_no_more_is_given_back_than_is_anonymous():
    counters = cgroup_use(CGROUP, 400 * MIB).counters.set_index("counter")["bytes"]

    assert (0, 300 * MIB) == (counters["anon"], counters[LAZY_FREE])
    assert 480 * MIB == counters.sum()
    assert LAZY_FREE not in set(cgroup_use(CGROUP).counters["counter"])


def test_what_a_group_does_not_say_is_unknown():
    use = cgroup_use({"memory.current": 5})

    assert (None, None, None, None) == (
        use.limit_bytes, use.high_bytes, use.peak_bytes, use.oom_kills,
    )  # fmt: skip
    assert (None, 5, "rest") == (use.working_set_bytes, use.unreclaimable_bytes, use.killer)
    assert (False, False) == (use.limit_is_known, use.is_counted)
    assert use.counters["reclaimable"].isna().tolist() == [True]


def test_a_memory_stat_that_is_cut_bounds_what_cannot_be_reclaimed():
    """
    Page cache is known, anonymous memory and inactive_file are not.
    """
    values = {"memory.usage_in_bytes": 8 * MIB, "total_cache": 3 * MIB}
    use = cgroup_use(values)

    assert (None, 8 * MIB, False) == (
        use.working_set_bytes, use.unreclaimable_bytes, use.is_counted,
    )  # fmt: skip
    counters = use.counters.set_index("counter")
    assert {"file": 3 * MIB, "rest": 5 * MIB} == counters["bytes"].to_dict()
    assert counters["reclaimable"].isna().all()
    # what is tmpfs of the cache is known
    known = cgroup_use({**values, "total_shmem": MIB})
    assert (6 * MIB, "rest") == (known.unreclaimable_bytes, known.killer)
    assert cgroup_use({**values, "total_rss": 4 * MIB}).is_counted
    assert cgroup_use({"memory.current": 8 * MIB, "memory.max": None}).limit_is_known


def test_a_working_set_is_not_below_nothing():
    assert 0 == cgroup_use({"memory.current": 5, "inactive_file": 6}).working_set_bytes


def test_the_worst_case_of_what_is_not_known():
    """
    Without a claim, the runtime's structures are what is resident of them; more than the claim is
    no debt; and without HeapReleased nothing is told.
    """
    row = memstats_row(HeapReleased=20 * MIB)
    unclaimed = parts(heap_objects=10, heap_untouched=-4, runtime_metadata=3)
    beyond = parts(heap_objects=10, heap_untouched=-4, runtime_metadata=(5, 3))

    assert 13 * MIB == worst_case_rss(unclaimed, 9 * MIB, row).worst_bytes
    assert 15 * MIB == worst_case_rss(beyond, 11 * MIB, row).worst_bytes
    row["HeapReleased"] = pd.NA
    assert worst_case_rss(unclaimed, 9 * MIB, row) is None
    assert worst_case_rss(unclaimed, None, memstats_row()) is None


def test_what_was_given_back_and_is_still_resident_by_either_count():
    """
    20 given back: 6 are LazyFree, 4 are resident though nothing counts them.
    """
    ledger = parts(heap_objects=10, heap_released_resident=6, heap_unexplained=4)

    found = worst_case_rss(ledger, 20 * MIB, memstats_row(HeapReleased=20 * MIB))

    assert (20 * MIB, 30 * MIB) == (found.worst_bytes, found.retaken_bytes)
    assert [20, 0, 0, 10] == list(found.steps["bytes"] // MIB)


@pytest.mark.parametrize(
    ("limit", "mapped", "found"),
    [(None, 7, None), (100, 7, (100, 7)), (100, None, (100, None))],
)
def test_address_space_is_all_that_is_mapped(limit, mapped, found):
    mappings = None if mapped is None else pd.DataFrame({"Size": [mapped - 2, 2]})

    use = address_space_use({"Max address space": limit}, mappings)

    assert found == (None if use is None else (use.limit_bytes, use.mapped_bytes))
    assert address_space_use({}, mappings) is None


def test_a_line_runs_through_what_is_known_in_the_order_of_time():
    """
    One size and one time are missing, and the latest moment stands first.
    """
    seconds = pd.Series([40, 0, 10, None, 20, 30])
    sizes = pd.Series([140, 100, 110, 900, None, 130]) * MIB

    found = time_to_limit(seconds, sizes, 200 * MIB)

    assert (4, 60.0) == (found.points, pytest.approx(found.seconds))


def test_three_moments_of_two_times_are_no_line():
    assert time_to_limit(pd.Series([0, 0, 10]), pd.Series([1, 1, 2]), 9) is None
    assert time_to_limit(pd.Series([0, 5, 10]), pd.Series([1, 1, 2]), 9) is not None


def test_at_its_limit_is_there_now():
    assert 0 == grow(180, 190, 200).seconds
    assert 0 < grow(180, 190, 199.9).seconds


def test_what_is_beside_the_process_is_taken_off_and_never_added():
    """
    512 - 2 - 25.6, and in whole MiB: 484.
    """
    own = cgroup_use({"memory.current": 30 * MIB, "anon": 30 * MIB})

    assert 484 * MIB == advise_gomemlimit(512 * MIB, LEDGER, 59 * MIB, own).gomemlimit_bytes
    assert 484 * MIB == advise_gomemlimit(512 * MIB, LEDGER, 59 * MIB).gomemlimit_bytes


@pytest.mark.parametrize(("objects", "enough"), [(93, True), (94, False)])
def test_a_limit_is_enough_above_what_go_holds(objects, enough):
    """
    100 - 1 - 5 = 94 MiB; needed are the objects alone.
    """
    advice = advise_gomemlimit(100 * MIB, parts(heap_objects=objects, binary=1),
                               (objects + 1) * MIB)  # fmt: skip

    assert (94 * MIB, objects * MIB, enough) == (
        advice.gomemlimit_bytes, advice.needed_bytes, advice.enough,
    )  # fmt: skip
