"""What the scavenger did, asked of whole captures, of pages alone and of a log alone."""

import pytest

import gomem
from gomem.units import KIB, MIB
from tests.builders import FIXTURES, diagnosed
from tests.retention_captures import log, pages, thinned


def told(diagnosis):
    return list(dict.fromkeys(diagnosis.scavenger.episodes["code"]))


def test_a_capture_is_asked_on_one_clock(tmp_path):
    """
    A drop, a collection, 21 s of nothing, a collection, FreeOSMemory: as in the analysis' own test,
    but from the files.
    """
    answer = gomem.diagnose(thinned("quiet-go1.27.3", tmp_path)).scavenger

    codes = list(dict.fromkeys(answer.episodes["code"]))
    assert ["as-intended", "dense-chunks"] == codes
    kept = answer.episodes[answer.episodes["code"] == "dense-chunks"].iloc[0]
    assert kept["seconds"] > 18
    assert [8] == answer.freed["number"].tolist()
    # The log's lines stand on the clock of the moments: the last call came at 33 s.
    forced = answer.lines[answer.lines["forced"]]
    assert 33 == pytest.approx(forced["seconds"].iloc[0], abs=0.3)
    assert {"no"} == {one.applies for one in answer.goals if "limit" in one.name}


def test_a_stopped_process_is_known_by_its_state(tmp_path):
    codes = told(gomem.diagnose(thinned("quiet-stopped-go1.16.15", tmp_path, every=4)))

    assert "starved" in codes


def test_a_limit_is_known_from_the_manifest(tmp_path):
    """
    Go 1.19 has no metric of it.
    """
    answer = gomem.diagnose(thinned("limit-go1.19.13", tmp_path)).scavenger

    assert {64 * MIB} == set(answer.retention["memory_limit_bytes"])
    assert "limit-driven" in set(answer.episodes["code"])


def test_pages_of_metrics_say_as_much(tmp_path):
    answer = gomem.diagnose(pages("quiet-go1.27.3", tmp_path)).scavenger

    assert "dense-chunks" in set(answer.episodes["code"])
    assert answer.lazy_free_bytes is None
    assert answer.freed.empty


def test_pages_without_a_release_leave_the_reason_open(tmp_path):
    pages("quiet-go1.27.3", tmp_path)
    for page in tmp_path.iterdir():
        lines = page.read_text().splitlines(keepends=True)
        page.write_text("".join(line for line in lines if "go_info" not in line))

    assert "unknown" in told(gomem.diagnose(tmp_path))


def test_a_log_alone_says_what_its_lines_do(tmp_path):
    """
    Of Go 1.12 each line has all sizes, to 1 MiB: three rounds of 150 s, the third gives back.
    """
    answer = gomem.diagnose(log("quiet-slow-go1.12.17", tmp_path)).scavenger

    assert [119, 119, 119, 119] == (answer.retention["idle_kept_bytes"]
        .add(answer.retention["HeapReleased"]) // MIB).tolist()  # fmt: skip
    assert ["waiting", "as-intended"] == list(dict.fromkeys(answer.intervals["code"]))[:2]
    assert answer.retention["rss_bytes"].isna().all()


def test_a_log_without_sizes_says_when_and_how_much(tmp_path):
    answer = gomem.diagnose(log("quiet-go1.27.3", tmp_path)).scavenger

    assert answer.retention.empty
    assert answer.intervals.empty
    assert answer.would_free_bytes is None
    assert 912 * KIB == answer.freed["released_bytes"].iloc[0]


def test_without_the_runtimes_side_nothing_says(tmp_path):
    """
    RSS alone says nothing of what the heap keeps.
    """
    (tmp_path / "status").write_text("Name:\tapi\nPid:\t1\nVmRSS:\t    9392 kB\n")

    assert gomem.diagnose(tmp_path).scavenger is None


def test_a_capture_without_smaps_knows_no_lazy_free_memory(tmp_path):
    capture = thinned("busy-go1.15.15", tmp_path)
    with_rollups = gomem.diagnose(capture).scavenger
    for path in [*capture.rglob("smaps*")]:
        path.unlink()
    without = gomem.diagnose(capture).scavenger

    assert "madv-free" in set(with_rollups.episodes["code"])
    assert with_rollups.lazy_free_bytes > 100 * MIB
    assert "madv-free" not in set(without.episodes["code"])
    assert without.lazy_free_bytes is None


def test_a_damaged_dump_is_passed_over(tmp_path):
    capture = thinned("quiet-go1.12.17", tmp_path)  # no runtime/metrics to stand in for it
    names = sorted(path.parent.name for path in capture.glob("*/memstats.json"))
    broken = capture / names[5] / "memstats.json"
    broken.write_bytes(broken.read_bytes()[:40])
    diagnosis = gomem.diagnose(capture)

    assert [broken.name] == [one.source.rpartition("/")[2] for one in diagnosis.capture.damaged]
    rows = diagnosis.scavenger.intervals
    assert names[5] not in {*rows["before"], *rows["after"]}
    assert "waiting" in set(rows["code"])


@pytest.mark.parametrize(
    "name", ["cache-shrink-go1.16.15", "alloc-pressure-after-go1.27.3", "spiky-go1.27.3"]
)
def test_a_moment_has_one_goal(name):
    facts = diagnosed(FIXTURES / "captures" / name).facts
    goals = facts.scavenger.retention.set_index("moment")["goal_bytes"]

    own = {moment.name: moment.heap["goal_bytes"] for moment in facts.moments}
    framed = facts.heap.set_index("moment")["goal_bytes"].to_dict()

    assert len(own) == goals.notna().sum()
    assert goals.to_dict() == own == framed
