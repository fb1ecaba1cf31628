"""The page of a fleet: what stands on it, and that it stays small."""

import re

import pytest

import gomem
from gomem.views.figures.instances import plot_instances
from gomem.views.fleet import document as page
from gomem.views.fleet.document import TITLES, fleet_document
from gomem.views.writers.html import write_html
from tests.builders import FIXTURES

PODS = FIXTURES / "pods"


@pytest.fixture(scope="module")
def named(tmp_path_factory):
    into = tmp_path_factory.mktemp("fleet") / "pods"
    return gomem.fleet(f"{PODS}/shop/pod-00*/*", into=into, workers=0)


def section(document, name):
    return next(part for part in document.sections if part.name == name)


def test_the_verdict_stands_first_with_what_to_look_at(named):
    document = fleet_document(named)

    assert ("warning", "outliers") == (document.verdict.tone, document.verdict.label)
    assert document.verdict.sentence.startswith("8 of 9 instances are alike; pod-007 leaks")
    (step,) = document.verdict.steps
    assert step.is_command
    assert re.fullmatch(r"gomem report .*pod-007/\d{8}T\d{6}Z\.tar\.gz", step.text)
    assert "9" == document.opening[0].tiles[0].value


def test_instances_are_a_row_each_with_the_unlike_first(named):
    shown = section(fleet_document(named), "instances").blocks[0]

    assert 9 == len(shown.rows)
    assert "pod-007" == shown.rows[0][0].text
    assert "goroutines" == shown.rows[0][-1].text
    assert "unlike in" == shown.columns[-1]


def test_of_many_instances_the_page_has_the_first_and_says_so(named, monkeypatch):
    monkeypatch.setattr(page, "MAX_ROWS", 5)

    table, notes = section(fleet_document(named), "instances").blocks

    assert 5 == len(table.rows)
    assert "the first 5 of 9" in notes.lines[0]


def test_a_panel_does_not_grow_with_the_fleet(named):
    rows = named.distributions
    drawn = plot_instances(rows, named.outliers, TITLES)

    assert "pod-007: 4 202" in drawn.description.replace("\u202f", " ")
    assert f"median {2}" in drawn.description
    few = plot_instances(rows, named.outliers.iloc[:0], TITLES).svg()
    assert few.count("<path") <= drawn.svg().count("<path") <= few.count("<path") + 2


def test_a_name_is_escaped_wherever_it_stands(named):
    odd = named.instances.assign(instance="<script>alert(1)</script>")

    class Renamed:
        def __getattr__(self, name):
            return odd if name == "instances" else getattr(named, name)

    assert "<script>alert" not in write_html(fleet_document(Renamed()))
