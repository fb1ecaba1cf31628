"""What is drawn and said of two captures."""

import pytest

import gomem
from gomem.views.cells.before_after import (
    benchmark_sentences,
    benchmarks_table,
    gc_table,
    plot_benchmarks,
    plot_sites,
    sites_table,
)
from gomem.views.document import Table
from gomem.views.writers.notebook_cells import NOTHING
from tests.builders import FIXTURES

CAPTURES = FIXTURES / "captures"


@pytest.fixture(scope="module")
def pooled():
    sides = ("alloc-pressure-before-go1.27.3", "alloc-pressure-after-go1.27.3")
    return gomem.compare(*(CAPTURES / side for side in sides))


@pytest.fixture(scope="module")
def without_benchmarks():
    steady = CAPTURES / "healthy-go1.27.3" / "2-steady" / "memstats.json"
    return gomem.compare(steady, steady)


def labels(drawing) -> list[str]:
    return [tick.label for tick in drawing.chart.panels[0].y.ticks]


def test_a_row_is_drawn_for_each_benchmark_with_a_median_before(pooled):
    """
    What was 0 before has no multiple: `Lookup` allocates nothing, so only its time is drawn.
    """
    assert ["Lookup-2  sec/op"] == [
        name for name in labels(plot_benchmarks(pooled)) if "Lookup" in name
    ]


def test_every_benchmark_is_in_the_table(pooled):
    """
    Six benchmarks with time, bytes and allocations, and one with a rate.
    """
    rows = [
        len(block.rows) for block in benchmarks_table(pooled).blocks if isinstance(block, Table)
    ]

    assert [6, 6, 6, 1] == rows


def test_the_largest_change_is_named(pooled):
    assert "9 better" in benchmark_sentences(pooled).text
    assert "(-100.0 %)" in benchmark_sentences(pooled).text


def test_the_site_that_changed_most_is_first(pooled):
    assert "main.render" == labels(plot_sites(pooled))[0]
    assert "main.render" in sites_table(pooled).text.splitlines()[2]


def test_the_collector_has_both_sides_and_their_difference(pooled):
    """
    491 collections before, 13 after.
    """
    assert "collections  491  13  \u2212478  \u221297.4 %" in gc_table(pooled).text


def test_captures_without_benchmarks_say_so_once(without_benchmarks):
    """
    The figure's place holds the sentence, the table's nothing.
    """
    assert "Neither capture has a benchmark" in plot_benchmarks(without_benchmarks).text
    assert NOTHING == benchmarks_table(without_benchmarks)


def test_a_missing_log_is_a_sentence(without_benchmarks):
    assert "Neither capture has a gctrace log" in gc_table(without_benchmarks).text
