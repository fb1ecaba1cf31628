"""The report as Markdown."""

import re
from dataclasses import replace

import pytest

from gomem.views.document import Step, Verdict
from gomem.views.report.report import report_document
from gomem.views.writers.markdown import escaped, verdict_lines
from tests.builders import CAPTURES, as_markdown, diagnosed, memstats_json
from tests.views.ledgers import SHRUNK, diagnosis_of


def test_it_begins_with_the_verdict():
    lines = as_markdown(diagnosed(SHRUNK)).splitlines()

    assert "# cache-shrink, go1.12.17: Go memory report" == lines[0]
    said = report_document(diagnosed(SHRUNK)).verdict
    assert f"**Warning · certain: {escaped(said.sentence)}**" == lines[2]
    assert lines[4].startswith("RSS is 184\u00a0MiB at 4-freed: 162\u00a0MiB free Go heap")


def test_a_command_is_code_to_copy():
    verdict = Verdict(
        "warning", "warning · likely", "It grows.",
        steps=(Step("gomem top a_b.pb.gz", is_command=True), Step(" Then look at a_b.")),
    )  # fmt: skip

    lines = [line for line in verdict_lines(verdict) if line]

    assert ["**Next.**", "`gomem top a_b.pb.gz`", r"Then look at a\_b."] == lines[1:]
    words_first = verdict_lines(replace(verdict, steps=verdict.steps[::-1]))
    assert [r"**Next.** Then look at a\_b.", "`gomem top a_b.pb.gz`"] == words_first[1:]


@pytest.mark.parametrize("capture", CAPTURES, ids=lambda path: path.name)
def test_every_row_of_a_table_has_as_many_cells_as_its_head(capture):
    text = as_markdown(diagnosed(capture))

    tables = re.findall(r"(?:^\|.*\|\n)+", text, flags=re.MULTILINE)
    assert tables
    for table in tables:
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
        assert 1 == len(widths), table


def test_names_from_the_capture_cannot_become_markup(tmp_path):
    """
    No tag, no table cell, no mention and no link comes out of a folder's name.
    """
    name = "a|b <img> `c` [d](e) @f"
    for moment in (name, "two"):
        (tmp_path / moment).mkdir()
        (tmp_path / moment / "m.json").write_bytes(memstats_json(HeapAlloc=5))

    text = as_markdown(diagnosis_of(tmp_path))

    assert r"a\|b &lt;img\> \`c\` \[d\](e) \@f" in text
    assert "<img>" not in text
    assert [] == re.findall(r"(?<!\\)@", text)


def test_references_are_links():
    text = as_markdown(diagnosed(SHRUNK))

    assert "[golang/go\\#42330](https://github.com/golang/go/issues/42330)" in text
    assert "(https://man7.org/linux/man-pages/man2/madvise.2.html)" in text


def test_other_moments_are_folded_away_and_still_there():
    text = as_markdown(diagnosed(SHRUNK))

    for moment in ("1-filled", "2-shrunk", "3-collected"):
        assert f"<details><summary>{moment}: RSS " in text
    assert text.count("<details>") == text.count("</details>")
