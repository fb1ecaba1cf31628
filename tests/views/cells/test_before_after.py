"""What is drawn and said of two captures."""

import pytest

import gomem
from gomem.views.cells.before_after import (
    benchmarks_table,
    gc_table,
    plot_benchmarks,
    plot_sites,
    read_benchmarks,
    sites_table,
)
from gomem.views.writers.cells import NOTHING
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
    return [label.get_text() for label in drawing.figure.axes[0].get_yticklabels()]


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
    assert 6 * 3 + 1 == benchmarks_table(pooled).html.count("<tr>") - 1


def test_the_largest_change_is_named(pooled):
    assert "9 better" in read_benchmarks(pooled).text
    assert "(-100.0 %)" in read_benchmarks(pooled).text


def test_the_site_that_changed_most_is_first(pooled):
    assert "main.render" == labels(plot_sites(pooled))[0]
    assert "main.render" in sites_table(pooled).text.splitlines()[2]


def test_captures_without_benchmarks_say_so_once(without_benchmarks):
    """
    The figure's place holds the sentence, the table's nothing.
    """
    assert "Neither capture holds a benchmark" in plot_benchmarks(without_benchmarks).text
    assert NOTHING == benchmarks_table(without_benchmarks)


def test_a_missing_log_is_a_sentence():
    assert "Neither capture holds a gctrace log" in gc_table(None, None).text
