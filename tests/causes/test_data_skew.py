"""Two files that are not of one state: a warning where it is known, a note where it may be."""

import pytest

import gomem
from gomem.analysis.memory.skew import Skew
from gomem.causes.data_skew import bytes_apart, find
from gomem.causes.finding import Severity
from gomem.units import MIB
from tests.builders import smaps_entry, smaps_text
from tests.causes.situations import answers, facts


def test_a_collection_between_the_files_is_a_warning_that_names_the_parts():
    (found,) = find(answers(facts(skew=Skew(2.5, 1, "log"))))

    assert ("data-skew", Severity.WARNING) == (found.code, found.severity)
    assert "measured 2.5 s apart" in found.title
    (parts,) = [
        one.value for one in found.evidence if one.field == "owners whose sizes might be wrong"
    ]
    assert "Go objects and garbage, free Go heap, goroutine stacks" == parts


def test_arenas_that_contradict_memstats_are_a_warning_without_any_clock():
    (found,) = find(answers(facts(HeapSys=96)))

    assert Severity.WARNING == found.severity
    assert "contradict" in found.title


@pytest.mark.parametrize(
    ("heap_sys", "said", "severity"),
    [
        pytest.param(60, "The heap grew by at least 4 MiB", Severity.INFO, id="a-step"),
        pytest.param(68, "The heap differs by 4 MiB", Severity.INFO, id="a-step-less"),
        pytest.param(
            56.125, "The heap grew by at least 7.9 MiB", Severity.INFO, id="less-than-two"
        ),
        pytest.param(56, "contradict each other by at least 8 MiB: do", Severity.WARNING, id="two"),
        pytest.param(72, "contradict each other by 8 MiB: do", Severity.WARNING, id="two-less"),
    ],
)
def test_how_much_it_matters_follows_how_far_the_numbers_can_be_off(heap_sys, said, severity):
    """
    64 MiB of arenas; the heap grows by 4 MiB at a time.
    """
    (found,) = find(answers(facts(HeapSys=heap_sys)))

    assert severity == found.severity
    assert said in found.title


def test_a_collection_between_is_a_warning_however_little_the_arenas_differ():
    """
    It turns objects into free heap, which no size of the arenas shows.
    """
    (found,) = find(answers(facts(HeapSys=60, skew=Skew(2.5, 1, "log"))))

    assert Severity.WARNING == found.severity


def test_work_buffers_lie_in_the_arenas_uncounted():
    apart = [bytes_apart(facts(HeapSys=50, GCSys=gc)) // MIB for gc in (0, 3, 20)]

    assert [14, 11, 0] == apart


def test_seconds_of_which_nobody_knows_are_a_note():
    (found,) = find(answers(facts(skew=Skew(30.0))))

    assert (Severity.INFO, "possible") == (found.severity, found.confidence)


def test_seconds_without_a_collection_are_nothing():
    assert [] == find(answers(facts(skew=Skew(30.0, 0, "log"))))


def test_files_of_one_command_are_nothing():
    assert [] == find(answers(facts(skew=Skew(0.01))))


@pytest.mark.parametrize(
    ("status_kib", "is_told"), [(920, False), (900, True), (1100, False), (1130, True)]
)
def test_files_of_the_kernels_that_contradict_each_other_are_a_warning(
    tmp_path, status_kib, is_told
):
    """
    1 000 KiB by the mappings: a tenth of what the other file says is too far.
    """
    (tmp_path / "smaps").write_bytes(
        smaps_text(smaps_entry(0x1000, 0x200000, path="[stack]", rss_kib=1000))
    )
    (tmp_path / "status").write_text(f"Name:\tapi\nPid:\t7\nVmRSS:\t{status_kib} kB\nThreads:\t3\n")

    found = [f for f in gomem.diagnose(tmp_path).findings if f.code == "data-skew"]

    assert is_told == bool(found)
