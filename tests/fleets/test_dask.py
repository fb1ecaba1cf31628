"""The same work on a cluster: two worker processes of this machine, where dask is installed."""

import os
import shutil
import signal

import pytest

import gomem
from gomem.errors import CaptureError
from gomem.fleets.labels import Labelled
from gomem.fleets.on_dask import on_dask
from gomem.fleets.work import chunks_of
from gomem.sources.captures import captures_below, digest_of
from tests.builders import FIXTURES

PODS = FIXTURES / "pods"
LABELS = "{service}/{pod}/{time}.tar.gz"
FEW = ("pod-001", "pod-002", "pod-003", "pod-007")

distributed = pytest.importorskip("distributed", reason="the extra fleet is not installed")
pytestmark = pytest.mark.filterwarnings("default")  # dask's own


@pytest.fixture(scope="module")
def captures(tmp_path_factory):
    root = tmp_path_factory.mktemp("captures")
    for name in FEW:
        shutil.copytree(PODS / "shop" / name, root / "shop" / name)
    (root / "shop" / "pod-0").mkdir()
    (root / "shop" / "pod-0" / "20261126T040000Z.tar.gz").write_bytes(b"no archive")
    return root


@pytest.fixture
def cluster():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as running:
        yield running


def contents(root):
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file()
    }


def test_a_cluster_writes_the_same_files_byte_for_byte(captures, cluster, tmp_path):
    here, there = tmp_path / "here", tmp_path / "there"
    gomem.fleet(captures, into=here, labels=LABELS, workers=0)

    read = gomem.fleet(
        captures, into=there, labels=LABELS, engine="dask", scheduler=cluster.scheduler_address
    )

    assert (4, 1) == (read.run.read, read.run.failed)
    assert contents(here) == contents(there)


def test_a_killed_worker_loses_nothing_and_repeats_nothing(captures, cluster):
    places = captures_below(captures, 3)
    labelled = [Labelled(place, {}, digest_of(place)) for place in places]
    with distributed.Client(cluster) as client:
        (victim, *_) = client.run(os.getpid).values()
        done = []
        for number, answer in enumerate(on_dask(chunks_of(labelled, 1), cluster.scheduler_address)):
            done.append(answer)
            if number == 0:
                os.kill(victim, signal.SIGKILL)

    assert sorted(key for answer in done for key in answer.keys) == sorted(
        capture.key for capture in labelled
    )
    assert 4 == sum(answer.read for answer in done)


def test_no_scheduler_is_an_error_that_says_so(captures, tmp_path):
    with pytest.raises(CaptureError, match="wanted --scheduler"):
        gomem.fleet(captures, into=tmp_path / "a", engine="dask")
    with pytest.raises(CaptureError, match="no dask scheduler answers"):
        gomem.fleet(captures, into=tmp_path / "b", engine="dask", scheduler="tcp://127.0.0.1:1")
