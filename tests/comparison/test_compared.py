"""What stands against what, and what is said of it: of captures that are made up in a line."""

from types import SimpleNamespace

import pandas as pd
import pytest

from gomem.comparison import comparison as module
from gomem.comparison.comparison import (
    _compare_benches,
    _damage,
    _facts_at,
    _joined,
    _ledgers,
    _levels_of,
    _load_notes,
    _middle,
    _moments,
    _not_covered,
    _notes,
    _of_load,
    _of_log,
    _requests,
    _span,
    _too_little,
)
from gomem.comparison.span import Span
from gomem.errors import Damage
from gomem.facts.moment import MomentFacts
from gomem.inputs.gobench.table import read_bench
from gomem.units import MIB
from tests.builders import memstats_row
from tests.views.ledgers import ledger

RATES = {"gc_cpu_fraction": 0.1}


def moment(name, mib=None, notes=(), **about):
    """A moment whose ledger is one part; without MiB it has none."""
    part = about.pop("part", "heap_objects")
    made = None if mib is None else ledger(mib * MIB, **{part: mib * MIB})
    if notes:
        made = type(made)(made.rss_bytes, made.parts, made.checks, notes)
    return MomentFacts(name, ledger=made, **about)


def side(*moments, procs=None, version="go1.27.3", loads=(), collector=None, damaged=()):
    """One capture with these moments."""
    gc = None if procs is None else SimpleNamespace(cycles=pd.DataFrame({"gomaxprocs": procs}))
    return SimpleNamespace(
        moments=moments,
        collector=collector,
        capture=SimpleNamespace(
            name="runs/a", gc=gc, go_version=version, damaged=damaged, bench={},
            loads={str(place): one for place, one in enumerate(loads)},
        ),
    )  # fmt: skip


def load(*requests, tool="ab", connections=None, latencies=()):
    """A load test with a run for each number of requests."""
    row = {"requests_per_second": 5.0, "mean_seconds": None, "max_seconds": None, "errors": None,
           "seconds": None, "tool": tool, "connections": connections}  # fmt: skip
    runs = pd.DataFrame([row | {"requests": one} for one in requests])
    table = pd.DataFrame(latencies, columns=["quantile", "seconds"])
    return SimpleNamespace(runs=runs, latencies=table)


# Moments


def test_a_moment_is_that_of_the_name_or_the_last_that_has_a_ledger():
    one = side(moment("1", 3), moment("2", 4), moment("3"))

    assert ["1", "2", "2"] == [_facts_at(one, name).name for name in ("1", "3", "x")]
    assert _facts_at(side(moment("1")), "1") is None


def test_what_lies_between_is_between_moments_of_the_names_or_the_first_and_the_last():
    one = side(moment("0"), moment("1", 3), moment("2", 4), moment("3", 5), moment("4"))

    def ends(first, last):
        span = _span(one, first, last)
        return span.first.name, span.last.name

    assert ("2", "3") == ends("2", "3")
    assert ("1", "3") == ends("2", "x") == ends("2", "4")
    assert ("3", "2") == ends("x", "2")
    assert Span(None, None) == _span(side(), "1", "2")


@pytest.mark.parametrize(
    ("sizes", "middle"),
    [((5,), 5), ((9, 5), 5), ((9, 1, 5), 5), ((9, 1, 5, 3), 3), ((None, 9, 1, 5), 5)],
)
def test_the_middle_run_is_that_with_the_middle_rss(sizes, middle):
    """
    Of two such runs, the smaller one.
    """
    runs = [
        side(MomentFacts("1", ledger=ledger(None, stacks=1)) if one is None else moment("1", one))
        for one in sizes
    ]

    assert middle * MIB == _middle(runs, "1").rss_bytes


def test_without_rss_the_first_run_stands_in_the_middle():
    silent = MomentFacts("1", ledger=ledger(None, stacks=1))

    assert silent is _middle([side(), side(silent), side(MomentFacts("1"))], "1")
    assert _middle([side()], "1") is None


