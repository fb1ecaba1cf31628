"""Evidence says its unit, in every finding of every recording, and is read by it."""

from dataclasses import replace

import pytest

from gomem.causes import CAUSES
from gomem.causes.evidence import rss_evidence
from gomem.causes.finding import Evidence, Finding, Severity
from gomem.inputs.schema import UNITS
from gomem.views.report.findings import _evidence_table
from tests.builders import CAPTURES, FIXTURES, diagnosed
from tests.causes.situations import facts


@pytest.mark.at_most(3)
@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
def test_numbers_have_a_unit_of_the_dictionary_and_words_have_none(path):
    for finding in diagnosed(path).findings:
        for one in finding.evidence:
            assert one.unit in UNITS, f"{finding.code}: {one.field}"
            assert not (isinstance(one.value, str) and one.unit), f"{finding.code}: {one.field}"


@pytest.mark.parametrize("name", ["spiky-go1.27.3", "cache-shrink-go1.12.17", "zeroing-go1.24.2"])
def test_rss_is_cited_from_a_file_that_is_there_and_says_so(name):
    """
    The spiky capture has smaps at one moment, and the kernel's totals at the others.
    """
    diagnosis = diagnosed(FIXTURES / "captures" / name)
    kinds = dict(diagnosis.capture.artefacts[["path", "kind"]].itertuples(index=False, name=None))

    cited = [
        (kinds.get(one.artefact), one.field)
        for cause in CAUSES
        for finding in cause.rule(diagnosis.case)
        for one in finding.evidence
        if one.field in {"Rss", "VmRSS", "resident"}
    ]

    assert cited
    assert set(cited) <= {("smaps", "Rss"), ("smaps_rollup", "Rss"), ("status", "VmRSS")}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("smaps Rss", ("1/smaps", "Rss")),
        ("status VmRSS", ("1/status", "VmRSS")),
        ("cgroup memory.stat, anonymous + mapped files",
         ("cgroup", "memory.stat, anonymous + mapped files")),
    ],
)  # fmt: skip
def test_rss_names_its_artefact_and_field(source, expected):
    moment = facts()
    paths = {"smaps": "1/smaps", "status": "1/status"}
    moment = replace(moment, ledger=replace(moment.ledger, rss_source=source), paths=paths)

    (one,) = rss_evidence(moment)

    assert (*expected, moment.rss_bytes) == (one.artefact, one.field, one.value)


def test_an_unknown_rss_is_no_evidence():
    moment = facts()

    assert () == rss_evidence(replace(moment, ledger=None))
    assert () == rss_evidence(replace(moment, ledger=replace(moment.ledger, rss_bytes=None)))


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
    evidence = Evidence("1/smaps", "so many", value, unit)
    finding = Finding("x", Severity.INFO, "", None, None, (evidence,), "", "")

    (row,) = _evidence_table(finding, diagnosed(CAPTURES[0])).rows

    assert (shown, exact) == (row[2].text, row[2].exact)
