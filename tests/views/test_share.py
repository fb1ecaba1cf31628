"""What a report may show of the machine it was made on."""

import shutil

import pandas as pd
import pytest

from gomem.capture.load import load
from gomem.diagnosis.diagnosis import diagnose
from gomem.inputs.schema import Column, build_rows
from gomem.numbered import (
    Address,
    Build,
    Collected,
    Digest,
    Instance,
    Label,
    Metric,
    Module,
    Service,
    Unit,
    Value,
)
from gomem.shell import Argument
from gomem.text import (
    CaptureName,
    Command,
    File,
    Function,
    Mapped,
    MomentName,
    Program,
    Quoted,
    Words,
    text,
)
from gomem.views.document import Document, Figure, Folded, Notes, Section, Verdict
from gomem.views.json.report import render_json_report, report_json
from gomem.views.report.verdict import steps_of
from gomem.views.share import Hidden, share, without_home
from gomem.views.writers.html import write_html
from gomem.views.writers.markdown import write_markdown
from gomem.views.writers.text import write_text
from tests.builders import as_html, as_markdown, as_text, diagnosed, memstats_json
from tests.views.ledgers import SHRUNK, diagnosis_of

HOME_OF_ROOT = "/root"  # on any Linux
RENDERERS = [as_html, render_json_report, as_markdown, as_text]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("/home/jo/captures/smaps: cut", "~/captures/smaps: cut"),
        ("/Users/jo", "~"),
        (f"at {HOME_OF_ROOT}/smaps", "at ~/smaps"),
        (r"C:\Users\jo\smaps", r"~\smaps"),
        ("/rootfs/home/jo", "/rootfs/home/jo"),
        ("example.com/home/jo.run", "example.com/home/jo.run"),
    ],
)
def test_a_home_directory_is_a_tilde(text, shown):
    assert shown == without_home(text)


@pytest.mark.parametrize("render", RENDERERS)
def test_where_the_capture_lies_is_never_shown(tmp_path, render):
    """
    Only the last part of its path is: it may lie in anybody's home.
    """
    text = render(diagnosis_of(tmp_path / "api", m_json=memstats_json(HeapAlloc=5)))

    assert "api" in text
    assert str(tmp_path) not in text
    assert tmp_path.name not in text


@pytest.mark.parametrize("render", RENDERERS)
def test_a_redacted_report_names_no_folder_and_no_line_that_could_not_be_read(tmp_path, render):
    for moment in ("before-acme", "after-acme"):
        (tmp_path / moment).mkdir()
        (tmp_path / moment / "m.json").write_bytes(memstats_json(HeapAlloc=5))
        (tmp_path / moment / "notes.txt").write_text("password=acme")

    text = render(diagnosis_of(tmp_path), redact=True)

    assert "acme" not in text
    assert "moment-1" in text


def test_a_redacted_report_still_belongs_together():
    """
    Moments have one name everywhere, and evidence names files that are listed.
    """
    report = report_json(diagnosed(SHRUNK), redact=True)

    names = ["moment-1", "moment-2", "moment-3", "moment-4"]
    assert names == [one["name"] for one in report["capture"]["moments"]]
    assert names == [one["moment"] for one in report["ledger"]]
    assert names == list(dict.fromkeys(one["moment"] for one in report["allocations"]))
    known = {file["path"] for one in report["capture"]["moments"] for file in one["artefacts"]}
    evidence = {one["artefact"] for found in report["findings"] for one in found["evidence"]}
    assert evidence
    assert evidence <= known | {"Go release"}


def test_function_names_are_kept():
    assert "main.(*cache).put" in as_text(diagnosed(SHRUNK), redact=True)


NAMES = ["acmeone", "acmetwo", "acmethree"]  # words, so that nothing tells them by their looks


@pytest.fixture(scope="module")
def secret(tmp_path_factory):
    """A real capture of three moments and its baseline, with nothing but secret names."""
    tmp_path = tmp_path_factory.mktemp("secret")
    moments = ("1-filled", "2-shrunk", "4-freed")
    for folder, names in (("acmenew", NAMES), ("acmeold", ["acmeone", "acmefour", "acmefive"])):
        for name, moment in zip(names, moments, strict=True):
            shutil.copytree(SHRUNK / moment, tmp_path / folder / "acmefolder" / name)
            (tmp_path / folder / "acmefolder" / name / "smaps").rename(
                tmp_path / folder / "acmefolder" / name / "smaps.txt"
            )
        for log in SHRUNK.glob("gctrace*"):
            shutil.copy(log, tmp_path / folder)
        (tmp_path / folder / "acmefolder" / NAMES[0] / "m.json.gz").write_bytes(b"\x1f\x8bacmetext")
    return diagnose(load(tmp_path / "acmenew"), load(tmp_path / "acmeold"))


