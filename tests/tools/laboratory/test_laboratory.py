"""The laboratory's truth is whole, and gomem reads a sample of its captures."""

import json
import re
import tarfile

import pytest

from gomem.causes import CAUSES
from tools.laboratory.captures import LABORATORY, Answer, ask, names_of, path_of, sets, truth
from tools.laboratory.measured import measured_json

RELEASE = re.compile(r"1\.\d+\.\d+|1\.(?:\d|1\d|20)")  # up to 1.20 the first had no .0
SAMPLE = (
    "sessiond-a", "lineship-a", "hubd-a", "hubd-e", "kvd-d", "phash-b", "rowbatch-a", "sessiond-e",
)  # fmt: skip
CODES = {cause.code for cause in CAUSES}
RARE = {"heap-headroom", "finalizer-backlog", "thread-growth"}  # one of each is enough
UNRECORDED = {"emptied-map", "profiling-memory"}  # in a capture of the fixtures alone
GIVEN = {13}  # sets that came with their truth: their programs, and some sizes, are not here


def test_each_capture_has_its_truth_and_each_truth_its_capture():
    captures = {path.name.removesuffix(".tar.gz") for path in LABORATORY.glob("captures/*")}

    assert set(truth()) == captures


@pytest.mark.parametrize("number", sets())
def test_a_truth_says_what_was_done_under_which_release_and_how_large_it_is(number):
    for name in names_of(number):
        assert_tells(name, truth()[name])


def assert_tells(name, told):
    """One capture's entry, named in what pytest shows."""
    assert re.fullmatch(
        r"1\.\d+\.\d+|1\.(?:\d|1\d|20)", told["go"]
    )  # up to 1.20 the first had no .0
    assert told["program"] == name.rsplit("-", 1)[0]
    assert (LABORATORY / "programs" / told["program"] / "main.go").is_file() == (
        told["set"] not in GIVEN
    )
    assert told["moments"]
    assert told["artefacts"]
    assert told["healthy"] == ({cause["code"] for cause in told["causes"]} <= {"heap-headroom"})
    assert told["baseline"] is None or told["baseline"] in truth()
    for cause in told["causes"]:
        assert cause["code"] in CODES
        assert cause["text"]
        has_size = cause["bytes"] or cause.get("cpu_fraction") or cause.get("longest_pause_seconds")
        assert has_size or (told["set"] in GIVEN and cause["code"] == "forced-gc")
    assert told["healthy"] is False or told["text"]
    assert set(told.get("also_right", [])) <= CODES


@pytest.mark.parametrize("one", sets()[1:])
def test_a_later_set_has_its_own_programs_and_at_least_24_captures_8_of_them_healthy(one):
    programs = {truth()[name]["program"] for name in names_of(one)}
    earlier = {told["program"] for told in truth().values() if told["set"] < one}
    healthy = [name for name in names_of(one) if truth()[name]["healthy"]]

    assert not programs & earlier
    assert 24 <= len(names_of(one))
    assert 8 <= len(healthy)


def test_each_capture_is_of_one_set():
    assert sets() == list(range(1, 19))
    assert len(names_of()) == sum(len(names_of(one)) for one in sets())


@pytest.mark.at_most(6)
@pytest.mark.parametrize("number", sets())
def test_nothing_in_a_capture_gives_its_cause_away(number):
    """Neither a manifest nor a file time nor a name."""
    for name in names_of(number):
        with tarfile.open(path_of(name)) as tar:
            for member in tar:
                assert member.mtime == 0, name
                assert "gomem" not in member.name, name
                assert not any(code in member.name for code in CODES), name


def test_every_cause_is_there_three_times_and_twelve_are_healthy():
    done = [cause["code"] for told in truth().values() for cause in told["causes"]]
    healthy = [name for name, told in truth().items() if told["healthy"]]
    mixes = [name for name, told in truth().items() if len(told["causes"]) > 1]

    rare = {code: done.count(code) for code in CODES - UNRECORDED if code[:5] != "data-"}
    assert {} == {code: n for code, n in rare.items() if n < (1 if code in RARE else 3)}
    assert 12 <= len(healthy)
    assert 5 <= len(mixes)


def told_of(monkeypatch, cause, heap_mib=0):
    """One capture, of one cause, with so much in the heap at the end."""
    done = {"causes": [cause], "settled": {"heap_alloc": heap_mib << 20}}
    monkeypatch.setattr("tools.laboratory.captures.truth", lambda: {"one": done})


