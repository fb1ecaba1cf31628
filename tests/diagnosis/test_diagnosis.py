"""Every story's finding stands at its moment and nowhere else; every ledger adds up."""

import shutil

import pandas as pd
import pytest

import gomem
from gomem.causes.finding import Severity
from tests.builders import CAPTURES, FIXTURES, diagnosed

# What each capture is known to show: (code, moment) of every warning, in order.
WARNINGS = {
    "alloc-pressure-after-go1.27.3": [],
    "alloc-pressure-before-go1.27.3": [("gc-pressure", None)],
    "cache-shrink-go1.9.7": [],
    "cache-shrink-go1.12.17": [
        ("released-but-resident", "4-freed"),
        ("idle-heap-kept", "3-collected"),
    ],
    "cache-shrink-go1.16.15": [],
    "cache-shrink-go1.27.3": [],
    "cache-shrink-386-go1.27.3": [],
    "healthy-go1.27.3": [],
    # What was unpacked is freed as fast as it came; a heap that grows will need what it leaves.
    "spiky-go1.27.3": [
        ("allocation-spike", "settled"),
        ("heap-growth", "settled"),
    ],
    "zeroing-go1.23.4": [],
    "zeroing-go1.24.2": [],
    "zeroing-go1.24.6": [],
    "zeroing-go1.27.3": [],
}


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
def test_the_warnings_are_those_of_the_story(path):
    findings = diagnosed(path).findings

    warnings = [(one.code, one.moment) for one in findings if one.severity >= Severity.WARNING]

    assert WARNINGS[path.name] == warnings


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
def test_every_ledger_adds_up(path):
    diagnosis = diagnosed(path)

    sums = diagnosis.ledger.groupby("moment", sort=False)["bytes"].sum()

    assert list(diagnosis.capture.moments["moment"]) == list(diagnosis.ledgers)
    assert [ledger.rss_bytes for ledger in diagnosis.ledgers.values()] == list(sums)


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
def test_the_log_has_every_collection_up_to_the_last_moment(path):
    """
    Two sources, one number: gc lines against NumGC; the log goes on after the last moment.
    """
    diagnosis = diagnosed(path)

    last = int(diagnosis.capture.memstats["NumGC"].iloc[-1])

    assert last <= diagnosis.collector.cost.cycles
    assert list(range(1, diagnosis.collector.cost.cycles + 1)) == list(
        diagnosis.capture.gc.cycles["number"]
    )


def test_the_kernels_totals_agree_with_the_ledger():
    for path in CAPTURES:
        for ledger in diagnosed(path).ledgers.values():
            assert {0} == set(ledger.checks["difference_bytes"]), path.name


def test_metrics_alone_give_the_ledger_that_memstats_give(tmp_path):
    """
    runtime/metrics hold the same numbers: without MemStats the ledger is the same to the byte,
    and says where it is from.
    """
    moment = FIXTURES / "captures/cache-shrink-go1.27.3/3-collected"
    for name in ("smaps", "metrics.json"):
        shutil.copy(moment / name, tmp_path / name)

    whole = diagnosed(moment.parent).ledgers["3-collected"]
    (ledger,) = gomem.diagnose(tmp_path).ledgers.values()

    assert list(whole.parts["bytes"]) == list(ledger.parts["bytes"])
    assert "MemStats.HeapAlloc" == whole.parts["source"][0]
    assert "/memory/classes/heap/objects:bytes" == ledger.parts["source"][0]


def test_what_is_missing_is_named_with_the_command_that_gets_it(tmp_path):
    shutil.copy(FIXTURES / "captures/healthy-go1.27.3/2-steady/memstats.json", tmp_path)

    (finding,) = gomem.diagnose(tmp_path).findings

    assert "data-missing" == finding.code
    assert "No smaps, so" in finding.title
    assert "cat /proc/PID/smaps" in finding.next_step


def test_damage_is_a_warning(tmp_path):
    shutil.copytree(FIXTURES / "captures/healthy-go1.27.3", tmp_path / "c")
    (tmp_path / "c/2-steady/memstats.json").write_bytes(b'{"HeapAlloc": 12, "HeapSys"')

    findings = gomem.diagnose(tmp_path / "c").findings

    damaged = next(one for one in findings if one.code == "data-damaged")
    assert Severity.WARNING == damaged.severity
    assert "1 place in 1 file" in damaged.title


def test_a_cut_smaps_gives_a_coarser_ledger_and_never_a_smaller_rss(tmp_path):
    """
    Its sums are too small, so RSS comes from smaps_rollup, and the report says what is missing.
    """
    shutil.copytree(FIXTURES / "captures/healthy-go1.27.3", tmp_path / "c")
    smaps = tmp_path / "c/2-steady/smaps"
    smaps.write_bytes(smaps.read_bytes()[:3000])

    diagnosis = gomem.diagnose(tmp_path / "c")
    ledger = diagnosis.ledgers["2-steady"]

    whole = diagnosed(FIXTURES / "captures/healthy-go1.27.3").ledgers["2-steady"]
    assert whole.rss_bytes == ledger.rss_bytes
    assert whole.rss_bytes == int(ledger.parts["bytes"].sum())
    assert "the smaps of this snapshot is incomplete" == ledger.notes[0]
    assert {"data-damaged", "data-missing"} == {finding.code for finding in diagnosis.findings}


def cut_between_two_mappings(folder):
    smaps = folder / "smaps"
    text = smaps.read_bytes()
    smaps.write_bytes(text[: text.index(b"7f")])


