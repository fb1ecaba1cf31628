"""What `gomem.load` takes, whose word on the release counts, and what it calls damage."""

import json
import shutil
from types import SimpleNamespace

import pytest

import gomem
from gomem.capture import load
from gomem.errors import CaptureError, Damage
from gomem.sources import long
from gomem.sources.artefact import Source
from tests.builders import FIXTURES, smaps_entry, smaps_text

CAPTURE = FIXTURES / "captures/zeroing-go1.24.2"
LOADED = CAPTURE / "2-loaded"
GC_LINE = (
    b"gc 1 @0.010s 4%: 0.027+4.2+0.058 ms clock, 0.054+0.26/0.063/4.1+0.11 ms cpu, "
    b"14->20->19 MB, 16 MB goal, 2 P\n"
)


def folder_of(tmp_path, manifest=None, **files):
    for name, source in files.items():
        shutil.copy(source, tmp_path / name.replace("__", "."))
    if manifest is not None:
        (tmp_path / "gomem.json").write_text(json.dumps(manifest))
    return tmp_path


def test_nothing_named_is_an_error():
    with pytest.raises(CaptureError, match="no capture named"):
        gomem.load()


def test_a_file_named_twice_is_an_error():
    with pytest.raises(CaptureError, match="named twice"):
        gomem.load(LOADED / "smaps", LOADED / "smaps")


def test_two_captures_are_not_one():
    with pytest.raises(CaptureError, match="several captures"):
        gomem.load(CAPTURE, FIXTURES / "captures/healthy-go1.27.3")


def test_a_folder_and_a_file_are_not_one():
    with pytest.raises(CaptureError, match="several captures"):
        gomem.load(LOADED, CAPTURE / "gctrace.log")


@pytest.mark.parametrize("content", [{"moments": []}, {"schema": "gomem.capture/9"}, [], "x"])
def test_what_is_called_a_manifest_and_is_none_is_damage(content, tmp_path):
    capture = gomem.load(folder_of(tmp_path, content, smaps=LOADED / "smaps"))

    assert ["gomem.json"] == [one.source for one in capture.damaged]
    assert "not a gomem manifest" in capture.damaged[0].what
    assert ["capture"] == list(capture.by_moment)


def test_what_was_lost_of_a_manifest_is_damage():
    cut = Damage("gomem.json", "", "cut")
    manifest = json.dumps({"schema": "gomem.capture/1"}).encode()
    gathering = SimpleNamespace(damage=[])

    load._manifest([Source("gomem.json", manifest, b"", damage=(cut,))], gathering)

    assert [cut] == gathering.damage


@pytest.mark.parametrize("data", [b"remember the milk\n", GC_LINE])
def test_what_was_lost_of_a_file_is_damage_once(data):
    """
    Of one that is read, and of one that is passed over.
    """
    cut = Damage("app.log", "", "cut")
    gathering = load._Gathering()

    load._read_all([Source("app.log", data, b"", damage=(cut,))], gathering, None)

    assert [cut] == gathering.damage


@pytest.mark.parametrize("is_watched", [True, False])
def test_a_log_is_read_piece_by_piece_whether_somebody_watches_or_not(is_watched, tmp_path):
    path, seen = tmp_path / "app.log", []
    path.write_bytes(GC_LINE)
    source = long.LongSource("app.log", GC_LINE, b"", path=path)

    def watch(*step):
        seen.append(step)

    log = load._read(source, load.LOG, watch if is_watched else None)

    assert 1 == len(log.cycles)
    assert ({("app.log (MiB)", 0, 0)} if is_watched else set()) == set(seen)


@pytest.mark.parametrize(
    ("data", "in_pieces"), [(b"gc 1 @0.010s 4%: 0.027+4.2+0.058 ms clock\n", True), (b"{}", False)]
)
def test_of_long_files_a_gc_log_is_read_piece_by_piece(monkeypatch, data, in_pieces):
    beginning = Source("app.log", data, b"")
    monkeypatch.setattr(load, "long_source", lambda _: beginning)
    whole = Source("app.log", b"whole", b"")

    opened = load._open(SimpleNamespace(name="app.log", open=lambda: whole))

    assert opened is (beginning if in_pieces else whole)


