"""What is said where no file says how much is resident, of files that are made up in a line."""

from types import SimpleNamespace

import pandas as pd
import pytest

from gomem.causes.thresholds import Thresholds
from gomem.diagnosis.without_rss import ANYTHING, NOTHING, who_holds, without_rss
from gomem.facts.moment import MomentFacts
from gomem.units import MIB
from tests.builders import case_of
from tests.heap_profiles import bucket, heap
from tests.views.ledgers import ledger


def told(facts=None, *, collector=None, **capture):
    """What is said, whether it grew, and what to do next."""
    nothing = {"heap_profiles": {}, "profiles": {}, "bench": {}, "escapes": {},
               "goroutines": pd.DataFrame(), "by_moment": {}}  # fmt: skip
    files = SimpleNamespace(**nothing | capture)
    limits = Thresholds()
    diagnosis = SimpleNamespace(
        capture=files, collector=collector, thresholds=limits, case=case_of(thresholds=limits)
    )
    return without_rss(diagnosis, facts)


def in_use(*sizes_mib):
    """A heap profile in which nothing was sampled, so that every number is exact."""
    names = [f"main.site{number}" for number in range(len(sizes_mib))]
    buckets = [
        bucket(1, int(size * MIB), leaf=number, root=number)
        for number, size in enumerate(sizes_mib, start=1)
    ]
    return heap(*buckets, rate=1, names=names)


def test_nothing_that_says_anything_is_answered_with_what_to_collect():
    assert (NOTHING, False, ANYTHING) == told()


@pytest.mark.parametrize(
    ("first", "last", "grew"),
    [
        pytest.param(10, 12, True, id="a fifth"),
        pytest.param(10, 11.9, False, id="less than a fifth"),
        pytest.param(1, 2, True, id="a mebibyte"),
        pytest.param(1, 1.9, False, id="less than a mebibyte"),
    ],
)
def test_heap_profiles_tell_how_the_heap_grew(first, last, grew):
    said, has_grown, _ = told(heap_profiles={"a": in_use(first), "b": in_use(last)})

    assert said.startswith(f"The heap profile of b has {last}")
    assert " in use, and is up to two collections old; that of a has " in said
    assert grew == has_grown


def test_one_heap_profile_has_not_grown_and_names_no_moment():
    said, grew, _ = told(heap_profiles={"a": in_use(10)})

    assert said.startswith("The heap profile has 10.0 MiB in use, and is up to two")
    assert not grew


def test_a_heap_profile_without_a_sample_says_so_and_not_nothing():
    said, _, _ = told(heap_profiles={"a": in_use(0)})

    assert "The heap profile has no sample of anything in use: what is, is too little" in said
    assert "0 B" not in said


@pytest.mark.parametrize(
    ("sizes", "named", "most"),
    [
        pytest.param((95, 5), 2, True, id="a twentieth"),
        pytest.param((96, 4), 1, True, id="less"),
        pytest.param((30, 25, 25, 20), 3, True, id="three at most"),
        pytest.param((20, 15, 15, *[1] * 50), 3, True, id="half"),
        pytest.param((19, 15, 15, *[1] * 51), 3, False, id="less than half"),
        pytest.param([1] * 21, 0, False, id="none"),
    ],
)
def test_those_who_hold_a_twentieth_are_named(sizes, named, most):
    diagnosis = SimpleNamespace(capture=SimpleNamespace(heap_profiles={"a": in_use(*sizes)}))

    said = who_holds(diagnosis, "a")

    assert named == said.count("main.site")
    assert bool(named) == bool(said)
    assert most == said.startswith("Most of what")
    assert (bool(named) and not most) == said.startswith("The largest shares of what")


def claims(paths=(), **sizes):
    made = ledger(None, **{part: size * MIB for part, size in sizes.items()})
    made.parts["claimed_bytes"] = made.parts["bytes"].astype("Int64")
    return MomentFacts("1", ledger=made, paths={kind: f"1/{kind}" for kind in paths})


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        ({"heap_objects": 95, "stacks": 5}, ["95.0 MiB Go obj", "5.00 MiB goroutine stacks (5.0"]),
        ({"heap_objects": 96, "stacks": 4}, ["96.0 MiB Go objects, live or garbage (96.0 %)."]),
        (
            {"heap_objects": 40, "heap_idle": 30, "stacks": 20, "runtime_metadata": 10},
            ["40.0 MiB", "30.0 MiB free", "20.0 MiB goroutine"],
        ),
    ],
)
def test_what_go_claims_is_named_from_a_twentieth_on_and_three_at_most(sizes, words):
    said, grew, _ = told(claims(**sizes))

    assert said.startswith("Go claims 100 MiB: ")
    assert len(words) == said.count(" %")
    assert all(word in said for word in words)
    assert not grew


def test_who_has_what_go_claims_is_told_by_a_heap_profile():
    """
    MemStats are of their moment; the profile is as old as a collection.
    """
    profiles = {"1": in_use(5), "2": in_use(10)}

    said, grew, _ = told(claims(heap_objects=40), heap_profiles=profiles, by_moment={1: 0, 2: 0})

    assert said.startswith("Go claims 40.0 MiB at 1: 40.0 MiB Go objects")
    assert "The heap profile of 2 has 10.0 MiB in use, and is up to two" in said
    assert said.endswith("Most of the 10.0 MiB was allocated by main.site0 (10.0 MiB, 100.0 %).")
    assert grew