def test_a_smaps_cut_between_two_mappings_is_damage_where_others_show_it(tmp_path):
    shutil.copytree(FIXTURES / "captures/healthy-go1.27.3", tmp_path / "c")
    cut_between_two_mappings(tmp_path / "c/2-steady")

    diagnosis = gomem.diagnose(tmp_path / "c")

    (damage,) = diagnosis.capture.damaged
    assert "2-steady/smaps" == damage.source
    assert "[stack], [vdso] and [vsyscall], which 1-start/smaps has, are missing" in damage.what
    assert any(
        "the smaps of this snapshot is incomplete" in note
        for note in diagnosis.ledgers["2-steady"].notes
    )


def test_a_smaps_cut_between_two_mappings_is_suspected_where_it_stands_alone(tmp_path):
    """
    Nothing in it is malformed, but a process without a stack does not exist.
    """
    for name in ("smaps", "memstats.json"):
        shutil.copy(FIXTURES / "captures/healthy-go1.27.3/2-steady" / name, tmp_path)
    cut_between_two_mappings(tmp_path)

    diagnosis = gomem.diagnose(tmp_path)

    assert () == diagnosis.capture.damaged
    (ledger,) = diagnosis.ledgers.values()
    assert any("no [stack]" in note for note in ledger.notes)


def test_a_stray_file_is_listed_and_is_no_damage(tmp_path):
    shutil.copytree(FIXTURES / "captures/healthy-go1.27.3", tmp_path / "c")
    (tmp_path / "c/notes.txt").write_text("restarted it at noon\n")
    (tmp_path / "c/memory.max").write_text("")

    diagnosis = gomem.diagnose(tmp_path / "c")

    files = diagnosis.capture.artefacts.set_index("path")
    assert "text of no known kind" == files.loc["notes.txt", "looks_like"]
    assert "an empty file" == files.loc["memory.max", "looks_like"]
    assert () == diagnosis.capture.damaged
    assert [] == [one for one in diagnosis.findings if one.code == "data-damaged"]


def test_a_stray_file_makes_no_note_of_real_damage(tmp_path):
    shutil.copytree(FIXTURES / "captures/healthy-go1.27.3", tmp_path / "c")
    (tmp_path / "c/README.md").write_text("# how it was taken\n")
    smaps = tmp_path / "c/2-steady/smaps"
    smaps.write_bytes(smaps.read_bytes()[:3000])

    found = [one for one in gomem.diagnose(tmp_path / "c").findings if one.code == "data-damaged"]

    assert [Severity.WARNING] == [one.severity for one in found]
    assert {"2-steady/smaps"} == {one.artefact for one in found[0].evidence}


@pytest.mark.parametrize(
    ("name", "damaged"),
    [
        pytest.param("heap.pb.gz", True, id="named-as-a-profile"),
        pytest.param("image.bin", False, id="named-as-nothing"),
    ],
)
def test_an_unknown_binary_is_damage_where_its_name_is_that_of_a_kind(tmp_path, name, damaged):
    shutil.copytree(FIXTURES / "captures/healthy-go1.27.3", tmp_path / "c")
    (tmp_path / "c" / name).write_bytes(bytes(range(128, 256)) * 8)

    capture = gomem.load(tmp_path / "c")

    assert damaged == (name in {one.source for one in capture.damaged})
    assert damaged != (name in capture.looks)


def test_a_log_alone_is_a_capture_without_moments():
    diagnosis = gomem.diagnose(FIXTURES / "captures/healthy-go1.27.3/gctrace.log")

    assert {} == diagnosis.ledgers
    assert diagnosis.collector.cost.cycles > 30
    assert ["data-missing"] == [finding.code for finding in diagnosis.findings]


def test_findings_as_a_frame_have_a_row_each():
    findings = diagnosed(FIXTURES / "captures/cache-shrink-go1.12.17").findings

    frame = findings.frame

    assert [one.code for one in findings] == list(frame["code"])
    assert [one.bytes for one in findings] == [None if pd.isna(b) else b for b in frame["bytes"]]
    assert "<script>" not in findings._repr_html_()


def test_mappings_of_all_moments_have_their_kind():
    diagnosis = diagnosed(FIXTURES / "captures/zeroing-go1.24.2")

    by_kind = diagnosis.smaps.groupby(["moment", "kind"])["Rss"].sum()

    for row in diagnosis.kinds.to_dict("records"):
        assert row["rss_bytes"] == by_kind[row["moment"], row["kind"]]


def test_what_a_cell_ends_in_is_a_line_and_in_a_notebook_a_table():
    """
    No repr is longer than a screen: frames and arrays are asked for by their names.
    """
    diagnosis = diagnosed(FIXTURES / "captures/cache-shrink-go1.12.17")
    capture = diagnosis.capture
    profile = capture.heap_profiles["4-freed"]
    bench = FIXTURES / "captures/alloc-pressure-before-go1.27.3/bench.txt"

    assert "<Findings: released-but-resident" in repr(diagnosis.findings)
    assert "<Profile 4-freed/heap.pb.gz: heap, " in repr(profile)
    for shown in (
        capture, capture["4-freed"], capture.gc, profile, diagnosis, diagnosis.findings,
        gomem.compare(bench, bench), gomem.compare_many({"a": bench, "b": bench}),
    ):  # fmt: skip
        assert "\n" not in repr(shown)
        assert len(repr(shown)) < 200
        assert shown._repr_html_()