def test_the_first_manifest_counts_and_one_behind_what_is_none(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    folder_of(tmp_path / "a", {"no": "manifest"}, smaps=LOADED / "smaps")
    manifest = {"schema": "gomem.capture/1", "go_version": "go1.23.4", "moments": []}
    folder_of(tmp_path / "b", manifest, smaps=LOADED / "smaps")

    capture = gomem.load(tmp_path)

    assert ["a/gomem.json"] == [one.source for one in capture.damaged]
    assert "go1.23.4" == str(capture.go_version)


@pytest.mark.parametrize(
    ("given", "manifest", "release", "evidence"),
    [
        (
            "go1.22.1",
            "go1.23.4",
            "go1.22.1",
            "--go-version; gomem.json go_version says go1.23.4",
        ),
        (None, "go1.23.4", "go1.23.4", "gomem.json go_version"),
        (None, "devel", "go1.24.2", "inferred from a path in goroutine.pb.gz"),
        (None, None, "go1.24.2", "inferred from a path in goroutine.pb.gz"),
    ],
)
def test_whose_word_on_the_release_counts(given, manifest, release, evidence, tmp_path):
    content = {"schema": "gomem.capture/1", "go_version": manifest, "moments": []}
    folder_of(tmp_path, content if manifest else None, goroutine__pb__gz=LOADED / "goroutine.pb.gz")

    version = gomem.load(tmp_path, go_version=given).go_version

    assert (release, evidence) == (str(version), version.evidence)


def test_a_log_alone_says_between_which_releases(tmp_path):
    version = gomem.load(folder_of(tmp_path, gctrace__log=CAPTURE / "gctrace.log")).go_version

    assert version.low is not None
    assert version.low <= gomem.load(CAPTURE).go_version.low


def test_progress_names_each_file_once_with_its_number(tmp_path):
    seen = []
    folder_of(tmp_path, smaps=LOADED / "smaps", status=LOADED / "status")

    gomem.load(tmp_path, progress=lambda *step: seen.append(step))

    assert [("smaps", 1, 2), ("status", 2, 2)] == seen


def test_nothing_readable_says_why_for_the_first_three(tmp_path):
    for number in range(5):
        (tmp_path / f"{number}.txt").write_text("remember the milk\n")

    with pytest.raises(CaptureError, match=r"0\.txt.*1\.txt.*2\.txt.*; and 2 more$"):
        gomem.load(tmp_path)


def test_files_of_other_folders_that_a_manifest_places_keep_their_moments(tmp_path):
    """
    The manifest decides, whatever the folder is called; what is of the whole has no moment.
    """
    entry = {"path": "any/smaps", "time": "2026-01-01T00:00:00Z"}
    content = {
        "schema": "gomem.capture/1",
        "moments": [{"name": "m", "artefacts": {"smaps": entry}}],
    }
    (tmp_path / "any").mkdir()
    folder_of(tmp_path / "any", smaps=LOADED / "smaps", gctrace__log=CAPTURE / "gctrace.log")
    folder_of(tmp_path, content)

    capture = gomem.load(tmp_path)

    placed = dict(zip(capture.artefacts["path"], capture.artefacts["moment"], strict=True))
    assert {"any/smaps": "m", "any/gctrace.log": ""} == placed


def test_a_pattern_means_what_it_matches_and_a_list_its_members(tmp_path):
    for number in (2, 10):
        shutil.copy(LOADED / "smaps", tmp_path / f"smaps-{number}")

    by_pattern = gomem.load(tmp_path / "smaps-*")
    by_list = gomem.load([tmp_path / "smaps-2", str(tmp_path / "smaps-10")])

    assert ["smaps-2", "smaps-10"] == list(by_pattern.artefacts["path"])
    assert list(by_list.moments["moment"]) == list(by_pattern.moments["moment"])


def test_a_pattern_that_matches_nothing_is_an_error(tmp_path):
    with pytest.raises(CaptureError, match="no file or folder matches"):
        gomem.load(tmp_path / "heap-*")


def test_a_file_that_is_called_like_a_pattern_is_meant_itself(tmp_path):
    shutil.copy(LOADED / "smaps", tmp_path / "smaps[1]")
    shutil.copy(LOADED / "smaps", tmp_path / "smaps1")

    assert ["smaps[1]"] == list(gomem.load(tmp_path / "smaps[1]").artefacts["path"])


@pytest.mark.parametrize(
    ("names", "ordered"),
    [
        pytest.param(("after", "before"), ["before", "after"], id="words of order"),
        pytest.param(
            ("after", "before", "during", "last"), ["before", "during", "after", "last"], id="four"
        ),
        pytest.param(("after", "noon"), ["after", "noon"], id="a word that says no order"),
        pytest.param(
            ("after", "before", "mid", "settled"),
            ["before", "mid", "settled", "after"],
            id="another name is between",
        ),
        pytest.param(("after", "t1"), ["after", "t1"], id="one word gives no order"),
        pytest.param(("2-before", "1-after"), ["1-after", "2-before"], id="numbers say it"),
        pytest.param(
            ("after-deploy", "before-deploy"), ["before-deploy", "after-deploy"], id="a word of it"
        ),
    ],
)
def test_moments_without_a_clock_come_as_their_words_say(tmp_path, names, ordered):
    for name in names:
        (tmp_path / name).mkdir()
        (tmp_path / name / "smaps").write_bytes(
            smaps_text(smaps_entry(0x400000, 0x401000, "r-xp", "/app/api", rss_kib=4))
        )

    assert ordered == list(gomem.load(tmp_path).by_moment)


def test_what_was_sent_in_place_of_a_file_is_said(tmp_path):
    """
    An empty dump and a server's page; a note of the user's is no artefact that is lacking.
    """
    shutil.copy(LOADED / "smaps", tmp_path / "smaps")
    (tmp_path / "memstats.json").write_bytes(b"")
    page = "<html><head><title>502 Bad Gateway</title></head></html>"
    for name in ("goroutine.pb.gz", "notes.html"):
        (tmp_path / name).write_text(page)

    capture = gomem.load(tmp_path)

    assert ("goroutine.pb.gz", "memstats.json") == tuple(sorted(capture.unread_evidence))
    further = gomem.diagnose(capture).verdict.further
    assert "memstats.json not read (an empty file)" in further
    assert "502 Bad Gateway" in further
