"""`gomem capture`: whatever happens, a readable capture and a sentence."""

import ctypes
import gzip
import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from threading import Thread

import pytest

import gomem
from gomem.cli.main import run
from tests.builders import FIXTURES
from tests.live.services import GOOD, WITH_A_LONG_PAGE, fake_service, go_service, has_go

needs_go = pytest.mark.skipif(not has_go, reason="Go is not installed")
pytestmark = pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="no Linux")
ALL = {"allocs", "goroutine", "heap", "limits", "memstats", "metrics"}
ALL |= {"smaps", "smaps_rollup", "statm", "status"}
NOBODY, CAP_SYS_PTRACE, CAP_SYS_ADMIN, CAP_PERFMON = 65534, 19, 21, 38


@pytest.fixture
def out(tmp_path):
    return tmp_path / "capture"


def kinds(folder, moment=0):
    """What the manifest of a moment lists, but for the control group's files."""
    manifest = moments(folder)[moment]
    return {kind for kind in manifest["artefacts"] if not kind.startswith("memory.")}


def moments(folder):
    """What the manifests say of each moment, in order."""
    paths = sorted(
        folder.glob("*-*/gomem.json"), key=lambda path: int(path.parent.name.split("-")[0])
    )
    return [json.loads(path.read_text())["moments"][0] for path in paths]


def missing(folder, moment=0):
    return {one["artefact"]: one["why"] for one in moments(folder)[moment].get("missing", [])}


def read_back(folder):
    """The capture, which must be readable without damage and without anything half-written."""
    capture = gomem.load(folder)
    assert () == capture.damaged
    hidden = {path.name for path in folder.iterdir() if path.name.startswith(".")}
    assert set() == hidden
    return capture


def test_a_moment_from_a_pid_has_everything(out, capsys):
    with fake_service(GOOD) as service:
        assert 0 == run(["capture", service.pid, "-o", str(out)])

    capture = read_back(out)
    said = capsys.readouterr()
    assert kinds(out) == ALL
    assert "1 snapshot in" in said.err
    assert f"{out}\n" == said.out
    assert capture.smaps["Rss"].sum() == capture.rollups["Rss"].sum()
    assert {"before", "after"} == moments(out)[0]["num_gc"].keys()
    manifest = json.loads((out / "gomem.json").read_text())
    assert (int(service.pid), [service.url]) == (manifest["pid"], manifest["endpoints"])


def test_a_url_of_this_machine_finds_the_process(out):
    with fake_service(GOOD) as service:
        assert 0 == run(["capture", f"{service.url}/debug/pprof/heap", "-o", str(out)])

    assert kinds(out) == ALL
    assert int(service.pid) == json.loads((out / "gomem.json").read_text())["pid"]


def test_a_url_that_is_only_a_way_to_another_process_gives_the_runtimes_side_alone(out, capsys):
    """
    The command line that is served is not that of the process that listens.
    """
    with fake_service(GOOD | {"/debug/pprof/cmdline": "html"}) as service:
        assert 0 == run(["capture", service.url, "-o", str(out)])

    assert "is a way to another process" in capsys.readouterr().err
    assert kinds(out) == {"memstats", "metrics", "heap", "allocs", "goroutine"}
    read_back(out)


def test_a_pid_and_a_url_of_another_process_are_refused(out, capsys):
    with fake_service(GOOD) as service, fake_service({}) as other:
        assert 2 == run(["capture", other.pid, service.url, "-o", str(out)])

    said = capsys.readouterr().err
    assert f"is served by PID {service.pid} " in said
    assert f"not by PID {other.pid}; capture that one: gomem capture {service.pid} " in said
    assert not out.exists()


def test_of_two_processes_with_one_command_line_the_kernel_knows_which_listens(out, capsys):
    """
    As a monitor and its worker have: what is served cannot tell them apart.
    """
    with fake_service(GOOD) as service, fake_service(GOOD) as twin:
        assert 2 == run(["capture", twin.pid, service.url, "-o", str(out)])

    assert f"is served by PID {service.pid} " in capsys.readouterr().err


