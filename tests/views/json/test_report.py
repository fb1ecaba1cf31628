"""The report as JSON, held to its schema."""

import json

import pytest

from gomem.analysis.collector.cost import COSTS
from gomem.views.json.report import render_json_report, report_json
from tests.builders import CAPTURES, diagnosed, memstats_json
from tests.views.json.validators import validator_of
from tests.views.ledgers import HEALTHY, SHRUNK, diagnosis_of, lazy_free_bytes


@pytest.mark.at_most(3)
@pytest.mark.parametrize("capture", CAPTURES, ids=lambda path: path.name)
def test_every_capture_fits_the_schema(capture):
    report = json.loads(render_json_report(diagnosed(capture)))

    validator_of("report").validate(report)
    assert report["ledger"]


@pytest.mark.at_most(5)
@pytest.mark.parametrize("capture", CAPTURES, ids=lambda path: path.name)
def test_the_parts_of_every_ledger_add_up(capture):
    for ledger in report_json(diagnosed(capture))["ledger"]:
        assert ledger["rss_bytes"] == sum(part["bytes"] for part in ledger["parts"])


def test_what_is_unknown_is_null(tmp_path):
    """
    Never 0, and never left out: a reader may count on the field.
    """
    report = report_json(diagnosis_of(tmp_path, m_json=memstats_json(HeapAlloc=5)))

    validator_of("report").validate(report)
    assert report["ledger"][0]["rss_bytes"] is None
    assert report["capture"]["go_version"] is None
    assert dict.fromkeys(column.name for column in COSTS) == report["gc"]


def test_a_damaged_capture_fits_the_schema(tmp_path):
    files = {"m_json": memstats_json(), "notes_txt": b"hello", "vars_json": b'{"hello"'}
    report = report_json(diagnosis_of(tmp_path, **files))

    validator_of("report").validate(report)
    assert ["vars.json"] == [one["source"] for one in report["damage"]]
    listed = {
        one["path"]: (one["kind"], one["looks_like"]) for one in report["capture"]["artefacts"]
    }
    assert (None, "text of no known kind") == listed["notes.txt"]
    assert (None, None) == listed["vars.json"]


def test_every_number_of_the_collector_is_told():
    gc = diagnosed(HEALTHY).collector.cost

    assert gc.values == report_json(diagnosed(HEALTHY))["gc"]


def test_the_first_finding_comes_first():
    first = report_json(diagnosed(SHRUNK))["findings"][0]

    assert "released-but-resident" == first["code"]
    assert "4-freed" == first["moment"]
    assert {
        "artefact": "4-freed/smaps",
        "field": "LazyFree",
        "value": lazy_free_bytes(),
        "unit": "B",
    } == first["evidence"][0]


def test_the_same_capture_gives_the_same_bytes():
    assert render_json_report(diagnosed(SHRUNK)) == render_json_report(diagnosed(SHRUNK))


def test_what_the_log_tells_beyond_its_summary_stands_beside_it():
    """
    The same answers as in Python, to the digit, and null without a log.
    """
    facts = diagnosed(HEALTHY).collector

    collector = report_json(diagnosed(HEALTHY))["collector"]

    assert len(facts.cycles) == sum(one["cycles"] for one in collector["triggers"])
    assert facts.utilization.mean_fraction == collector["mutator_utilization_fraction"]
    assert list(facts.utilization.curve["window_seconds"]) == [
        one["window_seconds"] for one in collector["mmu"]
    ]


def test_without_a_log_there_is_no_collector(tmp_path):
    assert None is report_json(diagnosis_of(tmp_path, m_json=memstats_json()))["collector"]
