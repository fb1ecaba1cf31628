"""Every writer has one door: no field of a document gets out as markup or as terminal control."""

import re

import pytest

from gomem.views.document import (
    Card,
    Cell,
    Codes,
    Document,
    Folded,
    Notes,
    Paragraph,
    Section,
    Table,
    Verdict,
)
from gomem.views.writers.html import write_html
from gomem.views.writers.markdown import write_markdown
from gomem.views.writers.text import write_text

EVIL = '<b onclick="x">|`\x1b[31m\u202e\u2066@who'
CELL = Cell(EVIL, EVIL, EVIL)
CODE = Cell(EVIL, code=True)
NUMBERS = Table(EVIL, (EVIL, EVIL), "<>", ((CELL, CODE),), ((CELL, CELL),))
WORDS = Table(EVIL, (EVIL, EVIL), "<<", ((CODE, CELL),))
CARD = Card(EVIL, "info", EVIL, (EVIL,), ((EVIL, EVIL),), WORDS, (EVIL,))
BLOCKS = (
    NUMBERS, WORDS, Paragraph(EVIL), Notes((EVIL,)), Codes(EVIL, (EVIL,)), Folded(EVIL, (NUMBERS,)),
    CARD,
)  # fmt: skip
HOSTILE = Document(
    kind=EVIL,
    title=EVIL,
    facts=((EVIL, EVIL),),
    verdict=Verdict("info", EVIL, f"and {EVIL}", (EVIL,)),
    sections=(Section("one", EVIL, BLOCKS),),
    made_by=EVIL,
)


@pytest.mark.parametrize("write", [write_html, write_markdown, write_text])
def test_what_steers_a_terminal_or_turns_a_line_is_made_visible(write):
    text = write(HOSTILE)

    assert "\\x1b[31m" in text.replace("\\\\", "\\").replace("\\[", "[")
    assert not re.search("[\x1b\u202e\u2066]", text)


@pytest.mark.parametrize("write", [write_html, write_markdown])
def test_no_field_becomes_a_tag(write):
    assert "<b " not in write(HOSTILE)


def test_no_field_becomes_an_attribute():
    text = write_html(HOSTILE)

    assert re.search("&lt;b onclick=&#34;x&#34;&gt;", text)
    assert 'onclick="' not in text


def test_no_field_ends_a_cell_or_mentions_anybody():
    text = write_markdown(HOSTILE)

    assert [] == re.findall(r"(?<!\\)@", text)
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert {3} == {len(re.findall(r"(?<!\\)\|", row)) for row in rows}
