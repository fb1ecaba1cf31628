"""What load generators printed: each number where it stands, and none that is not there."""

import json

import pytest

from gomem.errors import FormatError
from gomem.inputs.kinds import kind_of
from gomem.inputs.loadtest import parse as loadtest
from gomem.inputs.loadtest.parse import looks_like_loadtest, parse_loadtest
from gomem.inputs.loadtest.report import Report, Tool, duration, finite, size, whole
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


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "wrk.txt",
            Report(
                tool="wrk", requests=519, errors=0, seconds=3.05, requests_per_second=170.41,
                received_bytes=67.92 * 1024, connections=2, mean_seconds=0.01366,
                max_seconds=0.08714,
                latencies={0.5: 0.00959, 0.75: 0.01937, 0.9: 0.03038, 0.99: 0.05389},
            ),
        ),
        (
            "hey.txt",
            Report(
                tool="hey", line=2, requests=500, errors=0, seconds=1.4704,
                requests_per_second=340.0369, received_bytes=8500.0, mean_seconds=0.0056,
                min_seconds=0.0011, max_seconds=0.106,
                latencies={
                    0.1: 0.0013, 0.25: 0.0021, 0.5: 0.0033, 0.75: 0.0057, 0.9: 0.0105,
                    0.95: 0.0144, 0.99: 0.0539,
                },
            ),
        ),
        (
            "vegeta.json",
            Report(
                tool="vegeta", requests=200, errors=0, seconds=3.982738355 + 0.006184667,
                requests_per_second=50.21670573687485, received_bytes=3400.0,
                mean_seconds=0.619297675, min_seconds=0.001545295, max_seconds=2.860143401,
                latencies={
                    0.5: 0.513503617, 0.9: 1.272942859, 0.95: 1.478745790, 0.99: 2.222093146
                },
            ),
        ),
        (
            "k6.txt",
            Report(
                tool="k6", line=2, requests=300, errors=0, seconds=300 / 305.613567,
                requests_per_second=305.613567, received_bytes=40_000.0, mean_seconds=0.00638,
                min_seconds=0.00114, max_seconds=0.13202,
                latencies={0.5: 0.00328, 0.9: 0.00918, 0.95: 0.01455},
            ),
        ),
    ],
)  # fmt: skip
def test_every_number_of_a_report_has_its_place(name, expected):
    run = read(name)

    assert {0.5, 0.9} < run.latencies.keys() == expected.latencies.keys()
    for field in Report.__slots__:
        mine, theirs = getattr(run, field), getattr(expected, field)
        assert (theirs if theirs is None or field == "tool" else pytest.approx(theirs)) == mine


def parsed(text):
    (report,), damage = parse_loadtest(text.encode(), source="x")
    return report, damage


@pytest.mark.parametrize(
    ("text", "errors"),
    [
        (
            ("Summary:\n  Total:\t1.0 secs\n  Requests/sec:\t9.0\nStatus code distribution:\n"
            "  [399]\t5 responses\n  [400]\t6 responses\n"
            "Error distribution:\n  [7]\tGet x: refused\n"),
            6 + 7,
        ),
        (
            ("Requests [total, rate, throughput] 27, 1.0, 1.0\n"
            "Status Codes  [code:count]  0:1  100:2  399:4  400:8  599:16  \n"),
            1 + 8 + 16,
        ),
        (
            ("Running 1s test @ x\n  9 requests in 1s, 1.00KB read\n"
            "  Non-2xx or 3xx responses: 3\nRequests/sec: 9.00\n"),
            3,
        ),
        (
            ("This is ApacheBench,\nComplete requests: 9\nRequests per second: 9 [#/sec]\n"
            "Failed requests: 4\n"),
            4,
        ),
        ("This is ApacheBench,\nComplete requests: 9\nRequests per second: 9 [#/sec]\n", None),
    ],
    ids=["hey", "vegeta", "wrk", "ab", "ab-without"],
)  # fmt: skip
def test_an_error_is_no_answer_or_one_of_4xx_or_5xx(text, errors):
    report, damage = parsed(text)

    assert (errors, []) == (report.errors, damage)


@pytest.mark.parametrize(
    "text",
    [
        "Running 1s test @ x\nRequests/sec: 9.00\n",
        "Summary:\n  Total:\t1.0 secs\n  Requests/sec:\t9.0\n",
        "Requests [total, rate, throughput] x, 9.0, 9.0\n",
        "This is ApacheBench,\nRequests per second: 9 [#/sec]\n",
    ],
    ids=["wrk", "hey", "vegeta", "ab"],
)
def test_a_rate_alone_is_kept_and_what_is_missing_is_unknown_and_told(text):
    report, damage = parsed(text)

    assert (None, None, 9.0) == (report.requests, report.errors, report.requests_per_second)
    assert None is report.received_bytes is report.mean_seconds is report.max_seconds
    assert [text.strip()[:80]] == [one.text.replace("\\n", "\n").strip() for one in damage]


def test_a_beginning_alone_is_damage_and_no_report():
    reports, damage = parse_loadtest(b"This is ApacheBench, " + b"x" * 90, source="x")

    assert [] == reports
    assert ["This is ApacheBench, " + "x" * 59] == [one.text for one in damage]


