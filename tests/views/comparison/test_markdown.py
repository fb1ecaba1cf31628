"""A comparison as Markdown."""

import re

import pytest

from gomem.analysis.comparison.before_after import compare_bench
from gomem.diagnosis.comparison import compare_diagnoses
from gomem.inputs.gobench.table import read_bench
from gomem.views.comparison.markdown import render_compare_markdown
from tests.builders import FIXTURES, diagnosed

FOLDERS = FIXTURES / "captures"


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("cache-shrink", "cache-shrink-go1.12.17", "cache-shrink-go1.16.15"),
        ("alloc-pressure", "alloc-pressure-before-go1.27.3", "alloc-pressure-after-go1.27.3"),
    ],
)
def test_captures_as_markdown(name, before, after, golden):
    """
    All that the page in HTML says, figures left out.
    """
    compared = compare_diagnoses(diagnosed(FOLDERS / before), diagnosed(FOLDERS / after))

    text = render_compare_markdown(compared, before=before, after=after)

    assert golden(f"compare-{name}.md", text) == text


def test_every_row_of_a_table_has_as_many_cells_as_its_head():
    bench = read_bench(b"BenchmarkA/x|y=`z`-2 1 5 ns/op 3 B/op\nBenchmarkB-2 1 5 ns/op 3 B/op\n")

    text = render_compare_markdown(compare_bench(bench, bench), before="a|b", after="c")

    tables = re.findall(r"(?:^\|.*\n?)+", text, flags=re.MULTILINE)
    cells = [{len(re.findall(r"(?<!\\)\|", row)) for row in table.splitlines()} for table in tables]
    assert [{8}, {8}] == cells
    assert text.startswith("# c against a\\|b\n")
