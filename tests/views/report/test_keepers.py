"""The section *Who keeps the heap*, and what the report's JSON says of it."""

import shutil

import jsonschema
import pytest

from gomem.views.json.report import report_json
from gomem.views.json.schemas import schema_of
from tests.builders import as_html, as_text, diagnosed
from tests.heap_dumps import path_of
from tests.views.json.schemas.closed import closed


@pytest.fixture(scope="module")
def diagnosis(tmp_path_factory):
    folder = tmp_path_factory.mktemp("api")
    shutil.copy(path_of("1.24.13"), folder / "1-first.dump.gz")
    shutil.copy(path_of("1.24.13", "second.dump"), folder / "2-second.dump.gz")
    shutil.copy(path_of("1.24.13", "nm.txt"), folder / "nm.txt.gz")
    return diagnosed(folder)


def test_the_section_names_keepers_and_which_grew(diagnosis):
    text = as_text(diagnosis)

    assert "Who keeps the heap" in text
    assert "main.cache" in text
    assert "+332 KiB" in text


def test_a_page_draws_the_keepers_and_has_the_answer_in_the_head(diagnosis):
    page = as_html(diagnosis)

    assert "main.cache grew most: from 438 KiB to 770 KiB." in page
    assert 'aria-labelledby="kept-title kept-desc"' in page


def test_json_has_the_keepers_of_the_last_dump(diagnosis):
    found = report_json(diagnosis)

    jsonschema.Draft202012Validator(closed(schema_of("report"))).validate(found)
    retention = found["retention"]
    assert ("2-second", "main.cache") == (retention["moment"], retention["keepers"][0]["name"])
    assert retention["live_bytes"] == sum(keeper["bytes"] for keeper in retention["keepers"])


def test_memstats_of_a_dump_are_those_of_its_moment(diagnosis):
    memstats = diagnosis.capture.memstats

    assert ["1-first", "2-second"] == memstats["moment"].astype(str).tolist()
    assert (memstats["HeapAlloc"] > 1_900_000).all()


def test_without_a_dump_there_is_neither_section_nor_answer(tmp_path):
    shutil.copy(path_of("1.24.13", "nm.txt"), tmp_path / "nm.txt.gz")
    diagnosis = diagnosed(tmp_path)

    assert diagnosis.facts.kept is None
    assert report_json(diagnosis)["retention"] is None
    assert "Who keeps the heap" not in as_text(diagnosis)


def test_a_dump_that_is_cut_is_damage_and_no_answer(tmp_path):
    (tmp_path / "heap.dump.gz").write_bytes(path_of("1.24.13").read_bytes()[:40_000])
    diagnosis = diagnosed(tmp_path)

    assert diagnosis.facts.kept is None
    assert any("dump ends early" in fault.what for fault in diagnosis.capture.damaged)
