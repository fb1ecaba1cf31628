"""What Pyroscope and Parca answered about processes of known live heap becomes captures of it."""

import base64
import gzip
import json
from datetime import datetime, timedelta
from functools import cache
from http.server import BaseHTTPRequestHandler
from types import MappingProxyType

import pytest

import gomem
from gomem.cli.main import run as run_gomem
from gomem.errors import CaptureError
from gomem.inputs.pprof.read import read_pprof
from gomem.inputs.pprof.sites import top_sites
from gomem.live import endpoints, span, stored_profiles
from gomem.live.endpoints import Access, open_endpoints
from gomem.live.grpc_web import framed, unframed
from gomem.live.instances import instances_of
from gomem.live.parca import _MESSAGES as PARCA_MESSAGES
from gomem.live.parca import Parca
from gomem.live.pyroscope import _MESSAGES as PYROSCOPE_MESSAGES
from gomem.live.pyroscope import Pyroscope
from gomem.live.span import Span
from gomem.live.stored_profiles import UNITS, fetched
from gomem.views.json.report import render_json_report
from tests.builders import FIXTURES
from tests.live.services import serving

STORES = FIXTURES / "stores"
STORE = {"parca": Parca, "pyroscope": Pyroscope}
BLOCK_BYTES = 4 << 20
# What Go's profile says of a block, of which all but one in 3 000 are seen: 1 / (1 - exp(-8)).
BLOCK_SEEN_AS = BLOCK_BYTES * 1.00033557
INSTANCES = {
    "parca": [f"shop/127.0.0.1:{port}" for port in (9311, 9312, 9313)],
    "pyroscope": [
        *(f"pushed/127.0.0.1:{port}" for port in (9314, 9315)),
        *(f"shop/127.0.0.1:{port}" for port in (9311, 9312, 9313)),
    ],
}
PROFILE = ("/SelectMergeProfile", "/Query")  # how the paths that give a profile end
TRAILER = b"\x80\0\0\0\x10grpc-status: 0\r\n"
GROWING = ("9313", "9315")
both = pytest.mark.parametrize("name", STORE)


@cache
def recorded(name):
    """The end of the range that was asked for, and each answer by its question."""
    first, *lines = map(json.loads, (STORES / f"{name}.jsonl").read_text().splitlines())
    answers = {(line["path"], data(line["asked"])): data(line["answer"]) for line in lines}
    return datetime.fromisoformat(first["end"]), answers


def data(told):
    return base64.b64decode(told) if isinstance(told, str) else json.dumps(told).encode()


def spans(name):
    return Span.of("6m", "2m", steps=1, end=recorded(name)[0])


class Answering(BaseHTTPRequestHandler):
    """A server that answers what `answer` makes of a question."""

    answer = staticmethod(lambda *_: b"")
    content_type = "application/octet-stream"
    status = 200
    length = None

    def do_POST(self):
        asked = self.rfile.read(int(self.headers["Content-Length"]))
        self.asked.append((self.path, asked))
        try:
            body = self.answer(self.path, asked)
        except ConnectionAbortedError:
            self.close_connection = True
            return
        status = 404 if body is None else self.status
        body = body or b""
        self.send_response(status)
        self.send_header("Content-Type", self.content_type)
        self.send_header("Content-Length", str(self.length or len(body)))
        for header, value in self.more_headers.items():
            self.send_header(header, value)
        self.end_headers()
        self.wfile.write(body)

    more_headers = MappingProxyType({})

    do_GET = do_POST  # noqa: N815 - http.server's name

    def log_message(self, *_):
        pass


def replaying(name, changed=lambda *told: told[-1], **own):
    """A server that answers as the real one did, or what `changed` makes of that."""
    answers = recorded(name)[1]

    def answer(path, asked):
        return changed(path, asked, answers.get((path, asked)))

    return serving(type("Replaying", (Answering,), {"answer": staticmethod(answer), **own}))


def told(body, **own):
    """A server that says the same to every question."""
    return serving(type("Told", (Answering,), {"answer": staticmethod(lambda *_: body), **own}))


def ask(name, url, folder, selector=""):
    with open_endpoints(url, Access(timeout_seconds=20)) as server:
        return fetched(STORE[name](server, selector), spans(name), folder)


def blocks(profile):
    """Bytes in use that the blocks of a profile have."""
    sites = top_sites(profile, "inuse_space").top
    return int(sites.loc[sites["function"] == "main.keepBlock", "flat"].sum())


