"""A process is pinned: what is read is its own, or nothing."""

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from gomem.errors import CaptureError
from gomem.live import process as live_process
from gomem.live.process import Ended, NotRead, Process, read_whole

pytestmark = pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="no Linux")
WAITS = [sys.executable, "-S", "-c", "print(flush=True); input()"]


@pytest.fixture
def child():
    with subprocess.Popen(WAITS, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        running.stdout.readline()
        yield running
        running.kill()


def test_what_the_kernel_says_twice_is_the_same(child):
    """
    status and smaps_rollup of a process that waits.
    """
    with Process.of(child.pid) as process:
        status, rollup = process.read("status"), process.read("smaps_rollup")

    resident = [
        int(line.split()[1]) for text in (status, rollup) for line in text.splitlines()
        if line.startswith((b"VmRSS:", b"Rss:"))
    ]  # fmt: skip
    assert resident[0] == resident[1] > 1000


def test_a_process_that_ended_is_not_read_as_another(child):
    """
    Its folder stays open: whoever gets its number is not in it.
    """
    with Process.of(child.pid) as process:
        child.kill()
        child.wait()

        assert not process.is_running
        with pytest.raises(Ended):
            process.read("status")
        with pytest.raises(Ended):
            _ = process.rss_bytes


def test_a_zombie_is_not_running(child):
    with Process.of(child.pid) as process:
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)

        assert not process.is_running


def test_a_file_that_is_not_there_is_a_reason(child):
    with Process.of(child.pid) as process, pytest.raises(NotRead, match="No such file"):
        process.read("nothing-of-the-kind")


def test_a_file_is_read_within_bounds(monkeypatch):
    monkeypatch.setattr(live_process, "MAX_FILE_BYTES", 1 << 20)
    endless = os.open("/dev/zero", os.O_RDONLY)

    with pytest.raises(NotRead, match="larger than 1 MiB"):
        read_whole(endless)
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(endless)


def test_it_listens_where_it_listens():
    """
    On every address means on loopback, too; other addresses are told and not tried.
    """
    with socket.socket() as everywhere, socket.socket() as here, Process.of(os.getpid()) as me:
        everywhere.bind(("0.0.0.0", 0))  # noqa: S104
        here.bind(("127.0.0.1", 0))
        everywhere.listen()
        here.listen()
        places, _ = me.listening

    for one in (everywhere, here):
        assert one.fileno() == -1
    assert len({port for host, port in places if host == "127.0.0.1"}) >= 2


def test_a_network_of_its_own_is_said_with_the_way_in(child, monkeypatch):
    monkeypatch.setattr(Process, "_shares_network", lambda _: False)

    with Process.of(child.pid) as process:
        places, said = process.listening

    assert [] == places
    assert f"sudo nsenter -t {child.pid} -n gomem capture {child.pid}" in said[0]


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("unshare"), reason="only root may")
def test_another_network_is_another():
    command = ["unshare", "--net", *WAITS]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        if not running.stdout.readline():
            pytest.skip("no network namespaces here")
        with Process.of(running.pid) as process, Process.of(os.getpid()) as me:
            assert [False, True] == [process._shares_network(), me._shares_network()]
        running.kill()


@pytest.mark.parametrize("pid", [2**22, 2**31 - 1])
def test_a_number_that_no_process_has(pid):
    with pytest.raises(CaptureError, match="no such process"):
        Process.of(pid)
