"""Which causes are new or gone, and which could one side not have shown?"""

import shutil

import pytest

from gomem.cli.main import run
from gomem.comparison.causes import NEEDED_MOMENTS, compared_causes
from gomem.comparison.comparison import compare
from tests.builders import FIXTURES, diagnosed

SPIKY = FIXTURES / "captures/spiky-go1.27.3"
PRESSED, POOLED = (
    FIXTURES / f"captures/alloc-pressure-{side}-go1.27.3" for side in ("before", "after")
)


@pytest.fixture(scope="module")
def one_profile():
    return SPIKY / "settled/heap.pb.gz"


def states(compared):
    return dict(zip(compared.findings["code"], compared.findings["state"], strict=True))


def test_what_one_profile_could_not_show_is_not_new(one_profile):
    compared = compare(one_profile, SPIKY)

    assert "not comparable" == states(compared)["allocation-spike"]
    assert {"not comparable"} == set(states(compared).values())
    assert compared.judgement.verdict in {"same", "?"}
    assert "New warning" not in " ".join((compared.judgement.sentence, *compared.judgement.details))


def test_nor_is_it_gone(one_profile):
    assert {"not comparable"} == set(states(compare(SPIKY, one_profile)).values())


def test_evidence_of_several_snapshots_needs_their_memstats(one_profile):
    leaking = diagnosed(FIXTURES / "laboratory/captures/relayd-a.tar.gz")

    found = compared_causes(leaking, diagnosed(one_profile)).set_index("code")

    assert "not comparable" == found["state"]["heap-growth"]
    assert "no MemStats" in found["note"]["heap-growth"]


def test_a_regression_is_not_made_of_what_could_not_be_seen(one_profile, capsys):
    assert 0 == run(["compare", str(one_profile), str(SPIKY), "--fail-on", "regression"])
    assert "worse" not in capsys.readouterr().out


def test_what_would_have_shown_it_is_said(one_profile):
    rows = compare(one_profile, SPIKY).findings.set_index("code")["note"]

    assert rows["allocation-spike"].endswith(
        "/settled/heap.pb.gz has no RSS, heap profile at only 1 of 3 snapshots needed"
    )


def test_of_a_capture_without_a_log_no_cause_of_the_log_is_new(tmp_path):
    shutil.copytree(PRESSED, tmp_path / "with")
    shutil.copytree(POOLED, tmp_path / "without", ignore=shutil.ignore_patterns("gctrace*"))

    found = states(compare(tmp_path / "without", tmp_path / "with"))
    both = states(compare(POOLED, PRESSED))

    assert "new" == both["gc-pressure"]
    assert "not comparable" == found["gc-pressure"]


def test_on_both_sides_a_cause_is_the_same_whatever_files_there_are():
    pressed = diagnosed(PRESSED)

    found = compared_causes(pressed, pressed.with_baseline(pressed))

    assert {"same"} == set(found["state"])
    assert {""} == set(found["note"])


def test_of_programs_that_are_not_one_nothing_is_new():
    found = compared_causes(diagnosed(POOLED), diagnosed(PRESSED), "different programs")

    assert {"not comparable"} == set(found["state"])
    assert {"found on the after side only; different programs"} == set(found["note"])


def test_rules_over_a_series_need_its_moments():
    assert (3, 3, 3) == tuple(
        NEEDED_MOMENTS[code] for code in ("allocation-spike", "heap-growth", "goroutine-leak")
    )