def test_a_command_line_that_differs_is_a_word_where_the_process_listens_itself(out, capsys):
    with fake_service(GOOD | {"/debug/pprof/cmdline": "html"}) as service:
        assert 0 == run(["capture", service.pid, service.url, "-o", str(out)])

    assert f"line served there is not that of PID {service.pid}" in capsys.readouterr().err
    assert kinds(out) == ALL


def test_a_command_line_joined_by_blanks_is_the_same(out, capsys):
    with fake_service(GOOD | {"/debug/pprof/cmdline": "joined cmdline"}) as service:
        assert 0 == run(["capture", service.url, "-o", str(out)])

    assert "another process" not in capsys.readouterr().err
    assert kinds(out) == ALL


def test_without_an_endpoint_the_kernels_side_stands_alone(out, capsys):
    with fake_service({}) as service:
        assert 0 == run(["capture", service.pid, "-o", str(out)])

    assert "/debug/pprof/, /debug/vars and /metrics are not served" in capsys.readouterr().err
    assert kinds(out) == {"limits", "smaps", "smaps_rollup", "statm", "status"}
    read_back(out)


def test_nothing_secret_is_kept_or_said(out, capsys):
    """
    Not of the command line or of what else expvar publishes, not of a header, URL or password.
    """
    url_secret, header = "hunter2", "Bearer sesame"
    with fake_service(GOOD) as service:
        url = service.url.replace("//", f"//me:{url_secret}@") + f"/debug/vars?token={url_secret}"
        arguments = ["--header", f"Authorization: {header}", "--user", f"me:{url_secret}"]
        assert 0 == run(["capture", service.pid, url, "-o", str(out), *arguments])

    said = capsys.readouterr()
    written = b"".join(path.read_bytes() for path in out.rglob("*") if path.is_file())
    for secret in (url_secret, "sesame", "s3cr3t", "fake_service.py"):
        assert secret not in said.err + said.out
        assert secret.encode() not in written


def test_a_wrong_url_is_quoted_without_its_secrets(out, capsys):
    assert 2 == run(["capture", "ftp://me:hunter2@host/x?token=hunter2", "-o", str(out)])

    said = capsys.readouterr().err
    assert "ftp://host/x: give a PID, or a URL" in said
    assert "hunter2" not in said


@pytest.mark.parametrize(
    ("answers", "artefact", "sentence"),
    [
        (
            {"/debug/pprof/heap": "hang"},
            "heap",
            "/debug/pprof/heap took longer than 0.5 s; --timeout 1.5s waits",
        ),
        ({"/debug/pprof/heap": "drip"}, "heap", "bytes arrived and were discarded"),
        ({"/debug/pprof/heap": "drip-head"}, "heap", "/debug/pprof/heap took longer than 0.5 s"),
        ({"/debug/pprof/heap": "die"}, "heap", "before the end of the answer"),
        ({"/debug/pprof/heap": "401"}, "heap", "answered 401 Unauthorized; give --header"),
        ({"/debug/pprof/heap": "503"}, "heap", "answered 503 Service Unavailable"),
        ({"/debug/pprof/heap": "html"}, "heap", "not a profile"),
        ({"/debug/pprof/heap": "packed-html"}, "heap", "not a profile"),
        ({"/debug/pprof/heap": "cut-profile"}, "heap", "an incomplete profile"),
        ({"/debug/pprof/heap": "elsewhere"}, "heap", "another host, which is not followed"),
    ],
    ids=lambda value: next(iter(value.values())) if isinstance(value, dict) else "",
)
def test_a_bad_answer_is_left_out_and_said(answers, artefact, sentence, out, capsys):
    with fake_service(GOOD | answers) as service:
        assert 0 == run(["capture", service.pid, "-o", str(out), "--timeout", "500ms"])

    said = capsys.readouterr().err
    assert sentence in missing(out)[artefact]
    assert f"no {artefact}: " in said
    assert "memstats" in kinds(out)
    assert artefact not in kinds(out)
    read_back(out)


def test_redacted_the_reason_names_no_host(out, capsys):
    with fake_service(GOOD | {"/debug/pprof/heap": "elsewhere"}) as service:
        assert 0 == run(["capture", service.pid, "-o", str(out), "--redact"])

    reason = "redirects to host-1, another host, which is not followed; give its URL"
    assert reason == missing(out)["heap"]
    assert f"no heap: {reason}" in capsys.readouterr().err