@pytest.mark.parametrize(
    ("mib", "title", "told"),
    [
        pytest.param(95, "it holds 95 MiB", (True, False), id="the number"),
        pytest.param(50, "it holds 50 MiB", (False, False), id="another"),
        pytest.param(50, "At least 50 MiB", (False, True), id="at least"),
        pytest.param(50, "at least 40 MiB of 50 MiB", (False, False), id="another at least"),
        pytest.param(150, "at least 150 MiB", (False, False), id="at least more"),
        pytest.param(150, "up to 150 MiB", (False, True), id="up to"),
        pytest.param(50, "up to 50 MiB", (False, False), id="up to less"),
    ],
)
def test_a_size_is_held_to_what_its_title_says_of_it(mib, title, told, monkeypatch):
    """100 MiB were held."""
    cause = {"code": "heap-growth", "bytes": {"held": 100 << 20}}
    told_of(monkeypatch, cause)
    finding = {"code": "heap-growth", "bytes": mib << 20, "title": title}

    (size,) = Answer("one", [finding], "").sizes

    assert told == (size.near, size.bounded)


@pytest.mark.parametrize(
    ("code", "title", "heap_mib", "settled"),
    [
        pytest.param("heap-growth", "it grows: 55.0 MiB in 9 s, to 89.9 MiB", 100, False, id="far"),
        pytest.param("heap-growth", "it grows: 55.0 MiB in 9 s, to 90.0 MiB", 100, True, id="near"),
        pytest.param("heap-growth", "it grows: 55.0 MiB in 9 s", 55, False, id="to nothing"),
        pytest.param("heap-growth", "it grows: to 0.5 s, to 90.0 MiB", 0, False, id="not counted"),
        pytest.param("goroutine-leak", "they grow, to 90.0 MiB", 100, False, id="no heap"),
    ],
)
def test_what_the_heap_grew_to_is_held_to_the_runtime_s_count(
    code, title, heap_mib, settled, monkeypatch
):
    told_of(monkeypatch, {"code": code, "bytes": {"held": 10 << 20}}, heap_mib)

    (size,) = Answer("one", [{"code": code, "bytes": 55 << 20, "title": title}], "").sizes

    assert settled == size.settled


def test_all_free_slots_are_held_to_all_that_were_measured(monkeypatch):
    told_of(monkeypatch, {"code": "heap-fragmentation", "bytes": {"held": 100 << 20}})
    sizes = {"HeapInuse": 105 << 20, "HeapAlloc": 10 << 20}
    evidence = [{"field": field, "value": value} for field, value in sizes.items()]
    finding = {"code": "heap-fragmentation", "bytes": 40 << 20, "title": "", "evidence": evidence}

    (size,) = Answer("one", [finding], "").sizes

    assert size.near


def test_the_captures_stay_small():
    assert sum(path.stat().st_size for path in LABORATORY.glob("captures/*")) <= 21 << 20


@pytest.mark.at_most(3)
@pytest.mark.parametrize("name", SAMPLE)
def test_gomem_answers_about_a_sample(name):
    """Whatever it says, it says of a cause it knows, and in order of severity."""
    answer = ask(name)

    ranks = [("critical", "warning", "info").index(one["severity"]) for one in answer.warnings]
    assert ranks == sorted(ranks)
    assert {one["code"] for one in answer.findings} <= CODES | {
        "data-skew", "data-damaged", "data-thin", "data-missing",
    }  # fmt: skip


def test_the_counts_that_the_manual_shows_are_of_what_was_said(monkeypatch):
    """
    Three processes leak, one is healthy; of four warnings of a leak three are right.
    """
    leak = {"code": "heap-growth", "text": "", "bytes": {}}
    told = {
        name: {"causes": causes, "healthy": not causes, "beside": {}, "set": place}
        for name, causes, place in (
            ("a", [leak], 1),
            ("b", [leak], 1),
            ("c", [leak], 2),
            ("d", [], 2),
        )
    }
    monkeypatch.setattr("tools.laboratory.captures.truth", lambda: told)
    monkeypatch.setattr("tools.laboratory.measured.truth", lambda: told)
    monkeypatch.setattr("tools.laboratory.measured.sets", lambda: [1, 2])
    likely = {"code": "heap-growth", "severity": "warning", "confidence": "likely"}
    said = {"a": [likely], "b": [likely], "c": [likely], "d": [likely | {"confidence": "possible"}]}

    counted = json.loads(measured_json([Answer(name, said[name], "") for name in told]))

    assert counted["overall"] == {
        "captures": 4, "ill": 3, "first_finding_right": 3, "every_cause_found": 3,
        "healthy": 1, "healthy_without_warning": 0, "confidently_wrong": 0,
    }  # fmt: skip
    assert 2 == counted["last_set"]["captures"]
    growth = counted["causes"]["heap-growth"]
    assert {"recorded": 3, "found": 3, "first": 3, "healthy_warned": 1} == {
        key: value for key, value in growth.items() if key != "warnings"
    }
    assert {"right": 3, "count": 3} == growth["warnings"]["likely"]
    assert {"right": 0, "count": 1} == growth["warnings"]["possible"]
