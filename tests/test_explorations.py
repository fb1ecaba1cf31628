"""Eight things that people ask of captures in a notebook of their own, each in six lines at most.

Public names alone, as in `00_start_here`; what the lines give is held against what was recorded.
"""

import ast
import inspect

import matplotlib as mpl
import pandas as pd
import pytest

import gomem
from tests import builders
from tests.builders import FIXTURES

mpl.use("agg")  # no window is wanted

CAPTURES = FIXTURES / "captures"
LINES = 6


pytestmark = pytest.mark.usefixtures("closed_figures")


def diagnosed(name):
    return builders.diagnosed(CAPTURES / name)


def levels_over_moments(path):
    diagnosis = gomem.diagnose(path)
    gomem.plot.levels(diagnosis, ["rss_bytes", "HeapInuse"])
    return diagnosis.levels[["moment", "rss_bytes", "HeapInuse"]]


def top_sites_over_a_series(path):
    top = gomem.load(path).top("inuse_space", n=5)
    return top.pivot_table(index="moment", columns="function", values="flat", sort=False)


def what_changed_by_package(path):
    first, *_, last = gomem.load(path).heap_profiles.values()
    return last.diff(first).top("inuse_space", granularity="packages")


def pauses_and_mmu(path):
    log = gomem.read_gctrace(path)
    gomem.plot.mmu(log)
    return gomem.plot.pauses(log)


def smaps_by_kind_between_two_moments(path):
    smaps = gomem.diagnose(path).smaps
    kinds = smaps.pivot_table(index="kind", columns="moment", values="Rss", aggfunc="sum")
    return kinds["2-loaded"] - kinds["1-start"]


def released_against_rss(path):
    levels = gomem.diagnose(path).levels
    gomem.plot.levels(levels, ["rss_bytes", "HeapReleased"])
    return levels[["rss_bytes", "HeapReleased"]].diff()


def many_profiles_to_a_tidy_frame(pattern):
    return gomem.load(pattern).top("alloc_space", n=None)


def two_benchmark_files(before, after):
    metrics = gomem.compare(before, after).metrics
    return metrics[["name", "unit", "before_median", "after_median", "change", "verdict"]]


EXPLORATIONS = (
    levels_over_moments, top_sites_over_a_series, what_changed_by_package, pauses_and_mmu,
    smaps_by_kind_between_two_moments, released_against_rss, many_profiles_to_a_tidy_frame,
    two_benchmark_files,
)  # fmt: skip


@pytest.mark.parametrize("exploration", EXPLORATIONS, ids=lambda one: one.__name__)
def test_an_exploration_is_six_lines_of_public_names(exploration):
    source = inspect.getsource(exploration)
    used = {
        node.attr
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        and node.value.id == "gomem"
    }  # fmt: skip

    assert len(source.splitlines()) - 1 <= LINES
    assert used <= set(dir(gomem))
    assert not [name for name in used if name.startswith("_")]


def test_levels_are_the_recorded_ones():
    levels = levels_over_moments(CAPTURES / "healthy-go1.27.3")

    assert list(diagnosed("healthy-go1.27.3").ledgers) == list(levels["moment"])
    assert levels["rss_bytes"].gt(levels["HeapInuse"]).all()


def test_the_series_names_who_had_most_at_the_spike():
    wide = top_sites_over_a_series(CAPTURES / "spiky-go1.27.3")

    assert "io.ReadAll" == wide.max().idxmax()
    assert 25 == len(wide)


def test_the_difference_is_by_package():
    changed = what_changed_by_package(CAPTURES / "zeroing-go1.24.2")

    assert "main" == changed["package"].iloc[0]
    assert 160 << 20 <= changed["flat"].iloc[0]


def test_pauses_and_mmu_are_drawn_of_a_log_alone():
    stops, intervals = pauses_and_mmu(CAPTURES / "healthy-go1.27.3/gctrace.log")

    assert stops.patches
    assert intervals.patches


def test_the_kind_that_changed_is_the_heaps():
    changed = smaps_by_kind_between_two_moments(CAPTURES / "zeroing-go1.24.2")

    assert "go-heap" == changed.idxmax()
    assert 160 << 20 <= changed.max()


def test_what_was_given_back_left_rss():
    steps = released_against_rss(CAPTURES / "cache-shrink-go1.27.3")

    assert steps["HeapReleased"].iloc[-1] >= 145 << 20
    assert steps["rss_bytes"].iloc[-1] <= -(145 << 20)


def test_a_hundred_profiles_are_one_frame(tmp_path):
    content = (CAPTURES / "zeroing-go1.24.2/2-loaded/heap.pb.gz").read_bytes()
    for number in range(100):
        (tmp_path / f"heap-{number}.pb.gz").write_bytes(content)

    tidy = many_profiles_to_a_tidy_frame(tmp_path / "heap-*.pb.gz")

    assert 100 == tidy["moment"].nunique()
    assert 1 == tidy.groupby("function")["flat"].nunique().max()
    assert "B" == gomem.columns(tidy).set_index("column").loc["flat_high", "unit"]


def test_two_benchmark_files_have_a_verdict_a_row():
    sides = (CAPTURES / f"alloc-pressure-{side}-go1.27.3/bench.txt" for side in ("before", "after"))

    rows = two_benchmark_files(*sides).set_index(["name", "unit"])

    assert "better" == rows.loc[("Handle-2", "sec/op"), "verdict"]
    assert isinstance(rows, pd.DataFrame)
