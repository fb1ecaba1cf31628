"""What load generators printed: each number where it stands, and none that is not there."""

import json

import pytest

from gomem.errors import FormatError
from gomem.inputs.kinds import kind_of
from gomem.inputs.loadtest.parse import looks_like_loadtest, parse_loadtest
from gomem.inputs.loadtest.report import duration, size
from gomem.inputs.loadtest.table import read_loadtest
from tests.builders import FIXTURES

FOLDER = FIXTURES / "loadtest"
FILES = sorted(path for path in FOLDER.iterdir() if path.is_file())


def read(name):
    return parse_loadtest((FOLDER / name).read_bytes(), source=name)[0][0]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_recorded_report_is_known_and_read_without_damage(path):
    loads = read_loadtest(path)

    assert "loadtest" == kind_of(path.read_bytes(), "x").name
    assert (1, ()) == (len(loads.runs), loads.damaged)
    assert path.name.startswith(loads.runs["tool"][0])
    assert loads.runs[["requests", "errors", "requests_per_second"]].notna().all(axis=None)
    assert loads.latencies["seconds"].is_monotonic_increasing


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_request_that_failed_is_an_error(path):
    """
    The runs against a missing page, and against a closed port, failed whole; the others not once.
    """
    run = read_loadtest(path).runs.iloc[0]
    failed = "errors" in path.name or "refused" in path.name

    assert (run["requests"] if failed else 0) == run["errors"]


@pytest.mark.parametrize("tool", ["vegeta", "vegeta-errors", "k6", "k6-errors"])
def test_text_and_json_of_one_run_say_the_same(tool):
    """
    But for digits: of a number in text there are three, and k6 cuts them off.
    """
    text, exact = read(f"{tool}.txt"), read(f"{tool}.json")

    assert (exact.requests, exact.errors) == (text.requests, text.errors)
    for name in ("seconds", "requests_per_second", "mean_seconds", "min_seconds", "max_seconds"):
        assert getattr(text, name) == pytest.approx(getattr(exact, name), rel=1e-2)
    assert exact.latencies.keys() == text.latencies.keys()
    assert list(text.latencies.values()) == pytest.approx(list(exact.latencies.values()), rel=1e-2)


@pytest.mark.parametrize("tool", ["ab", "wrk", "hey", "vegeta", "k6"])
def test_requests_over_time_is_the_rate_it_prints(tool):
    """
    vegeta's rate is that of the attack, which ends before the last answer.
    """
    run = read(f"{tool}.txt")

    assert run.requests / run.seconds == pytest.approx(run.requests_per_second, rel=0.01)


def test_ab_to_the_last_number():
    run = read("ab.txt")

    assert ("ab", 500, 0, 3.327, 150.28) == (
        run.tool, run.requests, run.errors, run.seconds, run.requests_per_second,
    )  # fmt: skip
    assert (67000, 2, 0.013308) == (run.received_bytes, run.connections, run.mean_seconds)
    assert {0.5: 0.006, 0.9: 0.035, 0.99: 0.078} == {
        share: run.latencies[share] for share in (0.5, 0.9, 0.99)
    }
    assert (0.001, 0.097) == (run.min_seconds, run.max_seconds)


def test_a_page_of_another_length_is_no_error():
    """
    ab counts it as failed: a page with a counter in it never has the length of the first.
    """
    text = (FOLDER / "ab.txt").read_text()
    parts = "   (Connect: 1, Receive: 2, Length: 30, Exceptions: 4)\nNon-2xx responses:      5\n"
    text = text.replace("Failed requests:        0\n", f"Failed requests:        37\n{parts}")

    assert 1 + 2 + 4 + 5 == parse_loadtest(text.encode(), source="ab")[0][0].errors


def test_wrk_counts_what_had_no_answer():
    text = (FOLDER / "wrk.txt").read_text()
    line = "  Socket errors: connect 1, read 2, write 3, timeout 4\nRequests/sec"

    assert 10 == parse_loadtest(text.replace("Requests/sec", line).encode(), source="")[0][0].errors


def test_a_quantile_of_too_few_answers_is_not_there():
    """
    hey prints it as `0% in 0.0000 secs`.
    """
    assert 0.99 not in read("hey-errors.txt").latencies
    assert 0 not in read("hey-errors.txt").latencies


def test_several_reports_of_one_file_are_as_many_rows():
    text = (FOLDER / "ab.txt").read_bytes() + b"\n" + (FOLDER / "wrk.txt").read_bytes()

    loads = read_loadtest(b"starting\n" + text)

    assert ["ab", "wrk"] == loads.runs["tool"].tolist()
    assert [2, 45] == loads.runs["line"].tolist()
    assert [0, 1] == loads.latencies["run"].unique().tolist()


@pytest.mark.parametrize("name", ["ab.txt", "wrk.txt", "hey.txt"])
def test_a_report_that_was_cut_is_damage_and_what_it_says_is_kept(name):
    text = (FOLDER / name).read_bytes()
    whole = parse_loadtest(text, source=name)[0][0]
    end = b"Requests per second" if name == "ab.txt" else b"Requests/sec"
    cut = text[: text.index(end)]

    reports, damage = parse_loadtest(cut, source=name)

    assert ["cut short: no requests per second in what"] == [one.what[:41] for one in damage]
    assert [whole.requests] == [one.requests for one in reports] or name == "hey.txt"


@pytest.mark.parametrize(
    "text",
    [b"", b"hello", b'{"a": 1}', b"{", b'{"metrics": {"http_reqs": 1}}', b"Requests per second: 5"],
)
def test_what_is_no_report_is_refused(text):
    assert not looks_like_loadtest(text)
    with pytest.raises(FormatError):
        read_loadtest(text)


@pytest.mark.parametrize("value", [-1, 1e400, None, True, "x", [], {}, float("nan")])
def test_a_hostile_number_is_unknown(value):
    exported = json.loads((FOLDER / "k6.json").read_text())
    exported["metrics"]["http_reqs"]["count"] = value
    exported["metrics"]["http_req_duration"]["avg"] = value

    run = read_loadtest(json.dumps(exported).encode()).runs.iloc[0]

    assert run[["requests", "mean_seconds"]].isna().all()


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("1m2.5s", 62.5), ("13.66ms", 0.01366), ("2.50us", 2.5e-6), ("0s", 0.0), ("1h", 3600.0),
     ("", None), ("5", None), ("1.5x", None), ("-1s", None)],
)  # fmt: skip
def test_durations(text, seconds):
    assert (None if seconds is None else pytest.approx(seconds)) == duration(text)


def test_a_k_of_bytes_is_the_tools():
    assert [1000, 1024, 5] == [size("1 kB", 1000), size("1.00KB", 1024), size("5B", 1024)]
    assert size("5 PB", 1000) is None
