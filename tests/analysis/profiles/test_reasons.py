"""Allocation lines meet the compiler's verdicts in file and line, and nowhere else."""

import pandas as pd
import pytest

import gomem
from gomem.analysis.profiles.reasons import REASONS, site_reasons
from tests.builders import FIXTURES

BEFORE = FIXTURES / "captures" / "alloc-pressure-before-go1.27.3"
HANDLER = FIXTURES / "programs" / "alloc-pressure" / "before" / "handler.go"


@pytest.fixture(scope="module")
def profile():
    return gomem.read_pprof(BEFORE / "2-loaded" / "heap.pb.gz")


@pytest.fixture(scope="module")
def told():
    path = FIXTURES / "escapes" / "alloc-pressure-before-go1.27.3.m2.txt"
    return gomem.read_escapes(path).on_the_heap


def verdict(file, line, package="alloc-pressure", **columns):
    row = {"package": package, "file": file, "line": line, "kind": "moved", "subject": "x"}
    return pd.DataFrame([{**row, "reason": "", **columns}])


def test_the_largest_line_is_explained(profile, told):
    """
    Three sources: the profile's line, the compiler's verdict, and the source, which has that
    expression on that line.
    """
    largest = site_reasons(profile, told, "alloc_space").iloc[0]

    assert "make([]byte, 0, 65536) escapes to heap: assigned through a pointer" == largest["why"]
    assert "make([]byte, 0, bufferBytes)" in HANDLER.read_text().split("\n")[largest["line"] - 1]


def test_all_that_escapes_on_a_line_for_one_reason_stands_together(profile, told):
    why = site_reasons(profile, told, "alloc_space").set_index("line")["why"]

    values = 'fields["user"], fields["region"], i, fields["currency"]'
    assert f"{values} escape to heap: passed to an interface" == why[26]


def test_the_numbers_are_those_of_the_lines(profile, told):
    """
    Held against `top` at the granularity of lines.
    """
    reasons = site_reasons(profile, told, "alloc_space")

    top = profile.top("alloc_space", granularity="lines").set_index("line")["flat"]
    names = reasons["function"] + " " + reasons["file"] + ":" + reasons["line"].astype(str)
    assert top[top != 0].to_dict() == dict(zip(names, reasons["flat"], strict=True))


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (verdict("handler.go", 24), "moved to heap: x"),
        (verdict("/app/alloc-pressure/handler.go", 24), "moved to heap: x"),
        (verdict("alloc-pressure/handler.go", 24), "moved to heap: x"),
        (verdict("handler.go", 24, reason="because"), "moved to heap: x: because"),
        (verdict("other/handler.go", 24), ""),
        (verdict("andler.go", 24), ""),
        (verdict("handler.go", 25), ""),
    ],
)
def test_a_verdict_belongs_to_a_line_of_the_same_file(profile, row, why):
    reasons = site_reasons(profile, row, "alloc_space", 1)

    assert why == reasons["why"].iloc[0]


def test_of_two_files_of_one_name_it_is_that_of_the_package(profile):
    """
    strings/strings.go of the standard library, and one of the program's own.
    """
    rows = pd.concat(
        [
            verdict("/usr/local/go1.27.3/src/strings/strings.go", 286, "strings", subject="theirs"),
            verdict("strings.go", 286, "example.com/m", subject="ours"),
        ]
    )

    reasons = site_reasons(profile, rows, "alloc_space").set_index("function")

    assert "moved to heap: theirs" == reasons.loc["strings.genSplit", "why"]


def reason_in(profile, *rows):
    """What is said of `strings.genSplit`, whose package none of these is."""
    reasons = site_reasons(profile, pd.concat(rows), "alloc_space").set_index("function")
    return reasons.loc["strings.genSplit", "why"]


def test_of_another_package_it_is_told_where_only_one_file_can_be_meant(profile):
    """
    The compiler's package is what was built: one directory may be built as another's test.
    """
    one = verdict("strings/strings.go", 286, "a", subject="one")
    other = verdict("strings.go", 286, "b", subject="other")
    own = verdict("strings.go", 286, "strings", subject="own")

    assert "moved to heap: one" == reason_in(profile, one)
    assert "" == reason_in(profile, one, other)
    assert "moved to heap: own" == reason_in(profile, one, own)
    assert "moved to heap: own" == reason_in(profile, other, own)


def test_without_verdicts_the_columns_are_the_same(profile):
    reasons = site_reasons(profile, verdict("a.go", 1).iloc[:0], "alloc_space", 0)

    assert [column.name for column in REASONS] == list(reasons.columns)


def test_a_capture_with_the_compilers_output_says_why(tmp_path):
    """
    Found by its content, whatever the file is called, and it belongs to all moments.
    """
    for source in (
        BEFORE / "2-loaded" / "heap.pb.gz",
        FIXTURES / "escapes" / "alloc-pressure-before-go1.27.3.m.txt",
    ):
        tmp_path.joinpath(source.name).write_bytes(source.read_bytes())

    diagnosis = gomem.diagnose(tmp_path)

    (reasons,) = diagnosis.facts.profiles.reasons.values()
    assert "make([]byte, 0, 65536) escapes to heap" == reasons["why"].iloc[0]
