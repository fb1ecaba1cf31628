"""Answers are bounded, hosts are who they say they are, and URLs are told without secrets."""

import shutil
import subprocess

import pytest

from gomem.errors import CaptureError
from gomem.live import endpoints
from gomem.live.endpoints import Access, NoAnswer, open_endpoints, split_url, without_secrets
from tests.live.services import GOOD, fake_service


@pytest.mark.parametrize(
    ("url", "base"),
    [
        ("http://127.0.0.1:6060", "http://127.0.0.1:6060"),
        ("http://127.0.0.1:6060/debug/pprof/heap?gc=1", "http://127.0.0.1:6060"),
        ("https://api.example/internal/debug/vars", "https://api.example/internal"),
        ("http://[::1]:6060/metrics", "http://[::1]:6060"),
        ("http://me:secret@host:1/metrics/", "http://host:1"),
        ("http://host/metricsystem", "http://host/metricsystem"),
    ],
)
def test_the_base_of_a_url(url, base):
    assert base == split_url(url)[0]


def test_a_name_and_password_are_taken_out_and_decoded():
    assert ("me", "s:e@c") == split_url("http://me:s%3Ae%40c@host/")[1]


@pytest.mark.parametrize(
    "url", ["6060", "host:6060", "ftp://host", "http://", "http://h:x", "file:///etc/passwd"]
)
def test_what_is_no_url_is_said_with_one_that_is(url):
    with pytest.raises(CaptureError, match="give a PID, or a URL"):
        split_url(url)


@pytest.mark.parametrize(
    "url", ["http://me:secret@host/a", "me:secret@host", "http://host/a?token=secret#secret"]
)
def test_a_secret_is_not_said(url):
    assert "secret" not in without_secrets(url)


def test_an_answer_is_read_within_bounds(monkeypatch):
    monkeypatch.setattr(endpoints, "MAX_ANSWER_BYTES", 1000)
    with fake_service(GOOD) as service, open_endpoints(service.url, Access()) as address:
        with pytest.raises(NoAnswer, match="answers with more than"):
            address.get("/debug/vars")

        assert address.get("/debug/pprof/").data


def test_nothing_listens_there():
    with fake_service({}) as service:
        pass
    with (
        open_endpoints(service.url, Access()) as address,
        pytest.raises(NoAnswer, match="nothing listens there") as refused,
    ):
        address.get("/metrics")

    assert refused.value.silent


@pytest.fixture
def certificate(tmp_path):
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    path = tmp_path / "server.pem"
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *names]
    subprocess.run(
        [*made, "-keyout", str(path), "-out", str(tmp_path / "cert.pem")],
        check=True,
        capture_output=True,
    )
    path.write_text(path.read_text() + (tmp_path / "cert.pem").read_text())
    return path


def test_a_certificate_is_trusted_when_somebody_says_so(certificate, tmp_path):
    with fake_service(GOOD, str(certificate), scheme="https") as service:
        with (
            open_endpoints(service.url, Access()) as address,
            pytest.raises(NoAnswer, match=r"certificate is not trusted .*--ca FILE"),
        ):
            address.get("/metrics")
        for access in (Access(authority=tmp_path / "cert.pem"), Access(insecure=True)):
            with open_endpoints(service.url, access) as address:
                assert address.get("/metrics").data


def test_a_file_without_certificates_is_said(tmp_path):
    (tmp_path / "none.pem").write_text("hello")

    with pytest.raises(CaptureError, match="a PEM file is required"):
        open_endpoints("https://host", Access(authority=tmp_path / "none.pem"))
