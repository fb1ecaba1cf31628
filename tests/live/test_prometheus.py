"""A Prometheus server's answers, as it gave them, become captures."""

import json
import re
import tarfile
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs, urlsplit

import pytest

import gomem
from gomem.cli.main import run as run_gomem
from gomem.errors import CaptureError
from gomem.live.endpoints import Access, open_endpoints
from gomem.live.instances import selector_of
from gomem.live.prometheus import LABELS, STEPS, captured
from gomem.live.span import Span, duration
from tests.builders import FIXTURES
from tests.live.services import serving

ANSWERS = FIXTURES / "prometheus"
TEN_MINUTES = Span.of("10m", "60s", steps=STEPS, end=datetime(2026, 11, 26, 4, 49, tzinfo=UTC))


class Recorded(BaseHTTPRequestHandler):
    """Answers a query with what the real server answered to it."""

    asked: list[dict[str, list[str]]]

    def do_GET(self):
        url = urlsplit(self.path)
        parameters = parse_qs(url.query)
        self.asked.append(parameters)
        (query,) = parameters["query"]
        if url.path.endswith("/query_range"):
            port = re.search(r'instance="127\.0\.0\.1:(\d+)"', query)[1]
            name = f"range-{port}.json"
        else:
            name = f"query-{re.search(r'go_[a-z_]+', query)[0]}.json"
        body = (ANSWERS / name).read_bytes()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def ask(url, query, folder, span=TEN_MINUTES):
    with open_endpoints(url, Access()) as server:
        return captured(server, selector_of(query), span, folder)


def test_each_instance_is_a_capture_of_its_scrapes(tmp_path):
    with serving(Recorded) as url:
        paths = ask(url, '{job="api"}', tmp_path)

    assert [f"api/127.0.0.1:{port}/20261126T044900Z.tar.gz" for port in range(9101, 9106)] == [
        path.relative_to(tmp_path).as_posix() for path in paths
    ]
    with tarfile.open(paths[0]) as archive:
        assert 11 == len(archive.getnames())
        page = archive.extractfile(archive.getnames()[-1]).read().decode()
    told = json.loads((ANSWERS / "range-9101.json").read_text())["data"]["result"]
    heap = next(s for s in told if "go_memstats_heap_inuse_bytes" == s["metric"]["__name__"])
    assert f"go_memstats_heap_inuse_bytes {heap['values'][-1][1]}\n" in page
    assert 'go_info{version="go1.26.8"} 1' in page
    assert "job=" not in page


def test_what_is_asked_for_is_the_selector_and_the_range(tmp_path):
    with serving(Recorded) as url:
        ask(url, '{job="api"}', tmp_path)
        first, *_, last = Recorded.asked

    assert ['last_over_time(go_goroutines{job="api"}[600s])'] == first["query"]
    assert ["60"] == last["step"]
    assert 600.0 == float(last["end"][0]) - float(last["start"][0])


def test_a_fleet_of_them_names_the_one_that_leaks(tmp_path):
    with serving(Recorded) as url:
        ask(url, '{job="api"}', tmp_path)

    fleet = gomem.fleet(tmp_path, labels=LABELS, workers=0)

    (row,) = fleet.outliers.to_dict("records")
    assert ("127.0.0.1:9105", "goroutines", 7.0) == (row["instance"], row["part"], row["median"])
    assert row["value"] > 10_000
    assert row["cost_bytes"] > 30 << 20
    assert {"go1.26.8"} == set(fleet.captures["go_version"])
    assert {11} == set(fleet.captures["moments"])


def test_the_command_keeps_the_scrapes_beside_the_dataset(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with serving(Recorded) as url:
        code = run_gomem(
            [
                "fleet",
                "prometheus",
                url,
                "--query",
                '{job="api"}',
                "--range",
                "10m",
                "-o",
                "out",
                "--workers",
                "0",
            ]
        )

    assert 0 == code
    assert "4 of 5 instances are alike; 127.0.0.1:9105 has" in capsys.readouterr().out
    assert 5 == len(list((tmp_path / "out" / "scrapes").rglob("*.tar.gz")))


@pytest.mark.parametrize(("text", "seconds"), [("90s", 90), ("30m", 1800), ("7d", 604_800)])
def test_a_duration_is_as_prometheus_writes_it(text, seconds):
    assert seconds == duration(text, "--range")


def test_what_is_no_duration_or_selector_is_refused(tmp_path):
    with pytest.raises(CaptureError, match="--range soon: wanted a duration"):
        Span.of("soon", steps=STEPS)
    with pytest.raises(CaptureError, match="604800 steps"):
        Span.of("7d", "1s", steps=STEPS)
    with pytest.raises(CaptureError, match="wanted a selector"):
        selector_of("up")
    with pytest.raises(CaptureError, match=r"http://127\.0\.0\.1:1: "):
        ask("http://127.0.0.1:1", "", tmp_path)


class NoServer(Recorded):
    """Some other service."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "6")
        self.end_headers()
        self.wfile.write(b"hello\n")


def test_another_service_is_no_prometheus_server(tmp_path):
    with serving(NoServer) as url, pytest.raises(CaptureError, match="no answer of a Prometheus"):
        ask(url, "", tmp_path)
