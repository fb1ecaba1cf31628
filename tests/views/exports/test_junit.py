"""A comparison as JUnit XML: what CI servers read, well-formed whatever the names hold."""

from xml.etree import ElementTree as ET

import pytest

from gomem.comparison.benchmarks import compare_bench
from gomem.comparison.budgets import budget_of, within_budgets
from gomem.inputs.gobench.table import read_bench
from gomem.views.exports.junit import render_junit

# What the schema of Jenkins' plugin (junit-10.xsd) lets an element hold, of what is written here.
ALLOWED = {
    "testsuites": ({"name", "time", "tests", "failures", "errors", "skipped"}, {"testsuite"}),
    "testsuite": (
        {"name", "tests", "failures", "errors", "skipped", "time"},
        {"testcase", "system-out"},
    ),
    "testcase": ({"name", "classname", "time"}, {"failure", "skipped", "system-out"}),
    "failure": ({"message", "type"}, set()),
    "skipped": ({"message"}, set()),
    "system-out": (set(), set()),
}


def bench(*values, name="A"):
    lines = (f"Benchmark{name}-2 1 {one} ns/op\n" for one in values)
    return read_bench("".join(lines).encode())


def written(before, after, *budgets):
    compared = within_budgets(
        compare_bench(before, after), [budget_of(*one.split("=")) for one in budgets]
    )
    return ET.fromstring(render_junit(compared, before="old", after="new"))  # noqa: S314 - our own


def check(element):
    attributes, inside = ALLOWED[element.tag]
    assert set(element.attrib) <= attributes
    assert {one.tag for one in element} <= inside
    for one in element:
        check(one)


def test_each_budget_and_metric_is_a_case():
    root = written(bench(*range(10, 16)), bench(*range(20, 26)), "sec/op=+10%", "ns/op=+900%")

    check(root)
    assert ["budgets", "metrics"] == [suite.get("name") for suite in root]
    assert ["2", "1", "0"] == [root[0].get(key) for key in ("tests", "failures", "skipped")]
    assert ["3", "1", "0"] == [root.get(key) for key in ("tests", "failures", "skipped")]
    failure = root.find(".//failure")
    assert failure is not None
    assert failure.get("message").startswith(
        "12.5 ns before, 22.5 ns after (+80.0 %), p=0.002, n=6"
    )
    assert ["sec/op=+10%: A-2 (sec/op)", "ns/op=+900%: A-2 (sec/op)", "A-2 (sec/op)"] == [
        case.get("name") for case in root.iter("testcase")
    ]


def test_what_cannot_be_told_is_skipped_with_what_could():
    root = written(bench(10), bench(15), "sec/op=+10%")

    check(root)
    assert [
        "one value per side cannot decide; use 4 or more",
        "one value per side cannot tell small changes from noise; use at least 4 per side",
    ] == [one.get("message") for one in root.iter("skipped")]
    assert ["2", "0", "2"] == [root.get(key) for key in ("tests", "failures", "skipped")]


@pytest.mark.parametrize("name", ['<&">', "]]>", "\x1b[31m", "\u202e", "ä/\U0001f600", "\ufffe"])
def test_a_strangers_names_are_text(name):
    root = written(bench(1, 2, name=f"A{name}"), bench(1, 2, name=f"A{name}"))

    check(root)
    assert 1 == len(list(root.iter("testcase")))


def test_nothing_measured_is_still_a_document():
    root = written(bench(1, name="A"), bench(1, name="B"))

    check(root)
    assert ["2", "2"] == [root.get("tests"), root.get("skipped")]
