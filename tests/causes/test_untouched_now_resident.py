"""The zeroing regression: said when the release or a baseline proves it, and not otherwise."""

import shutil
from dataclasses import replace

import pandas as pd
import pytest

import gomem
from gomem.analysis.memory.ledger import reconcile_rss
from gomem.analysis.memory.skew import Skew
from gomem.causes.finding import Severity
from gomem.causes.untouched_now_resident import CAUSE, SCANNABLE, find
from gomem.releases import known_version
from gomem.units import MIB
from tests.builders import FIXTURES
from tests.causes.situations import answers, facts

CAPTURES = FIXTURES / "captures"
REGRESSION = CAPTURES / "zeroing-go1.24.2"
ZEROING = known_version("go1.24.2", "test")
SIZES = pd.DataFrame({"Size": [MIB], "Mallocs": [0], "Frees": [0]})


def tables(resident: int, small_mib: int = 0, **about):
    """60 MiB of objects, of which 40 have pointers, and so many small; so many MiB resident."""
    return facts(
        heap_mib=resident,
        size_classes=SIZES.assign(Mallocs=small_mib),
        metrics={SCANNABLE: 40.0 * MIB},
        **{"HeapAlloc": 60, "HeapInuse": 60, **about},
    )


def without_smaps(moment):
    status = pd.Series({"VmRSS": moment.rss_bytes, "RssFile": pd.NA, "RssShmem": pd.NA})
    ledger = reconcile_rss(None, moment.memstats, status)
    return replace(moment, mappings=None, ledger=ledger, paths={})


def against(moment, before):
    return find(answers(moment, version=ZEROING, baseline=before))


def found(diagnosis: gomem.Diagnosis):
    return [finding for finding in diagnosis.findings if finding.code == CAUSE.code]


def without_release(tmp_path, *names: str):
    """The regression's loaded moment, of which nothing says the release."""
    for name in names:
        shutil.copy(REGRESSION / "2-loaded" / name, tmp_path / name)
    return tmp_path


def test_the_release_alone_makes_it_possible_however_large():
    """
    20 buffers of 8 MiB are 160 MiB; with other large objects 162 MiB.
    """
    (finding,) = found(gomem.diagnose(REGRESSION))

    assert (Severity.INFO, "possible") == (finding.severity, finding.confidence)
    assert "2-loaded" == finding.moment
    assert 160 << 20 <= finding.bytes <= 163 << 20
    assert finding.title.startswith("Go 1.24.2 zeroes large allocations: they take 161 MiB of RSS")
    assert "--baseline" in finding.next_step
    assert "--go-version" not in finding.next_step
    assert "golang/go#72991" in finding.references


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


@pytest.mark.parametrize("baseline", ["1.23.4", "1.24.6", "1.27.3"])
def test_the_release_and_a_baseline_prove_it(baseline):
    """
    20 tables of 8 MiB, of which the program writes 32 KiB each.
    """
    diagnosis = gomem.diagnose(REGRESSION, CAPTURES / f"zeroing-go{baseline}")

    finding = diagnosis.findings[0]

    assert [finding] == found(diagnosis)
    assert (Severity.WARNING, "certain") == (finding.severity, finding.confidence)
    assert 157 << 20 <= finding.bytes <= 163 << 20
    assert finding.title.startswith("Go 1.24.2 zeroes large allocations: ")
    assert "in both captures" in finding.title


def test_a_baseline_without_any_release_makes_it_likely(tmp_path):
    capture = without_release(tmp_path, "smaps", "memstats.json")

    (finding,) = found(gomem.diagnose(capture, baseline=CAPTURES / "zeroing-go1.23.4"))

    assert (Severity.WARNING, "likely") == (finding.severity, finding.confidence)
    assert 155 << 20 <= finding.bytes <= 165 << 20
    assert "go1.24" not in finding.title
    assert "--go-version" in finding.next_step


def test_a_baseline_proves_nothing_under_another_release(tmp_path):
    """
    Then the program has written it, or the kernel did: Go has not.
    """
    capture = without_release(tmp_path, "smaps", "memstats.json", "metrics.json")
    diagnosis = gomem.diagnose(
        gomem.load(capture, go_version="go1.24.6"), CAPTURES / "zeroing-go1.23.4"
    )

    assert [] == found(diagnosis)


def test_a_baseline_that_zeroes_as_well_shows_no_difference():
    diagnosis = gomem.diagnose(REGRESSION, REGRESSION)

    (finding,) = found(diagnosis)

    assert (Severity.INFO, "possible") == (finding.severity, finding.confidence)


def test_a_capture_is_no_regression_of_itself():
    diagnosis = gomem.diagnose(CAPTURES / "zeroing-go1.27.3", CAPTURES / "zeroing-go1.27.3")

    assert [] == found(diagnosis)


# ---- large pointer-bearing allocations beside others