@pytest.mark.parametrize(
    ("paths", "this"),
    [
        (("memstats",), "MemStats"),
        (("heap_text", "metrics-page"), "MemStats"),
        (("metrics-page",), "this page of metrics"),
        (("metrics",), "runtime/metrics"),
    ],
)
def test_what_says_it_is_named(paths, this):
    assert told(claims(paths, heap_objects=1))[2].startswith(f"RSS is not in {this}: ")


def test_claims_of_nothing_say_nothing():
    assert NOTHING == told(claims(heap_objects=0))[0]
    assert NOTHING == told(MomentFacts("1"))[0]


STOPS = {"n": 1, "p99": 0.002, "max": 0.003}


def log(cycles=1, seconds=0.0, cpu=None, stops=STOPS, live=None, run=None):
    stw = SimpleNamespace(**{"n": cycles} | stops)
    cost = SimpleNamespace(cycles=cycles, seconds=seconds, gc_cpu_fraction=cpu, stw=stw,
                           heap_live_last_bytes=live and live * MIB)  # fmt: skip
    return SimpleNamespace(cost=cost, longest_run=run)


@pytest.mark.parametrize(
    ("collector", "said"),
    [
        (log(), "1 collection stopped the world for 3.00 ms."),
        (log(2, 1.5), "2 collections in 1.50 s stopped the world for 3.00 ms at the longest."),
        (
            log(100, stops=STOPS | {"n": 100}),
            "100 collections stopped the world for 2.00 ms or less in 99 of 100.",
        ),
        (
            log(99, stops=STOPS | {"n": 99}),
            "99 collections stopped the world for 3.00 ms at the longest.",
        ),
        (
            log(2, cpu=0.001, stops={"p99": None, "max": None}),
            "2 collections took at most 0.1 % of the CPU.",
        ),
        (
            log(2, cpu=0.0009, stops={"p99": None, "max": None}),
            "2 collections took less than 0.1 % of the CPU.",
        ),
        (
            log(2, stops={"p99": None, "max": None}),
            "2 collections, of which no line says what they cost.",
        ),
        (log(0), NOTHING),
    ],
)
def test_a_log_tells_what_collection_costs(collector, said):
    assert said == told(collector=collector)[0]


def growth(low, high, last=12):
    return SimpleNamespace(slope_low=low, slope_high=high, slope_bytes_per_second=float(MIB),
                           first_bytes=10 * MIB, last_bytes=last * MIB)  # fmt: skip


@pytest.mark.parametrize(
    ("run", "words", "grew"),
    [
        pytest.param(
            None, "; there are too few collections to tell whether it grows.", False, id="no run"
        ),
        pytest.param(
            growth(None, None),
            "; it has risen from 10.0 MiB, in too few collections to tell whether that goes on.",
            False,
            id="risen by a fifth",
        ),
        pytest.param(growth(None, None, 11.9), "; there are too few", False, id="no interval"),
        pytest.param(growth(1, 2), " and grows by 1.00 MiB/s.", True, id="by a fifth"),
        pytest.param(growth(1, 2, 11), " and grows by 1.00 MiB/s.", False, id="by less"),
        pytest.param(growth(0, 2), " and does not grow.", False, id="it may stay"),
        pytest.param(growth(-1, 0), " and does not grow.", False, id="it may not shrink"),
        pytest.param(growth(-2, -1), " and shrinks.", False, id="it shrinks"),
    ],
)
def test_a_log_tells_where_the_live_heap_goes(run, words, grew):
    said, has_grown, _ = told(collector=log(9, live=12, run=run))

    assert f". The live heap is 12.0 MiB after the last{words}" in said
    assert grew == has_grown


@pytest.mark.parametrize(("live", "said"), [(0, "less than 1.00 MiB"), (1, "1.00 MiB")])
def test_a_live_heap_that_the_log_rounds_to_nothing_is_less_than_its_unit(live, said):
    assert f"The live heap is {said} after the last" in told(collector=log(9, live=live))[0]


def standing(*rows):
    return pd.DataFrame(rows, columns=["moment", "goroutines", "function", "state"])


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        pytest.param(
            standing(("1", 9, "main.old", "IO wait"), ("2", 3, "main.a", "IO wait"),
                     ("2", 1, "main.b", "select")),
            "4 goroutines, 3 of them in main.a (IO wait).", id="of the last moment",
        ),
        pytest.param(
            standing(("1", 3, "main.a", "IO wait"), ("1", 4, "main.a", "select"),
                     ("1", 5, "main.b", "sleep")),
            "12 goroutines, 7 of them in main.a (most in state select).", id="several states",
        ),
        pytest.param(
            standing(("1", 3, "", None)), "3 goroutines, 3 of them in the runtime.", id="unknown"
        ),
    ],
)  # fmt: skip
def test_goroutines_are_counted_where_they_stand(frame, said):
    assert said == told(goroutines=frame)[0]


def test_benchmarks_are_counted_by_their_names_and_lines():
    def of(*names):
        return SimpleNamespace(results=pd.DataFrame({"name": names, "line": range(len(names))}))

    one, several = (told(bench={"a": benchmarks})[0] for benchmarks in (of("A", "A"), of("A", "B")))

    assert one.startswith("1 benchmark with 2 results, ")
    assert several.startswith("2 benchmarks with 2 results, ")
