"""Many captures become one dataset, whatever becomes of some of them."""

import os
import shutil
import signal
from concurrent.futures import Executor, Future
from concurrent.futures.process import BrokenProcessPool
from functools import partial

import pandas as pd
import pytest

import gomem
from gomem.analysis.fleet.frames import KINDS
from gomem.errors import CaptureError
from gomem.fleets import local, run
from gomem.fleets.labels import Labelled
from gomem.fleets.work import Done, chunks_of, given_up
from gomem.sources.captures import Place
from tests.builders import FIXTURES

HEALTHY = FIXTURES / "captures" / "healthy-go1.27.3"
ZEROING = FIXTURES / "captures" / "zeroing-go1.24.2"
DEADLY = "deadly"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("captures")
    shutil.copytree(HEALTHY, root / "web" / "pod-1" / "20261120T060000Z")
    shutil.copytree(ZEROING, root / "web" / "pod-2" / "20261220T060000Z")
    (root / "web" / "pod-3").mkdir()
    (root / "web" / "pod-3" / "20261120T060000Z.tar.gz").write_bytes(b"no archive")
    return root


@pytest.fixture(scope="module")
def fleet(folder, tmp_path_factory):
    into = tmp_path_factory.mktemp("fleet") / "data"
    return gomem.fleet(folder, into=into, labels="{service}/{pod}/{time}", workers=0)


def test_every_answer_is_a_frame_under_the_same_columns(fleet):
    keys = ["capture", "instance", "service", "build", "time"]
    for kind, columns in KINDS.items():
        frame = getattr(fleet, kind)
        assert [column.name for column in columns] == list(frame.columns), kind
        assert keys == list(frame.columns[:5])
        assert [column.dtype for column in columns] == list(map(str, frame.dtypes)), kind
        assert all(gomem.columns(frame)["means"])


def test_the_answers_are_those_of_each_capture_alone(fleet):
    alone = gomem.diagnose(gomem.load(HEALTHY))
    (row,) = fleet.captures[fleet.captures["instance"] == "pod-1"].to_dict("records")

    assert ("web", "go1.27.3", 3) == (row["service"], row["go_version"], row["moments"])
    assert pd.Timestamp("2026-11-20T06:00:00Z") == row["time"]
    assert alone.moments[-1].rss_bytes == row["rss_bytes"]
    assert alone.verdict.sentence == row["sentence"]
    level = fleet.levels.query("instance == 'pod-1' and name == 'heap_idle'")
    stats = [moment.memstats for moment in alone.moments]
    expected = [float(row["HeapIdle"] - row["HeapReleased"]) for row in stats]
    assert [expected[0], expected[-1], max(expected)] == [*level[["first", "last", "most"]].iloc[0]]
    sites = fleet.sites.query("instance == 'pod-1' and sample_type == 'inuse_space'")
    assert "main.newSession" == sites["function"].iloc[0]
    assert sites["flat_low"].iloc[0] < sites["flat"].iloc[0] < sites["flat_high"].iloc[0]
    codes = fleet.findings.query("instance == 'pod-2'")["code"]
    assert "untouched-now-resident" in list(codes)
    gogc = fleet.settings.query("instance == 'pod-1' and name == 'GOGC'")
    assert [("100", "metrics")] == [*gogc[["value", "known_by"]].itertuples(index=False, name=None)]


def test_a_capture_that_cannot_be_read_is_a_row_and_ends_nothing(fleet):
    (row,) = fleet.failed.to_dict("records")

    assert (3, 0, 2, 1) == (fleet.run.found, fleet.run.skipped, fleet.run.read, fleet.run.failed)
    assert "pod-3" == row["instance"]
    assert "not a readable" in row["what"]
    assert row["is_final"]


def test_what_is_done_is_skipped_and_what_is_new_is_added(fleet, folder, tmp_path):
    into, more = tmp_path / "data", tmp_path / "captures"
    shutil.copytree(fleet.dataset.folder, into)
    shutil.copytree(folder, more)
    before = {path: path.read_bytes() for path in into.rglob("*.parquet")}
    shutil.copytree(HEALTHY, more / "web" / "pod-4" / "20261120T060000Z")

    again = gomem.fleet(more, into=into, labels="{service}/{pod}/{time}", workers=0)

    assert (3, 1) == (again.run.skipped, again.run.read)
    assert ["pod-1", "pod-2", "pod-4"] == sorted(again.captures["instance"])
    assert all(path.read_bytes() == content for path, content in before.items())


def test_a_part_that_was_never_committed_counts_nowhere(fleet, tmp_path):
    into = tmp_path / "data"
    shutil.copytree(fleet.dataset.folder, into)
    for path in (into / "committed").iterdir():
        path.unlink()

    assert gomem.fleet(into=into).captures.empty


def test_the_dataset_is_partitioned_and_read_lazily(fleet):
    lazy = fleet.lazily("captures")

    import pyarrow.compute as pc

    only = lazy.to_table(columns=["instance"], filter=pc.field("month") == "2026-12")
    assert ["pod-2"] == only["instance"].to_pylist()
    assert b"B" == lazy.schema.field("rss_bytes").metadata[b"unit"]
    with pytest.raises(KeyError, match="did you mean levels"):
        fleet.lazily("level")


