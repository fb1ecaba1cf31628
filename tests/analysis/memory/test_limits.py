"""Limits: the worst case, what kills, when, and the arithmetic of a GOMEMLIMIT."""

import math

import numpy as np
import pandas as pd
import pytest

from gomem.analysis.memory.limits import (
    NEVER,
    advise_gomemlimit,
    cgroup_use,
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


def test_no_gomemlimit_fits_a_limit_that_others_fill():
    advice = advise_gomemlimit(2 * MIB, parts(heap_objects=1, native_heap=50), 51 * MIB)

    assert advice.gomemlimit_bytes is None
