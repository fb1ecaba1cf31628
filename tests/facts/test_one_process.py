"""Which snapshots are of the last process, and when before and after are two captures."""

import json
from shutil import copyfile

import pytest

from gomem.diagnosis.diagnosis import diagnose
from gomem.diagnosis.observations import reserved_words
from gomem.diagnosis.same_work import since_baseline
from gomem.facts.one_process import told_apart_by
from gomem.text import Command, File
from tests.builders import FIXTURES, smaps_entry, smaps_text

STATS = {
    "NumGC": 4, "TotalAlloc": 60 << 20, "Mallocs": 1000, "PauseTotalNs": 4000,
    "HeapAlloc": 20 << 20,
    "HeapSys": 64 << 20, "HeapIdle": 20 << 20, "HeapInuse": 44 << 20, "HeapReleased": 0,
    "Sys": 70 << 20, "NextGC": 40 << 20, "LastGC": 1795765276553201052, "StackInuse": 1 << 20,
    "MSpanInuse": 0, "MCacheInuse": 0, "BuckHashSys": 0, "GCSys": 0, "OtherSys": 0,
    "StackSys": 1 << 20, "MSpanSys": 0, "MCacheSys": 0,
}  # fmt: skip
LATER = {"NumGC": 5, "LastGC": STATS["LastGC"] + 10**9}


def written(folder, name, **changed):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(STATS | changed))


@pytest.mark.parametrize(
    ("changed", "first"),
    [
        pytest.param(LATER, "1", id="it went on"),
        pytest.param({}, "1", id="no collection in between"),
        pytest.param({"LastGC": STATS["LastGC"] + 1000}, "1", id="a page rounds times"),
        pytest.param({"NumGC": 3}, "2", id="fewer collections"),
        pytest.param(LATER | {"TotalAlloc": 50 << 20}, "2", id="less allocated"),
        pytest.param(LATER | {"TotalAlloc": (60 << 20) - 1000}, "1", id="a log rounds"),
        pytest.param({"LastGC": STATS["LastGC"] + 10**9}, "2", id="one collection at two times"),
    ],
)
def test_counters_that_fall_are_of_another_process(changed, first, tmp_path):
    written(tmp_path, "1/memstats.json")
    written(tmp_path, "2/memstats.json", **changed)
    facts = diagnose(tmp_path).facts

    assert first == facts.of_last_process[0].name


def test_the_live_heap_is_that_of_the_last_process(tmp_path):
    for place, (number, goal) in enumerate([(50, 600), (1, 10), (2, 12)]):
        changed = {"NumGC": number, "NextGC": goal << 20, "LastGC": STATS["LastGC"] + place * 10**9}
        written(tmp_path, f"{place}/memstats.json", **changed, HeapAlloc=4 << 20)

    live = diagnose(tmp_path).facts.live_heap

    assert 2 == len(live.level)
    assert live.level.values.max() < 12 << 20


@pytest.mark.parametrize(
    ("folders", "changed", "baseline"),
    [
        pytest.param(("before", "after"), LATER | {"NumGC": 3}, "before", id="two processes"),
        pytest.param(("old", "new"), LATER | {"NumGC": 3}, "old", id="in other words"),
        pytest.param(("before", "after"), LATER, None, id="one process"),
        pytest.param(("before", "during"), LATER | {"NumGC": 3}, None, id="in no words"),
    ],
)
def test_before_and_after_of_two_processes_are_compared(folders, changed, baseline, tmp_path):
    earlier, later = folders
    for number in (1, 2):
        totals = [{"TotalAlloc": (size + number) << 20} for size in (60, 70)]
        written(tmp_path, f"{earlier}/vars.{number}", **totals[0])
        written(tmp_path, f"{later}/vars.{number}", **totals[1] | changed, HeapAlloc=40 << 20)
    found = diagnose(tmp_path)

    names = {None: None} | {folder: f"{tmp_path}/{folder}" for folder in folders}
    assert names[baseline] == (found.baseline and found.baseline.capture.name)
    assert [f"{later}/1", f"{later}/2"] == [*found.capture.by_moment][-2:]
    assert (baseline is not None) == (len(found.capture.by_moment) == 2)


def of_process(vdso, inode, heap_mib=20):
    """A file of smaps: the program, its Go heap, and what the kernel maps for a process."""
    mib = 1 << 20
    program = smaps_entry(0x400000, 0x400000 + 8 * mib, "r-xp", "/srv/app", rss_kib=6 << 10)
    heap = smaps_entry(0xC000000000, 0xC000000000 + 64 * mib, rss_kib=heap_mib << 10)
    mapped = smaps_entry(vdso, vdso + 8192, "r-xp", "[vdso]", rss_kib=4)
    return smaps_text(program.replace("00:00 7", f"00:2a {inode}"), heap, mapped)