def profiles(capture):
    return [read_pprof(path) for path in sorted(capture.glob("*.heap.pb.gz"))]


def held(capture, time):
    """Bytes that a process kept within six seconds of a time."""
    port = capture.parent.name.rpartition(":")[2]
    seen = json.loads((STORES / "held.json").read_text())[port]
    return {kept for at, kept in seen if abs(at - time.timestamp()) < 6}


@both
def test_each_instance_is_a_capture_with_what_its_process_kept(name, tmp_path):
    with replaying(name) as url:
        found = ask(name, url, tmp_path)

    assert () == found.missing
    assert INSTANCES[name] == [
        path.parent.relative_to(tmp_path).as_posix() for path in found.captures
    ]
    for capture in found.captures:
        assert len(profiles(capture)) >= 3
        for profile in profiles(capture):
            kept = round(blocks(profile) / BLOCK_SEEN_AS) * BLOCK_BYTES
            assert kept in held(capture, profile.time)
            assert abs(blocks(profile) / BLOCK_SEEN_AS * BLOCK_BYTES - kept) < 1000


@both
def test_the_scrapes_of_a_capture_have_their_times_and_reach_over_the_range(name, tmp_path):
    with replaying(name) as url:
        capture = ask(name, url, tmp_path).captures[0]

    moments = gomem.load(capture).moments["time"]
    assert [profile.time for profile in profiles(capture)] == list(moments)
    assert moments.iloc[-1] > spans(name).end - timedelta(seconds=35)
    assert moments.iloc[-1] - moments.iloc[0] > timedelta(minutes=3)


def test_what_a_store_counts_otherwise_is_not_asked_for(tmp_path):
    """Pyroscope has of alloc_space what came since the scrape before; Parca what Go counted."""
    types = {}
    for name in STORE:
        with replaying(name) as url:
            (first, *_) = ask(name, url, tmp_path / name).captures
        types[name] = profiles(first)[0].sample_type_names

    assert ["inuse_objects", "inuse_space"] == list(types["pyroscope"])
    assert list(UNITS) == list(types["parca"])


@both
def test_no_question_is_for_more_than_one_scrape(name, tmp_path):
    asked = []
    with replaying(name, lambda path, body, answer: asked.append((path, body)) or answer) as url:
        ask(name, url, tmp_path)

    single = {"parca": lambda body: request_of(name, body).HasField("single")}
    single["pyroscope"] = lambda body: request_of(name, body).end - request_of(name, body).start
    of_profiles = [body for path, body in asked if path.endswith(PROFILE)]
    assert {1} == set(map(single[name], of_profiles))
    assert len(of_profiles) >= 3 * 2 * len(INSTANCES[name])


