"""`gomem retain`, from the command line to the exit code."""

import json
import shutil

import jsonschema
import pytest

from gomem.cli.main import run as run_gomem
from gomem.views.json.schemas import schema_of
from tests import heap_dumps as made
from tests.builders import FIXTURES
from tests.heap_dumps import ARENA, DATA, an_object, dump, path_of, started
from tests.views.json.schemas.closed import closed

DUMP, SYMBOLS = path_of("1.24.13"), path_of("1.24.13", "nm.txt")


@pytest.fixture
def run(tmp_path, capsys, monkeypatch):
    """Run the command: its exit code, output and errors."""
    monkeypatch.chdir(tmp_path)

    def run_here(*arguments):
        code = run_gomem(["retain", *map(str, arguments)])
        return code, *capsys.readouterr()

    return run_here


@pytest.fixture
def capture(tmp_path):
    """A folder with two dumps and the symbols."""
    folder = tmp_path / "api"
    for name, source in (
        ("1-first/heap.dump.gz", DUMP),
        ("2-second/heap.dump.gz", path_of("1.24.13", "second.dump")),
        ("nm.txt.gz", SYMBOLS),
    ):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, path)
    return folder


def test_a_dump_with_symbols_names_the_variable_and_who_allocated(run):
    code, output, errors = run(DUMP, "--symbols", SYMBOLS)

    assert (0, "") == (code, errors)
    assert "main.cache keeps 438 KiB of 1.7 MiB live heap (25 %), mostly allocated by" in output
    assert "Go release: go1.24.13 (heap dump in " in output
    assert "only from 4 KiB on: a slice of" in " ".join(output.split())


def test_without_symbols_variables_are_addresses_and_the_way_out_is_said(run):
    code, output, _ = run(DUMP)

    assert 0 == code
    assert " in bss keeps 438 KiB" in output
    assert "go tool nm -size PROGRAM" in " ".join(output.split())


def test_a_stripped_executable_names_goroutines_and_says_why_no_variable(run):
    code, output, errors = run(started("1.27.3"), "--executable", started("1.27.3", "exe"))

    said = " ".join(output.split())
    assert (0, "") == (code, errors)
    assert "3 goroutines of main.serve keep" in said or "main.serve 3 × goroutine" in said
    assert "main.serve: started by main.accept and main.start → frame of main.serve" in said
    assert "The executable is stripped, so variables are named by their address" in said
    assert "what only the arguments of 20 cleanups (runtime.AddCleanup) keep" in said


def test_an_executable_in_the_capture_is_read_with_the_symbols(run, tmp_path):
    folder = tmp_path / "api"
    folder.mkdir()
    shutil.copy(started("1.24.13"), folder / "heap.dump.gz")
    shutil.copy(started("1.24.13", "exe"), folder / "api.exe.gz")
    (folder / "nm.txt").write_text("  401000  64 T main.other\n")

    code, output, _ = run(folder, "--format", "json")

    found = json.loads(output)
    jsonschema.Draft202012Validator(closed(schema_of("retain"))).validate(found)
    names = {(keeper["kind"], keeper["name"]) for keeper in found["keepers"]}
    assert 0 == code
    assert {("goroutine", "main.serve"), ("cleanup", "main.unmap")} <= names
    assert any("wanted the symbols of the executable" in note for note in found["notes"])


@pytest.mark.parametrize(("release", "is_named"), [(b"go1.24.13", True), (b"go1.23.12", False)])
def test_a_heap_that_is_mostly_unreachable_says_so_first(run, tmp_path, release, is_named):
    """
    Of what a cleanup's argument keeps, a dump says nothing: it looks like garbage.
    """
    file = tmp_path / "heap.dump"
    objects = an_object(ARENA, [1], size=1024), an_object(ARENA + 8192, [1], size=3072)
    content = dump(*objects, made.segment(13, DATA, [ARENA], at=[0]))
    file.write_bytes(content.replace(b"go1.24.13", release))

    code, output, _ = run(file)

    said = " ".join(output.split())
    assert 0 == code
    assert f"Most is unreachable: 3 KiB of 4 KiB. {DATA:#x} in bss keeps 1 KiB of 1 KiB" in said
    assert "3 KiB in 1 object is unreachable: garbage that no GC has freed yet" in said
    assert is_named == ("the argument of a cleanup (runtime.AddCleanup) keeps" in said)


