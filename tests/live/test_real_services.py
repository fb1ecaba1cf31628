"""Services as Debian ships them: release known, RSS to the byte, no finding that is not so."""

import shutil
import socket
import subprocess
import time
from contextlib import contextmanager, suppress

import httpx
import pytest

import gomem
from gomem.cli.main import run


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def prometheus(folder, port, _):
    (folder / "prometheus.yml").write_text("global: {scrape_interval: 1s}\n")
    config = [f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}"]
    return ["prometheus", *config, f"--web.listen-address=127.0.0.1:{port}"], "/metrics"


def etcd(folder, port, other):
    url, peer = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{other}"
    urls = ["--listen-client-urls", url, "--advertise-client-urls", url]
    peers = ["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer]
    peers += ["--initial-cluster", f"default={peer}"]
    return ["etcd", "--data-dir", str(folder), *urls, *peers, "--enable-pprof"], "/debug/vars"


def caddy(folder, port, other):
    config = f"{{\n admin 127.0.0.1:{port}\n}}\nhttp://127.0.0.1:{other} {{\n respond hello\n}}\n"
    (folder / "Caddyfile").write_text(config)
    file = ["--config", str(folder / "Caddyfile"), "--adapter", "caddyfile"]
    return ["caddy", "run", *file], "/metrics"


def nats(_, port, other):
    return ["nats-server", "-a", "127.0.0.1", "-p", str(other), "--profile", str(port)], INDEX


INDEX = "/debug/pprof/"


@contextmanager
def running(service, folder):
    port, other = free_ports(2)
    command, path = service(folder, port, other)
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed; Debian has it")
    nowhere = subprocess.DEVNULL
    process = subprocess.Popen(command, stdout=nowhere, stderr=nowhere, cwd=folder)
    try:
        wait_for(f"http://127.0.0.1:{port}{path}")
        yield process
    finally:
        process.kill()
        process.wait()


def wait_for(url):
    until = time.monotonic() + 30
    while time.monotonic() < until:
        with suppress(httpx.HTTPError):
            if httpx.get(url, trust_env=False).is_success:
                return
        time.sleep(0.1)
    pytest.fail(f"{url} does not answer")


@pytest.mark.parametrize("service", [prometheus, etcd, caddy, nats], ids=lambda one: one.__name__)
def test_a_real_service_is_captured_and_told(service, tmp_path):
    (tmp_path / "data").mkdir(mode=0o700)
    out = tmp_path / "capture"
    with running(service, tmp_path / "data") as process:
        arguments = ["capture", str(process.pid), "-o", str(out), "--every", "200ms", "--for", "1s"]
        assert 0 == run(arguments)

    diagnosis = gomem.diagnose(out)
    capture = diagnosis.capture
    assert () == capture.damaged
    assert capture.go_version.exact is not None
    assert len(capture.by_moment) >= 3
    ledger = diagnosis.ledger.groupby("moment")["bytes"].sum()
    resident = capture.smaps.groupby("moment")["Rss"].sum()
    assert resident.astype("int64").to_dict() == ledger.astype("int64").to_dict()
    crossed = [one.collections for one in capture.by_moment.values() if one.collections]
    assert len(crossed) <= 1
    assert [] == [one.code for one in diagnosis.findings if one.severity != "info"]