@pytest.mark.parametrize("slow", ["/debug/pprof/heap", "/debug/vars", "/debug/pprof/allocs"])
def test_a_slow_endpoint_loses_its_own_answer_alone(slow, out):
    with fake_service(GOOD | {slow: "hang"}) as service:
        assert 0 == run(["capture", service.pid, service.url, "-o", str(out), "--timeout", "1s"])

    name = "memstats" if slow == "/debug/vars" else slow.rpartition("/")[2]
    # what does not answer when the endpoints are looked for is none: /metrics has MemStats, too
    assert ALL - {name} == kinds(out)
    assert name == "memstats" or missing(out)[name].startswith(f"{slow} took longer than 1 s")
    read_back(out)


def test_memstats_that_come_late_lose_no_profile(out):
    with fake_service(WITH_A_LONG_PAGE | {"/debug/pprof/heap?debug=1": "hang"}) as service:
        assert 0 == run(["capture", service.pid, "-o", str(out), "--timeout", "500ms"])

    assert ALL - {"memstats", "metrics"} == kinds(out)
    said = "/debug/pprof/heap?debug=1 took longer than 0.5 s; --timeout 1.5s waits longer"
    assert {"memstats": said} == missing(out)


@pytest.mark.parametrize("redact", [(), ("--redact",)], ids=["", "redacted"])
def test_memstats_of_a_long_page_are_kept_packed_and_beside_smaps(redact, out):
    """
    Go reads MemStats before it writes the page, so smaps is read while that is written.
    """
    with fake_service(WITH_A_LONG_PAGE) as service:
        assert 0 == run(["capture", service.pid, "-o", str(out), *redact])

    page = FIXTURES / "doors/go1.27.3/heap.txt.gz"
    capture = read_back(out)
    (text,) = out.glob("*/heap.txt.gz")
    assert gzip.decompress(page.read_bytes()) == gzip.decompress(text.read_bytes())
    assert len(page.read_bytes()) * 1.5 > text.stat().st_size
    times = {kind: file["time"] for kind, file in moments(out)[0]["artefacts"].items()}
    between = datetime.fromisoformat(times["smaps"]) - datetime.fromisoformat(times["heap_text"])
    assert 0 <= between.total_seconds() < 0.5
    stats = gomem.read_memstats(page).stats
    assert stats["HeapSys"].tolist() == capture.memstats["HeapSys"].tolist()
    assert ALL - {"memstats", "metrics"} | {"heap_text"} == kinds(out)


def test_an_address_that_hangs_is_not_asked_again_in_the_same_moment(out):
    """
    Then its shortest answer hangs, too.
    """
    hanging = ("/debug/pprof/heap", "/debug/pprof/goroutine", "/debug/pprof/cmdline")
    with fake_service(GOOD | dict.fromkeys(hanging, "hang")) as service:
        assert 0 == run(["capture", service.pid, "-o", str(out), "--timeout", "500ms"])

    assert missing(out)["goroutine"].startswith("not requested")


def test_a_redirect_on_the_same_host_is_followed(out):
    answers = {"/debug/vars": "here", "/debug/vars/": "expvar"}
    with fake_service(answers) as service:
        assert 0 == run(["capture", service.pid, "-o", str(out)])

    assert "memstats" in kinds(out)


def test_an_address_that_never_answers_is_said_with_the_reason(out, capsys):
    answers = dict.fromkeys(("/debug/pprof/", "/debug/pprof/cmdline"), "hang")
    with fake_service(answers) as service:
        assert 0 == run(["capture", service.pid, "-o", str(out), "--timeout", "1s"])

    assert f"{service.url}: took longer than 1 s; --timeout 3s waits" in capsys.readouterr().err
    assert "smaps" in kinds(out)


def test_an_address_whose_index_is_slow_is_asked_for_the_rest(out, capsys):
    with fake_service(GOOD | {"/debug/pprof/": "hang"}) as service:
        assert 0 == run(["capture", service.pid, "-o", str(out), "--timeout", "1s"])

    assert f"{service.url}/debug/pprof/: took longer than 1 s" in capsys.readouterr().err
    assert ALL - {"heap", "allocs", "goroutine"} == kinds(out)


