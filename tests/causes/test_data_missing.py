"""What to collect next: each file that a moment lacks, and no other."""

from dataclasses import replace

from gomem.causes.data_missing import find
from gomem.causes.finding import Severity
from gomem.facts.moment import MomentFacts
from tests.causes.situations import answers, facts, goroutines


def test_a_moment_with_both_sides_lacks_nothing():
    assert [] == find(answers(facts()))


def test_without_smaps_only_smaps_is_asked_for():
    (found,) = find(answers(replace(facts(), mappings=None)))

    assert ("data-missing", Severity.INFO) == (found.code, found.severity)
    assert "No smaps, so RSS cannot be fully broken down" == found.title
    assert "cat /proc/PID/smaps > smaps" in found.next_step
    assert "debug/vars" not in found.next_step


def test_without_memstats_only_memstats_are_asked_for():
    (found,) = find(answers(replace(facts(), memstats=None)))

    assert "debug/vars > memstats.json" in found.next_step
    assert "smaps > smaps" not in found.next_step


def test_moments_that_lack_it_are_counted_and_named():
    without = [replace(facts(name=name), mappings=None) for name in ("2", "3")]

    (found,) = find(answers(facts(name="1"), *without))

    assert found.title.startswith("2 of 3 snapshots have no smaps")
    assert ["snapshot 2, snapshot 3"] == [one.value for one in found.evidence]


def test_a_lone_name_that_is_a_number_is_said_to_be_a_snapshot():
    (found,) = find(answers(facts(name="1"), replace(facts(name="5"), mappings=None)))

    assert ["snapshot 5"] == [one.value for one in found.evidence]


def test_a_capture_of_goroutine_profiles_says_nothing_about_memory():
    counted = MomentFacts("1", goroutines=goroutines(10))

    (found,) = find(answers(counted))

    assert "No smaps and no MemStats" in found.title
