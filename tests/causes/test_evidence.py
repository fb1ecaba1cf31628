"""Evidence says its unit, in every finding of every recording, and is read by it."""

import pytest

from gomem.causes.finding import Evidence, Finding, Severity
from gomem.inputs.schema import UNITS
from gomem.views.report.findings import _evidence_table
from gomem.views.writers.notebook_cells import Shown
from tests.builders import CAPTURES, diagnosed


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
def test_numbers_have_a_unit_of_the_dictionary_and_words_have_none(path):
    for finding in diagnosed(path).findings:
        for one in finding.evidence:
            assert one.unit in UNITS, f"{finding.code}: {one.field}"
            assert not (isinstance(one.value, str) and one.unit), f"{finding.code}: {one.field}"


@pytest.mark.parametrize(
    ("value", "unit", "shown", "exact"),
    [
        pytest.param(3 << 20, "B", "3.00 MiB", "3\u202f145\u202f728 B"),
        pytest.param(2048.0, "B/s", "2.00 KiB/s", "2048 B/s"),
        pytest.param(0.0125, "s", "12.5 ms", "0.0125 s"),
        pytest.param(0.125, "fraction", "12.5 %", "0.125"),
        pytest.param(1.5, "ratio", "1.5", ""),
        pytest.param(12000, "count", "12\u202f000", ""),
        pytest.param("go1.24.2", "", "go1.24.2", ""),
    ],
)
def test_a_value_is_shown_by_its_unit_whatever_its_field_is_called(value, unit, shown, exact):
    """
    In the report, and in a notebook's cell as text and as HTML.
    """
    evidence = Evidence("1/smaps", "so many", value, unit)
    finding = Finding("x", Severity.INFO, "", None, None, (evidence,), "", "")

    table = _evidence_table(finding, frozenset())
    (row,) = table.rows
    cell = Shown((table,))

    assert (shown, exact) == (row[2].text, row[2].exact)
    assert shown in cell.text
    assert f">{shown}<" in cell.html
    assert exact in cell.html
