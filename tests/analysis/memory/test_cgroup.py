"""How full a cgroup is, of what, and what of it the kernel cannot take back."""

import pandas as pd
import pytest

from gomem.analysis.memory.cgroup import (
    cgroup_use,
    first_known,
    kernel_bytes,
    page_cache,
)

V2 = {
    "memory.max": 1000,
    "memory.high": 900,
    "memory.current": 700,
    "memory.peak": 800,
    "anon": 300,
    "file": 250,
    "shmem": 40,
    "inactive_file": 120,
    "kernel": 90,
    "slab_reclaimable": 30,
    "sock": 10,
    "oom_kill": 2,
}


def counters(use) -> dict[str, tuple[int, bool | None]]:
    """Bytes by counter, and whether the kernel can reclaim them."""
    rows = use.counters.itertuples()
    return {
        row.counter: (row.bytes, None if pd.isna(row.reclaimable) else bool(row.reclaimable))
        for row in rows
    }


def test_every_byte_of_the_charge_is_in_one_counter():
    """
    Shared memory is part of `file`, and slabs of `kernel`: 250 - 40, and 90 - 30; 700 less all
    counters are 50.
    """
    use = cgroup_use(V2)

    assert {
        "anon": (300, False),
        "file": (210, True),
        "shmem": (40, False),
        "kernel": (60, False),
        "slab_reclaimable": (30, True),
        "sock": (10, False),
        "rest": (50, False),
    } == counters(use)
    assert [0.3, 0.21, 0.04, 0.06, 0.03, 0.01, 0.05] == use.counters["of_limit_fraction"].tolist()
    assert (460, "anon", True) == (use.unreclaimable_bytes, use.killer, use.is_counted)


def test_a_cgroups_own_numbers_are_told():
    use = cgroup_use(V2)

    assert (1000, True, 900, 700, 800, 2) == (
        use.limit_bytes, use.limit_is_known, use.high_bytes,
        use.current_bytes, use.peak_bytes, use.oom_kills,
    )  # fmt: skip
    assert (580, 300, 540) == (
        use.working_set_bytes, use.headroom_bytes, use.unreclaimable_headroom_bytes,
    )  # fmt: skip


def test_without_the_charge_nothing_is_told():
    assert cgroup_use({}) is None
    assert cgroup_use({"memory.max": 1000, "anon": 5, "memory.current": None}) is None


def test_a_charge_of_zero_is_known():
    assert 0 == cgroup_use({"memory.current": 0}).current_bytes


@pytest.mark.parametrize(
    ("limit", "expected", "is_known"),
    [
        pytest.param({"memory.max": 1000}, 1000, True, id="v2"),
        pytest.param({"memory.max": None}, None, True, id="v2, max"),
        pytest.param({"memory.limit_in_bytes": 1000}, 1000, True, id="v1"),
        pytest.param({"memory.limit_in_bytes": 1 << 60}, None, True, id="v1, no limit"),
        pytest.param({"memory.limit_in_bytes": (1 << 60) - 1}, (1 << 60) - 1, True, id="v1, most"),
        pytest.param({}, None, False, id="no file"),
    ],
)
def test_a_limit_is_a_number_or_none_or_unknown(limit, expected, is_known):
    use = cgroup_use({"memory.current": 700, "anon": 700, **limit})

    assert (expected, is_known) == (use.limit_bytes, use.limit_is_known)
    assert (expected is None) == (use.headroom_bytes is None)
    assert (expected is None) == (use.unreclaimable_headroom_bytes is None)
    assert (expected is None) == bool(use.counters["of_limit_fraction"].isna().all())


def test_the_names_of_v1_are_read_where_those_of_v2_are_missing():
    """
    Whole trees (`total_*`) before the cgroup's own. How much of the kernel's memory is slab that
    can be reclaimed, v1 does not say.
    """
    use = cgroup_use(
        {
            "memory.usage_in_bytes": 700,
            "memory.soft_limit_in_bytes": 900,
            "memory.max_usage_in_bytes": 800,
            "total_rss": 300,
            "rss": 1,
            "total_cache": 250,
            "cache": 1,
            "total_shmem": 40,
            "total_inactive_file": 120,
            "memory.kmem.usage_in_bytes": 90,
        }
    )

    assert {
        "anon": (300, False),
        "file": (210, True),
        "shmem": (40, False),
        "kernel": (90, None),
        "rest": (60, None),
    } == counters(use)
    assert (490, 150, "anon", True) == (
        use.unreclaimable_bytes, use.unknown_bytes, use.killer, use.is_counted,
    )  # fmt: skip
    assert (700, 900, 800, 580, None) == (
        use.current_bytes, use.high_bytes, use.peak_bytes, use.working_set_bytes, use.oom_kills,
    )  # fmt: skip


def test_a_cut_memory_stat_of_v1_has_the_cgroups_own_numbers():
    use = cgroup_use({"memory.usage_in_bytes": 700, "rss": 300, "cache": 250})

    assert (300, 250) == (counters(use)["anon"][0], counters(use)["file"][0])


def test_inactive_pages_beyond_the_charge_leave_no_working_set():
    assert 0 == cgroup_use(V2 | {"inactive_file": 701}).working_set_bytes
    assert cgroup_use(V2 | {"inactive_file": None}).working_set_bytes is None


def test_released_memory_is_anonymous_and_can_be_taken_back():
    use = cgroup_use(V2, lazy_free_bytes=100)

    assert ((200, False), (100, True), (50, False)) == tuple(
        counters(use)[name] for name in ("anon", "anon, given back", "rest")
    )
    assert 360 == use.unreclaimable_bytes
    assert 700 == use.counters["bytes"].sum()


