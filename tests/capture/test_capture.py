"""Moments are found as a person would lay files out; damage is kept; kinds come from content."""

import gzip
import io
import json
import shutil
import tarfile
from datetime import UTC, datetime

import pandas as pd
import pytest

import gomem
from gomem.capture.clock import time_in_name
from gomem.capture.place import stem_of
from gomem.errors import CaptureError
from tests.builders import CAPTURES, FIXTURES

LOADED = FIXTURES / "captures/zeroing-go1.24.2/2-loaded"
ZEROING = LOADED.parent


def lay_out(folder, files: dict[str, str]):
    """Copy artefacts of a real moment under other names."""
    for name, artefact in files.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(LOADED / artefact, target)
    return folder


def moments_of(capture: gomem.Capture) -> list[str]:
    return list(capture.moments["moment"])


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
def test_every_fixture_loads_without_damage(path):
    capture = gomem.load(path)

    assert () == capture.damaged
    assert "" not in set(capture.artefacts["kind"])
    assert sorted(entry.name for entry in path.iterdir() if entry.is_dir()) == moments_of(capture)
    assert path.name.rpartition("-go")[2] == str(capture.go_version)[2:]


def test_sub_folders_are_moments_in_natural_order(tmp_path):
    lay_out(tmp_path, {"10-late/smaps": "smaps", "9-early/smaps": "smaps", "app.log": "status"})

    assert ["9-early", "10-late", "(top)"] == moments_of(gomem.load(tmp_path))


def test_a_shared_stem_is_a_moment(tmp_path):
    files = {"heap-0007.pb.gz": "heap.pb.gz", "smaps-0007": "smaps"}
    files |= {"heap-0008.pb.gz": "heap.pb.gz", "smaps-0008": "smaps"}

    capture = gomem.load(lay_out(tmp_path, files))

    assert ["0007", "0008"] == moments_of(capture)
    assert [2, 2] == list(capture.moments["artefacts"])


def test_time_stamps_in_names_are_moments_in_time(tmp_path):
    files = {
        "memprof.2020-08-08T16_12_12.743.32254272.pb.gz": "heap.pb.gz",
        "memprof.2020-08-08T16_22_12.743.33254272.pb.gz": "heap.pb.gz",
    }

    moments = gomem.load(lay_out(tmp_path, files)).moments

    assert [
        datetime(2020, 8, 8, 16, 12, 12, 743000, UTC),
        datetime(2020, 8, 8, 16, 22, 12, 743000, UTC),
    ] == [time.to_pydatetime() for time in moments["time"]]


@pytest.mark.parametrize(
    ("seconds", "moments"),
    [((0, 1, 2, 60, 61), [3, 2]), ((0, 2, 3, 60, 62), [2, 1, 2]), ((0, 3, 60), [1, 1, 1])],
)
def test_each_file_with_a_stamp_of_its_own_joins_those_of_the_same_script(
    seconds, moments, tmp_path
):
    """
    `heap-$(date +%s).pb.gz`, then `smaps-$(date +%s)`: within two seconds they are one moment.
    """
    kinds = [("heap", ".pb.gz", "heap.pb.gz"), ("smaps", "", "smaps"), ("status", "", "status")]
    files = {}
    for number, second in enumerate(seconds):
        word, ending, artefact = kinds[number % 3]
        files[f"{word}-{1_600_000_000 + second}{ending}"] = artefact

    assert moments == list(gomem.load(lay_out(tmp_path, files)).moments["artefacts"])


def test_scrapes_each_second_are_moments_each(tmp_path):
    files = {f"heap-{1_600_000_000 + second}.pb.gz": "heap.pb.gz" for second in range(4)}

    assert 4 == len(gomem.load(lay_out(tmp_path, files)).moments)


def test_a_stamp_in_a_folders_name_is_the_time_of_its_files(tmp_path):
    files = {"1600000060/smaps": "smaps", "1600000000/smaps": "smaps"}

    moments = gomem.load(lay_out(tmp_path, files)).moments

    assert ["1600000000", "1600000060"] == list(moments["moment"])
    assert datetime(2020, 9, 13, 12, 26, 40, tzinfo=UTC) == moments["time"].iloc[0].to_pydatetime()


def test_a_moment_without_a_clock_keeps_its_place_among_the_others(tmp_path):
    """
    Of a, b and c, the stamps of a and c say that c was first; nothing is known of b.
    """
    files = {f"{name}/smaps": "smaps" for name in "b"}
    files |= {"a/smaps-1600000060": "smaps", "c/smaps-1600000000": "smaps"}

    assert ["c", "b", "a"] == moments_of(gomem.load(lay_out(tmp_path, files)))