@pytest.mark.parametrize("given", ["argument", "file"])
def test_a_header_opens_what_wants_one(given, out, tmp_path):
    header = "Authorization: Bearer sesame"
    if given == "file":
        (tmp_path / "headers").write_text(f"{header}\n")
        header = f"@{tmp_path / 'headers'}"
    with fake_service({"/debug/vars": "authorized"}) as service:
        assert 0 == run(["capture", service.pid, service.url, "-o", str(out), "--header", header])

    assert "memstats" in kinds(out)


def test_what_wants_a_header_says_so(out, capsys):
    with fake_service({"/debug/vars": "authorized"}) as service:
        assert 0 == run(["capture", service.pid, "-o", str(out)])

    assert "answered 401 Unauthorized; give --header" in capsys.readouterr().err
    assert "smaps" in kinds(out)


def test_collections_between_the_two_sides_are_counted(out):
    """
    Each reading of this service has one collection more than the one before, just ended: no pair is
    of one state, and after three attempts the last is kept with its count.
    """
    with fake_service(GOOD, COLLECTIONS="1", GC_AGO="0") as service:
        assert 0 == run(["capture", service.pid, "-o", str(out)])

    counts = moments(out)[0]["num_gc"]
    assert 1 == counts["after"] - counts["before"]
    assert 1 == read_back(out)[moments(out)[0]["name"]].collections
    skews = [one.code for one in gomem.diagnose(out).findings]
    assert "data-skew" in skews


def test_a_collection_before_the_kernel_s_files_is_in_what_is_read_behind_them(out):
    """
    Each reading has one collection more, but the last one ended a minute ago: so the second reading
    is of the same state as smaps.
    """
    with fake_service(GOOD, COLLECTIONS="1", GC_AGO="60") as service:
        assert 0 == run(["capture", service.pid, "-o", str(out)])

    counts, taken = moments(out)[0]["num_gc"], moments(out)[0]["artefacts"]
    assert counts["before"] == counts["after"]
    assert taken["memstats"]["time"] > taken["smaps"]["time"]
    assert counts["after"] == read_back(out).memstats["NumGC"].iloc[0]


def test_no_collection_between_is_known_too(out):
    with fake_service(GOOD) as service:
        assert 0 == run(["capture", service.pid, "-o", str(out)])

    (moment,) = read_back(out).by_moment.values()
    assert 0 == moment.collections
    assert "data-skew" not in [one.code for one in gomem.diagnose(out).findings]


def test_a_process_that_is_not_there(out, capsys):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()

    assert 2 == run(["capture", str(gone.pid), "-o", str(out)])
    assert "no such process" in capsys.readouterr().err
    assert not out.exists()


def test_a_process_killed_half_way(out, capsys):
    with fake_service(GOOD) as service:
        killer = Thread(target=kill_after_moments, args=(service, out, 3))
        killer.start()
        assert 0 == run(["capture", service.pid, "-o", str(out), "--every", "20ms"])
        killer.join()

    capture = read_back(out)
    assert "the process ended" in capsys.readouterr().err
    assert "the process ended" == json.loads((out / "gomem.json").read_text())["ended"]["why"]
    assert len(capture.by_moment) >= 3


def kill_after_moments(service, out, count):
    until = time.monotonic() + 60
    while len(list(out.glob("*-*"))) < count and time.monotonic() < until:
        time.sleep(0.005)
    service.process.kill()


def test_without_permission_for_smaps(out, capsys):
    """
    status and statm may be read by everyone; smaps wants the process's user, or a capability.
    """
    user = {"user": NOBODY} if os.geteuid() == 0 else {}
    with subprocess.Popen(["sleep", "60"], **user) as process:
        pid = process.pid if user else 1
        with without_tracing():
            code = run(["capture", str(pid), "-o", str(out)])
        process.kill()

    assert 0 == code
    said = capsys.readouterr().err
    assert "no smaps: permission denied" in said
    assert f"belongs to user {'nobody' if user else 'root'}: run gomem as that user" in said
    assert "CAP_SYS_PTRACE" in said
    assert {"statm", "status"} <= kinds(out)
    read_back(out)


class Capabilities(ctypes.Structure):
    """The kernel's structs of capset, one behind the other: version 3, this thread."""

    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int), ("sets", ctypes.c_uint32 * 6))


