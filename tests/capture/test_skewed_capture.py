"""A capture whose MemStats and smaps are seconds apart, recorded for the purpose."""

import pytest

from gomem.analysis.memory.ledger import PARTS
from gomem.causes.finding import Severity
from tests.builders import FIXTURES, diagnosed

SKEWED = FIXTURES / "skewed/skewed-go1.27.3"
CROSSED = ["2-memstats-first", "3-smaps-first"]


def test_the_moments_with_a_collection_between_are_flagged_and_no_others():
    (found,) = (one for one in diagnosed(SKEWED).findings if one.severity >= Severity.WARNING)

    assert ("data-skew", CROSSED) == (found.code, list(found.moments))


def test_seconds_without_word_of_a_collection_are_a_note():
    notes = [
        (one.code, one.moment)
        for one in diagnosed(SKEWED).findings
        if one.severity == Severity.INFO and one.code.startswith("data-")
    ]

    assert [("data-skew", "4-apart-and-idle")] == notes


@pytest.mark.parametrize("moment", CROSSED)
def test_the_ledger_says_which_parts_it_cannot_trust(moment):
    """
    64 MiB were dropped in between. One order shows them as untouched, the other as unexplained;
    neither is memory.
    """
    ledger = diagnosed(SKEWED).ledgers[moment]
    how = dict(zip(ledger.parts["part"], ledger.parts["confidence"], strict=True))

    doubtful = {part for part, word in how.items() if word == "doubtful"}
    assert set(PARTS[:7]) - {"heap_released_resident"} == doubtful
    moved = max(-ledger.part("heap_untouched"), ledger.part("heap_unexplained"))
    assert moved > 64 << 20
    assert ledger.notes[-1].startswith("the Go heap and stacks are not reliably broken down, ")
    assert "_" not in ledger.notes[-1]


@pytest.mark.parametrize("moment", ["1-together", *CROSSED, "4-apart-and-idle"])
def test_rss_and_the_kernels_parts_hold_all_the_same(moment):
    ledger = diagnosed(SKEWED).ledgers[moment]

    assert ledger.rss_bytes == int(ledger.parts["bytes"].sum())
    assert {0} == set(ledger.checks["difference_bytes"])


def test_the_groups_divide_nothing_that_cannot_be_trusted():
    """
    Objects of 65 MiB in an RSS of 6 are of two states of the process.
    """
    groups = diagnosed(SKEWED).by_moment["2-memstats-first"].groups

    assert ["go_heap", "go_runtime", "native", "program"] == list(groups.rows["group"])
    assert not groups.heap_is_one
    assert groups.claimed_bytes_of("go_heap") is None
