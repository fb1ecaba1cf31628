"""The report as Markdown."""

import re

import pytest

from tests.builders import CAPTURES, as_markdown, diagnosed, memstats_json
from tests.views.ledgers import SHRUNK, diagnosis_of


def test_it_begins_with_the_verdict():
    lines = as_markdown(diagnosed(SHRUNK)).splitlines()

    assert "# cache-shrink, go1.12.17: Go memory report" == lines[0]
    assert re.match(r"\*\*Warning: MADV\\_FREE: \d+\u00a0MiB was released", lines[2])


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