@contextmanager
def without_tracing():
    """Root, but for the capability to look into other users' processes."""
    libc, now = ctypes.CDLL(None), Capabilities(0x20080522, 0)
    if os.geteuid() != 0:
        yield
        return
    sets = ctypes.byref(now, Capabilities.sets.offset)
    assert 0 == libc.capget(ctypes.byref(now), sets)
    before = list(now.sets)
    now.sets[0] &= ~(1 << CAP_SYS_PTRACE | 1 << CAP_SYS_ADMIN)
    now.sets[3] &= ~(1 << CAP_PERFMON - 32)  # newer kernels let it read as well
    assert 0 == libc.capset(ctypes.byref(now), sets)
    try:
        yield
    finally:
        now.sets[:] = before
        libc.capset(ctypes.byref(now), sets)


def test_a_disk_that_is_full_after_a_few_moments(out, capsys, monkeypatch):
    whole = Path.write_bytes
    left = [300_000]

    def write(path, data):
        left[0] -= len(data)
        if left[0] < 0:
            whole(path, data[: len(data) // 2])
            raise OSError(28, "No space left on device")
        return whole(path, data)

    monkeypatch.setattr(Path, "write_bytes", write)
    with fake_service(GOOD) as service:
        code = run(["capture", service.pid, "-o", str(out), "--every", "20ms", "--for", "9s"])

    assert 2 == code
    said = capsys.readouterr().err
    kept = len(read_back(out).by_moment)
    assert "cannot be written: No space left on device; " in said
    assert f"; {kept} whole moment" in said
    assert kept >= 1


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # cut sockets
def test_ctrl_c_at_ten_instants(tmp_path, capsys):
    """
    Before the first moment, in the middle of one, between two: what is whole is there.
    """
    chance = random.Random(7)  # noqa: S311 - any instants
    captured = 0
    with fake_service(GOOD) as service:
        run(["capture", service.pid, "-o", str(tmp_path / "before")])
        for number in range(10):
            out = tmp_path / str(number)
            delay = chance.uniform(0.05, 0.9)
            code = interrupted(
                delay,
                lambda: run(["capture", service.pid, "-o", str(out), "--every", "100ms"]),  # noqa: B023
            )

            assert 130 == code
            said = capsys.readouterr().err
            if out.exists():  # else it was before the command began
                assert "interrupted" in said
            if list(out.glob("*-*")):
                captured += len(read_back(out).by_moment)

    assert captured >= 3


def interrupted(delay, work):
    """The work, with what Ctrl-C raises after so many seconds."""
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, delay)
    try:
        return work()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_a_moment_is_called_shortly_and_its_folder_has_the_date(out):
    """
    Reports name the moment over and over; without the manifest the folder still says when it was.
    """
    with fake_service(GOOD) as service:
        run(["capture", service.pid, "-o", str(out), "--profiles", "heap"])
    with_manifest = read_back(out)
    for path in out.rglob("gomem.json"):
        path.unlink()
    without = read_back(out)

    (name,), (folder,) = with_manifest.by_moment, without.by_moment
    time = with_manifest.moments["time"].iloc[0]
    assert (f"1-{time:%H%M%S}", f"1-{time:%Y%m%dT%H%M%SZ}") == (name, folder)
    assert time.floor("s") == without.moments["time"].iloc[0]


def test_a_capture_goes_on_in_its_folder(out):
    with fake_service(GOOD) as service:
        for _ in range(2):
            assert 0 == run(["capture", service.pid, "-o", str(out)])

    assert ["1", "2"] == [one["name"].split("-")[0] for one in moments(out)]


def test_a_folder_of_another_process_is_refused(out, capsys):
    with fake_service(GOOD) as service:
        run(["capture", service.pid, "-o", str(out)])
    before = sorted(path.name for path in out.rglob("*"))
    with fake_service(GOOD) as other:
        assert 2 == run(["capture", other.pid, "-o", str(out)])

    assert "holds a capture of another process" in capsys.readouterr().err
    assert before == sorted(path.name for path in out.rglob("*"))


def test_a_pid_given_to_another_process_is_another_process(out, capsys):
    """
    The start tells them apart.
    """
    with fake_service(GOOD) as service:
        run(["capture", service.pid, "-o", str(out)])
        path = out / "gomem.json"
        path.write_text(path.read_text().replace('"started": "20', '"started": "19'))

        assert 2 == run(["capture", service.pid, "-o", str(out)])
    assert "holds a capture of another process" in capsys.readouterr().err


def test_a_folder_with_something_else_is_refused(out, capsys):
    out.mkdir()
    (out / "thesis.doc").write_text("precious")
    with fake_service({}) as service:
        assert 2 == run(["capture", service.pid, "-o", str(out)])

    assert "is not empty and holds no capture" in capsys.readouterr().err


def test_a_trigger_takes_the_first_moment_and_then_occasions(out):
    with fake_service(GOOD) as service:
        common = [service.pid, "--every", "20ms", "--for", "500ms"]
        run(["capture", *common, "-o", str(out / "never"), "--when", "rss>1TiB"])
        run(["capture", *common, "-o", str(out / "once"), "--when", "goroutines>11"])
        often = ["--when", "rss>1", "--cool-down", "100ms"]
        run(["capture", *common, "-o", str(out / "often"), *often])

    assert 1 == len(moments(out / "never"))
    assert 2 == len(moments(out / "once"))
    assert 3 <= len(moments(out / "often")) <= 6


def test_the_log_is_taken_along_as_it_grows(out, tmp_path):
    log = tmp_path / "app.log"
    first, second = (
        f"gc {n} @0.00{n}s 8%: 0.60+0.83+0.002 ms clock, 1.2+0/0.39/0.62+0.005 ms cpu, "
        "3->4->1 MB, 4 MB goal, 0 MB stacks, 2 MB globals, 2 P\n"
        for n in (1, 2)
    )
    log.write_text(first)
    with fake_service({}) as service:
        arguments = ["capture", service.pid, "-o", str(out), "--gctrace", str(log)]
        run(arguments)
        assert first == (out / "gctrace.log").read_text()
        with log.open("a") as file:
            file.write(second + "gc 3 @")
        run(arguments)

    assert first + second == (out / "gctrace.log").read_text()
    assert [1, 2] == list(read_back(out).gc.cycles["number"])


def test_redacted_files_name_no_folder(out):
    with fake_service(GOOD) as service:
        assert 0 == run(["capture", service.pid, "-o", str(out), "--redact"])

    written = b"".join(path.read_bytes() for path in out.rglob("*smaps"))
    capture = read_back(out)
    assert str(Path(sys.executable).resolve().parent).encode() not in written.replace(b"/usr", b"")
    assert capture.smaps["Rss"].sum() == capture.rollups["Rss"].sum()
    assert "/" not in json.loads((out / "gomem.json").read_text())["program"]


@needs_go
@pytest.mark.go
def test_twenty_moments_of_a_go_program(out):
    with go_service("-rate", "50") as service:
        assert 0 == run(["capture", service.pid, "-o", str(out), "--every", "100ms", "--for", "2s"])

    capture = read_back(out)
    release = subprocess.run(["go", "env", "GOVERSION"], capture_output=True, text=True, check=True)
    assert 20 >= len(capture.by_moment) >= 10  # a busy machine is late, and says nothing twice
    assert release.stdout.split()[0].removesuffix(".0") == str(capture.go_version)
    assert "gomem.json go_version" == capture.go_version.evidence
    for moment in capture.by_moment.values():
        assert moment.smaps["Rss"].sum() >= 32 << 20
        assert moment.memstats["HeapAlloc"].iloc[0] >= 32 << 20


@needs_go
@pytest.mark.go
def test_the_pair_is_a_collection_apart(out):
    with go_service("-rate", "200") as service:
        assert 0 == run(["capture", service.pid, "-o", str(out), "--pair"])

    first, second = (one["num_gc"] for one in moments(out))
    assert second["before"] > first["after"]


@needs_go
@pytest.mark.go
def test_the_process_can_say_nothing(out):
    """
    A port that accepts and never answers: the kernel's side, in bounded time.
    """
    with go_service("-silent") as service:
        began = time.monotonic()
        assert 0 == run(["capture", service.pid, "-o", str(out), "--timeout", "1s"])

    assert time.monotonic() - began < 10
    assert "smaps" in kinds(out)
    assert str(gomem.load(out).go_version).startswith("go1.")
