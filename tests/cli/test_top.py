"""`gomem top`: what it prints, in which format, and how it refuses."""

import csv
import io
import json
import subprocess
import sys

import pytest

from gomem.analysis.profiles.top_difference import DIFFERENCES
from gomem.cli.main import run
from gomem.inputs.pprof.read import read_pprof
from gomem.inputs.pprof.sites import top_sites
from tests.builders import FIXTURES

HEAP = FIXTURES / "captures" / "zeroing-go1.27.3" / "2-loaded" / "heap.pb.gz"

LIFETIME = ["lifetime", "95", "%", "interval"]  # as words


def printed(capsys, *options, path=HEAP):
    assert 0 == run(["top", str(path), *options])
    return capsys.readouterr().out


def test_json_has_the_fields_of_its_schema(capsys):
    result = json.loads(printed(capsys, "--format", "json", "--sample-type", "alloc_space"))

    profile = read_pprof(HEAP)
    top = profile.top("alloc_space")
    assert ("gomem.top/1", "alloc_space", "bytes") == (
        result["schema"],
        result["sample_type"],
        result["unit"],
    )
    assert profile.total("alloc_space") == result["total"]
    assert top["flat"].tolist() == [row["flat"] for row in result["top"]]
    assert {*("function", "flat", "flat_low", "flat_high", "cum", "cum_low", "cum_high")} == set(
        result["top"][0]
    )


def test_json_says_null_where_nothing_was_seen(capsys):
    rows = json.loads(printed(capsys, "--format", "json"))["top"]

    unseen = next(row for row in rows if row["flat"] == 0)
    assert (None, None) == (unseen["flat_low"], unseen["flat_high"])


@pytest.mark.parametrize("output_format", ["text", "csv", "json"])
def test_rows_are_printed_without_what_makes_frames_figures_and_statistics(output_format):
    """
    Loading these takes longer than all the rest of the command does on a small profile.
    """
    heavy = {"pandas", "pyarrow", "scipy", "matplotlib", "jinja2", "rich"}
    code = (
        "import sys; from gomem.cli.main import run; "
        f"assert 0 == run(['top', {str(HEAP)!r}, '--format', {output_format!r}]); "
        f"print(sorted({heavy} & sys.modules.keys()), file=sys.stderr)"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "main.newTable" in done.stdout
    assert "[]" == done.stderr.strip()


@pytest.mark.parametrize("sample_type", ["inuse_space", "alloc_objects"])
def test_csv_is_the_frame(sample_type, capsys):
    printed_rows = printed(capsys, "--format", "csv", "--sample-type", sample_type)

    assert top_sites(read_pprof(HEAP), sample_type).top.to_csv(index=False) == printed_rows


def test_csv_of_a_difference_is_the_frame(capsys):
    options = ("--format", "csv", "--diff-base", str(HEAP))
    header, *rows = printed(capsys, *options).splitlines()

    assert ",".join(column.name for column in DIFFERENCES) == header
    assert [] == rows


def test_csv_has_a_line_a_row(capsys):
    rows = list(csv.DictReader(io.StringIO(printed(capsys, "--format", "csv", "-n", "2"))))

    assert read_pprof(HEAP).top(n=2)["function"].tolist() == [row["function"] for row in rows]


def test_text_names_the_sample_type_the_total_and_the_largest_site_first(capsys):
    lines = printed(capsys).splitlines()

    assert "inuse_space: 166 MiB total" == lines[0]
    assert lines[3].endswith("main.newTable")


def test_text_says_why_there_are_no_intervals(capsys):
    lines = printed(capsys, path=HEAP.with_name("goroutine.pb.gz")).splitlines()

    assert "no intervals: a goroutine profile is not sampled by allocated bytes" == lines[1]
    assert "interval" not in lines[3]


@pytest.mark.parametrize("granularity", ["files", "lines", "packages"])
def test_a_row_stands_for_what_the_granularity_says(capsys, granularity):
    rows = json.loads(printed(capsys, "--format", "json", "--granularity", granularity))["top"]

    names = read_pprof(HEAP).top(granularity=granularity).iloc[:, 0].tolist()
    assert names == [row["function"] for row in rows]


def test_cum_orders_by_cum(capsys):
    rows = json.loads(printed(capsys, "--format", "json", "--cum"))["top"]

    assert sorted((row["cum"] for row in rows), reverse=True) == [row["cum"] for row in rows]


def test_an_unknown_sample_type_is_refused_with_those_there_are(capsys):
    assert 2 == run(["top", str(HEAP), "--sample-type", "cpu"])
    assert capsys.readouterr().err.endswith(
        "sample type 'cpu', the profile has "
        "alloc_objects, alloc_space, inuse_objects, inuse_space\n"
    )


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"", "an empty file, wanted a pprof profile"),
        (b"not a profile\n", "text of no known kind, wanted a pprof profile: 'not a profile'"),
        (HEAP.read_bytes()[:500], "byte 500: gzip stream ends early"),
    ],
)
def test_what_cannot_be_read_is_one_line_and_exit_code_2(capsys, tmp_path, data, error):
    path = tmp_path / "heap.pb.gz"
    path.write_bytes(data)

    assert 2 == run(["top", str(path)])
    shown = capsys.readouterr()
    assert ("", 1) == (shown.out, len(shown.err.splitlines()))
    assert f"heap.pb.gz: {error}" in shown.err


