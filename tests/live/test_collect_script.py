"""The sh collector: what `gomem capture` takes, with what a small container has."""

import gzip
import io
import json
import os
import re
import shutil
import subprocess
import tarfile
import threading
import time
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import gomem
from gomem.cli.main import run
from tests.builders import FIXTURES
from tests.live.services import (
    GOOD,
    WITH_A_LONG_PAGE,
    built_service,
    fake_service,
    go_service,
    has_go,
)

pytestmark = pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="no Linux")
GOOD_TEXT = gzip.decompress((FIXTURES / "doors/go1.27.3/heap.txt.gz").read_bytes())
SCRIPT = Path(gomem.__file__).parent / "live/collect.sh"


@pytest.fixture(params=["dash", "busybox"])
def shell(request, tmp_path):
    """A shell, and the commands it finds: busybox's are all there is where it is the shell."""
    found = shutil.which(request.param)
    if found is None:
        pytest.skip(f"{request.param} is not installed")
    if request.param == "dash":
        return [found], dict(os.environ)
    applets = tmp_path / "applets"
    applets.mkdir()
    names = subprocess.run([found, "--list"], capture_output=True, text=True, check=True)
    for name in names.stdout.split():
        (applets / name).symlink_to(found)
    return [str(applets / "sh")], {"PATH": str(applets)}


def collected(shell, *arguments, code=0):
    """What the script writes and says."""
    command, environment = shell
    done = subprocess.run(
        [*command, str(SCRIPT), *arguments], capture_output=True, env=environment, check=False
    )
    assert code == done.returncode, done.stderr.decode()
    return done.stdout, done.stderr.decode()


def unpacked(tar, folder):
    with tarfile.open(fileobj=io.BytesIO(tar)) as archive:
        archive.extractall(folder, filter="data")
    return folder / "capture"


def manifests(folder):
    return [json.loads(path.read_text())["moments"][0] for path in folder.glob("*-*/gomem.json")]


def test_it_is_what_the_command_prints(capsys):
    assert 0 == run(["capture", "--script"])

    assert SCRIPT.read_text() == capsys.readouterr().out


@pytest.mark.parametrize("answers", [GOOD, WITH_A_LONG_PAGE], ids=["", "heap-text"])
def test_it_takes_what_the_command_takes(answers, shell, tmp_path):
    """
    The same artefacts in the same order, under the same names, of the same process.
    """
    with fake_service(answers) as service:
        tar, said = collected(shell, service.pid)
        assert 0 == run(["capture", service.pid, "-o", str(tmp_path / "ours")])

    theirs, ours = unpacked(tar, tmp_path), tmp_path / "ours"
    (of_script,), (of_command,) = manifests(theirs), manifests(ours)
    paths = [
        [(kind, one["path"]) for kind, one in made["artefacts"].items()]
        for made in (of_script, of_command)
    ]
    of_cgroup = [sorted(one for one in made if one[0].startswith("memory.")) for made in paths]
    others = [[one for one in made if not one[0].startswith("memory.")] for made in paths]
    assert others[0] == others[1]
    assert of_cgroup[0] == of_cgroup[1]
    assert {"before", "after"} == of_script["num_gc"].keys()
    facts = [json.loads((one / "gomem.json").read_text()) for one in (theirs, ours)]
    for name in ("pid", "started", "goos", "goarch", "kernel", "page_size", "endpoints"):
        assert facts[0][name] == facts[1][name], name
    assert "no build info" in said


def test_the_kernels_files_are_read_while_a_long_page_is_written(shell, tmp_path):
    """
    Go reads MemStats first, and the page takes another second.
    """
    with fake_service(WITH_A_LONG_PAGE) as service:
        tar, _ = collected(shell, service.pid)

    folder = unpacked(tar, tmp_path)
    (moment,) = manifests(folder)
    began = {
        kind: datetime.fromisoformat(moment["artefacts"][kind]["time"])
        for kind in ("heap_text", "smaps", "statm")
    }
    assert moment["artefacts"]["heap_text"]["duration_seconds"] > 1
    assert 0 < (began["smaps"] - began["heap_text"]).total_seconds() < 0.8
    assert (began["statm"] - began["heap_text"]).total_seconds() < 1
    (page,) = folder.glob("*/heap.txt.gz")
    assert GOOD_TEXT == gzip.decompress(page.read_bytes())