@pytest.mark.parametrize(
    ("vdso", "inode", "by"),
    [
        pytest.param(0x7FFC00000000, 77, set(), id="one process"),
        pytest.param(0x7FFD00000000, 77, {"[vdso]"}, id="a restart"),
        pytest.param(0x7FFC00000000, 78, {"program"}, id="another build"),
    ],
)
def test_smaps_of_another_process_are_told_by_its_vdso_and_its_program(vdso, inode, by, tmp_path):
    first = of_process(0x7FFC00000000, 77)
    for name, smaps in (("1", first), ("2", first), ("3", of_process(vdso, inode))):
        (tmp_path / name).mkdir()
        (tmp_path / name / "smaps").write_bytes(smaps)
    facts = diagnose(tmp_path).facts

    assert by == told_apart_by(facts)
    assert len(facts.of_earlier_processes) == 2 * bool(by)


def test_two_builds_in_two_folders_are_before_and_after(tmp_path):
    for place, folder in enumerate(("v2.3.0", "v2.4.0")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "smaps").write_bytes(of_process(0x7FFC00000000, place + 5))
    found = diagnose(tmp_path)

    assert found.baseline is not None
    assert f"{tmp_path}/v2.3.0" == found.baseline.capture.name
    assert ["v2.4.0"] == [*found.capture.by_moment]


def test_the_growth_since_a_build_before_is_asked_of_both_profiles(tmp_path):
    for place, folder in enumerate(("v2.3.0", "v2.4.0")):
        (tmp_path / folder).mkdir()
        smaps = of_process(0x7FFC00000000, place + 5, heap_mib=20 * (place + 1))
        (tmp_path / folder / "smaps").write_bytes(smaps)
        copyfile(FIXTURES / "profiles/go1.20.14/heap-a.pb.gz", tmp_path / folder / "heap.pb.gz")
    (command,) = diagnose(tmp_path).verdict.next_step.of(Command)

    assert [f"{name}/heap.pb.gz" for name in ("v2.4.0", "v2.3.0")] == [*command.value.of(File)]
    assert "--base" in command


def side_by_side(tmp_path, first, second):
    """Two processes that allocate 20 and 90 MiB in two readings each, in alternating order."""
    for number in (1, 2):
        for place, (folder, mib) in enumerate(((first, 80), (second, 10))):
            written(
                tmp_path, f"{folder}/vars.{number}", TotalAlloc=(mib + number * mib // 8) << 20,
                NumGC=STATS["NumGC"] + mib * number,
                LastGC=STATS["LastGC"] + (2 * number + place) * 10**9,
            )  # fmt: skip
    return diagnose(tmp_path)


def test_of_processes_side_by_side_only_those_of_one_folder_are_subtracted(tmp_path):
    facts = side_by_side(tmp_path, "pod-a", "pod-b").facts

    assert ["pod-a/1", "pod-b/1", "pod-a/2", "pod-b/2"] == [m.name for m in facts.moments]
    assert ["pod-b/1", "pod-b/2"] == [m.name for m in facts.of_last_process]
    assert ["pod-a/1", "pod-a/2"] == [m.name for m in facts.of_earlier_processes]
    assert 10 == facts.counters.cycles
    assert 1 << 20 == facts.counters.allocated_bytes


@pytest.mark.parametrize(
    ("first", "second", "baseline"),
    [
        pytest.param("before", "after", "before", id="named for before and after"),
        pytest.param("after", "before", "before", id="the clock has no say"),
        pytest.param("v1.10.0", "v1.9.0", "v1.9.0", id="versions"),
        pytest.param("rel-411", "rel-412", "rel-411", id="releases"),
        pytest.param("web-1", "web-2", None, id="replicas"),
        pytest.param("v1", "rel-2", None, id="different words"),
    ],
)
def test_the_names_of_two_folders_order_processes_side_by_side(first, second, baseline, tmp_path):
    found = side_by_side(tmp_path, first, second)

    name = found.baseline and found.baseline.capture.name
    assert (baseline and f"{tmp_path}/{baseline}") == name


@pytest.mark.parametrize(
    ("mib", "grew"),
    [
        pytest.param(90, True, id="more than its headroom"),
        pytest.param(35, False, id="until the goal of 40 MiB, garbage alone"),
    ],
)
def test_without_rss_the_change_since_the_baseline_is_said(mib, grew, tmp_path):
    for folder, size in (("before", 20), ("after", mib)):
        path = f"{folder}/memstats.json"
        sizes = dict.fromkeys(("HeapAlloc", "HeapInuse", "HeapSys"), size << 20)
        written(tmp_path, path, **sizes, HeapIdle=0, NumGC=3)
    earlier, later = (tmp_path / name for name in ("before", "after"))
    found = diagnose(later, baseline=earlier)

    assert grew == reserved_words(found)[1]
    assert "baseline" in found.verdict.moved + found.verdict.headline


@pytest.mark.parametrize(
    ("cycles", "said"),
    [pytest.param(30, True, id="more GCs"), pytest.param(11, False, id="as many")],
)
def test_as_much_work_with_another_number_of_gcs_is_said_beside_a_baseline(cycles, said, tmp_path):
    for folder, number in (("before", 10), ("after", cycles)):
        sizes = dict.fromkeys(("HeapInuse", "HeapSys"), STATS["HeapAlloc"])
        written(tmp_path, f"{folder}/memstats.json", **sizes, HeapIdle=0, NumGC=number)
    earlier, later = (tmp_path / name for name in ("before", "after"))
    found = diagnose(later, baseline=earlier)

    assert said == ("Both sides allocated" in since_baseline(found))