def test_an_output_is_not_overwritten_unasked(tmp_path):
    path = tmp_path / "top.json"
    path.write_text("mine")

    assert 2 == run(["top", str(HEAP), "-o", str(path)])
    assert "mine" == path.read_text()
    assert 0 == run(["top", str(HEAP), "--format", "json", "-o", str(path), "--force"])
    assert "gomem.top/1" == json.loads(path.read_text())["schema"]


def test_the_same_input_gives_the_same_bytes(capsys):
    assert printed(capsys, "--format", "json") == printed(capsys, "--format", "json")


PRESSED = FIXTURES / "captures" / "alloc-pressure-before-go1.27.3" / "2-loaded" / "heap.pb.gz"
ESCAPES = FIXTURES / "escapes" / "alloc-pressure-before-go1.27.3.m2.txt"
PROFILES = FIXTURES / "profiles" / "go1.27.3"
AFTER, BEFORE = PROFILES / "heap-b.pb.gz", PROFILES / "heap-a.pb.gz"


def test_a_base_is_subtracted_and_changes_within_noise_are_marked(capsys):
    """
    `main.work.func1` freed what it allocated: a few samples more or less are noise.
    """
    options = ("--base", str(BEFORE), "--format", "json")

    rows = json.loads(printed(capsys, *options, path=AFTER))["top"]

    states = {row["function"]: row["flat_state"] for row in rows if row["flat"]}
    assert ("grew", "~") == (states["main.newNode"], states["main.work.func1"])
    noise = next(row for row in rows if row["function"] == "main.work.func1")
    assert noise["flat_low"] < 0 < noise["flat_high"]


def test_a_difference_is_what_the_profiles_differ_by(capsys):
    difference = read_pprof(AFTER).diff(read_pprof(BEFORE)).top()

    rows = json.loads(printed(capsys, "--diff-base", str(BEFORE), "--format", "json", path=AFTER))[
        "top"
    ]

    assert difference["flat"].tolist() == [row["flat"] for row in rows]
    assert difference["cum"].tolist() == [row["cum"] for row in rows]


def test_text_of_a_difference_says_what_changed(capsys):
    lines = printed(capsys, "--base", str(BEFORE), "-n", "5", path=AFTER).splitlines()

    headings = lines[2].split()
    assert headings[headings.index("change") :] == ["change", *LIFETIME, "function"]
    assert "  grew  " in lines[3]
    assert lines[3].endswith("  main.newNode")
    assert "  ~  " in lines[7]
    assert lines[7].endswith("  main.work.func1")


def test_filters_apply(capsys):
    options = ("--focus", "grow", "--hide", "runtime", "--noinlines", "--format", "json")

    rows = json.loads(printed(capsys, *options, path=AFTER))["top"]

    expected = read_pprof(AFTER).filtered(focus="grow", hide="runtime", noinlines=True).top()
    assert expected["function"].tolist() == [row["function"] for row in rows]


def test_several_profiles_are_added_up(capsys):
    total = read_pprof(AFTER).total() + read_pprof(BEFORE).total()

    result = json.loads(printed(capsys, str(BEFORE), "--format", "json", path=AFTER))

    assert total == result["total"]


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (("--tree", "-n", "1"), "| main.newNode"),
        (("--peek", "grow$"), "    main.newNode (inline)"),
        (("--traces",), "main.newNode (inline)"),
        (("--tags",), "bytes: 96 B"),
        (("--granularity", "modules"), "std"),
        (("--format", "folded"), "main.main;main.work;main.(*store).put"),
    ],
)
def test_there_are_other_views(capsys, options, line):
    assert line in printed(capsys, *options, path=AFTER)


