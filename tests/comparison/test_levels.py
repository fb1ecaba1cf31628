"""The levels of two sides: rates by counters where both have them, else by logs."""

import pandas as pd
import pytest

from gomem.comparison.levels import compare_levels, level_notes, rates_by_counters, too_little
from gomem.comparison.side import Span
from gomem.units import MIB
from tests.builders import memstats_row
from tests.comparison.runs import counted, load, log, moment, run, side

RATE = "allocation_rate_bytes_per_second"


def at(seconds):
    return pd.Timestamp(seconds, unit="s", tz="UTC")


def allocating(seconds, mib, *, cycles=(5, 25), collector=None):
    """A run that allocates so much in so many seconds."""
    ends = [
        moment(
            str(place + 1),
            3,
            memstats=memstats_row(NumGC=cycles[place], TotalAlloc=place * mib * MIB),
            time=at(100 + place * seconds),
        )
        for place in (0, 1)
    ]
    return run(*ends, collector=collector)


def level(before, after, name):
    metrics = compare_levels(before, after, {}).metrics.set_index("name")
    return metrics.loc[name] if name in metrics.index else None


def test_rates_are_of_the_two_moments_where_both_sides_count_them():
    """
    The log of the start tells 528 MiB a second; the moments 1 MiB in ten seconds.
    """
    start = log(last_number=25, log_seconds=(0.0, 9.0), **{RATE: 528 * MIB})
    busy = log(last_number=25, log_seconds=(0.0, 9.0), **{RATE: 1590 * MIB})

    rate = level(
        side(allocating(10, 100, collector=busy)), side(allocating(10, 1, collector=start)), RATE
    )

    assert 10 * MIB == pytest.approx(rate["before_median"])
    assert 0.1 * MIB == pytest.approx(rate["after_median"])


def test_collections_a_second_are_counted_too():
    rate = level(side(allocating(10, 1)), side(allocating(5, 1)), "collections_per_second")

    assert (2.0, 4.0) == (rate["before_median"], rate["after_median"])
    assert rate["better"] is None or pd.isna(rate["better"])


def test_where_one_side_has_no_counters_both_are_told_by_their_logs():
    told = {RATE: 5 * MIB}
    with_both = allocating(10, 100, collector=log(last_number=25, **told))
    with_log = run(moment("1", 3), moment("2", 3), collector=log(last_number=25, **told))

    rate = level(side(with_both), side(with_log), RATE)

    assert frozenset() == rates_by_counters(side(with_both), side(with_log))
    assert (5 * MIB, 5 * MIB) == (rate["before_median"], rate["after_median"])


@pytest.mark.parametrize(
    ("collector", "note"),
    [
        (log(27), "it ends at GC 27 of the 30 until snapshot 2"),
        (log(28), ""),
        (log(28, log_seconds=(0.0, 5.0)), ""),
        (
            log(28, log_seconds=(0.0, 4.9)),
            "it covers 4.90 s of the 10.0 s between the snapshots",
        ),
    ],
)
def test_a_log_of_less_than_half_of_the_time_says_nothing_of_it(collector, note):
    """
    Collections 10 to 30: nine in ten of them are told until the 28th.
    """
    ends = counted("1", 10, time=at(0)), counted("2", 30, time=at(10))
    collector.cost.values["cycles"] = 5

    compared = side(run(*ends, collector=collector), word="after")

    said = f"the after side's GC log is not compared, because {note}"
    assert ([said] if note else []) == list(level_notes(side(), compared))
    assert (note == "") == (level(side(run()), compared, "cycles") is not None)


def test_a_log_of_the_start_says_nothing_of_a_time_in_which_no_collection_ran():
    start = log(7, log_seconds=(0.0, 1.9), **{RATE: 528 * MIB})
    idle = side(allocating(2, 2, cycles=(7, 7), collector=start))

    assert MIB == level(idle, idle, RATE)["after_median"]
    assert any("no GC ran" in note for note in level_notes(idle, idle))


def test_without_counts_a_log_is_what_there_is():
    silent = run(collector=log(seconds=5.0))

    assert 5.0 == level(side(silent), side(silent), "seconds")["after_median"]


def test_levels_are_of_the_last_moment_and_of_the_load():
    one = side(run(counted("1", 10), counted("2", 30), loads=[load(4)]))

    known = compare_levels(one, one, {}).metrics.set_index("name")["after_median"]

    assert (3 * MIB, 30, 4) == tuple(known[["RSS", "NumGC", "load_requests"]])


@pytest.mark.parametrize(("asked", "per"), [(5, 6.0), (None, None)])
def test_requests_that_no_load_test_says_are_those_that_were_asked_with(asked, per):
    ends = [
        moment(name, 3, memstats=memstats_row(NumGC=5, TotalAlloc=size))
        for name, size in (("1", 70), ("2", 100))
    ]
    asking = side(run(*ends), requests=asked)

    found = level(asking, asking, "alloc_bytes_per_request")

    assert per == (None if found is None else found["after_median"])


@pytest.mark.parametrize(
    ("old", "new", "enough"),
    [((20,), (20, 20), True), ((19,), (20,), False), ((20,), (20, 19), False), ((), (20,), True)],
)
def test_the_collectors_share_is_of_twenty_collections_of_each_log(old, new, enough):
    sides = [side(*(run(collector=log(steady=n)) for n in counts)) for counts in (old, new)]

    told = too_little(*sides)

    assert enough == (told == {})
    if not enough:
        assert {"gc_cpu_fraction"} == set(told)
        assert "fewer than 20" in told["gc_cpu_fraction"]


@pytest.mark.parametrize(("cycles", "enough"), [(19, False), (20, True)])
def test_counters_stand_before_logs_where_all_have_them(monkeypatch, cycles, enough):
    share = {"gc_cpu_fraction": 0.1}
    monkeypatch.setattr(Span, "rates", property(lambda span: share if span.collections else {}))
    often = side(run(counted("1", 10), counted("2", 10 + cycles), collector=log(steady=20)))
    never = side(run(counted("1", 10), counted("2", 10), collector=log(steady=19)))

    assert enough == (too_little(often, often) == {})
    assert too_little(often, never) != {}


def test_levels_of_one_side_alone_are_shown():
    known, silent = side(run(counted("1", 5)), first="1", last="1"), side(run())

    assert len(compare_levels(known, silent, {}).metrics)
    assert len(compare_levels(silent, known, {}).metrics)
    assert not len(compare_levels(silent, silent, {}).metrics)


BETWEEN = "costs per request cover the time between snapshot 1 and snapshot 2"
SEVERAL = "2 load tests in a capture; no load test is compared, because one is needed"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ([], [], []),
        ([load(9)], [], [f"before side: {BETWEEN}"]),
        ([load(9), load(9)], [load(9, 9)], [f"before side: {SEVERAL}", f"after side: {SEVERAL}"]),
        (
            [load(9)],
            [load(9, tool="wrk", connections=8)],
            [
                f"before side: {BETWEEN}",
                f"after side: {BETWEEN}",
                "the load generator is ab before, and wrk with 8 connections after",
            ],
        ),
    ],
)
def test_what_is_said_of_load_tests(old, new, said):
    sides = [side(run(loads=tests), word=word) for word, tests in (("before", old), ("after", new))]

    assert said == list(level_notes(*sides))


def test_of_one_moment_a_request_has_no_costs():
    alone = side(run(loads=[load(9)]), first="1", last="1")

    assert [] == list(level_notes(alone, alone))
