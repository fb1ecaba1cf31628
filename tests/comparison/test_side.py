"""One side of a comparison: which moments its runs are compared between."""

import pytest

from gomem.comparison.side import Span, facts_at, load_of
from gomem.facts.moment import MomentFacts
from gomem.units import MIB
from tests.comparison.runs import load, moment, run, side
from tests.views.ledgers import ledger


def test_a_moment_is_that_of_the_name_or_the_last_that_has_a_ledger():
    made = run(moment("1", 3), moment("2", 4), moment("3"))

    assert ["1", "2", "2"] == [facts_at(made, name).name for name in ("1", "3", "x")]
    assert "1" == facts_at(run(moment("1")), "1").name  # of goroutine dumps alone
    assert facts_at(run(), "1") is None


def test_what_lies_between_is_between_moments_of_the_names_or_the_first_and_the_last():
    made = run(moment("0"), moment("1", 3), moment("2", 4), moment("3", 5), moment("4"))

    def ends(first, last):
        span = side(made, first=first, last=last).spans[0]
        return span.first.name, span.last.name

    assert ("2", "3") == ends("2", "3")
    assert ("1", "3") == ends("2", "x") == ends("2", "4")
    assert ("3", "2") == ends("x", "2")
    assert [Span(None, None)] == side(run()).spans


@pytest.mark.parametrize(
    ("sizes", "middle"),
    [((5,), 5), ((9, 5), 5), ((9, 1, 5), 5), ((9, 1, 5, 3), 3), ((None, 9, 1, 5), 5)],
)
def test_the_middle_run_is_that_with_the_middle_rss(sizes, middle):
    """
    Of two such runs, the smaller one.
    """
    runs = [
        run(MomentFacts("1", ledger=ledger(None, stacks=1)) if size is None else moment("1", size))
        for size in sizes
    ]

    assert middle * MIB == side(*runs, last="1").middle[1].rss_bytes


def test_without_rss_the_first_run_stands_in_the_middle():
    silent = MomentFacts("1", ledger=ledger(None, stacks=1))

    assert silent is side(run(), run(silent), run(MomentFacts("1")), last="1").middle[1]
    assert side(run()).middle is None


def test_of_a_load_test_alone_there_are_numbers():
    assert 9 == load_of(run(loads=[load(9)]))["load_requests"]
    assert {} == load_of(run()) == load_of(run(loads=[load(9), load(9)]))
    assert {} == load_of(run(loads=[load(9, 9)]))


def test_requests_that_no_load_test_counts_are_those_that_were_given():
    runs = run(loads=[load(9)]), run(), run(loads=[load(None)])

    assert [9, 7, 7] == side(*runs, requests=7).requests
    assert [9, None, None] == side(*runs).requests
