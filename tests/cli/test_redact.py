"""Whatever a command writes with --redact gives nothing away: to a file, as text, as a message.

Captures have a name that must not be shared in every place where one can stand; see `planted`. Each
command runs in each of its formats. Without --redact the same run does give names away, so that
they would be seen here.
"""

import re
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest

import gomem
import gomem.capture.load
import gomem.comparison.comparison
import gomem.diagnosis.diagnosis
from gomem.cli.main import COMMANDS, parser_of
from gomem.cli.progress import Stages
from gomem.cli.redaction import redacting
from gomem.inputs.kinds import KINDS
from gomem.views.report.picture import picture
from tests.views.planted import given_away

# They read no capture; `capture` writes one, of which more is hidden: see tests/live/test_redact.
NO_READERS = {"capture", "explain", "schema", "completion"}
# What says nothing of a capture but numbers, and names that are kept.
NAMELESS = {("what-if", "csv"), ("retain", "csv"), ("report", "png")}
TO_FILES = {"html", "ipynb", "png", "pprof", "parquet"}
WAYS = {
    "report": ("CAPTURE",),
    "compare": ("CAPTURE", "OTHER"),
    "rss": ("CAPTURE",),
    "inspect": ("CAPTURE",),
    "retain": ("CAPTURE",),
    "what-if": ("OTHER/gctrace.log",),
    "fleet": ("-o", "DATASET"),
    "matrix": ("BUILDS", "--labels", "{build}/{}", "--workers", "0"),
    "top": ("CAPTURE/psstextra/mutex.pb.gz", "--granularity", "lines"),
}
MORE_WAYS = [
    ("report", "CAPTURE", "--baseline", "OTHER", "--format", "text"),
    ("report", "CAPTURE", "--baseline", "OTHER", "--format", "json"),
    *(("compare", "CAPTURE", "OTHER", "CAPTURE", "--format", name)
      for name in ("json", "html", "junit")),
    *(("compare", "CAPTURE/more-bench.txt", "OTHER/bench.txt", "--format", name)
      for name in ("json", "html", "pr")),
    ("retain", "CAPTURE", "--path", "goroutines of main.keptfn and main.keptvariable"),
    *(("top", "CAPTURE/psstextra/mutex.pb.gz", *view, "--format", name)
      for view in (("--tags",), ("--traces", "--granularity", "files"), ("--tree",))
      for name in ("text", "csv", "json")),
    ("top", "CAPTURE/psstextra/top.txt", "--granularity", "addresses"),
    ("top", "CAPTURE/psstfolder/psstone/heap.pb.gz", "--escapes", "CAPTURE/escapes.txt.gz"),
    ("fleet", "-o", "DATASET", "--reports"),
    ("table", "OTHER/gctrace.log", "--format", "trace"),
    ("table", "OTHER/gctrace.log", "--format", "openmetrics"),
]  # fmt: skip
MISTAKES = [
    ("report", "psstnone"),
    ("report", "CAPTURE", "-o", "psstnone/psst.html"),
    ("report", "CAPTURE", "--format", "psst"),
    ("report", "CAPTURE", "--psst"),
    ("report", "CAPTURE", "--threshold", "psst=1"),
    ("report", "CAPTURE", "--go-version", "psst"),
    ("report", "CAPTURE/psstextra/page.html"),
    ("psst",),
    ("compare", "CAPTURE", "psstnone"),
    ("compare", "CAPTURE", "CAPTURE/bench.txt"),
    ("compare", "CAPTURE", "OTHER", "--fail-on", "psst=+1%"),
    ("compare", "CAPTURE", "OTHER", "--config", "psst.toml"),
    ("top", "CAPTURE/psstextra/mutex.pb.gz", "--sample-type", "psst"),
    ("top", "CAPTURE/psstextra/mutex.pb.gz", "--focus", "psst("),
    ("top", "CAPTURE/psstdir/cut.pb.gz"),
    ("table", "CAPTURE/gctrace.log", "--frame", "psst"),
    ("table", "CAPTURE/psstextra/page.html"),
    ("table", "CAPTURE/psstextra"),
    ("inspect", "CAPTURE/psst*none"),
    ("retain", "CAPTURE/gctrace.log"),
    ("retain", "CAPTURE", "--path", "psst"),
    ("rss", "CAPTURE", "--moment", "psst"),
    ("what-if", "CAPTURE/psstextra/ps.txt"),
    ("what-if", "OTHER/gctrace.log", "--gogc", "psst"),
    ("fleet", "CAPTURE/psstnone"),
    ("matrix", "BUILDS", "--labels", "{psst}"),
    ("matrix", "BUILDS", "--labels", "{build}/{}", "--order", "psst", "--workers", "0"),
    ("notebook", "psst"),
    ("notebook", "start-here", "psstnone"),
    ("notebook", "start-here", "CAPTURE", "-o", "psst.psst"),
]


@pytest.fixture(scope="module", autouse=True)
def read_once():
    """Each capture is read, diagnosed and compared once, as it is the same in all runs."""
    compared = gomem.comparison.comparison
    with pytest.MonkeyPatch.context() as patch:
        for where, name in (
            (gomem.capture.load, "load"),
            (gomem.diagnosis.diagnosis, "diagnose"),
            (compared, "compare_diagnoses"),
        ):
            kept = remembered(getattr(where, name))
            patch.setattr(where, name, kept)
            patch.setattr(compared, name, kept)
        yield


