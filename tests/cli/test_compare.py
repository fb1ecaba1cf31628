"""`gomem compare`, from the command line to the exit code."""

import json

import jsonschema
import pytest

from gomem.cli.compare import names_apart
from gomem.cli.main import run as run_gomem
from gomem.views.json.schemas import schema_of
from tests.builders import FIXTURES
from tests.views.json.schemas.closed import closed

LAZY, EAGER = (FIXTURES / "captures" / f"cache-shrink-go{r}" for r in ("1.12.17", "1.16.15"))
FAST = "".join(f"BenchmarkA-2 1000 {value} ns/op\n" for value in (10, 11, 12, 13, 14, 15))
SLOW = "".join(f"BenchmarkA-2 1000 {value} ns/op\n" for value in (20, 21, 22, 23, 24, 25))


@pytest.fixture
def run(tmp_path, capsys, monkeypatch):
    """Run the command on files of the given texts: its exit code, output and errors."""
    monkeypatch.chdir(tmp_path)

    def run_on(before, after, *options):
        for name, text in (("before.txt", before), ("after.txt", after)):
            (tmp_path / name).write_text(text)
        return run_here("before.txt", "after.txt", *options)

    def run_here(*arguments):
        code = run_gomem(["compare", *map(str, arguments)])
        return code, *capsys.readouterr()

    run_on.here = run_here
    return run_on


def test_text_goes_to_standard_output(run):
    code, output, errors = run(SLOW, FAST)

    assert (0, "") == (code, errors)
    assert output.startswith("before.txt → after.txt\n\n✓ better: ")
    assert (
        "\n✓ better: 1 benchmark metric is better; the largest change is \N{MINUS SIGN}44 % (A-2 "
        in output
    )
    row = "A-2     22.5 ns ± 11 %  12.5 ns ± 20 %  \N{MINUS SIGN}44.4 %  better   0.002  6\n"
    assert row in output


def test_json_has_the_file_names_and_the_verdict(run):
    _, output, _ = run(SLOW, FAST, "--format", "json")
    found = json.loads(output)

    assert "gomem.compare/1" == found["schema"]
    assert {"before": "before.txt", "after": "after.txt"} == found["inputs"]
    assert ["better"] == [metric["verdict"] for metric in found["metrics"]]
    assert "better" == found["verdict"]["verdict"]
    assert found["verdict"]["sentence"].startswith("1 benchmark metric is better")


@pytest.mark.parametrize(
    ("before", "after", "code"),
    [
        pytest.param(FAST, SLOW, 1, id="worse"),
        pytest.param(SLOW, FAST, 0, id="better"),
        pytest.param(FAST, FAST, 0, id="the-same"),
    ],
)
def test_a_regression_ends_with_1_if_asked(run, before, after, code):
    assert code == run(before, after, "--fail-on", "regression")[0]
    assert 0 == run(before, after)[0]


def test_what_was_not_read_is_one_line_on_standard_error(run):
    code, _, errors = run(FAST + "BenchmarkA-2 1000\n", FAST)

    assert 0 == code
    assert errors.startswith("gomem: 1 place could not be read: before.txt: line 7: no measurement")
    assert 1 == errors.count("\n")


def test_an_output_is_written_and_what_is_not_gomems_is_not_overwritten(run, tmp_path):
    """
    Its path is printed. Over text, which bears no mark, it takes --force, and the message says so.
    """
    output = tmp_path / "out.txt"

    assert (0, f"{output}\n", "") == run(SLOW, FAST, "-o", output)
    first = output.read_text()
    code, _, errors = run(FAST, SLOW, "-o", output)
    assert 2 == code
    refused = "exists, and does not say that gomem wrote it; --force overwrites it"
    assert f"gomem: {output}: {refused}\n" == errors
    assert first == output.read_text()
    assert 0 == run(FAST, SLOW, "-o", output, "--force")[0]

    assert "▲ worse: " in output.read_text()


@pytest.mark.parametrize(
    ("name", "beginning"),
    [
        ("out.html", "<!DOCTYPE html>"),
        ("out.json", "{"),
        ("out.md", "# before.txt → after"),
        ("out.txt", "before.txt → after.txt\n\n"),
        ("out", "before.txt → after.txt\n\n"),
    ],
)
def test_the_ending_of_the_output_says_the_format(run, tmp_path, name, beginning):
    run(SLOW, FAST, "-o", name)

    assert (tmp_path / name).read_text().lstrip().startswith(beginning)


def test_html_goes_to_a_file_named_after_both(run, tmp_path):
    code, output, _ = run.here(LAZY, EAGER, "--format", "html")

    assert 0 == code
    assert "cache-shrink-go1.16.15-against-cache-shrink-go1.12.17.gomem.html\n" == output
    assert "With one run per side, only large changes" in (tmp_path / output.strip()).read_text()


def test_captures_say_which_moment_was_compared(run):
    _, output, _ = run.here(LAZY, EAGER)

    assert "better: RSS fell from 184 MiB to 23 MiB (\N{MINUS SIGN}88 %)" in output
    assert "heap that Go has released but the kernel still" in output
    assert "\nMemory at 4-freed\n" in output


def test_more_captures_a_side_are_more_values(run):
    further = ["--also-before", LAZY, "--also-after", EAGER, "--also-after", EAGER]
    _, output, _ = run.here(LAZY, EAGER, *further, "--format", "json")

    rss = next(one for one in json.loads(output)["metrics"] if one["name"] == "RSS")
    assert (2, 3) == (rss["before"]["n"], rss["after"]["n"])