def test_files_without_a_clue_are_one_moment(tmp_path):
    files = {"heap.pb.gz": "heap.pb.gz", "memstats.json": "memstats.json", "smaps": "smaps"}

    capture = gomem.load(lay_out(tmp_path, files))

    assert ["capture"] == moments_of(capture)
    assert ["heap"] == list(capture.profiles["capture"])


def test_names_of_the_service_do_not_make_moments(tmp_path):
    """
    `api.heap.pb.gz` beside `api-server.smaps`: one file of each kind, nothing tells them apart.
    """
    files = {"api.heap.pb.gz": "heap.pb.gz", "api-server.smaps": "smaps"}

    assert ["capture"] == moments_of(gomem.load(lay_out(tmp_path, files)))


def test_two_profiles_in_one_folder_are_two_moments_and_none_is_lost(tmp_path):
    files = {"p/heap-1.pb.gz": "heap.pb.gz", "p/heap-2.pb.gz": "heap.pb.gz"}

    assert ["p/1", "p/2"] == moments_of(gomem.load(lay_out(tmp_path, files)))


def test_the_kind_comes_from_the_content_and_not_from_the_name(tmp_path):
    files = {"a.txt": "heap.pb.gz", "b.pb.gz": "smaps", "c": "memstats.json"}

    artefacts = gomem.load(lay_out(tmp_path, files)).artefacts

    assert ["pprof", "smaps", "memstats"] == list(artefacts["kind"])


def test_the_release_is_found_in_a_profile_without_a_manifest(tmp_path):
    version = gomem.load(lay_out(tmp_path, {"goroutine.pb.gz": "goroutine.pb.gz"})).go_version

    assert "go1.24.2" == str(version)
    assert "inferred from a path in goroutine.pb.gz" == version.evidence


def test_a_given_release_wins_and_must_be_one():
    assert "go1.23.4" == str(gomem.load(ZEROING, go_version="go1.23.4").go_version)
    with pytest.raises(CaptureError, match="not a Go release"):
        gomem.load(ZEROING, go_version="latest")


def test_an_archive_reads_like_its_folder(tmp_path):
    with tarfile.open(tmp_path / "c.tar.gz", "w:gz") as archive:
        archive.add(ZEROING, arcname="zeroing")

    packed, folder = gomem.load(tmp_path / "c.tar.gz"), gomem.load(ZEROING)

    assert folder.smaps.equals(packed.smaps)
    assert folder.memstats.equals(packed.memstats)
    assert list(folder.artefacts["sha256"]) == list(packed.artefacts["sha256"])


def test_loose_files_are_one_capture():
    capture = gomem.load(LOADED / "smaps", LOADED / "memstats.json")

    assert ["capture"] == moments_of(capture)
    assert {"smaps", "memstats"} == set(capture.artefacts["kind"])


def test_loose_files_of_several_folders_keep_their_folders():
    capture = gomem.load(LOADED / "smaps", ZEROING / "1-start" / "smaps")

    assert ["1-start", "2-loaded"] == moments_of(capture)


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        ("smaps_rollup", b"", "an empty file"),
        ("notes.txt", b"remember the milk\n", "text of no known kind"),
        ("a.bin", bytes(range(256)) * 4, "an unknown binary beginning 00 01 02"),
        ("config.json", b'{"port": 8080}', "JSON with the keys port"),
        ("api", b"\x7fELF" + bytes(60), "an ELF executable"),
    ],
)
def test_what_is_no_artefact_is_listed_and_the_rest_is_read(tmp_path, name, content, what):
    """
    It is not read, and that is no damage.
    """
    lay_out(tmp_path, {"smaps": "smaps"})
    (tmp_path / name).write_bytes(content)

    capture = gomem.load(tmp_path)

    assert () == capture.damaged
    assert what in capture.artefacts.set_index("path").loc[name, "looks_like"]
    assert len(capture.smaps) > 0


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        ("memstats.json", b'{"port": ', "begins like JSON and is not"),
        ("heap.pb.gz", bytes(range(128, 256)) * 4, "an unknown binary beginning 80 81 82"),
    ],
)
def test_what_its_name_says_and_its_content_cannot_be_is_damage(tmp_path, name, content, what):
    lay_out(tmp_path, {"smaps": "smaps"})
    (tmp_path / name).write_bytes(content)

    capture = gomem.load(tmp_path)

    assert [name] == [one.source for one in capture.damaged]
    assert what in capture.damaged[0].what
    assert {} == capture.looks