def remembered(function):
    answers = {}

    def ask(*given, **options):
        options.pop("progress", None)
        key = str([*map(name_of, given), options])
        if key not in answers:
            answers[key] = function(*given, **options), given  # which keeps what is named by its id
        return answers[key][0]

    return ask


def name_of(given):
    if isinstance(given, list | tuple):
        return [*map(name_of, given)]
    return str(given) if isinstance(given, str | Path) else id(given)


@cache
def formats(command):
    """What `--format` takes."""
    options = {option: param for param in parser_of(command).params for option in param.opts}
    return tuple(options["--format"].type.choices) if "--format" in options else ("",)


def with_format(command, name):
    arguments = ["--format", name] if name else []
    is_file = name in TO_FILES and command != "fleet"  # whose page goes beside its dataset
    return [*arguments, *(["-o", f"out.{name}"] if is_file else [])]


def test_every_command_that_reads_a_capture_can_redact():
    readers = set(COMMANDS) - NO_READERS
    has = {name for name in readers for param in parser_of(name).params if "--redact" in param.opts}

    assert readers == has
    assert readers == {*WAYS, "table", "notebook"}


EVERY = [(command, name) for command in WAYS for name in formats(command)]


@pytest.mark.at_most(10)
@pytest.mark.parametrize(("command", "name"), EVERY, ids=lambda word: word or "only")
def test_nothing_planted_is_in_what_a_redacted_command_writes(written, command, name):
    asked = [command, *WAYS[command], *with_format(command, name)]

    assert {} == given_away(written(*asked, "--redact"))
    assert (command, name) in NAMELESS or given_away(written(*asked))


@pytest.mark.at_most(8)
@pytest.mark.parametrize("asked", MORE_WAYS, ids=" ".join)
def test_nothing_is_given_away_in_any_other_way(written, asked):
    assert {} == given_away(written(*asked, "--redact"))


@pytest.mark.parametrize("asked", MISTAKES, ids=" ".join)
def test_no_error_gives_away_what_was_asked_for(written, asked):
    """
    The message says what is wrong, and nothing of a name but that of a file.
    """
    told = written(*asked, "--redact", code=2)
    shown = re.sub(r"psst(?:none|\.html|\.toml|\.psst|\*none)", "", told["stderr"])

    assert {} == given_away({**told, "stderr": shown})
    assert "psst" in written(*asked, code=2)["stderr"]


@pytest.mark.at_most(8)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_no_table_gives_a_name_away(planted, written, kind):
    """
    Of each artefact each table, as text and as Parquet.
    """
    capture = gomem.load(planted["CAPTURE"])
    names = [file.source.name for file in capture.files if file.kind.name == kind.name]
    assert names
    for name in names:
        for frame in kind.frames:
            asked = ["table", f"CAPTURE/{name}", "--frame", frame, "--redact"]
            told = written(*asked, "--format", "parquet", "-o", "out.parquet")
            assert {} == given_away(told)
            assert {} == given_away(written(*asked, "--format", "json"))


def test_the_picture_names_no_snapshot(planted):
    """
    It is drawn, so that its file says nothing in words.
    """
    diagnosis = gomem.diagnose(planted["CAPTURE"])

    assert {} == given_away({"svg": picture(diagnosis, redact=True).svg()})
    assert given_away({"svg": picture(diagnosis).svg()})


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        (("report", "CAPTURE"), ["capture.gomem.html"]),
        (("report", "CAPTURE", "OTHER"), ["capture-1.gomem.html", "capture-2.gomem.html"]),
        (("rss", "CAPTURE"), ["capture.rss.pb.gz"]),
        (("retain", "CAPTURE", "--format", "html"), ["capture.retain.html"]),
        (("what-if", "OTHER/gctrace.log", "--format", "html"), ["capture.what-if.html"]),
        (("compare", "CAPTURE", "OTHER", "--format", "html"), ["comparison.gomem.html"]),
    ],
)
def test_a_file_goes_with_its_name_and_has_none_of_the_captures(written, asked, named):
    told = written(*asked, "--redact")

    assert {} == given_away(told)
    assert " ".join(named) == told["names"]
    assert set(named) <= set(told["stdout"].splitlines())


def test_the_same_name_is_the_same_number_in_an_output_and_in_what_is_told(written):
    told = written("fleet", "-o", "DATASET", "--format", "text", "--redact")

    (number,) = re.findall(r"gomem: (capture-\d+): …", told["stderr"])
    assert number in told["stdout"].split()


def test_a_fleet_says_that_its_dataset_keeps_the_names(written):
    told = written("fleet", "-o", "DATASET", "--redact")["stderr"]

    assert "the dataset keeps all names; share only fleet.html" in told


def test_progress_names_a_file_and_no_folder():
    said = []
    status = SimpleNamespace(update=lambda text: said.append(text.plain))

    with redacting(["report", "--redact"]):
        Stages(status).reading("psstone/heap.pb.gz", 1, 2)
    Stages(status).reading("psstone/heap.pb.gz", 1, 2)

    assert ["reading heap.pb.gz: 1 of 2", "reading psstone/heap.pb.gz: 1 of 2"] == said
