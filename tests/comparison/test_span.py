"""What a process did between two moments, by its own counters, and whether a log tells it."""

import pandas as pd
import pytest

from gomem.comparison.comparison import compare
from gomem.comparison.side import Span
from gomem.comparison.single_values import levels_of
from gomem.facts.moment import MomentFacts
from tests.builders import memstats_json, memstats_row
from tests.comparison.runs import log

MIB = 1 << 20
CPU = "/cpu/classes/gc/total:cpu-seconds", "/cpu/classes/total:cpu-seconds"
GC_LINE = (
    "gc {n} @{n}.000s 1%: 0.010+0.50+0.010 ms clock, 0.020+0.10/0.20/0+0.020 ms cpu, "
    "4->5->2 MB, 5 MB goal, 2 P\n"
)


def moment(name, cycles, seconds=None, mib=0, cpu=None, last_gc=None):
    time = None if seconds is None else pd.Timestamp(seconds, unit="s", tz="UTC")
    last = 0 if last_gc is None else int(last_gc * 1e9)
    stats = memstats_row(NumGC=cycles, TotalAlloc=mib * MIB, LastGC=last)
    metrics = {} if cpu is None else dict(zip(CPU, cpu, strict=True))
    return MomentFacts(name, memstats=stats, metrics=metrics, time=time)


def test_rates_are_of_what_lies_between():
    """
    From 100 to 400 MiB in ten seconds; 2 of the 20 s of CPU in them.
    """
    first = moment("a", 5, seconds=100, mib=100, cpu=(3, 40))
    last = moment("b", 25, seconds=110, mib=400, cpu=(5, 60))

    assert {
        "gc_cpu_fraction": pytest.approx(0.1),
        "allocation_rate_bytes_per_second": pytest.approx(30 * MIB),
        "collections_per_second": pytest.approx(2.0),
    } == Span(first, last).rates


def test_without_a_collection_between_them_the_counters_tell_the_rates_all_the_same():
    """
    528 MiB a second of a start-up stood where the two moments count 4 MiB in four seconds.
    """
    first = moment("a", 9, seconds=1, mib=1, cpu=(1, 10))
    last = moment("b", 9, seconds=5, mib=5, cpu=(1, 14))

    assert {
        "gc_cpu_fraction": 0.0,
        "allocation_rate_bytes_per_second": pytest.approx(MIB),
        "collections_per_second": 0.0,
    } == Span(first, last).rates


@pytest.mark.parametrize(("cycles", "known"), [(9, False), (10, True)])
def test_without_a_clock_of_the_moments_the_collections_is_taken_if_there_are_enough(cycles, known):
    first, last = moment("a", 5, mib=10, last_gc=100), moment("b", 5 + cycles, mib=30, last_gc=104)

    rate = Span(first, last).rates.get("allocation_rate_bytes_per_second")

    assert (pytest.approx(5 * MIB) if known else None) == rate


@pytest.mark.parametrize(
    ("first", "last"),
    [
        pytest.param(None, moment("b", 9, seconds=9), id="one-moment"),
        pytest.param(moment("a", 9, seconds=1), moment("b", 3, seconds=9), id="restarted"),
    ],
)
def test_there_are_no_rates_without_two_readings_of_one_process(first, last):
    assert {} == Span(first, last).rates


def test_one_moment_alone_has_no_rates():
    one = moment("a", 9, seconds=1, mib=9)

    assert {} == Span(one, one).rates


@pytest.mark.parametrize(
    ("last_number", "is_covered"), [(22, False), (23, True), (40, True), (None, True), (3, False)]
)
def test_a_log_covers_what_it_tells_nine_tenths_of(last_number, is_covered):
    """
    Collections 6 to 25: the log must reach the 23rd.
    """
    reason = Span(moment("a", 5), moment("b", 25)).not_covered_by(log(last_number))

    assert ("" if is_covered else f"it ends at GC {last_number} of the 25 until b") == reason


def test_without_collections_between_no_log_tells_of_that_time():
    reason = Span(moment("a", 5), moment("b", 5)).not_covered_by(log(5))

    assert "no GC ran between the snapshots" == reason


def test_a_log_that_ended_before_is_not_compared_and_that_is_said(tmp_path):
    for side in ("before", "after"):
        (tmp_path / side).mkdir()
        (tmp_path / side / "memstats.json").write_bytes(memstats_json(NumGC=54, HeapAlloc=MIB))
    log = "".join(GC_LINE.format(n=n) for n in (1, 2))
    (tmp_path / "before/gctrace.log").write_text(log)

    compared = compare(tmp_path / "before", tmp_path / "after")

    assert compared.metrics[compared.metrics["layer"] == "collector"].empty
    said = "the before side's GC log is not compared, because it ends at GC 2 of the 54 until "
    assert any(note.startswith(said) for note in compared.notes)


@pytest.mark.parametrize(("stops", "known"), [(99, False), (100, True)])
def test_a_99th_percentile_needs_a_hundred_values(stops, known):
    values = {"stw_p99_seconds": 0.001, "stw_n": stops}

    assert ("stw_p99_seconds" in set(levels_of(None, None, None, values)["name"])) == known


def test_a_clock_of_one_moment_is_none_and_the_collections_is_taken():
    with_clock = moment("b", 15, seconds=9, mib=30, last_gc=104)
    without = moment("a", 5, mib=10, last_gc=100)

    rates = Span(without, with_clock).rates

    assert pytest.approx(5 * MIB) == rates["allocation_rate_bytes_per_second"]


def test_from_a_moment_to_itself_is_since_the_start():
    one = moment("a", 9)

    assert (0, 9) == (Span(one, one).began, Span(one, one).ended)
    assert (5, 9) == (Span(moment("b", 5), one).began, Span(moment("b", 5), one).ended)
    assert 0 == Span(moment("b", 10), one).began
    assert 9 == Span(moment("b", 9), one).began
    assert (0, 0) == (Span(None, None).began, Span(None, None).ended)
