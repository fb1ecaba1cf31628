"""The headline numbers of a comparison: a clause each, and what they cost."""

from types import SimpleNamespace

import pandas as pd
import pytest

from gomem.comparison.quantities import _largest_site, quantities
from gomem.units import MIB

SIDE = [SimpleNamespace(moments=())]
NO_SITES = pd.DataFrame()


def level(name, before, after, verdict="?", n=1):
    change = after / before - 1 if before else None
    return {
        "name": name, "layer": "memory", "before_median": before, "after_median": after,
        "before_n": n, "after_n": n, "difference": after - before, "change": change,
        "verdict": verdict,
    }  # fmt: skip


def quantity(*levels, change=None, too_little=()):
    """The only headline number of these levels; None where there is none."""
    columns = list(level("x", 1, 1))
    metrics = pd.DataFrame([{key: row[key] for key in columns} for row in levels], columns=columns)
    comparison = SimpleNamespace(
        metrics=metrics, change=change, too_little=dict(too_little), sites=NO_SITES
    )
    found = quantities(comparison, SIDE, SIDE)
    assert len(found) < 2
    return next(iter(found), None)


@pytest.mark.parametrize(
    ("n", "reason", "said"),
    [
        (1, ": x +2 B", "RSS rose from 8 B to 10 B (+25 %): x +2 B."),
        (1, "", "RSS rose from 8 B to 10 B (+25 %)."),
        (2, "", "RSS rose from 8 B to 10 B (+25 %, medians)."),
        (
            2, ": x +2 B",
            "RSS rose from 8 B to 10 B (+25 %, medians); in the median run of each side: x +2 B.",
        ),
        (
            2, "; no",
            "RSS rose from 8 B to 10 B (+25 %, medians); in the median run of each side no.",
        ),
    ],
)  # fmt: skip
def test_rss_is_said_with_what_moved_it(n, reason, said):
    rss = quantity(level("RSS", 8, 10, "worse", n), change=SimpleNamespace(reason=reason))

    assert said == rss.sentence
    assert " for 2 B more RSS" == rss.price


def test_rss_that_fell_or_stayed():
    assert quantity(level("RSS", 10, 8, "better")).sentence.startswith("RSS fell from 10 B to 8 B")
    assert "RSS is about the same: 10 B before, 10 B after." == (
        quantity(level("RSS", 10, 10, "same")).sentence
    )
    assert "RSS is about the same: 10 B before, 10 B after (medians)." == (
        quantity(level("RSS", 10, 10, "~", 3)).sentence
    )


def test_a_rise_that_may_be_noise_is_a_rise_all_the_same():
    rss = quantity(level("RSS", 100, 130, "~", 3))

    assert "same" == rss.verdict
    assert rss.sentence == "RSS rose from 100 B to 130 B (+30 %, medians, not significant)."


@pytest.mark.parametrize(("after", "has_risen"), [(110, False), (111, True), (50, False)])
def test_a_rise_of_more_than_a_tenth_may_not_stay_unsaid(after, has_risen):
    assert has_risen == quantity(level("RSS", 100, after)).has_risen
    assert has_risen == quantity(level("HeapAlloc", 100, after)).has_risen
    assert not quantity(level("gc_cpu_fraction", 0.1, after / 1000)).has_risen


@pytest.mark.parametrize(
    ("before", "after", "verdict", "as_cost"),
    [(100, 119, "?", "?"), (100, 120, "?", "worse"), (100, 120, "~", "same"), (100, 60, "?", "?")],
)
def test_a_fifth_more_is_a_cost_where_something_is_gained(before, after, verdict, as_cost):
    rss = quantity(level("RSS", before * MIB, after * MIB, verdict))

    assert as_cost == rss.as_cost().verdict


@pytest.mark.parametrize(
    ("before", "after", "verdict", "sentence"),
    [
        (10.0, 31.0, "better", "Requests per second rose from 10 to 31 (×3.1)."),
        (30.0, 10.0, "worse", "Requests per second fell from 30 to 10 (-67 %)."),
        (
            10.0, 12.0, "?",
            "Requests per second: 10 before, 12 after; too few runs to rule out noise.",
        ),
        (
            10.0, 10.1, "same",
            "Requests per second: 10 before, 10.1 after; too small a change to matter.",
        ),
    ],
)  # fmt: skip
def test_what_is_said_of_a_load(before, after, verdict, sentence):
    load = quantity(level("requests_per_second", before, after))

    assert (verdict, sentence) == (load.verdict, load.sentence)
    assert quantity() is None


def test_a_load_within_noise():
    load = quantity(level("requests_per_second", 10.0, 12.0, "~"))

    assert ("same", "Requests per second: 10 before, 12 after; no change beyond noise.") == (
        load.verdict, load.sentence,
    )  # fmt: skip


@pytest.mark.parametrize(("after", "verdict"), [(30, "worse"), (15, "?"), (10, "same")])
def test_a_heap_that_may_swing_is_no_verdict(after, verdict):
    assert verdict == quantity(level("HeapAlloc", 10 * MIB, after * MIB)).verdict
    assert "same" == quantity(level("HeapAlloc", 10 * MIB, after * MIB, "~")).verdict


def test_a_share_of_the_cpu_that_says_too_little_is_none():
    share = level("gc_cpu_fraction", 0.1, 0.3)

    assert "GC CPU rose from 10 % to 30 %." == quantity(share).sentence
    assert quantity(share, too_little={"gc_cpu_fraction": "too few"}) is None


@pytest.mark.parametrize(("state", "named"), [("grew", "main.fill"), ("~", "main.keep")])
def test_the_largest_change_named_is_of_a_site_that_surely_changed(state, named):
    """
    A site that varies as much within one run is no change, however much larger it is.
    """
    rows = [("main.fill", 60.0, state), ("main.keep", 10.0, "grew"), ("main.drop", -90.0, "shrank")]
    sites = pd.DataFrame(rows, columns=["function", "change", "state"])

    assert f"; the largest change is {named} (" in _largest_site(sites, 70.0)
