"""What the matrix prints and writes beside its cells."""

import json

import pytest

from tools.laboratory import matrix
from tools.laboratory.captures import Answer
from tools.laboratory.reliability import reliability


def finding(code, confidence, severity="warning"):
    return {"code": code, "confidence": confidence, "severity": severity, "title": code}


@pytest.fixture
def answers(monkeypatch):
    """Of an ill process, with a pause beside, and of three healthy ones."""
    healthy = {"causes": [], "beside": {}, "healthy": True, "artefacts": []}
    ill = {
        **healthy,
        "causes": [{"code": "heap-growth", "bytes": {}}],
        "also_right": ["stack-growth"],
        "beside": {"long-pauses": 0.06},
        "healthy": False,
    }
    truth = {"ill-a": ill} | dict.fromkeys(("well-a", "well-b", "well-c"), healthy)
    for place in ("captures", "holders"):
        monkeypatch.setattr(f"tools.laboratory.{place}.truth", lambda: truth)
    said = {
        "ill-a": [
            finding("stack-growth", "likely"),
            finding("heap-growth", "likely"),
            finding("gc-pressure", "likely"),
            finding("long-pauses", "possible", "info"),
            finding("data-missing", "certain", "info"),
        ],
        "well-a": [finding("heap-growth", "possible")],
        "well-b": [finding("heap-growth", "possible"), finding("gc-pressure", "certain")],
        "well-c": [finding("heap-headroom", "likely", "info")],
    }
    return [Answer(name, findings, f"{name}.") for name, findings in said.items()]


def test_each_word_is_counted_for_warnings_and_infos(answers):
    rows = {(row.severity, row.confidence): (row.right, row.count) for row in reliability(answers)}

    assert rows == {
        ("warnings", "certain"): (0, 1),
        ("warnings", "likely"): (2, 3),
        ("warnings", "possible"): (0, 2),
        ("infos", "certain"): (0, 0),
        ("infos", "likely"): (0, 1),
        ("infos", "possible"): (1, 1),
    }


def test_healthy_captures_with_a_warning_are_counted_by_its_surest_word(answers, capsys):
    matrix._print_summary(answers)

    printed = capsys.readouterr().out
    assert "healthy without warning  1 of 3 (33%)" in printed
    assert "warned as possible     1 of 3 (33%)" in printed
    assert "likely or certain      1 of 3 (33%)" in printed


def test_a_cause_that_is_named_by_another_code_as_rightly_is_right(answers):
    ill, *_ = answers

    assert ill.first == "stack-growth"
    assert ill.right
    assert ["gc-pressure (likely)"] == ill.confidently_wrong


def test_all_answers_are_written_to_compare_them(answers):
    written = json.loads(matrix.answers_json(answers))

    assert list(written) == sorted(answer.name for answer in answers)
    assert written["well-c"]["sentence"] == "well-c."
    assert [said["code"] for said in written["well-c"]["findings"]] == ["heap-headroom"]