@pytest.mark.parametrize("view", ["--tree", "--traces", "--tags"])
def test_views_are_written_as_json_and_csv(capsys, view):
    rows = json.loads(printed(capsys, view, "--format", "json", path=AFTER))["rows"]
    lines = list(csv.DictReader(io.StringIO(printed(capsys, view, "--format", "csv", path=AFTER))))

    assert len(rows) == len(lines)
    assert set(rows[0]) == set(lines[0])


def test_lines_say_why_they_allocate(capsys):
    """
    The compiler's words beside the profile's line, in text, CSV and JSON.
    """
    options = ("--escapes", str(ESCAPES), "--sample-type", "alloc_space", "-n", "1")
    why = "make([]byte, 0, 65536) escapes to heap: assigned through a pointer"

    text = printed(capsys, *options, path=PRESSED).splitlines()
    (row,) = json.loads(printed(capsys, *options, "--format", "json", path=PRESSED))["rows"]
    (line,) = csv.DictReader(
        io.StringIO(printed(capsys, *options, "--format", "csv", path=PRESSED))
    )

    assert text[1].endswith(f"main.render handler.go:24  {why}")
    assert ["main.render", 24, why] == [row["function"], row["line"], row["why"]]
    assert row["flat_low"] < row["flat"] < row["flat_high"]
    assert why == line["why"]


def test_what_is_no_escape_analysis_is_refused(capsys):
    assert 2 == run(["top", str(AFTER), "--escapes", str(AFTER)])
    shown = capsys.readouterr()
    assert ("", 1) == (shown.out, len(shown.err.splitlines()))
    assert "heap-b.pb.gz" in shown.err


def test_a_part_is_written_as_a_profile(tmp_path):
    path = tmp_path / "part.pb.gz"

    assert 0 == run(["top", str(AFTER), "--focus", "put", "--format", "pprof", "-o", str(path)])
    assert read_pprof(AFTER).focus("put").top()["flat"].tolist() == (
        read_pprof(path).top()["flat"].tolist()
    )


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (("--focus", "("), "heap-b.pb.gz: pattern '('"),
        (("--tree", "--tags"), "--tree and --tags are different views; choose one"),
        (("--base", "a", "--diff-base", "b"), "name two profiles to subtract; choose one"),
        (("--normalize",), "--normalize needs a profile to scale to"),
        (("--format", "pprof"), "a profile is not text; name a file with -o"),
        (("--base", str(AFTER.with_name("cpu-b.pb.gz"))), "do not count the same"),
    ],
)
def test_a_wrong_request_is_one_line_and_exit_code_2(capsys, options, error):
    assert 2 == run(["top", str(AFTER), *options])
    shown = capsys.readouterr()
    assert ("", 1) == (shown.out, len(shown.err.splitlines()))
    assert error in shown.err


def test_a_base_of_the_same_process_says_how_long_objects_live(capsys):
    """
    The audit log of spiky keeps all that it allocates: nothing bounds its lifetime above.
    """
    capture = FIXTURES / "captures" / "spiky-go1.27.3"
    base, last = (capture / name / "heap.pb.gz" for name in ("scrape-00", "settled"))
    options = ("--base", str(base), "--sample-type", "alloc_space")
    text = printed(capsys, *options, path=last).splitlines()
    told = json.loads(printed(capsys, *options, "--format", "json", path=last))["top"]
    rows = {row["function"]: row for row in told}

    assert [*LIFETIME, "function"] == text[2].split()[-5:]
    kept, dropped = rows["main.newAuditRecord"], rows["io.ReadAll"]
    assert kept["lifetime_high"] is None
    assert 0 <= kept["lifetime_low"] < kept["lifetime_seconds"]
    assert dropped["lifetime_high"] < 30
    (line,) = (line for line in text if line.endswith("main.newAuditRecord"))
    assert "≥ " in line


def test_a_base_of_another_process_says_nothing_of_lifetimes(capsys):
    told = json.loads(printed(capsys, "--diff-base", str(BEFORE), "--format", "json", path=AFTER))

    assert {None} == {row["lifetime_seconds"] for row in told["top"]}


def test_a_profile_in_a_text_is_named_as_reports_name_it(capsys, tmp_path):
    heap = (FIXTURES / "profiles" / "go1.24.2" / "heap-a.txt").read_text()
    (tmp_path / "heaps.log").write_text(f"### first\n{heap}### second\n{heap}")

    assert printed(capsys, path=FIXTURES / "profiles" / "go1.24.2" / "heap-a.txt") == printed(
        capsys, path=tmp_path / "heaps.log:2"
    )