def test_pairs_of_moments_and_what_is_of_them():
    """
    Metrics are of the last pair, sites of the last that have profiles.
    """
    old = [side(moment("1", 3), moment("2", 4)), side(moment("1", 5), moment("2", 4))]
    new = [side(moment("1", 7), moment("2", 9))]

    table = _moments(old, new, [("1", "1"), ("2", "2")], [("1", "1")])
    alone = _moments(old, new, [("1", "1")], [("x", "2")])

    assert [4 * MIB, 4 * MIB] == table["before_rss_bytes"].tolist()
    assert [3 * MIB, 5 * MIB] == table["change_bytes"].tolist()
    assert [[False, True], [True, False]] == [
        table[name].tolist() for name in ("of_metrics", "of_sites")
    ]
    assert [("1", "1"), ("x", "2")] == list(zip(alone["before"], alone["after"], strict=True))
    assert alone.loc[1, ["before_rss_bytes", "after_rss_bytes", "change_bytes"]].isna().all()
    assert [[True, False], [False, True]] == [
        alone[name].tolist() for name in ("of_metrics", "of_sites")
    ]


def test_parts_of_ledgers_have_medians_and_what_nobody_tells_is_unknown():
    mapped = pd.DataFrame({"kind": []})
    old = [side(moment("1", one)) for one in (3, 4, 8)]
    new = [side(moment("1", 6, mappings=mapped))]

    parts = _ledgers(old, new, [("1", "1")]).set_index("part")

    assert [4 * MIB, 6 * MIB, 2 * MIB] == parts.loc[
        "heap_objects", ["before", "after", "change"]
    ].tolist()
    assert 0 == parts.loc["native_heap", "after"]
    assert parts.loc["native_heap", ["before", "change"]].isna().all()
    assert "heap_idle" not in parts.index


# What is said


def test_what_differs_beside_the_change_is_said():
    old = [side(moment("1", 3, notes=("old one",)), procs=[2, None, 2.0])]
    new = [
        side(moment("2", 3, notes=("new one",)), procs=[4, 2], version="go1.28"),
        side(moment("2", 3, notes=("of another run",))),
    ]

    assert [
        "no moment before is called 2, so it is compared with the last, 1",
        "Go release differs: go1.27.3 before, go1.27.3, go1.28 after",
        "GOMAXPROCS differs in gctrace: 2 before, 2, 4 after",
        "before, 1: old one",
        "after, 2: new one",
    ] == list(_notes(old, new, [("1", "2"), ("1", "2")]))


@pytest.mark.parametrize("procs", [(None, [4]), ([4], None), ([4], [4])])
def test_what_does_not_differ_is_not_said(procs):
    sides = [[side(moment("1", 3), procs=one)] for one in procs]

    assert [] == list(_notes(*sides, [("1", "1")]))
    assert [] == list(_notes([side(moment("1"))], [side()], [("1", "1")]))


def test_what_could_not_be_read_says_in_which_capture():
    found = side(damaged=(Damage("x.json", "line 1", "cut", ""), Damage("a", "", "cut", "")))

    assert ["runs/a/x.json", "a"] == [one.source for one in _damage(found)]


# Load


def test_of_a_load_test_alone_there_are_numbers():
    assert 9 == _of_load(side(loads=[load(9)]))["load_requests"]
    assert {} == _of_load(side()) == _of_load(side(loads=[load(9), load(9)]))
    assert {} == _of_load(side(loads=[load(9, 9)]))


def test_requests_that_no_load_test_counts_are_those_that_were_given():
    sides = [([side(loads=[load(9)]), side()], "", ""), ([side(loads=[load(None)])], "", "")]

    assert ([9, 7], [7]) == _requests(sides, 7)
    assert ([9, None], [None]) == _requests(sides, None)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ([], [], []),
        ([load(9)], [], ["before: a request's costs are of what lies between 1 and 2"]),
        (
            [load(9), load(9)], [load(9, 9)],
            [
                "before: 2 load tests in a capture; wanted one, so none is compared",
                "after: 2 load tests in a capture; wanted one, so none is compared",
            ],
        ),
        (
            [load(9)], [load(9, tool="wrk", connections=8)],
            [
                "before: a request's costs are of what lies between 1 and 2",
                "after: a request's costs are of what lies between 1 and 2",
                "the load was made by ab before, by wrk with 8 connections after",
            ],
        ),
    ],
)  # fmt: skip
def test_what_is_said_of_load_tests(old, new, said):
    sides = [([side(loads=one)], "1", "2") for one in (old, new)]

    assert said == list(_load_notes(*sides))


def test_of_one_moment_a_request_has_no_costs():
    sides = [([side(loads=[load(9)])], "1", "1")] * 2

    assert [] == list(_load_notes(*sides))


# Levels, and the log


def log(last_number=99, steady=99, **values):
    return SimpleNamespace(
        last_number=last_number, cost=SimpleNamespace(steady_cycles=steady, values=values)
    )


