"""Two files that are not of one state: a warning where it is known, a note where it may be."""

from gomem.analysis.memory.skew import Skew
from gomem.causes.data_skew import find
from gomem.causes.finding import Severity
from tests.causes.situations import answers, facts


def test_a_collection_between_the_files_is_a_warning_that_names_the_parts():
    (found,) = find(answers(facts(skew=Skew(2.5, 1, "log"))))

    assert ("data-skew", Severity.WARNING) == (found.code, found.severity)
    assert "2.50 s apart" in found.title
    (parts,) = [one.value for one in found.evidence if one.field == "parts that cannot be trusted"]
    assert "heap_objects, heap_slack" in parts
    assert "binary" not in parts


def test_arenas_that_contradict_memstats_are_a_warning_without_any_clock():
    (found,) = find(answers(facts(HeapSys=96)))

    assert Severity.WARNING == found.severity
    assert "contradict" in found.title


def test_seconds_of_which_nobody_knows_are_a_note():
    (found,) = find(answers(facts(skew=Skew(30.0))))

    assert (Severity.INFO, "possible") == (found.severity, found.confidence)


def test_seconds_without_a_collection_are_nothing():
    assert [] == find(answers(facts(skew=Skew(30.0, 0, "log"))))


def test_files_of_one_command_are_nothing():
    assert [] == find(answers(facts(skew=Skew(0.01))))