def test_a_page_that_ends_half_way_costs_no_file_of_the_kernel(shell, tmp_path):
    with fake_service(WITH_A_LONG_PAGE | {"/debug/pprof/heap?debug=1": "die"}) as service:
        tar, _ = collected(shell, service.pid)

    (moment,) = manifests(unpacked(tar, tmp_path))
    assert {"smaps", "smaps_rollup", "status", "statm"} <= moment["artefacts"].keys()
    assert "heap_text" not in moment["artefacts"]
    assert "memstats" in [missing["artefact"] for missing in moment["missing"]]


def test_the_tar_is_a_capture(shell, tmp_path):
    with fake_service(GOOD) as service:
        tar, _ = collected(shell, "-n", "1", "-c", "2", service.pid)
    (tmp_path / "capture.tar").write_bytes(tar)

    capture = gomem.load(tmp_path / "capture.tar")

    assert () == capture.damaged
    assert [0, 0] == [moment.collections for moment in capture.by_moment.values()]
    assert {"manifest"} == set(capture.artefacts.query("moment != ''")["time_source"])
    assert capture.smaps["Rss"].sum() == capture.rollups["Rss"].sum()
    assert len(capture.memstats) == 2


@pytest.mark.parametrize("shell", ["dash"], indirect=True)
def test_nothing_secret_is_in_it(shell):
    with fake_service({"/debug/vars": "authorized"}) as service:
        tar, said = collected(shell, "-H", "Authorization: Bearer sesame", service.pid)

    with tarfile.open(fileobj=io.BytesIO(tar)) as archive:
        content = b"".join(
            archive.extractfile(member).read() for member in archive if member.isfile()
        )
    assert b"NumGC" in content
    for secret in ("sesame", "s3cr3t", "fake_service.py"):
        assert secret.encode() not in content
        assert secret not in said


@pytest.mark.parametrize("how", ["hang", "die", "html", "401", "cut-profile"])
def test_a_bad_profile_is_left_out_and_said(how, tmp_path):
    shell = shutil.which("dash") or "sh"
    with fake_service(GOOD | {"/debug/pprof/heap": how}) as service:
        tar, said = collected(([shell], dict(os.environ)), "-t", "1", service.pid)

    (moment,) = manifests(unpacked(tar, tmp_path))
    assert "heap" not in moment["artefacts"]
    assert {"memstats", "smaps", "goroutine"} <= moment["artefacts"].keys()
    assert "no heap: did not answer with a whole profile" in said
    assert ["heap"] == [one["artefact"] for one in moment["missing"]]


@pytest.mark.parametrize(("ago", "between"), [("0", 1), ("60", 0)])
def test_a_collection_between_is_counted_and_one_before_is_none(ago, between, tmp_path):
    shell = shutil.which("dash") or "sh"
    with fake_service(GOOD, COLLECTIONS="1", GC_AGO=ago) as service:
        tar, _ = collected(([shell], dict(os.environ)), service.pid)

    folder = unpacked(tar, tmp_path)
    (moment,) = manifests(folder)
    assert between == moment["num_gc"]["after"] - moment["num_gc"]["before"]
    kept = json.loads(next(folder.glob("*/memstats.json")).read_text())
    assert moment["num_gc"]["before"] == kept["NumGC"]


def test_the_process_ends_half_way(shell, tmp_path):
    command, environment = shell
    with fake_service(GOOD) as service:
        with (tmp_path / "capture.tar").open("wb") as tar:
            running = subprocess.Popen(
                [*command, str(SCRIPT), "-n", "0", service.pid],
                stdout=tar,
                stderr=subprocess.PIPE,
                env=environment,
            )
        until = time.monotonic() + 30
        while (tmp_path / "capture.tar").stat().st_size < 300_000 and time.monotonic() < until:
            time.sleep(0.02)
        service.process.kill()
        said = running.communicate()[1].decode()

    capture = gomem.load(tmp_path / "capture.tar")
    assert "the process ended" in said
    assert () == capture.damaged
    assert len(capture.by_moment) >= 1


def test_a_process_that_is_not_there(shell):
    gone = subprocess.Popen(["true"])
    gone.wait()

    _, said = collected(shell, str(gone.pid), code=2)

    assert "no such process here" in said