def counted(name, cycles):
    return moment(name, 3, memstats=memstats_row(NumGC=cycles))


def test_a_log_that_ends_before_the_moments_says_nothing_of_them():
    """
    Collections 10 to 30: nine in ten of them are told until the 28th.
    """
    ends = counted("1", 10), counted("2", 30)
    early, late = (side(*ends, collector=log(number, cycles=5)) for number in (27, 28))

    assert {} == _of_log(early, Span(*ends)) == _of_log(side(*ends), Span(*ends))
    assert {"cycles": 5} == _of_log(late, Span(*ends))
    assert [
        "after: the GC log ends at collection 27, of the 30 until 2; what it says is not compared"
    ] == list(_not_covered(([late, side(*ends)], "1", "2"), ([early], "1", "2")))


def test_levels_are_of_the_last_moment_and_of_the_load():
    one = side(counted("1", 10), counted("2", 30), loads=[load(4)])
    span = Span(*one.moments)

    known = _levels_of(one, span, None).set_index("name")["value"]
    silent = _levels_of(side(collector=log(seconds=5.0)), Span(None, None), None)

    assert (3 * MIB, 30, 4) == tuple(known[["RSS", "NumGC", "load_requests"]])
    assert ["seconds"] == silent["name"].tolist()


@pytest.mark.parametrize(("asked", "per"), [(5, 6.0), (None, None)])
def test_requests_that_no_load_test_says_are_those_that_were_asked_with(asked, per):
    ends = [
        moment(name, 3, memstats=memstats_row(NumGC=5, TotalAlloc=size))
        for name, size in (("1", 70), ("2", 100))
    ]

    levels = _levels_of(side(*ends), Span(*ends), asked).set_index("name")["value"]

    assert per == levels.get("alloc_bytes_per_request")


@pytest.mark.parametrize(
    ("old", "new", "enough"),
    [((20,), (20, 20), True), ((19,), (20,), False), ((20,), (20, 19), False), ((), (20,), True)],
)
def test_the_collectors_share_is_of_twenty_collections_of_each_log(old, new, enough):
    sides = [([side(collector=log(steady=n)) for n in one], "", "") for one in (old, new)]

    told = _too_little(*sides)

    assert enough == (told == {})
    if not enough:
        assert {"gc_cpu_fraction"} == set(told)
        assert "fewer than 20" in told["gc_cpu_fraction"]


@pytest.mark.parametrize(("cycles", "enough"), [(19, False), (20, True)])
def test_counters_stand_before_logs_where_all_have_them(monkeypatch, cycles, enough):
    monkeypatch.setattr(Span, "rates", property(lambda span: RATES if span.collections else {}))
    often = side(counted("1", 10), counted("2", 10 + cycles), collector=log(steady=20))
    never = side(counted("1", 10), counted("2", 10), collector=log(steady=19))

    of_all = _too_little(([often], "1", "2"), ([often], "1", "2"))
    of_one = _too_little(([often], "1", "2"), ([never], "1", "2"))

    assert enough == (of_all == {})
    assert of_one != {}


# Benchmarks


def test_files_of_one_side_are_one_and_their_configurations_stay_apart():
    one, other, third = (
        read_bench(f"goos: {name}\nBenchmarkA-2 1 5 ns/op\n".encode()) for name in ("a", "b", "c")
    )

    joined = _joined([one, other, third])

    assert 3 == len(joined.results) == joined.results["config"].nunique()
    said = joined.config[joined.config["key"] == "goos"].set_index("config")["value"]
    assert ["a", "b", "c"] == [said[number] for number in joined.results["config"]]


def test_benchmarks_of_one_side_alone_are_shown():
    bench = read_bench(b"BenchmarkA-2 1 5 ns/op\n")
    none, one = side(), side()
    one.capture.bench = {"a": bench}

    assert 1 == len(_compare_benches([one], [none], {}).metrics)
    assert 1 == len(_compare_benches([none], [one], {}).metrics)
    assert 0 == len(_compare_benches([none], [none], {}).metrics)


def test_levels_of_one_side_alone_are_shown():
    known, silent = ([side(counted("1", 5))], "1", "1"), ([side()], "", "")

    assert len(module._compare_levels(known, silent, None, {}).metrics)
    assert len(module._compare_levels(silent, known, None, {}).metrics)
    assert not len(module._compare_levels(silent, silent, None, {}).metrics)