def test_other_labels_want_another_folder(fleet, folder):
    with pytest.raises(CaptureError, match="made with labels"):
        gomem.fleet(folder, into=fleet.dataset.folder, labels="{pod}", workers=0)


def test_a_folder_of_something_else_is_left_alone(folder, tmp_path):
    (tmp_path / "mine.txt").write_text("mine")

    with pytest.raises(CaptureError, match="exists, and is no fleet"):
        gomem.fleet(folder, into=tmp_path, workers=0)
    with pytest.raises(CaptureError, match="no fleet in it"):
        gomem.fleet(into=tmp_path)


def test_processes_write_the_same_files_as_one_does(fleet, folder, tmp_path):
    into = tmp_path / "data"
    gomem.fleet(folder, into=into, labels="{service}/{pod}/{time}", workers=2)

    def contents(root):
        return {
            path.relative_to(root).as_posix(): path.read_bytes()
            for path in root.rglob("*")
            if path.is_file()
        }

    assert contents(fleet.dataset.folder) == contents(into)


def test_a_store_that_only_this_process_sees_is_read_here():
    fsspec = pytest.importorskip("fsspec", reason="the extra fleet is not installed")
    store = fsspec.filesystem("memory")
    store.put(f"{HEALTHY}/", "/pods-read/pod-1", recursive=True)

    fleet = gomem.fleet("memory://pods-read", labels="{pod}")

    assert ["pod-1"] == list(fleet.captures["instance"])
    assert "memory://pods-read/pod-1" == fleet.captures["path"].iloc[0]


# A capture that takes its worker with it


def deadly_work(chunk):
    """What `work` does, and dies over captures of this name."""
    if any(DEADLY in capture.place.name for capture in chunk.captures):
        os.kill(os.getpid(), signal.SIGKILL)
    return Done(chunk.part, {}, tuple(capture.key for capture in chunk.captures),
                len(chunk.captures), 0)  # fmt: skip


class InHere(Executor):
    """Does what it is given in this process."""

    def submit(self, task, *given):
        future = Future()
        future.set_result(task(*given))
        return future


def test_a_killed_worker_loses_nothing_and_repeats_nothing(monkeypatch):
    monkeypatch.setattr(local, "work", deadly_work)
    names = ["a", "b", "c", DEADLY, "e", "f", "g", "h"]
    captures = [Labelled(Place(f"/{name}", name), {}, name) for name in names]

    done = list(local.in_processes(chunks_of(captures, 2), workers=2))

    keys = [key for answer in done for key in answer.keys]
    assert sorted(keys) == sorted(capture.key for capture in captures if capture.path != "/deadly")
    assert 1 == sum(answer.failed for answer in done)
    assert sum(answer.read for answer in done) == len(names) - 1


class DyingPool(InHere):
    """Takes as many chunks as there are workers, and is broken when the next one comes."""

    left = 2

    def submit(self, *asked):
        if not self.left:
            raise BrokenProcessPool
        self.left -= 1
        return super().submit(*asked)


def test_a_worker_that_dies_before_the_next_chunk_is_handed_out_loses_nothing(monkeypatch):
    pools = iter([DyingPool(), *(InHere() for _ in range(8))])
    monkeypatch.setattr(local, "ProcessPoolExecutor", lambda *_, **__: next(pools))
    monkeypatch.setattr(local, "work", deadly_work)
    captures = [Labelled(Place(f"/{name}", name), {}, name) for name in "abcdefgh"]

    done = list(local.in_processes(chunks_of(captures, 2), workers=2))

    keys = [key for answer in done for key in answer.keys]
    assert sorted(keys) == sorted(capture.key for capture in captures)


def test_a_capture_that_was_given_up_is_tried_again():
    (chunk,) = chunks_of([Labelled(Place("/a", "a"), {}, "d")])
    done = given_up(chunk, local.KILLED.format("/a"))

    assert () == done.keys
    assert 1 == done.failed


# A run that ends in the middle


class Killed(Exception):  # noqa: N818 - somebody did it
    """Whoever ran it had enough."""


def test_a_run_that_is_killed_goes_on_where_it_stopped(folder, tmp_path, monkeypatch):
    """
    A chunk a capture: one is committed, another half written, the third not begun.
    """
    monkeypatch.setattr(run, "chunks_of", partial(chunks_of, size=1))
    into, seen = tmp_path / "data", []

    def die(done, total):
        seen.append((done, total))
        raise Killed

    with pytest.raises(Killed):
        gomem.fleet(folder, into=into, workers=0, progress=die)
    committed = gomem.fleet(into=into)
    assert 1 == len(committed.captures) + len(committed.failed)
    half = into / "levels" / "month=2026-12" / "part-ffffffffffffffff.parquet"
    half.parent.mkdir(parents=True, exist_ok=True)
    half.write_bytes(b"half of a file")

    again = gomem.fleet(folder, into=into, workers=0)

    assert [(1, 3)] == seen
    assert (3, 1) == (again.run.found, again.run.skipped)
    assert ["pod-1", "pod-2"] == sorted(again.captures["instance"])
    assert ["pod-3"] == list(again.failed["instance"])
    assert not half.exists()
    counts = again.levels.groupby(["capture", "name"]).size()
    assert {1} == set(counts)
