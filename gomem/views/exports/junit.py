"""A comparison as JUnit XML: a test case per budget and per metric, for CI servers.

No standard describes the format; this is the subset that Jenkins and similar servers read: test
suites with counts, their test cases, and at most one `failure` or `skipped` per case. A budget
fails if it is broken and is skipped if it is undecided. A metric never fails, because no limit was
set for it; a metric with too few values is skipped.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from gomem.comparison.budgets import BROKEN, CANNOT_TELL
from gomem.errors import printable
from gomem.inputs.schema import rows_of
from gomem.numbered import Build
from gomem.text import Text, joined, text
from gomem.units import format_relative, is_unknown
from gomem.views.comparison.words import TOO_FEW
from gomem.views.measurements import format_level, format_n, format_p
from gomem.views.share import Hidden, share
from gomem.views.titles import field_title
from gomem.views.words import minus_signs

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gomem.comparison.builds import BuildComparison
    from gomem.comparison.samples import Comparison, Judgement

Case = tuple[str, str, str, str]  # name, result, short text, full text
FAILURE, SKIPPED, PASSED = "failure", "skipped", ""
SHOWN = Hidden()  # hides only home directories
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render_junit(comparison: Comparison, *, before: str, after: str, hidden: Hidden = SHOWN) -> str:
    """Write the comparison as JUnit XML; `before` and `after` name the sides."""
    sides, judgement = f"{before} against {after}", comparison.judgement
    return _render(*share((sides, _suites(comparison), judgement), hidden))


def render_builds_junit(compared: BuildComparison, *, hidden: Hidden = SHOWN) -> str:
    """Write a comparison of several builds, with suites named by build."""
    suites = [
        (text("{}: {}", Build(name), suite), cases)
        for name, comparison in compared.comparisons.items()
        for suite, cases in _suites(comparison)
    ]
    names = joined(", ", map(Build, compared.comparisons))
    sides = text("{} against {}", Build(compared.baseline), names)
    return _render(*share((sides, suites, compared.judgement), hidden))


def _suites(comparison: Comparison) -> list[tuple[str, list[Case]]]:
    return [
        ("budgets", list(map(_budget, rows_of(comparison.budgets)))),
        ("metrics", list(map(_metric, rows_of(comparison.metrics)))),
    ]


def _render(sides: str, suites: Sequence[tuple[str, list[Case]]], judgement: Judgement) -> str:
    root = ET.Element("testsuites", _counts([c for _, cases in suites for c in cases]))
    root.set("name", _text(f"gomem compare: {sides}"))
    for name, cases in suites:
        if cases:
            suite = ET.SubElement(root, "testsuite", _counts(cases) | {"name": _text(name)})
            for case in cases:
                _add(suite, case)
    if len(root):
        said = "\n".join([judgement.sentence, *judgement.details])
        ET.SubElement(root[-1], "system-out").text = _text(said)
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, "unicode")}\n'


def _counts(cases: Iterable[Case]) -> dict[str, str]:
    became = [became for _, became, _, _ in cases]
    failures, skipped = str(became.count(FAILURE)), str(became.count(SKIPPED))
    counts = {"tests": str(len(became)), "failures": failures, "errors": "0"}
    return {**counts, "skipped": skipped, "time": "0"}


def _add(suite: ET.Element, case: Case) -> None:
    name, became, short, full = case
    of = f"gomem.{suite.get('name')}"
    told = {"name": _text(name), "classname": of, "time": "0"}
    element = ET.SubElement(suite, "testcase", told)
    if became == FAILURE:
        failure = ET.SubElement(element, FAILURE, message=_text(short), type=BROKEN)
        failure.text = _text(full)
    elif became == SKIPPED:
        ET.SubElement(element, SKIPPED, message=_text(short))
    else:
        ET.SubElement(element, "system-out").text = _text(full)


def _budget(row: dict[str, Any]) -> Case:
    became = {BROKEN: FAILURE, CANNOT_TELL: SKIPPED}.get(row["state"], PASSED)
    allowed = format_level(row["allowed"], row["unit"])
    full = f"{_measured(row, 'before', 'after')}; allowed: {allowed}"
    noted = f"{full}; {row['note']}" if row["note"] else full
    name = text("{}: {}", row["budget"], _metric_name(row))
    return name, became, row["note"] if became == SKIPPED else full, noted


def _metric(row: dict[str, Any]) -> Case:
    name = _metric_name(row)
    full = f"{row['verdict']}: {_measured(row, 'before_median', 'after_median')}"
    became = SKIPPED if row["verdict"] == TOO_FEW else PASSED
    return name, became, row["note"] or "too few values to tell", full


def _metric_name(row: dict[str, Any]) -> Text:
    return text("{} ({})", field_title(row["name"]), row["unit"])


def _measured(row: dict[str, Any], before: str, after: str) -> str:
    values, by = [format_level(row[key], row["unit"]) for key in (before, after)], row["change"]
    change = "" if is_unknown(by) else f" ({minus_signs(format_relative(by))})"
    p = "" if is_unknown(row["p_value"]) else f", {format_p(row['p_value'])}"
    runs = format_n(row["before_n"], row["after_n"])
    return f"{values[0]} before, {values[1]} after{change}{p}, {runs}"


def _text(words: str) -> str:
    """Remove control characters, which XML 1.0 cannot represent even as escapes."""
    lines = words.split("\n")
    return "\n".join(_NO_XML.sub("\ufffd", printable(line)) for line in lines)