@pytest.mark.parametrize("render", RENDERERS)
def test_no_secret_name_is_in_any_redacted_output(secret, render):
    """
    Names of captures, folders and moments, in prose, tables, evidence and drawings alike.
    """
    assert "acme" in render(secret)
    assert "acme" not in render(secret, redact=True)


@pytest.fixture(scope="module")
def plain_and_unlike(tmp_path_factory):
    """A capture whose moments have names of the report's own words, and the same with others."""
    folder = tmp_path_factory.mktemp("names")
    sides = {"plain": ("1", "before", "heap"), "unlike": ("1-qq", "2-qq", "3-qq")}
    for side, names in sides.items():
        for name, moment in zip(names, ("1-filled", "2-shrunk", "4-freed"), strict=True):
            shutil.copytree(SHRUNK / moment, folder / side / name)
    return tuple(diagnose(folder / side) for side in sides)


@pytest.mark.parametrize("render", RENDERERS)
def test_moments_called_by_plain_words_leave_prose_as_it_is(plain_and_unlike, render):
    """
    `before`, `heap` and `1` are words of the report's own, too: only the names are replaced.
    """
    plain, unlike = (render(diagnosis, redact=True) for diagnosis in plain_and_unlike)

    assert plain == unlike


def test_a_part_is_shown_by_what_it_is():
    hidden = Hidden({"before": "moment-1"}, {"before/smaps": "moment-1/smaps"}, redact=True)
    moment, file = MomentName("before"), File("before/smaps")

    assert "moment-1 came before" == share(text("{} came before", moment), hidden)
    assert "in moment-1/smaps, not before" == share(text("in {}, not before", file), hidden)
    assert "other.log" == share(File("secret/other.log"), hidden)
    assert "another moment" == share(MomentName("unheard of"), hidden)
    assert "capture" == share(CaptureName("/home/jo/acme"), hidden)
    assert "main.acme" == share(Function("main.acme"), hidden)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (Build("go1.27.3"), "go1.27.3"),
        (Build("go1.27-acme"), "build-1"),
        (Collected("acme"), "capture-1"),
        (Instance("pod-acme"), "instance-1"),
        (Service("acme"), "service-1"),
        (Module("example.com/acme"), "module-1"),
        (Digest("0a1b2c"), "digest-1"),
        (Label("tenant"), "label-1"),
        (Label("bytes"), "bytes"),
        (Label("/gc/heap/live:bytes"), "/gc/heap/live:bytes"),
        (Unit("ns/op"), "ns/op"),
        (Unit("acmes/op"), "unit-1"),
        (Value("off"), "off"),
        (Value("50 MiB"), "50 MiB"),
        (Value("acme"), "value-1"),
        (Value("off, acme"), "off, value-1"),
        (Address("http://10.0.0.7:6060/acme?key=1"), "http://host-1:6060"),
        (Address("http://127.0.0.1:6060/acme"), "http://127.0.0.1:6060"),
        (Address("db.acme:5432"), "host-1"),
        (Metric("rss"), "rss"),
        (Metric("Decode"), "Decode"),
        (Metric("Decode/acme-8"), "Decode/case-1"),
        (Metric("Decode/acme-8:acmes/op"), "Decode/case-1:unit-1"),
        (Metric("B/op=+5%"), "B/op=+5%"),
        (Mapped("[anon: Go: heap]"), "[anon: Go: heap]"),
        (Mapped("[anon:acme]"), "[anon:mapping-1]"),
        (Mapped("[heap]"), "[heap]"),
        (Mapped("/srv/acme/lib.so"), "lib.so"),
        (Function("main.fill /srv/acme/fill.go"), "main.fill fill.go"),
        (Function("main.fill[go.shape.struct { main.x int }]"),
         "main.fill[go.shape.struct { main.x int }]"),
        (Program("/srv/acme/server"), "server"),
    ],
)  # fmt: skip
def test_a_name_is_shown_as_what_it_is_of(name, shown):
    assert shown == share(name, Hidden(redact=True))
    assert shown == share(text("{}", name), Hidden(redact=True))