def test_a_capture_says_which_keeper_grew(run, capture):
    code, output, errors = run(capture)

    assert (0, "") == (code, errors)
    assert "main.cache keeps 770 KiB of 2 MiB live heap" in output
    assert "main.cache grew most: from 438 KiB to 770 KiB." in output


def test_json_is_as_its_schema_says(run, capture):
    _, output, _ = run(capture, "--format", "json")
    found = json.loads(output)

    jsonschema.Draft202012Validator(closed(schema_of("retain"))).validate(found)
    assert "gomem.retain/1" == found["schema"]
    sizes = [keeper["bytes"] for keeper in found["keepers"]]
    assert found["live_bytes"] == sum(sizes)
    assert sorted(sizes, reverse=True) == sizes
    first = found["keepers"][0]
    assert ("global", "main.cache", "main.cache") == (
        first["kind"],
        first["name"],
        first["path"][0],
    )
    assert "main.fill" == first["allocated_by"][0]["function"]
    assert first["allocated_by"][0]["low"] <= 700 * 1072 <= first["allocated_by"][0]["high"]
    assert "main.cache" == found["growth"][0]["name"]


def test_one_keeper_alone_has_its_path(run):
    code, output, _ = run(DUMP, "--symbols", SYMBOLS, "--path", "queue")

    assert 0 == code
    assert "main.queue: 125 KiB" in output
    assert "main.queue keeps 125 KiB of 1.7 MiB live heap" in output
    assert "chain of 1 000, each an object of 128 B" in " ".join(output.split())
    assert "main.enqueue" in output

    _, output, _ = run(DUMP, "--symbols", SYMBOLS, "--path", "main.queue", "--format", "json")
    assert ["main.queue"] == [keeper["name"] for keeper in json.loads(output)["keepers"]]


def test_a_name_that_keeps_nothing_is_answered_with_the_nearest(run):
    code, _, errors = run(DUMP, "--symbols", SYMBOLS, "--path", "main.cahce")

    assert 2 == code
    assert "--path: main.cahce keeps nothing in this dump; did you mean main.cache?" in errors


def test_a_page_is_named_after_the_dump(run, tmp_path):
    code, _, _ = run(DUMP, "--symbols", SYMBOLS, "--format", "html")

    assert 0 == code
    assert "main.cache" in (tmp_path / "keepers-go1.24.13.dump.retain.html").read_text()


def test_csv_has_a_row_per_keeper(run):
    _, output, _ = run(DUMP, "--symbols", SYMBOLS, "--format", "csv")

    assert "kind,name,count,bytes,objects" == output.splitlines()[0]
    assert output.splitlines()[1].startswith("global,main.cache,1,448856,")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(
            [FIXTURES / "captures/healthy-go1.27.3"],
            "has no heap dump; wanted what runtime/debug.WriteHeapDump writes", id="no-dump",
        ),
        pytest.param(
            [DUMP, "--symbols", path_of("1.22.12", "nm.txt")],
            "wanted the symbols of the executable that wrote the dump", id="other-symbols",
        ),
        pytest.param(
            [DUMP, "--symbols", SYMBOLS, "--executable", SYMBOLS],
            "both name variables; give one of the two", id="both",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_answered_is_said_in_a_line(run, arguments, said):
    code, output, errors = run(*arguments)

    assert (2, "") == (code, output)
    assert said in errors
    assert 1 == len(errors.splitlines())


def test_a_dump_that_is_cut_is_refused_with_its_place(run, tmp_path):
    cut = tmp_path / "cut.dump.gz"
    cut.write_bytes(DUMP.read_bytes()[:40_000])

    code, _, errors = run(cut)

    assert 2 == code
    assert "its roots come last" in errors