def test_a_truncated_profile_is_damage_and_the_rest_is_read(tmp_path):
    lay_out(tmp_path, {"smaps": "smaps"})
    heap = (LOADED / "heap.pb.gz").read_bytes()
    (tmp_path / "heap.pb.gz").write_bytes(heap[: len(heap) // 2])

    capture = gomem.load(tmp_path)

    assert {"heap.pb.gz"} == {one.source for one in capture.damaged}
    assert {} == dict(capture.profiles)
    assert len(capture.smaps) > 0


@pytest.mark.parametrize("content", [None, b""], ids=["no file", "an empty file"])
def test_a_folder_with_nothing_to_read_is_an_error_with_a_reason(tmp_path, content):
    if content is not None:
        (tmp_path / "smaps").write_bytes(content)

    with pytest.raises(CaptureError, match="nothing"):
        gomem.load(tmp_path)


def test_a_manifest_that_names_a_missing_file_is_damage(tmp_path):
    shutil.copytree(ZEROING, tmp_path / "c")
    (tmp_path / "c/2-loaded/smaps").unlink()

    capture = gomem.load(tmp_path / "c")

    assert ["the manifest names 2-loaded/smaps, which is not there"] == [
        one.what for one in capture.damaged
    ]


def test_a_manifest_is_found_further_down_and_compressed(tmp_path):
    """
    Unpacked into a folder and then `gzip -r`: moments, times and release are still the manifest's.
    """
    folder = tmp_path / "tmp/api"
    shutil.copytree(ZEROING, folder)
    for path in [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".gz"]:
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()

    whole, capture = gomem.load(ZEROING), gomem.load(tmp_path)

    assert () == capture.damaged
    assert list(whole.moments["time"]) == list(capture.moments["time"])
    assert moments_of(whole) == moments_of(capture)
    assert "go1.24.2" == str(capture.go_version)


def test_a_compressed_manifest_that_is_cut_is_damage(tmp_path):
    shutil.copytree(ZEROING, tmp_path / "c")
    manifest = tmp_path / "c/gomem.json"
    (tmp_path / "c/gomem.json.gz").write_bytes(gzip.compress(manifest.read_bytes())[:-12])
    manifest.unlink()

    assert {"gomem.json.gz"} == {one.source for one in gomem.load(tmp_path / "c").damaged}


def test_a_file_that_the_manifest_does_not_list_belongs_to_those_beside_it(tmp_path):
    """
    A cgroup's file that somebody added to the folder of a moment, below another folder.
    """
    shutil.copytree(ZEROING, tmp_path / "api")
    (tmp_path / "api/2-loaded/memory.current").write_text("178102272\n")

    capture = gomem.load(tmp_path)

    assert ["1-start", "2-loaded"] == moments_of(capture)
    assert ["2-loaded"] == list(capture.cgroup["moment"])


@pytest.mark.parametrize("copy", ["smaps.txt", "smaps.bak", "smaps (1)"])
def test_a_copy_of_a_listed_file_is_not_counted_twice(copy, tmp_path):
    """
    RSS of the moment was the sum of both.
    """
    shutil.copytree(ZEROING, tmp_path / "c")
    shutil.copy(LOADED / "smaps", tmp_path / "c/2-loaded" / copy)

    capture = gomem.load(tmp_path / "c")

    recorded = gomem.read_smaps(LOADED / "smaps").mappings["Rss"].sum()
    assert recorded == capture["2-loaded"].smaps["Rss"].sum()
    assert 3 == len(capture.moments)


def test_files_beside_those_of_several_moments_are_none_of_them(tmp_path):
    """
    Loose files of two moments, by the manifest; the third smaps is of neither.
    """
    moments = [
        {"name": name, "artefacts": [{"path": f"smaps-{name}"}]} for name in ("first", "second")
    ]
    manifest = {"schema": "gomem.capture/1", "moments": moments}
    lay_out(tmp_path, {"smaps-first": "smaps", "smaps-second": "smaps", "status-third": "status"})
    (tmp_path / "gomem.json").write_text(json.dumps(manifest))

    assert {"first", "second", "third"} == set(moments_of(gomem.load(tmp_path)))


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("heap-0007.pb.gz", "0007"),
        ("smaps-0007", "0007"),
        ("before.heap.pb.gz", "before"),
        ("goroutine_after_load.pb.gz", "after-load"),
        ("heap.pb.gz", ""),
        ("memstats.json", ""),
        ("smaps_rollup", ""),
    ],
)
def test_the_stem_is_what_a_name_says_besides_its_kind(name, stem):
    assert stem == stem_of(name)