def test_no_more_is_released_than_is_anonymous():
    use = cgroup_use(V2, lazy_free_bytes=301)

    assert ((0, False), (300, True)) == (
        counters(use)["anon"], counters(use)["anon, given back"],
    )  # fmt: skip
    assert (160, "kernel") == (use.unreclaimable_bytes, use.killer)


def test_counters_ahead_of_the_charge_have_a_rest_below_zero():
    use = cgroup_use(V2 | {"memory.current": 640})

    assert (-10, False) == counters(use)["rest"]
    assert 640 == use.counters["bytes"].sum()


def test_parts_ahead_of_their_whole_leave_none_of_it():
    use = cgroup_use(V2 | {"shmem": 260, "slab_reclaimable": 95})

    assert (0, 0) == (counters(use)["file"][0], counters(use)["kernel"][0])


@pytest.mark.parametrize(
    ("stat", "is_counted"),
    [
        pytest.param({"anon": 300, "file": 250}, True, id="both"),
        pytest.param({"anon": 0, "file": 0}, True, id="both, of zero"),
        pytest.param({"anon": 300}, False, id="anonymous memory"),
        pytest.param({"anon": 699}, False, id="nearly the whole charge"),
        pytest.param({"anon": 700}, True, id="the whole charge"),
        pytest.param({"file": 250}, False, id="page cache"),
        pytest.param({}, False, id="neither"),
    ],
)
def test_a_charge_is_counted_by_anonymous_memory_and_cache_or_by_all_of_it(stat, is_counted):
    use = cgroup_use({"memory.current": 700, **stat})

    assert is_counted is use.is_counted
    assert (False if is_counted else None) is counters(use)["rest"][1]


def test_of_what_is_not_counted_all_that_may_be_is_unreclaimable():
    """
    Page cache may be tmpfs unless shared memory stands apart.
    """
    cache = {"memory.current": 700, "file": 250}

    assert (250, None) == counters(cgroup_use(cache))["file"]
    assert 700 == cgroup_use(cache).unreclaimable_bytes
    apart = cgroup_use(cache | {"shmem": 40})
    assert ((210, True), (40, False)) == (counters(apart)["file"], counters(apart)["shmem"])
    assert 490 == apart.unreclaimable_bytes


def test_older_kernels_do_not_tell_shared_memory_from_cache():
    use = cgroup_use({"memory.current": 700, "anon": 300, "file": 250})

    assert (250, True) == counters(use)["file"]
    assert 450 == use.unreclaimable_bytes


def test_page_cache_is_without_shared_memory():
    cache = page_cache(V2)

    assert (210, 700, True, False) == (
        cache.bytes, cache.of_bytes, cache.is_exact, cache.may_have_shmem,
    )  # fmt: skip


def test_page_cache_of_a_cgroup_without_its_charge_is_of_the_sum():
    """
    300 of anonymous memory, 250 of files and 90 of the kernel's.
    """
    cache = page_cache(V2 | {"memory.current": None})

    assert (210, 640, False) == (cache.bytes, cache.of_bytes, cache.is_exact)


def test_page_cache_without_shared_memory_apart_may_have_it():
    cache = page_cache({"memory.current": 700, "file": 250})

    assert (250, True) == (cache.bytes, cache.may_have_shmem)
    assert 350 == page_cache({"file": 250, "kernel": 100}).of_bytes


def test_page_cache_is_no_more_than_the_charge_and_no_less_than_nothing():
    assert 200 == page_cache(V2 | {"memory.current": 200}).bytes
    assert 0 == page_cache(V2 | {"shmem": 251}).bytes
    assert page_cache({"memory.current": 700}) is None


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        pytest.param({"kernel": 90, "slab": 30, "pagetables": 7}, 90, id="counted"),
        pytest.param({"kernel": 0, "slab": 30}, 0, id="counted, none"),
        pytest.param({"slab": 30, "kernel_stack": 5, "pagetables": 7}, 42, id="parts"),
        pytest.param(
            {"slab": 30, "slab_reclaimable": 20, "slab_unreclaimable": 10}, 30, id="slab once"
        ),
        pytest.param({"slab_reclaimable": 20, "slab_unreclaimable": 11}, 31, id="both slabs"),
        pytest.param({"slab": 0, "slab_reclaimable": 20}, 0, id="no slab"),
        pytest.param({}, 0, id="nothing"),
    ],
)
def test_the_kernels_memory_is_its_counter_or_the_sum_of_its_parts(values, expected):
    assert expected == kernel_bytes(values)


def test_the_first_name_that_has_a_number_is_taken():
    values = {"a": None, "b": 0, "c": 3}

    assert 0 == first_known(values, "a", "b", "c")
    assert 3 == first_known(values, "c", "b")
    assert first_known(values, "a", "d") is None


def test_dirty_page_cache_is_counted_because_it_must_be_written_first():
    of_v1 = {"memory.usage_in_bytes": 700, "total_cache": 600, "total_shmem": 0, "total_dirty": 400}

    assert 400 == page_cache(of_v1).dirty_bytes
    assert 0 == page_cache(V2).dirty_bytes


def test_the_charge_has_the_name_of_its_file_and_is_full_within_a_hundredth_of_the_limit():
    of_v1 = {"memory.usage_in_bytes": 991, "memory.limit_in_bytes": 1000}

    use = cgroup_use(of_v1)

    assert ("memory.usage_in_bytes", True) == (use.current_name, use.is_full)
    assert not cgroup_use(of_v1 | {"memory.usage_in_bytes": 980}).is_full


def test_of_a_cgroup_without_kernel_memory_nothing_is_unknown():
    assert 0 == cgroup_use(V2).unknown_bytes