@both
def test_the_command_keeps_the_profiles_and_names_what_grows(name, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(span, "datetime", At(recorded(name)[0]))
    with replaying(name) as url:
        arguments = ["--range", "6m", "--step", "2m", "-o", "out", "--workers", "0"]
        code = run_gomem(["fleet", name, url, *arguments])

    assert 0 == code, capsys.readouterr().err
    assert len(INSTANCES[name]) == len(list((tmp_path / "out" / "profiles").glob("*/*/*")))
    again = gomem.fleet("out/profiles", workers=0)
    growing = again.findings.query("code == 'heap-growth'")["instance"]
    assert {name.partition("/")[2] for name in INSTANCES[name] if name[-4:] in GROWING} == set(
        growing
    )
    live = again.levels.query("name == 'inuse_space'").set_index("instance")["last"]
    assert live["127.0.0.1:9313"] > 150 << 20
    # Its eight blocks, and less than one more of all else that the program has.
    assert 0 <= live["127.0.0.1:9311"] - 8 * BLOCK_SEEN_AS < BLOCK_BYTES


@both
def test_nothing_in_the_range_is_said_with_the_way_out(name, tmp_path):
    answers = {"pyroscope": {"body": b"{}"}}
    answers["parca"] = {"body": b"", "more_headers": {"Grpc-Status": "5", "Grpc-Message": "none"}}
    what = "no heap profile of a Go process; give a longer --range or another --query"
    with told(**answers[name]) as url, pytest.raises(CaptureError, match=what):
        ask(name, url, tmp_path)


def test_a_header_is_sent_to_the_server_and_to_no_other(capsys):
    """A tenant's id goes along; where the server redirects to another host, nothing does."""
    away = {"Location": "http://127.0.0.2:1/"}
    seen = []

    class Redirecting(Answering):
        def do_POST(self):
            seen.append(self.headers["X-Scope-OrgID"])
            type(self).status, type(self).more_headers = 302, away
            super().do_POST()

    with serving(Redirecting) as url:
        code = run_gomem(["fleet", "pyroscope", url, "--header", "X-Scope-OrgID: secret-tenant"])

    said = capsys.readouterr().err
    assert 2 == code
    assert ["secret-tenant"] == seen
    assert "another host, which is not followed" in said
    assert "secret-tenant" not in said


def test_growth_by_profiles_that_do_not_say_their_rate_has_no_interval(tmp_path):
    with replaying("parca") as url:
        *_, growing = ask("parca", url, tmp_path).captures

    told = json.loads(render_json_report(gomem.diagnose(growing)))

    (finding,) = [each for each in told["findings"] if each["code"] == "heap-growth"]
    (site,) = finding["sites"]
    assert ("main.keepBlock", None, None) == (site["function"], site["low"], site["high"])


class At:
    """A clock that stands."""

    def __init__(self, time):
        self.time = time

    def now(self, _):
        return self.time


HTML = b"<!DOCTYPE html><html><head><title>Grafana</title></head></html>"


@both
@pytest.mark.parametrize(
    ("body", "own", "what"),
    [
        pytest.param(
            HTML, {}, "no answer of a .* server, but an HTML page.*check the URL", id="html"
        ),
        pytest.param(b"", {}, "no answer of a .* server, but an empty file", id="nothing"),
        pytest.param(b"[]", {}, "no answer of a .* server, but JSON holding a list", id="list"),
        pytest.param(b"\0\0\0\1\0half", {}, "no answer of a", id="cut"),
        pytest.param(b"{}", {"length": 4096}, "closed the connection|ended after", id="short"),
        pytest.param(
            b'{"code":"invalid_argument","message":"the query time range exceeds the limit"}',
            {"status": 400, "content_type": "application/json"},
            "answered 400 Bad Request: the query time range exceeds the limit",
            id="json-error",
        ),
        pytest.param(
            b"", {"more_headers": {"Location": "http://127.0.0.2:1/"}, "status": 302},
            "redirects to 127.0.0.2, another host, which is not followed", id="redirect",
        ),
        pytest.param(b"", {"status": 401}, "answered 401 Unauthorized", id="unauthorized"),
        pytest.param(
            b"", {"more_headers": {"Grpc-Status": "3", "Grpc-Message": "no%20such%0Aquery"}},
            r"refuses, with gRPC's status 3: no such\\nquery", id="grpc",
        ),
    ],
)  # fmt: skip
def test_what_is_no_answer_is_said_with_the_way_out(name, body, own, what, tmp_path):
    with told(body, **own) as url, pytest.raises(CaptureError, match=what) as error:
        ask(name, url, tmp_path)

    assert str(error.value).startswith(f"{url}: ")
    assert [] == list(tmp_path.iterdir())


@both
def test_an_endless_answer_is_cut_off(name, tmp_path, monkeypatch):
    monkeypatch.setattr(endpoints, "MAX_ANSWER_BYTES", 1 << 20)
    with told(b"x" * (4 << 20)) as url, pytest.raises(CaptureError, match="more than 1 MiB"):
        ask(name, url, tmp_path)


@both
def test_half_a_profile_is_missing_and_the_others_are_read(name, tmp_path):
    """One answer of many is cut: that profile is told, and the rest stay."""
    halved = []

    def changed(path, asked, answer):
        if path.endswith(PROFILE) and not halved:
            halved.append(asked)
            return half_of(name, answer)
        return answer

    with replaying(name, changed) as url:
        found = ask(name, url, tmp_path)

    (missing,) = found.missing
    assert INSTANCES[name][0].partition("/")[2] in missing
    assert len(INSTANCES[name]) == len(found.captures)


def request_of(name, body):
    """The question for a profile."""
    if name == "parca":
        return PARCA_MESSAGES["QueryRequest"].FromString(unframed(body + TRAILER))
    return PYROSCOPE_MESSAGES["SelectMergeProfileRequest"].FromString(body)


@both
def test_a_server_that_falls_silent_is_not_asked_again(name, tmp_path):
    """What came before stays; the rest is not waited for one by one."""
    asked = []

    def changed(path, body, answer):
        if path.endswith(PROFILE):
            asked.append(body)
            if len(asked) > len(STORE[name].types):
                raise ConnectionAbortedError
        return answer

    with replaying(name, changed) as url:
        found = ask(name, url, tmp_path)

    (capture,) = found.captures
    assert 1 == len(profiles(capture)) == len(found.missing)
    assert len(STORE[name].types) + 1 == len(asked)


def half_of(name, answer):
    if name == "pyroscope":
        return answer[: len(answer) // 2]
    whole = PARCA_MESSAGES["QueryResponse"].FromString(unframed(answer))
    whole.pprof = whole.pprof[: len(whole.pprof) // 2]
    return framed(whole.SerializeToString()) + TRAILER


def test_a_profile_that_expands_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(stored_profiles, "MAX_ANSWER_BYTES", 1 << 20)
    bomb = PARCA_MESSAGES["QueryResponse"](pprof=gzip.compress(bytes(64 << 20)))

    def changed(path, _, answer):
        return framed(bomb.SerializeToString()) + TRAILER if path.endswith("/Query") else answer

    with (
        replaying("parca", changed) as url,
        pytest.raises(CaptureError, match=r"127\.0\.0\.1:9311 at"),
    ):
        ask("parca", url, tmp_path)


def test_two_processes_with_the_same_labels_are_not_added_up(tmp_path):
    """Of two scrapes in a millisecond, the sum is twice the average: there is no profile."""

    def changed(path, asked, answer):
        if path.endswith("/SelectSeries") and b"_SUM" in asked:
            content = json.loads(answer)
            for series in content["series"]:
                for point in series["points"]:
                    point["value"] *= 2
            return json.dumps(content).encode()
        return answer

    with (
        replaying("pyroscope", changed) as url,
        pytest.raises(CaptureError, match="no heap profile of a Go process; give a longer"),
    ):
        ask("pyroscope", url, tmp_path)


@both
def test_names_of_instances_stay_in_the_folder(name, tmp_path):
    hostile = ["../../x", "..", "/etc/passwd", "a\\b\x00c", "x" * 5000, "\u202e.", "ü"]
    series = {"parca": series_of_parca, "pyroscope": series_of_pyroscope}[name](name, hostile)

    def changed(path, asked, _):
        return profile_like(name, asked) if path.endswith(PROFILE) else series

    with replaying(name, changed) as url:
        found = ask(name, url, tmp_path / "a" / "b")

    assert () == found.missing
    assert len(hostile) == len(set(found.captures))
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert all(path.is_relative_to(tmp_path / "a" / "b") for path in files)
    assert {4} == {len(path.relative_to(tmp_path / "a" / "b").parts) for path in files}


def profile_like(name, asked):
    """An answer that was recorded for a question with the same type of profile."""
    wanted = type_asked(name, asked)
    return next(
        answer
        for (path, body), answer in recorded(name)[1].items()
        if path.endswith(PROFILE) and type_asked(name, body) == wanted
    )


def type_asked(name, body):
    request = request_of(name, body)
    return request.single.query.partition("{")[0] if name == "parca" else request.profile_type


def series_of_parca(name, values):
    time = {"seconds": int(spans(name).end.timestamp()) - 1}
    series = [
        {
            "labelset": {
                "labels": [{"name": "job", "value": value}, {"name": "pod", "value": value}]
            },
            "samples": [{"timestamp": time}],
        }
        for value in values
    ]
    answer = PARCA_MESSAGES["QueryRangeResponse"](series=series)
    return framed(answer.SerializeToString()) + TRAILER


def series_of_pyroscope(name, values):
    millis = int(spans(name).end.timestamp()) * 1000 - 1000
    series = [
        {
            "labels": [{"name": "pod", "value": value}, {"name": "service_name", "value": value}],
            "points": [{"timestamp": str(millis), "value": 1}],
        }
        for value in values
    ]
    return json.dumps({"names": ["pod", "service_name"], "series": series}).encode()


def test_many_series_are_refused_before_any_is_asked_for():
    labels = ({"job": "api", "instance": str(number)} for number in range(100_000))
    with pytest.raises(
        CaptureError, match=r"100000 instances match, wanted 5000 at most; .*--query"
    ):
        instances_of(labels, "http://127.0.0.1:1")


def test_instances_with_one_name_are_told_apart():
    found = instances_of(
        [
            {"job": "a", "pod": "x"},
            {"job": "a", "pod": "x", "zone": "é"},
            {"job": "a", "pod": "x-2"},
        ],
        "http://127.0.0.1:1",
    )

    assert 3 == len({(instance.service, instance.name) for instance in found})
    assert 'job="a",pod="x",zone=""' == found[0].selector
    assert 'job="a",pod="x",zone="é"' == found[1].selector
