"""What `gomem capture` takes and refuses, before it touches a process."""

import pytest

from gomem.cli.access import headers_of, user_of
from gomem.cli.capture import _duration
from gomem.cli.main import run
from gomem.errors import CaptureError


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("100ms", 0.1),
        ("10s", 10),
        ("5m", 300),
        ("5min", 300),
        ("1h", 3600),
        ("2", 2),
        ("1.5s", 1.5),
    ],
)
def test_a_duration(text, seconds):
    assert seconds == _duration("--every", text)


@pytest.mark.parametrize("text", ["", "0", "-1s", "1d", "soon", "1s1s", "9ms"])
def test_what_is_no_duration_is_said_with_one_that_is(text):
    with pytest.raises(CaptureError, match=r"--every .*wanted such as 100ms, 10s"):
        _duration("--every", text)


def test_headers_of_arguments_and_of_a_file(tmp_path):
    (tmp_path / "headers").write_text("X-One: 1\n\nX-Two: a: b\n")

    assert {"X-One": "1", "X-Two": "a: b", "X-Three": "3"} == headers_of(
        [f"@{tmp_path / 'headers'}", "X-Three: 3"]
    )


@pytest.mark.parametrize("header", ["hunter2", ": hunter2", "a b: hunter2", "a\nb: hunter2"])
def test_a_wrong_header_is_refused_without_being_quoted(header):
    with pytest.raises(CaptureError, match="write 'Name: value'") as refused:
        headers_of([header])

    assert "hunter2" not in str(refused.value)


def test_a_password_comes_with_the_name_or_from_the_environment(monkeypatch):
    monkeypatch.setenv("GOMEM_PASSWORD", "s:1")

    assert [("me", "x:y"), ("me", "s:1")] == [user_of("me:x:y"), user_of("me")]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["1"], "-o DIR: missing"),
        (["-o", "x"], "nothing to capture; give a PID or a URL"),
        (["1", "2", "-o", "x"], "several processes; capture each to its own folder"),
        (["0", "-o", "x"], "not a PID"),
        (["\u0663", "-o", "x"], "\u0663: give a PID, or a URL"),
        (["99999999999", "-o", "x"], "not a PID"),
        (["1", "-o", "x", "--every", "soon"], "--every soon"),
        (["1", "-o", "x", "--when", "rss"], "not a condition"),
        (["1", "-o", "x", "--profiles", "heep"], "did you mean heap?"),
    ],
)
def test_wrong_usage(arguments, said, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    assert 2 == run(["capture", *arguments])

    assert said in capsys.readouterr().err
    assert [] == list(tmp_path.iterdir())
