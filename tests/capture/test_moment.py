"""A moment holds its own frames; a capture stacks them when they are asked for."""

import json
import shutil
from types import SimpleNamespace

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

import gomem
from gomem.capture.capture import Capture, _mapped
from gomem.capture.moment import FRAMES, Moment, goroutines_of
from gomem.inputs.pprof.read import read_pprof
from gomem.releases import GoVersion
from gomem.views.report.limits import limits_section
from tests.builders import FIXTURES, diagnosed
from tests.pprof_messages import field, message, packed, profile

HEALTHY = FIXTURES / "captures/healthy-go1.27.3"


@pytest.mark.parametrize("name", [name for name in FRAMES if name != "pauses"])
def test_a_captures_frame_is_those_of_its_moments_below_one_another(name):
    capture = gomem.load(HEALTHY)

    parts = [getattr(moment, name) for moment in capture.by_moment.values()]

    frame = getattr(capture, name)
    assert_frame_equal(
        pd.concat([part for part in parts if len(part)] or parts[:1], ignore_index=True),
        frame.drop(columns="time").astype({"moment": "str"}),
    )
    assert list(capture) == list(frame["moment"].cat.categories)
    assert [capture[name].time for name in frame["moment"]] == list(frame["time"])


def test_a_moment_is_found_by_its_name():
    capture = gomem.load(HEALTHY)

    assert {"2-steady"} == set(capture["2-steady"].smaps["moment"])
    with pytest.raises(KeyError, match="has no moment 9; it has 1-start, 2-steady, 3-later"):
        capture["9"]


def test_a_capture_without_a_moment_has_none():
    with pytest.raises(KeyError, match="api has no moment 1; it has none"):
        Capture("api", {}, (), (), (), {}, GoVersion())["1"]


@pytest.mark.parametrize(
    ("profiles", "cut", "chosen"),
    [
        pytest.param((), (True, False), 1, id="the whole one"),
        pytest.param((), (True, True), 0, id="a cut one if there is no other"),
        pytest.param(("goroutine",), (True, False), 1, id="the whole one beside a profile"),
        pytest.param(("goroutine",), (True, True), None, id="the profile counts them"),
    ],
)
def test_of_stacks_in_text_the_whole_ones_count(profiles, cut, chosen):
    kind = SimpleNamespace(name="goroutines")
    dumps = [SimpleNamespace(kind=kind, parsed=SimpleNamespace(damaged=one)) for one in cut]

    found = Moment._goroutine_dump.fget(SimpleNamespace(artefacts=dumps, profiles=profiles))

    assert found is (None if chosen is None else dumps[chosen])


def test_goroutines_of_a_profile_are_counted_by_stack_in_their_innermost_own_function():
    """
    A stack without a function is counted, too.
    """
    counts = message(1, field(1, 1), field(2, 2)) + message(1, field(1, 6), field(2, 2))
    stacks = ((1, 2), (2,), ())
    samples = (
        message(2, packed(1, *stack), packed(2, number, 0))
        for number, stack in zip((3, 5, 7), stacks, strict=True)
    )
    whole = profile(*samples, sample_types=counts).replace(b"main.leaf", b"runtime.x")

    found = goroutines_of(read_pprof(whole))

    assert [
        (3, "main.root", "runtime.x;main.root"),
        (5, "main.root", "main.root"),
        (7, "", ""),
    ] == list(found.itertuples(index=False, name=None))


def test_levels_have_what_some_mapping_tells():
    """
    A kernel may print fewer fields, or no number in one.
    """
    smaps = pd.DataFrame({"Rss": [4096, 8192], "Pss": [None, None]})

    assert {"Rss": 12288} == _mapped(SimpleNamespace(smaps=smaps))


def test_a_frame_that_there_is_not_is_named_with_those_there_are():
    with pytest.raises(AttributeError, match="has no smap; its frames are cgroup, smaps"):
        _ = gomem.load(HEALTHY).smap


def test_smaps_stands_before_maps_of_the_same_moment(tmp_path):
    """
    Both are mappings; stacked, every mapping would count twice.
    """
    shutil.copy(HEALTHY / "2-steady/smaps", tmp_path / "smaps")
    shutil.copy(HEALTHY / "2-steady/smaps", tmp_path / "copy")
    lines = (tmp_path / "smaps").read_text().splitlines()
    maps = [line for line in lines if line[:1] in "0123456789abcdef" and "-" in line.split()[0]]
    (tmp_path / "maps").write_text("\n".join(maps) + "\n")
    (tmp_path / "copy").unlink()

    capture = gomem.load(tmp_path)

    assert {"smaps", "maps"} == set(capture.artefacts["kind"])
    assert len(maps) == len(capture.smaps)
    assert {"smaps"} == set(capture.smaps["artefact"])


