"""What heap profiles alone say of allocation: how fast, by whom, and in how large objects."""

import pytest

import gomem
from gomem.text import Bytes, Count, Function, Rate, Text
from gomem.units import KIB, MIB
from tests.causes.test_growth_by_site import held
from tests.heap_profiles import heap_bytes, turned_over

NAMES = ("shop/price.Quote", "main.main", "bytes.growSlice", "shop/codec.Thumb")
START = 1_800_000_000


def quoted(mib: float) -> bytes:
    """So much allocated since the start, of which 1 MiB is in use."""
    return turned_over(round(2 * mib), 2, 4 * KIB)


def verdict(folder, *profiles, every=5):
    for number, buckets in enumerate(profiles):
        raw = heap_bytes(*buckets, names=NAMES, seconds=START + every * number)
        (folder / f"heap-{number}.pb").write_bytes(raw)
    return gomem.diagnose(folder).verdict


def said_of(verdict, words):
    """The sentence with these words, of the verdict's first paragraph; None without it."""
    return verdict.second if words in verdict.second else None


def test_what_is_allocated_and_freed_between_profiles_has_a_rate_and_an_own_function(tmp_path):
    said = said_of(verdict(tmp_path, [quoted(100)], [quoted(250)], [quoted(400)]), "freed again")

    assert said is not None
    (rate,) = said.of(Rate)
    assert pytest.approx(30 * MIB, rel=0.1) == rate.value
    assert "shop/price.Quote" in [name.value for name in said.of(Function)]


@pytest.mark.parametrize(
    "allocated",
    [pytest.param((100, 104), id="little"), pytest.param((100,), id="a single profile")],
)
def test_little_or_a_single_profile_is_no_churn(allocated, tmp_path):
    assert said_of(verdict(tmp_path, *([quoted(mib)] for mib in allocated)), "freed again") is None


def test_large_objects_of_one_function_are_counted(tmp_path):
    """
    53 of 11 MiB each are more than requests at work.
    """
    raw = held(53 * 11, 3, root=4, size=11 * MIB)

    said = said_of(verdict(tmp_path, [raw]), "on average")

    assert said is not None
    assert 53 in [count.value for count in said.of(Count)]
    assert any(size.value == pytest.approx(11 * MIB, rel=0.01) for size in said.of(Bytes))


@pytest.mark.parametrize(
    ("mib", "size"),
    [pytest.param(60, 11 * MIB, id="a few"), pytest.param(583, 64 * KIB, id="not large")],
)
def test_a_few_or_small_objects_are_not(mib, size, tmp_path):
    verdict_of = verdict(tmp_path, [held(mib, 3, root=4, size=size), held(1, 1)])

    assert said_of(verdict_of, "on average") is None


@pytest.mark.parametrize(("leaf", "is_said"), [(3, True), (4, False)], ids=["a buffer", "its own"])
def test_large_buffers_of_one_function_are_counted_beside_rss(leaf, is_said, tmp_path):
    (tmp_path / "ps.txt").write_text("  PID   RSS    VSZ COMMAND\n 8461 900000 1696976 shop\n")

    found = verdict(tmp_path, [held(53 * 11, leaf, root=4, size=11 * MIB)])

    said = [words for words in found.whose if "on average" in words]
    assert [53] * is_said == [part.value for words in said for part in Text(words).of(Count)]
