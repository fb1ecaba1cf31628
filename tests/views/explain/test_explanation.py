"""Each term of gomem's and of the field means something; a wrong one finds the nearest."""

import tomllib
from dataclasses import fields
from operator import attrgetter

import pytest

import gomem
from gomem.causes import CAUSES
from gomem.causes.thresholds import Thresholds
from gomem.cli.main import run
from gomem.inputs.kinds import KINDS
from gomem.inputs.read import read_artefact
from gomem.sources.packaged import text_beside
from gomem.views.explain.explanation import explanation_document, terms, unknown_term
from gomem.views.json.schemas import SCHEMAS, schema_of
from gomem.views.words import PARTS
from gomem.views.writers.text import write_text
from tests.builders import FIXTURES, diagnosed
from tests.inputs.test_kinds import examples
from tests.views.json.schemas.test_schemas import properties
from tests.views.ledgers import SHRUNK


def explained(term):
    document = explanation_document(term)
    assert document is not None, term
    return write_text(document)


ENTRIES = tomllib.loads(text_beside("gomem.views", "explain", "glossary.toml"))["entry"]
NAMES = {name for term in terms() for name in term.names}


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["names"][0])
def test_what_an_entry_relates_to_is_explained_too(entry):
    for term in (*entry["names"], *entry.get("related", ())):
        assert explanation_document(term) is not None, term


def test_no_two_entries_have_one_name():
    names = [name.lower() for entry in ENTRIES for name in entry["names"]]

    assert len(names) == len(set(names))


def test_an_entry_has_nothing_that_is_not_shown():
    shown = {"names", "means", "comes_from", "is_not", "facts", "related"}

    assert all(entry.keys() <= shown for entry in ENTRIES)


METRICS = tomllib.loads(text_beside("gomem.views", "explain", "runtime_metrics.toml"))


def test_every_name_of_runtime_metrics_is_explained():
    """
    Those of Go 1.27, which the reader of pages knows, and no other.
    """
    table = tomllib.loads(text_beside("gomem.inputs.metrics", "names.toml"))
    known = {name for kind in ("gauges", "counters", "histograms") for name in table[kind].split()}

    assert known == {metric["name"] for metric in METRICS["metric"]}
    for name in known:
        assert "etric of runtime/metrics, since Go 1." in explained(name), name


@pytest.mark.parametrize(
    "capture", sorted((FIXTURES / "doors").glob("go1.*/metrics.json*")), ids=lambda p: p.parent.name
)
def test_a_name_is_of_the_release_that_first_has_it(capture):
    """
    What programs of eight releases really list: no name before its release, none missing after.
    """
    minor = int(capture.parent.name.split(".")[1])
    read = gomem.read_metrics(capture)
    listed = {*read.values["name"], *read.histograms["name"]}
    due = {m["name"] for m in METRICS["metric"] if int(m["since"].split(".")[1]) <= minor}

    assert due == {name for name in listed if "/godebug/" not in name}


def test_a_setting_of_godebug_that_was_used_is_explained():
    said = explained("/godebug/non-default-behavior/containermaxprocs:events")

    assert "since Go 1.25" in said


@pytest.mark.parametrize(
    "term",
    ["AddCleanup", "Green Tea GC", "container-aware GOMAXPROCS", "flight recorder", "swiss maps",
     "weak.Pointer", "unique.Make", "GOEXPERIMENT", "checkfinalizers", "inittrace", "schedtrace",
     "/memory/classes/profiling/buckets:bytes", "/sched/threads/total:threads"],
)  # fmt: skip
def test_what_recent_releases_brought_is_explained(term):
    assert explanation_document(term) is not None


