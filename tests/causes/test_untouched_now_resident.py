"""The zeroing regression: said when the release or a baseline proves it, and not otherwise."""

import shutil

import pytest

import gomem
from gomem.causes.finding import Severity
from gomem.causes.untouched_now_resident import CAUSE
from tests.builders import FIXTURES

CAPTURES = FIXTURES / "captures"
REGRESSION = CAPTURES / "zeroing-go1.24.2"


def found(diagnosis: gomem.Diagnosis):
    return [finding for finding in diagnosis.findings if finding.code == CAUSE.code]


def without_release(tmp_path, *names: str):
    """The regression's loaded moment, of which nothing says the release."""
    for name in names:
        shutil.copy(REGRESSION / "2-loaded" / name, tmp_path / name)
    return tmp_path


def test_the_release_makes_it_the_regression():
    """
    20 buffers of 8 MiB are 160 MiB; with other large objects 162 MiB.
    """
    diagnosis = gomem.diagnose(REGRESSION)

    first = diagnosis.findings[0]

    assert CAUSE.code == first.code
    assert Severity.WARNING == first.severity
    assert "2-loaded" == first.moment
    assert 160 << 20 <= first.bytes <= 163 << 20
    assert "golang/go#72991" in first.references


@pytest.mark.parametrize("release", ["1.23.4", "1.24.6", "1.27.3"])
def test_the_other_releases_leave_it_untouched(release):
    diagnosis = gomem.diagnose(CAPTURES / f"zeroing-go{release}")

    assert [] == found(diagnosis)
    assert diagnosis.ledgers["2-loaded"].part("heap_untouched") < -(150 << 20)


def test_without_the_release_it_is_only_possible(tmp_path):
    capture = without_release(tmp_path, "smaps", "memstats.json", "metrics.json")

    (finding,) = found(gomem.diagnose(capture))

    assert Severity.INFO == finding.severity
    assert "possible" == finding.confidence
    assert "--go-version" in finding.next_step


def test_without_release_and_pointer_count_nothing_is_claimed(tmp_path):
    """
    Large and resident is what any program with big buffers shows.
    """
    assert [] == found(gomem.diagnose(without_release(tmp_path, "smaps", "memstats.json")))


def test_another_release_cannot_be_it(tmp_path):
    capture = without_release(tmp_path, "smaps", "memstats.json", "metrics.json")

    assert [] == found(gomem.diagnose(gomem.load(capture, go_version="go1.25.0")))


def test_a_baseline_proves_it_without_any_release(tmp_path):
    capture = without_release(tmp_path, "smaps", "memstats.json")

    (finding,) = found(gomem.diagnose(capture, baseline=CAPTURES / "zeroing-go1.23.4"))

    assert Severity.WARNING == finding.severity
    assert 155 << 20 <= finding.bytes <= 165 << 20
    assert "the heap is the same" in finding.title


def test_a_capture_is_no_regression_of_itself():
    diagnosis = gomem.diagnose(CAPTURES / "zeroing-go1.27.3", CAPTURES / "zeroing-go1.27.3")

    assert [] == found(diagnosis)