def test_pointer_free_buffers_that_nobody_touched_are_left_out():
    """
    20 MiB of such buffers and 40 MiB of tables, of which all are resident: 2 thirds of the heap.
    """
    (finding,) = find(answers(tables(resident=40), version=ZEROING))

    assert (40 * MIB, Severity.INFO) == (finding.bytes, finding.severity)


def test_what_they_have_no_room_for_is_not_resident():
    (finding,) = find(answers(tables(resident=30), version=ZEROING))

    assert 30 * MIB == finding.bytes


def test_small_objects_with_pointers_may_be_all_that_has_them():
    """
    30 MiB of small objects, of which the 40 MiB with pointers may be part, or not.
    """
    (finding,) = find(answers(tables(resident=60, small_mib=30), version=ZEROING))

    assert 30 * MIB == finding.bytes
    assert ": they take up to 30 MiB of RSS" in finding.title


@pytest.mark.parametrize(("small_mib", "exact"), [(4, True), (5, False)])
def test_bounds_within_a_tenth_are_one_number(small_mib, exact):
    """
    40 MiB with pointers, of which 4 or 5 MiB can be small.
    """
    (finding,) = find(answers(tables(resident=60, small_mib=small_mib), version=ZEROING))

    assert exact == (": they take 40 MiB of RSS" in finding.title)
    assert exact != (": they take up to 40 MiB of RSS" in finding.title)


def test_an_unknown_release_that_leaves_some_of_it_untouched_does_not_zero():
    """
    36 of 40 MiB of tables are resident, and then a MiB less.
    """
    assert [36 * MIB] == [one.bytes for one in find(answers(tables(resident=36)))]
    assert [] == find(answers(tables(resident=35)))


def test_without_sizes_nothing_is_said():
    moment = tables(resident=40)

    assert [] == find(answers(replace(moment, size_classes=None), version=ZEROING))
    assert [] == find(answers(replace(moment, size_classes=SIZES.iloc[:0]), version=ZEROING))


def test_files_of_two_states_say_nothing():
    skew = Skew(2.0, 1, "NumGC")

    assert [] == find(answers(tables(resident=40, skew=skew), version=ZEROING))


# ---- against a baseline, one guard at a time


def test_the_moved_bytes_are_the_proof_whatever_share_they_are():
    """
    20 of 60 MiB stay untouched, on both sides.
    """
    (finding,) = against(tables(resident=40), tables(resident=1))

    assert (39 * MIB, Severity.WARNING, "certain") == (
        finding.bytes, finding.severity, finding.confidence,
    )  # fmt: skip


def test_a_comparison_that_shows_no_difference_has_decided():
    """
    The program writes its tables: what the release alone would make possible is not said.
    """
    assert [] == against(tables(resident=40), tables(resident=40))


def test_another_heap_is_no_comparison():
    (finding,) = against(tables(resident=40), tables(resident=1, HeapInuse=53))

    assert "possible" == finding.confidence


@pytest.mark.parametrize("skewed", ["capture", "baseline"])
def test_a_side_of_two_states_is_no_comparison(skewed):
    sides = {"capture": tables(resident=40), "baseline": tables(resident=1)}
    sides[skewed] = replace(sides[skewed], skew=Skew(2.0, 1, "NumGC"))

    assert "certain" not in [one.confidence for one in against(*sides.values())]


def test_untouched_bytes_that_Go_no_longer_claims_have_not_become_resident():  # noqa: N802
    """
    The baseline keeps 30 MiB of idle heap that nobody ever touched, and as much is resident.
    """
    idle = tables(resident=40, HeapIdle=30, HeapReleased=0)

    assert [] == against(tables(resident=40), idle)


def test_resident_bytes_that_were_not_untouched_are_another_cause():
    """
    30 MiB more of idle heap, all resident.
    """
    idle = tables(resident=60, HeapIdle=20, HeapReleased=0)

    assert [] == against(idle, tables(resident=40))


def test_a_baseline_under_a_release_that_zeroes_is_no_comparison():
    moment, before = tables(resident=40), tables(resident=1)
    baseline = answers(before, version=known_version("go1.24.0", "test"))

    (finding,) = find(
        replace(answers(moment, version=ZEROING, baseline=before), baseline=baseline.facts)
    )

    assert "possible" == finding.confidence


def test_without_smaps_the_release_makes_it_likely_and_nothing_else_does():
    """
    RSS rose by 39 MiB, and the heap is the same.
    """
    moment, before = without_smaps(tables(resident=40)), without_smaps(tables(resident=1))

    (finding,) = against(moment, before)

    assert (39 * MIB, Severity.WARNING, "likely") == (
        finding.bytes, finding.severity, finding.confidence,
    )  # fmt: skip
    assert "smaps" not in {one.artefact.rpartition("/")[2] for one in finding.evidence}
    assert [] == find(answers(moment, baseline=before))
