"""A level has one meaning, whatever files a capture has."""

import shutil

import pytest

import gomem
from gomem.diagnosis.levels import level_rows
from tests.builders import FIXTURES

HEALTHY = FIXTURES / "captures" / "healthy-go1.27.3"
OF_MEMSTATS = ("memstats", "metrics")


def levels_of(path):
    return {row[0]: row for row in level_rows(gomem.diagnose(gomem.load(path)))}


@pytest.fixture(scope="module")
def whole():
    return levels_of(HEALTHY)


def without(tmp_path, *beginnings):
    target = tmp_path / "healthy"
    shutil.copytree(HEALTHY, target)
    for path in target.rglob("*"):
        if path.is_file() and path.name.startswith(beginnings):
            path.unlink()
    return levels_of(target)


def test_a_level_is_over_all_snapshots(whole):
    stats = gomem.load(HEALTHY).memstats
    name, unit, n, first, last, *_ = whole["heap_slack"]

    assert ("heap_slack", "B", 3) == (name, unit, n)
    slack = (stats["HeapInuse"] - stats["HeapAlloc"]).astype(float)
    assert (slack.iloc[0], slack.iloc[-1]) == (first, last)


def test_rates_are_of_the_counters_with_the_collections_behind_them(whole):
    """
    50 collections in 13.8 s between the first snapshot's last and the last one's.
    """
    assert 50 == whole["gc_cpu_fraction"][2]
    assert pytest.approx(0.00069, rel=0.01) == whole["gc_cpu_fraction"][4]
    assert pytest.approx(50 / 13.800155067) == whole["collections_per_second"][4]


def test_without_smaps_what_is_left_over_is_no_c_memory(whole, tmp_path):
    cut = without(tmp_path, "smaps")

    assert not {"native", "mapped_files", "runtime_metadata", "heap_unexplained"} & set(cut)
    for name in ("heap_objects", "heap_slack", "heap_idle", "stacks", "rss_bytes", "goroutines"):
        assert whole[name] == cut[name]


def test_without_memstats_the_heap_is_not_unexplained(whole, tmp_path):
    cut = without(tmp_path, *OF_MEMSTATS)

    assert not {"heap_unexplained", "heap_released_resident", "heap_idle"} & set(cut)
    for name in ("native", "thread_stacks", "rss_bytes", "goroutines"):
        assert whole[name] == cut[name]