@pytest.mark.parametrize("arguments", [[], ["x"], ["-n", "x", "1"], ["-q", "1"], ["1", "2"]])
def test_wrong_usage(arguments):
    _, said = collected(([shutil.which("sh")], dict(os.environ)), *arguments, code=2)

    assert "wanted: sh collect.sh" in said


@pytest.mark.go
@pytest.mark.skipif(not has_go, reason="Go is not installed")
def test_the_build_information_is_what_go_prints(shell, tmp_path):
    with go_service() as service:
        tar, _ = collected(shell, service.pid)
    printed = subprocess.run(
        ["go", "version", "-m", str(built_service())], capture_output=True, text=True, check=True
    )

    assert printed.stdout == (unpacked(tar, tmp_path) / "buildinfo.txt").read_text()


LISTENING = (
    "   0: {}:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 7 1\n"
)


@pytest.mark.parametrize(
    ("address", "url"),
    [
        pytest.param("0100007F", "http://127.0.0.1:8080", id="little-endian"),
        pytest.param("7F000001", "http://127.0.0.1:8080", id="big-endian"),
        pytest.param("00000000", "http://127.0.0.1:8080", id="any"),
        pytest.param("0" * 24 + "01000000", "http://[::1]:8080", id="v6-little-endian"),
        pytest.param("0" * 24 + "00000001", "http://[::1]:8080", id="v6-big-endian"),
        pytest.param("0" * 32, "http://127.0.0.1:8080", id="v6-any"),
        pytest.param("0A00020A", "", id="elsewhere"),
    ],
)
def test_loopback_is_known_in_either_byte_order(address, url, shell, tmp_path):
    """
    The kernel prints an address as words in the byte order of the machine: of s390x as it is read.
    """
    for folder in ("fd", "net"):
        (tmp_path / "proc" / folder).mkdir(parents=True)
    (tmp_path / "proc/fd/3").symlink_to("socket:[7]")
    table = "tcp6" if len(address) > 8 else "tcp"
    (tmp_path / "proc/net" / table).write_text(
        f"  sl  local_address …\n{LISTENING.format(address)}"
    )
    function = re.search(r"(?ms)^addresses\(\) .*?^}\n", SCRIPT.read_text())[0]
    command, environment = shell

    done = subprocess.run(
        [*command, "-c", f"set -u; say() {{ :; }}; proc={tmp_path}/proc\n{function}addresses"],
        capture_output=True, env=environment, check=True,
    )  # fmt: skip

    assert url == done.stdout.decode().strip()


# A redirect


@pytest.fixture
def with_wget(tmp_path):
    """A shell that finds wget, and no curl."""
    if shutil.which("wget") is None:
        pytest.skip("wget is not installed")
    tools = tmp_path / "tools"
    tools.mkdir()
    for folder in ("/bin", "/usr/bin"):
        for tool in Path(folder).iterdir():
            if tool.name != "curl" and not (tools / tool.name).is_symlink():
                (tools / tool.name).symlink_to(tool)
    return [str(tools / "sh")], {"PATH": str(tools)}


def served(handler):
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def test_a_redirect_takes_no_header_to_another_host(with_wget):
    """
    What the other host answers would be stored as the process's, too.
    """
    asked = []

    class Stranger(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.headers.get("Authorization"))
            self.send_error(404)

        def log_message(self, *_):
            pass

    stranger = served(Stranger)

    class Service(Stranger):
        def do_GET(self):
            self.send_response(302)
            self.send_header("Location", f"http://localhost:{stranger.server_port}{self.path}")
            self.end_headers()

    service = served(Service)
    try:
        url = f"http://127.0.0.1:{service.server_port}"
        collected(with_wget, "-H", "Authorization: Bearer T", "-u", url, str(os.getpid()))
    finally:
        for server in (service, stranger):
            server.shutdown()
            server.server_close()

    assert [] == asked


@pytest.mark.parametrize("shell", ["busybox"], indirect=True)
def test_busybox_wget_gets_no_header(shell):
    """
    It follows redirects, and has no option that keeps it from that.
    """
    _, said = collected(shell, "-H", "Authorization: Bearer T", str(os.getpid()), code=2)

    assert "take curl or GNU wget" in said
