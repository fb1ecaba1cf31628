"""A comparison as Markdown."""

import re

import pytest

from gomem.comparison.benchmarks import compare_bench
from gomem.comparison.comparison import compare_diagnoses
from gomem.inputs.gobench.table import read_bench
from gomem.views.comparison.document import comparison_document
from gomem.views.writers.markdown import write_markdown
from tests.builders import FIXTURES, diagnosed

FOLDERS = FIXTURES / "captures"


def markdown_of(compared, before, after):
    return write_markdown(comparison_document(compared, before=before, after=after))


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

    text = markdown_of(compared, before, after)

    assert golden(f"compare-{name}.md", text) == text


def test_every_row_of_a_table_has_as_many_cells_as_its_head():
    bench = read_bench(b"BenchmarkA/x|y=`z`-2 1 5 ns/op 3 B/op\nBenchmarkB-2 1 5 ns/op 3 B/op\n")

    text = markdown_of(compare_bench(bench, bench), "a|b", "c")

    tables = re.findall(r"(?:^\|.*\n?)+", text, flags=re.MULTILINE)
    cells = [{len(re.findall(r"(?<!\\)\|", row)) for row in table.splitlines()} for table in tables]
    assert [{7}, {7}] == cells  # of one run a side there is no p
    assert text.startswith("# a\\|b → c: Go memory comparison\n")