def test_statm_says_how_much_is_resident_where_nothing_else_does(tmp_path):
    """
    Pages times their size: assumed where no file says it, and the assumption is told.
    """
    for name in ("statm", "memstats.json"):
        shutil.copy(HEALTHY / "2-steady" / name, tmp_path / name)
    resident = int((HEALTHY / "2-steady/statm").read_text().split()[1])

    diagnosis = gomem.diagnose(tmp_path)
    ledger = diagnosis.ledgers["capture"]

    assert resident * 4096 == ledger.rss_bytes == int(ledger.parts["bytes"].sum())
    assert any("4 KiB is assumed" in note for note in ledger.notes)


def test_the_size_of_a_page_is_taken_from_a_file_that_says_it():
    moment = gomem.load(HEALTHY)["2-steady"]
    status = int(moment.status["VmRSS"].iloc[0])

    assert abs(int(moment.statm["resident"].iloc[0]) * 4096 - status) < 1 << 20


def test_a_limit_on_address_space_is_an_answer(tmp_path):
    """
    Go reserves far more than it uses, and RLIMIT_AS counts that.
    """
    shutil.copytree(HEALTHY / "2-steady", tmp_path / "c")
    (tmp_path / "c/limits").write_text(
        "Limit                     Soft Limit           Hard Limit           Units     \n"
        "Max address space         4294967296           unlimited            bytes     \n"
    )

    limits = gomem.diagnose(tmp_path / "c").limits

    assert 4 << 30 == limits.address_space.limit_bytes
    assert limits.address_space.mapped_bytes == gomem.load(tmp_path / "c").smaps["Size"].sum()
    words = str(limits_section(gomem.diagnose(tmp_path / "c")))
    assert "The process may map up to 4.00 GiB of address space, of which " in words
    assert diagnosed(HEALTHY).limits.address_space is None


def test_a_capture_has_each_pause_once():
    """
    Of the 54 collections of the run each moment's ring has all before it.
    """
    capture = gomem.load(HEALTHY)
    moments = [moment.pauses for moment in capture.by_moment.values()]

    assert list(range(1, 55)) == capture.pauses["number"].to_list()
    assert len(moments[-1]) < sum(map(len, moments))
    assert capture.memstats["NumGC"].max() == len(capture.pauses)


def test_levels_are_one_wide_row_a_moment():
    """
    By time, with what each file counts beside one another.
    """
    capture = gomem.load(HEALTHY)

    levels = capture.levels

    assert list(capture.by_moment) == levels["moment"].to_list()
    assert capture.memstats["HeapInuse"].to_list() == levels["HeapInuse"].to_list()
    assert capture.status["VmRSS"].to_list() == levels["VmRSS"].to_list()
    assert levels["Rss"].to_list() == levels["VmRSS"].to_list()
    assert "/gc/heap/live:bytes" in levels
    assert levels.index.is_monotonic_increasing
    assert "time" == levels.index.name


def test_levels_of_a_diagnosis_have_the_ledgers_parts():
    diagnosis = gomem.diagnose(HEALTHY)

    levels = diagnosis.levels

    assert [one.rss_bytes for one in diagnosis.ledgers.values()] == levels["rss_bytes"].to_list()
    assert levels["HeapAlloc"].to_list() == levels["heap_objects"].to_list()


def test_a_moment_without_files_of_memory_has_a_row_of_its_name_alone(tmp_path):
    (tmp_path / "limits").write_bytes(
        b"Limit                     Soft Limit           Hard Limit           Units     \n"
        b"Max address space         unlimited            unlimited            bytes     \n"
    )

    levels = gomem.load(tmp_path).levels

    assert (1, ["moment"]) == (len(levels), list(levels.columns))


def test_of_two_files_with_memstats_the_fuller_one_counts(tmp_path):
    """A log with some fields does not displace the profile in text, which has all of them."""
    lines = (
        f"time=2026-11-27T11:07:{at}Z msg=memstats HeapAlloc={size} Sys=281380168 NumGC=6\n"
        for at, size in ((47, 272756416), (51, 272761152))
    )
    (tmp_path / "app.log").write_text("".join(lines))
    stats = json.loads((HEALTHY / "2-steady/memstats.json").read_bytes())
    fields = (f"# {name} = {stats[name]}\n" for name in stats if isinstance(stats[name], int))
    head = "heap profile: 1: 64 [1: 64] @ heap/1048576\n1: 64 [1: 64] @ 0x1\n\n# runtime.MemStats\n"
    (tmp_path / "heap.debug1.txt").write_text(head + "".join(fields))

    last = list(gomem.load(tmp_path).by_moment.values())[-1]

    assert {"memstats", "heap_text"} == {file.kind.name for file in last.artefacts}
    assert {"heap.debug1.txt"} == set(last.memstats["artefact"])