def test_every_column_of_every_frame_is_explained():
    """
    But those of a profile's values, which the profile names.
    """
    read = [(kind, read_artefact(kind, examples()[kind.name])) for kind in KINDS]
    frames = [getattr(one, name) for kind, one in read for name in kind.frames]
    frames = [frame for frame in frames if "frames" not in frame]
    frames += [
        frame
        for name in ("moments", "artefacts", "levels", "memstats", "smaps", "gc.cycles")
        for frame in [attrgetter(name)(diagnosed(SHRUNK).capture)]
    ]
    found = diagnosed(SHRUNK)
    frames += [found.ledger, found.kinds, found.heap, found.levels, found.scavenger.retention]

    for frame in frames:
        assert set(map(str, frame.columns)) <= NAMES


@pytest.mark.parametrize("document", SCHEMAS)
def test_every_field_of_json_is_explained_in_words(document):
    for path, field in properties(schema_of(document)):
        assert field.get("description"), path
        assert path.rpartition("/")[2] in NAMES, path


def test_every_threshold_is_explained_with_its_usual_value():
    for threshold in fields(Thresholds):
        text = " ".join(explained(threshold.name).split())
        assert f"{threshold.name} Threshold " in text
        assert f"By default {threshold.default};" in text


@pytest.mark.at_most(1)
@pytest.mark.parametrize("part", range(4))
def test_every_term_is_found_by_its_name(part):
    assert all(explanation_document(name) for name in sorted(NAMES)[part::4])


def test_a_field_and_one_with_the_same_letters_are_told_apart():
    """
    A share over the log, and one since the start of the process.
    """
    ours, theirs = explained("gc_cpu_fraction"), explained("GCCPUFraction")

    assert "report.gc" in ours
    assert "MemStats" in theirs
    assert "MemStats" not in ours
    assert explained("gccpufraction") == theirs


@pytest.mark.parametrize(
    ("term", "said"),
    [
        ("HeapIdle", "HeapIdle - HeapReleased is the idle heap that Go keeps"),
        ("lazyfree", "still in RSS"),
        ("RES", "in memory now"),
        ("working-set", "minus its inactive file pages"),
        ("scav", "returns idle heap to the OS"),
        ("idle-heap-kept", "What to do"),
        ("heap_untouched", "never touched"),
        ("go_memstats_heap_idle_bytes", "HeapIdle"),
        ("consul_runtime_alloc_bytes", "HeapAlloc"),
        ("at_seconds", "Unit: seconds"),
        ("stw_p99_seconds", "99 in 100"),
        ("claimed_bytes", "the runtime reserved"),
        ("MADV_FREE", "Go 1.12 to 1.15: memory released with MADV_FREE"),
        ("swiss map", "Go 1.24 and later"),
        ("AddCleanup", "Go 1.24 and later"),
        ("green tea gc", "Go 1.26 by default"),
        ("Flight Recorder", "Go 1.25 and later"),
        ("container-aware GOMAXPROCS", "Go 1.25 and later"),
        ("goroutineleak profile", "Go 1.27 by default"),
    ],
)
def test_a_term_is_explained(term, said):
    assert said in " ".join(explained(term).split())


def test_a_finding_has_what_it_is_before_its_mechanism():
    for cause in CAUSES:
        title, _, kind, what, *_ = explained(cause.code).splitlines()
        text = " ".join(explained(cause.code).split())

        assert (cause.code, "Finding") == (title, kind)
        assert what[:60] not in cause.mechanism
        assert " ".join(cause.mechanism.split())[:60] in text


def test_a_part_of_the_ledger_is_explained():
    assert all("art of the ledger" in explained(part) for part in PARTS)


def test_a_wrong_term_is_answered_with_the_nearest(capsys):
    assert 2 == run(["explain", "HeapIdel"])

    assert "HeapIdel: unknown term; did you mean HeapIdle?" in capsys.readouterr().err
    assert unknown_term("xyzzy") == "xyzzy: unknown term; try HeapIdle, LazyFree or RSS"


def test_a_term_of_two_words_needs_no_quotes(capsys):
    assert 0 == run(["explain", "working", "set"])

    assert "cAdvisor" in capsys.readouterr().out