@pytest.mark.parametrize(
    ("name", "time"),
    [
        ("heap-2026-11-20T05:45:49Z.pb.gz", datetime(2026, 11, 20, 5, 45, 49, tzinfo=UTC)),
        ("heap-20261120T054549.pb.gz", datetime(2026, 11, 20, 5, 45, 49, tzinfo=UTC)),
        ("heap-1600000000.pb.gz", datetime(2020, 9, 13, 12, 26, 40, tzinfo=UTC)),
        ("heap-20261120-054549.pb.gz", datetime(2026, 11, 20, 5, 45, 49, tzinfo=UTC)),
        ("heap_20261120054549.pb.gz", datetime(2026, 11, 20, 5, 45, 49, tzinfo=UTC)),
        ("heap-2026-11-20-05-45-49.pb.gz", datetime(2026, 11, 20, 5, 45, 49, tzinfo=UTC)),
        ("heap-2026-11-20T07:45:49+02:00.pb.gz", datetime(2026, 11, 20, 5, 45, 49, tzinfo=UTC)),
        ("heap-20261120T164549+1100.pb.gz", datetime(2026, 11, 20, 5, 45, 49, tzinfo=UTC)),
        ("heap-20261120T001549-0530.pb.gz", datetime(2026, 11, 20, 5, 45, 49, tzinfo=UTC)),
        ("heap-2026-11-20T05:45:49-0007.pb.gz", datetime(2026, 11, 20, 5, 45, 49, tzinfo=UTC)),
        ("heap-20261120T054549.25Z.gz", datetime(2026, 11, 20, 5, 45, 49, 250000, UTC)),
        ("memprof.2020-08-08T16_12_12.743.32", datetime(2020, 8, 8, 16, 12, 12, 743000, UTC)),
        ("heap-1600000000123.pb.gz", datetime(2020, 9, 13, 12, 26, 40, 123000, UTC)),
        ("heap-1600000000123456.pb.gz", datetime(2020, 9, 13, 12, 26, 40, 123456, UTC)),
        ("heap-1600000000123456789.pb.gz", datetime(2020, 9, 13, 12, 26, 40, 123456, UTC)),
        ("heap-16000000001.pb.gz", None),
        ("heap-2600000000.pb.gz", None),
        ("heap-9920261120054549.pb.gz", None),
        ("heap-2026-1120T054549.pb.gz", None),
        ("heap-0007.pb.gz", None),
        ("heap-2026-99-20T05:45:49Z.pb.gz", None),
    ],
)
def test_the_time_in_a_name_is_read_in_its_usual_spellings(name, time):
    assert time == time_in_name(name)


def test_a_stream_is_a_source():
    stats = gomem.read_memstats(io.BytesIO((LOADED / "memstats.json").read_bytes())).stats

    assert 1 == len(stats)


def test_the_sites_of_all_moments_are_one_frame_with_their_intervals():
    capture = gomem.load(FIXTURES / "captures/cache-shrink-go1.16.15")

    top = capture.top("inuse_space", n=3)

    for moment, profile in capture.heap_profiles.items():
        rows = top[top["moment"] == moment].drop(columns=["moment", "time"]).reset_index(drop=True)
        pd.testing.assert_frame_equal(profile.top("inuse_space", n=3), rows)
        assert (rows["flat_low"] <= rows["flat"]).all()
    units = gomem.columns(top).set_index("column")["unit"]
    assert ("", "B", "B", "fraction") == tuple(
        units[["moment", "flat", "cum_high", "cum_fraction"]]
    )


def test_a_capture_without_heap_profiles_has_no_sites_and_a_wrong_name_says_which_there_are():
    capture = gomem.load(LOADED / "smaps")

    assert ["moment", "time", "function"] == list(capture.top("alloc_objects").columns[:3])
    assert capture.top("alloc_objects").empty
    with pytest.raises(ValueError, match="did you mean inuse_space"):
        capture.top("inuse_spce")


GC_LINE = (
    "gc {number} @0.0{number}0s 4%: 0.027+4.2+0.058 ms clock, 0.054+0.26/0.063/4.1+0.11 ms cpu, "
    "14->20->19 MB, 16 MB goal, 2 P\n"
)


def test_each_of_several_logs_is_a_run_of_its_own_and_one_alone_is_as_it_is(tmp_path):
    for name, numbers in (("a", [1]), ("b", [1, 2]), ("c", [1, 2, 3])):
        text = "".join(GC_LINE.format(number=number) for number in numbers)
        (tmp_path / f"{name}.log").write_text(text)

    alone, three = gomem.load(tmp_path / "b.log"), gomem.load(tmp_path)

    assert alone.gc is alone.files[0].parsed
    assert [(1, 1), (2, 1), (2, 2), (3, 1), (3, 2), (3, 3)] == list(
        three.gc.cycles[["run", "number"]].itertuples(index=False, name=None)
    )
