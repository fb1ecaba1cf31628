"""Which release does what, where the release is known and where it is only narrowed."""

import pytest

from gomem.releases import Fact, GoRelease, GoVersion, known_version


def release(text):
    return known_version(text, "")


@pytest.mark.parametrize(
    ("fact", "version", "certainly", "possibly"),
    [
        (Fact.MADV_FREE, release("go1.11.13"), False, False),
        (Fact.MADV_FREE, release("go1.12"), True, True),
        (Fact.MADV_FREE, release("go1.15.15"), True, True),
        (Fact.MADV_FREE, release("go1.16"), False, False),
        (Fact.MADV_FREE, GoVersion(GoRelease(15), GoRelease(16)), False, True),
        (Fact.MADV_FREE, GoVersion(GoRelease(12), None), False, True),
        (Fact.MADV_FREE, GoVersion(None, GoRelease(15)), False, True),
        (Fact.BACKGROUND_SCAVENGER, GoVersion(), False, True),
        (Fact.BACKGROUND_SCAVENGER, release("go1.12.17"), False, False),
        (Fact.BACKGROUND_SCAVENGER, release("go1.13"), True, True),
        (Fact.BACKGROUND_SCAVENGER, GoVersion(GoRelease(12), GoRelease(13)), False, True),
        (Fact.BACKGROUND_SCAVENGER, GoVersion(GoRelease(13), None), True, True),
        (Fact.IDLE_SPANS_AGE, GoVersion(None, GoRelease(12)), True, True),
        (Fact.IDLE_SPANS_AGE, GoVersion(None, GoRelease(13)), False, True),
        (Fact.LIMIT_GOAL, release("go1.21.13"), False, False),
        (Fact.LIMIT_GOAL, release("go1.22"), True, True),
        (Fact.LIMIT_GOAL, GoVersion(high=GoRelease(21)), False, False),
        (Fact.LIMIT_GOAL, GoVersion(low=GoRelease(19)), False, True),
        (Fact.ZEROES_LARGE, release("go1.24.5"), True, True),
        (Fact.ZEROES_LARGE, release("go1.24.6"), False, False),
    ],
)
def test_a_fact_holds_from_its_first_release_to_before_its_end(fact, version, certainly, possibly):
    """
    Of a release that is only narrowed it is certain if all that it can be do it.
    """
    assert (certainly, possibly) == (version.certainly(fact), version.possibly(fact))


@pytest.mark.parametrize("fact", Fact, ids=lambda fact: fact.name)
def test_every_fact_begins_or_ends_and_in_this_order(fact):
    assert fact.before is None or fact.since < fact.before
    assert fact.before is not None or fact.since > GoRelease(0)


@pytest.mark.parametrize(
    ("fact", "releases"),
    [
        (Fact.MADV_FREE, "Go 1.12 to 1.15: memory"),
        (Fact.HUGE_PAGES_ASKED, "Go 1.21 to 1.21.3: the heap"),
        (Fact.MEMORY_LIMIT, "Since Go 1.19: GOMEMLIMIT"),
        (Fact.GROWS_BY_MIB, "Up to Go 1.10: the heap grows by 1 MiB."),
    ],
)
def test_a_fact_is_a_sentence(fact, releases):
    assert fact.sentence.startswith(releases)