def test_equal_names_have_equal_numbers_by_what_they_are_of():
    hidden = Hidden(redact=True).numbered(Build, ["new", "old"])
    said = text("{}, {} and {} of {}", Build("old"), Build("new"), Build("other"), Module("old"))

    assert "build-2, build-1 and build-3 of module-1" == share(said, hidden)
    assert "build-1" == share(Build("new"), hidden)


def test_a_frame_is_shown_by_its_dictionary():
    columns = (
        Column("path", "str", "", "Where it lies.", File),
        Column("build", "category", "", "Who made it.", Build),
        Column("state", "str", "", "How it is.", Words),
        Column("bytes", "UInt64", "B", "How large it is."),
    )
    rows = [("/srv/acme/a.go", "b1", "new", 1), ("/srv/acme/b.go", "b2", "gone", 2)]

    shown = share(build_rows(rows, columns), Hidden(redact=True))

    assert ["a.go", "b.go"] == shown["path"].tolist()
    assert ["build-1", "build-2"] == shown["build"].tolist()
    assert ["new", "gone"] == shown["state"].tolist()
    assert [1, 2] == shown["bytes"].tolist()


def test_text_out_of_files_is_left_out():
    said = text("a refusal, {}", Quoted("no such key: acme"))

    assert "a refusal, …" == share(said, Hidden(redact=True))
    assert "" == share(Quoted("a line of a log"), Hidden(redact=True))
    assert said == share(said, Hidden())


def test_the_files_of_a_command_are_hidden_as_elsewhere():
    hidden = Hidden({"before": "moment-1"}, {"before/heap": "moment-1/heap"}, redact=True)
    command = Command(text("gomem top {} --cum", File("before/heap")))

    assert "gomem top moment-1/heap --cum names it" == share(text("{} names it", command), hidden)


@pytest.mark.parametrize(
    ("place", "shown"),
    [
        ("captures/api", "less captures/api/1/dump.txt"),
        ("api.tar.gz", "tar -xOf api.tar.gz --wildcards '*dump.txt' | less"),
        ("api.zip", "unzip -p api.zip '*dump.txt' | less"),
    ],
)
def test_a_pager_is_given_a_file_of_an_archive(place, shown):
    command = Command(text("less {}", Argument("1/dump.txt")))

    assert shown == share(text("{}", command), Hidden(place=place))


@pytest.mark.parametrize("write", [write_html, write_markdown, write_text])
def test_a_redacted_step_keeps_its_command_and_hides_the_folders_in_it(write):
    """
    The command stands alone, ready to paste, with the file's own name.
    """
    command = Command(text("gomem top {} --cum", File("acme/heap.pb.gz")))
    step = text("{} It names who calls {}, as {} did.", command, Function("main.fill"), "acme")
    said = Verdict("info", "note", "It grew.", steps=steps_of(step))

    for hidden, shown in ((Hidden(), "acme/heap.pb.gz"), (Hidden(redact=True), "heap.pb.gz")):
        document = share(Document("report", "api", (), said, ()), hidden)
        first, second = document.verdict.steps
        assert (f"gomem top {shown} --cum", True) == (first.text, first.is_command)
        assert second.text.strip() == "It names who calls main.fill, as acme did."
        assert f"gomem top {shown} --cum" in write(document)


def test_what_is_shared_is_plain():
    """
    Writers escape by `type(text) is str`: what a text was made of has done its work here.
    """
    shared = share({"a": [MomentName("m"), "words", text("at {}", MomentName("m"))]}, Hidden())

    assert {str} == set(map(type, shared["a"]))


def test_the_pass_reaches_everything_in_a_document():
    """
    Lists, tuples, dictionaries, dataclasses, frames and what figures are drawn of.
    """
    hidden, name = Hidden({"acme": "moment-1"}, redact=True), MomentName("acme")
    frame = pd.DataFrame({"moment": pd.Series([name], dtype=object), "bytes": [1]})
    drawn = []
    figure = Figure(name, lambda **numbers: drawn.append(numbers), lambda: {"frame": frame})
    section = Section("s", name, (Folded(name, (figure, Notes((name,)))),))

    shared = share({"sections": [section], name: 1}, hidden)

    shared["sections"][0].blocks[0].blocks[0].draw()
    assert "acme" not in str(shared)
    assert "moment-1" == drawn[0]["frame"]["moment"].iloc[0]
    assert 1 == shared["moment-1"]
