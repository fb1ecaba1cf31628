"""A rule that fails unforeseen takes no other with it."""

import re
from dataclasses import replace

import pytest

import gomem
from gomem.causes import CAUSES
from gomem.causes.finding import Severity
from gomem.diagnosis import rules
from gomem.diagnosis.rules import found_by_rules
from tests.builders import CAPTURES, diagnosed

CODE = "untouched-now-resident"


def fail(_):
    raise KeyError("HeapSys")


@pytest.fixture(params=["rule", "lack"])
def failing(request, monkeypatch):
    """One cause whose rule, or whose word on evidence, fails."""
    monkeypatch.setattr(
        rules,
        "CAUSES",
        [
            replace(cause, **{request.param: fail}) if cause.code == CODE else cause
            for cause in CAUSES
        ],
    )
    return request.param


def test_a_rule_that_fails_is_said_and_the_others_answer(failing):
    whole = diagnosed(next(path for path in CAPTURES if path.name == "zeroing-go1.24.2"))

    found = list(found_by_rules(whole.case))

    (failed,) = [finding for finding in found if finding.code == "data-damaged"]
    assert Severity.WARNING == failed.severity
    assert CODE in failed.title
    assert [("KeyError", "'HeapSys'")] == [(e.field, str(e.value)) for e in failed.evidence]
    others = {finding.code for finding in whole.findings} - {CODE}
    assert others <= {finding.code for finding in found}
    assert (CODE in {finding.code for finding in found}) == (failing == "lack")


@pytest.mark.parametrize("value", ["null", '"x"', "-1"])
def test_a_value_of_memstats_that_is_no_number_ends_no_report(tmp_path, value):
    capture = next(path for path in CAPTURES if path.name == "cache-shrink-go1.12.17")
    moment = max(capture.glob("*/memstats.json")).parent
    text = (moment / "memstats.json").read_text()
    (tmp_path / "memstats.json").write_text(re.sub(r'("HeapSys": ?)\d+', rf"\g<1>{value}", text))
    (tmp_path / "smaps").write_bytes((moment / "smaps").read_bytes())

    diagnosis = gomem.diagnose(tmp_path)

    assert [] == [f.title for f in diagnosis.findings if "could not be checked" in f.title]
    assert diagnosis.moments[-1].rss_bytes
