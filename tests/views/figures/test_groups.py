"""What is resident is filled, what Go reserved besides is hollow, and nothing is below zero."""

from gomem.analysis.memory import groups
from gomem.views.figures.groups import plot_groups
from tests.builders import FIXTURES, diagnosed

CAPTURES = FIXTURES / "captures"


def drawn(capture, moment):
    facts = diagnosed(CAPTURES / capture).by_moment[moment]
    return plot_groups(facts.groups, facts.rss_bytes)


def test_each_group_is_described_with_what_is_resident_and_retained():
    described = drawn("zeroing-go1.24.6", "2-loaded").description

    assert described.startswith("Go heap 5.43 MiB of 167 MiB retained; live heap 164 MiB retained")
    assert described.endswith("program text and data 2.69 MiB; RSS 9.38 MiB.")


def test_groups_of_nothing_are_left_out():
    assert "files" not in drawn("healthy-go1.27.3", "3-later").description


def test_without_rss_all_is_retained():
    facts = diagnosed(CAPTURES / "healthy-go1.27.3").by_moment["3-later"]

    described = plot_groups(facts.groups, None).description

    assert "RSS" not in described


def test_every_name_fits_beside_the_bars():
    """
    2.15 inches take 33 letters: the longest name measured in a browser leaves a tenth of them.
    """
    assert {} == {name: len(name) for name in groups.NAMES.values() if len(name) > 33}