def test_runs_are_given_by_options_alone_or_by_a_glob(run):
    named = run.here("--before", LAZY, "--before", LAZY, "--after", EAGER, "--format", "json")
    globbed = run.here(f"{LAZY.parent}/cache-shrink-go1.1[2]*", EAGER, "--format", "json")
    nothing = run.here(f"{LAZY.parent}/none-*", EAGER)
    one_side = run.here("--before", LAZY)

    rss = next(one for one in json.loads(named[1])["metrics"] if one["name"] == "RSS")
    assert (2, 1) == (rss["before"]["n"], rss["after"]["n"])
    assert LAZY.name == json.loads(globbed[1])["inputs"]["before"]
    assert (2, True) == (nothing[0], nothing[2].endswith("none-*: no file or folder matches\n"))
    assert (2, True) == (
        one_side[0],
        "one capture given; compare needs two: BEFORE AFTER" in one_side[2],
    )


def test_a_capture_that_is_far_worse_is_a_regression(run):
    """
    RSS from 22.5 to 184 MiB, one capture a side: no p, and no swing of a heap's either.
    """
    assert 1 == run.here(EAGER, LAZY, "--fail-on", "regression")[0]
    assert 0 == run.here(LAZY, EAGER, "--fail-on", "regression")[0]


@pytest.fixture
def builds(run, tmp_path):
    """Three files, the middle one slower; runs the command on them."""
    for name, text in (("old", FAST), ("slow", SLOW), ("same", FAST)):
        (tmp_path / f"{name}.txt").write_text(text)
    return lambda *options: run.here("old.txt", "slow.txt", "same.txt", *options)


def test_of_more_than_two_sides_the_first_is_the_baseline(builds):
    code, output, errors = builds()

    assert (0, "") == (code, errors)
    assert (
        "\n▲ worse: Compared with old.txt, slow.txt is worse; same.txt shows no change.\n" in output
    )
    rows = [line.split() for line in output.splitlines() if ".txt " in line and " ns " in line]
    assert [["A-2", "sec/op", "old.txt"], ["slow.txt"], ["same.txt"]] == [
        row[: row.index("±") - 2] for row in rows
    ]
    assert ["baseline", "worse", "~"] == [row[-3] for row in rows]


@pytest.mark.parametrize(
    ("output_format", "beginning"),
    [
        ("json", '{\n  "schema": "gomem.compare-builds/1"'),
        ("md", "# 2 builds compared with old"),
        ("html", "<!DOCTYPE html>"),
        ("pr", "<!-- gomem compare -->"),
        ("junit", "<?xml"),
    ],
)
def test_several_builds_have_every_format(builds, tmp_path, output_format, beginning):
    builds("--format", output_format, "-o", "told")

    output = (tmp_path / "told").read_text()
    assert output.startswith(beginning)
    assert "slow.txt" in output or "slow\\.txt" in output


def test_the_json_of_several_builds_is_in_its_schema(builds):
    found = json.loads(builds("--format", "json")[1])

    jsonschema.validate(found, closed(schema_of("compare-builds")))
    assert ["slow.txt", "same.txt"] == [one["inputs"]["after"] for one in found["comparisons"]]


def test_a_budget_is_with_baseline_each_build(builds):
    code, output, _ = builds("--fail-on", "sec/op=+10%")

    assert 1 == code
    lines = [line.split()[:3] for line in output.splitlines() if line.startswith("sec/op=")]
    assert [["sec/op=+10%", "slow.txt", "broken"], ["sec/op=+10%", "same.txt", "met"]] == lines
    assert 1 == builds("--fail-on", "regression")[0]
    assert 0 == builds("--fail-on", "sec/op=+90%")[0]


def test_a_margin_and_the_least_change_are_set(run):
    _, output, _ = run(FAST, FAST, "--margin", "60%", "--format", "json")
    found = json.loads(output)
    slow = run(FAST, SLOW, "--min-change", "95 %")[1]

    jsonschema.validate(found, closed(schema_of("compare")))
    assert ["equivalent"] == [one["equivalence"] for one in found["metrics"]]
    assert "shown for 1 of 1 metrics (1 equivalent)." in found["verdict"]["details"][0]
    assert "  equivalent  6\n" in run(FAST, FAST, "--margin", "60%")[1]
    assert "  same     0.002  6\n" in slow
    assert "note: the change is beyond noise, but too small to matter\n" in slow


@pytest.mark.parametrize("size", ["2", "-2%", "100%", "some"])
def test_a_margin_is_per_cent(run, size):
    code, _, errors = run(FAST, SLOW, f"--margin={size}")

    assert (2, f"gomem: --margin {size}: wanted per cent, such as 2%\n") == (code, errors)


def test_runs_of_two_sides_cannot_be_given_where_there_are_more(builds):
    code, _, errors = builds("--before", "old.txt")

    assert (2, True) == (code, "3 sides and --before or --after" in errors)


def test_a_benchmark_file_and_a_capture_cannot_be_compared(run, tmp_path):
    (tmp_path / "bench.txt").write_text(FAST)

    code, _, errors = run.here("bench.txt", LAZY)

    assert 2 == code
    assert errors.endswith(
        ": not a benchmark file, but the other side is; compare like with like\n"
    )


def test_a_path_with_nothing_there_is_said(run):
    assert (2, "", "gomem: nothing: no such file or folder\n") == run.here("nothing", LAZY)


@pytest.mark.parametrize(
    ("before", "after", "names"),
    [
        (["x/old"], ["y/new"], ("old", "new")),
        (["old/api"], ["new/api"], ("old/api", "new/api")),
        (["api"], ["api"], ("api", "api")),
        (["a/1", "a/2"], ["b/1"], ("a/1, a/2", "b/1")),
    ],
)
def test_names_are_as_long_as_it_takes_to_tell_them_apart(before, after, names, tmp_path):
    paths = [[tmp_path / name for name in side] for side in (before, after)]

    assert names == names_apart(*paths)