@pytest.mark.parametrize(
    ("line", "latencies"),
    [
        ("     87.5%    2.00ms", {0.875: 0.002}),
        ("    100.000%  2.00ms", {}),
        ("     99%      2.00xs", {}),
    ],
)
def test_a_quantile_of_wrk_is_below_all_and_has_a_time(line, latencies):
    report, _ = parsed(f"Running 1s test @ x\n{line}\n  9 requests in 1s, 1KB read\n")

    assert latencies == report.latencies


def test_more_than_all_requests_is_no_quantile_of_ab():
    report, _ = parsed("This is ApacheBench,\nComplete requests: 9\n  99%  7\n 150%  8\n")

    assert {0.99: 0.007} == report.latencies


@pytest.mark.parametrize(
    ("name", "path", "field"),
    [
        ("vegeta", ("wait",), None),
        ("vegeta", ("duration",), "seconds"),
        ("vegeta", ("latencies", "99th"), 0.99),
        ("vegeta", ("bytes_in",), "received_bytes"),
        ("vegeta", ("status_codes",), "errors"),
        ("k6", ("metrics", "http_reqs", "rate"), "seconds"),
        ("k6", ("metrics", "http_req_duration", "p(90)"), 0.9),
        ("k6", ("metrics", "http_req_duration", "med"), 0.5),
    ],
)
def test_a_number_that_is_none_makes_that_one_unknown(name, path, field):
    """
    Of the wait for the last answer alone none: then the attack is the time.
    """
    value = json.loads((FOLDER / f"{name}.json").read_text())
    inner = value
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = "x"

    (report,), _ = parse_loadtest(json.dumps(value).encode(), source="x")

    if isinstance(field, float):
        assert field not in report.latencies
    else:
        assert field is None or getattr(report, field) is None
    assert field == "seconds" or report.seconds == pytest.approx(
        {"vegeta": 3.98, "k6": 0.98}[name], abs=0.01
    )
    assert 1 == report.line


@pytest.mark.parametrize("key", ["latencies", "status_codes", "requests", "rate"])
def test_vegetas_json_has_four_keys(key):
    whole_one = {"latencies": {}, "status_codes": {"404": 3, "500": "x"}, "requests": 3, "rate": 1}
    lacking = {name: value for name, value in whole_one.items() if name != key}

    assert looks_like_loadtest(json.dumps(whole_one).encode())
    assert 3 == parse_loadtest(json.dumps(whole_one).encode(), source="x")[0][0].errors
    assert not looks_like_loadtest(json.dumps(lacking).encode())
    assert not looks_like_loadtest(json.dumps(whole_one | {"latencies": 1}).encode())


def test_a_status_that_is_none_of_vegetas_is_no_error():
    value = {"latencies": {}, "status_codes": {"404": 3, "x": 5}, "requests": 8, "rate": 1}

    assert 3 == parse_loadtest(json.dumps(value).encode(), source="x")[0][0].errors


def test_no_more_than_a_thousand_reports_of_a_file_are_read_and_that_is_told(monkeypatch):
    one = Report(tool="quick", requests=1, requests_per_second=1.0)
    monkeypatch.setattr(loadtest, "TOOLS", (Tool("quick", r"^run$", lambda *_: one),))

    thousand, without = parse_loadtest(b"run\n" * 1000, source="x")
    cut, damage = parse_loadtest(b"run\n" * 1001, source="x")

    assert (1000, []) == (len(thousand), without)
    assert 1000 == len(cut)
    assert ["more than 1000 reports; the rest is not read"] == [one.what for one in damage]


def test_what_is_longer_than_16_mib_is_no_summary(monkeypatch):
    monkeypatch.setattr(loadtest, "TOOLS", ())
    data = bytes(16 << 20)

    with pytest.raises(FormatError, match="no report"):
        parse_loadtest(data, source="x")
    with pytest.raises(FormatError, match="larger than 16777216 bytes"):
        parse_loadtest(data + b"\0", source="x")


@pytest.mark.parametrize(("further", "known"), [(0, True), (1, False)])
def test_a_report_begins_within_the_first_64_kib(further, known):
    begin = b"This is ApacheBench,"
    before = b"x" * ((64 << 10) - len(begin) - 1 + further) + b"\n"

    assert known == looks_like_loadtest(before + begin + b" Version")


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
     ("7ns", 7e-9), ("7µs", 7e-6), ("7μs", 7e-6), ("1h1m1s", 3661.0), ("0", 0.0),
     ("", None), ("5", None), ("1.5x", None), ("-1s", None)],
)  # fmt: skip
def test_durations(text, seconds):
    assert (None if seconds is None else pytest.approx(seconds)) == duration(text)


@pytest.mark.parametrize(
    ("value", "count"),
    [(0, 0), (2**62, 2**62), (2**62 + 1024, None), ("7", 7), (7.9, 7), (-1, None), (True, None)],
)
def test_a_count_fits_64_bits(value, count):
    assert count == whole(value)


def test_a_number_is_as_it_is_or_times_its_scale():
    assert [0.0, 3.0, 6.0] == [finite("0"), finite(3), finite("3", 2.0)]


def test_a_k_of_bytes_is_the_tools():
    assert [1000, 1024, 5] == [size("1 kB", 1000), size("1.00KB", 1024), size("5B", 1024)]
    assert [1024**2, 1024**3, 1024**4] == [size(f"1{k}B", 1024) for k in "MGT"]
    assert size("5 PB", 1000) is None
