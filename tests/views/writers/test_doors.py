"""Every writer has one door: no field of a document gets out as markup or as terminal control."""

import re

import pytest

from gomem.views.document import (
    Bar,
    Bars,
    Card,
    Cell,
    Choice,
    Codes,
    Document,
    Folded,
    Key,
    Lead,
    Notes,
    Option,
    Paragraph,
    Piece,
    Section,
    Step,
    Table,
    Tile,
    Tiles,
    Verdict,
)
from gomem.views.writers.html import write_html
from gomem.views.writers.markdown import write_markdown
from gomem.views.writers.summary import write_summary
from gomem.views.writers.text import write_text

EVIL = '<b onclick="x">|`\x1b[31m\u202e\u2066@who'
CELL = Cell(EVIL, EVIL, EVIL)
CODE = Cell(EVIL, code=True)
NUMBERS = Table(EVIL, (EVIL, EVIL), "<>", ((CELL, CODE),), ((CELL, CELL),))
WORDS = Table(EVIL, (EVIL, EVIL), "<<", ((CODE, CELL),))
STEPS = (Step(EVIL), Step(EVIL, is_command=True))
CARD = Card(EVIL, "info", EVIL, EVIL, (EVIL,), ((EVIL, STEPS),), WORDS, (EVIL,))
BLOCKS = (
    NUMBERS, WORDS, Paragraph(EVIL), Notes((EVIL,)), Codes(EVIL, (EVIL,)), Folded(EVIL, (NUMBERS,)),
    CARD,
)  # fmt: skip
PIECE = Piece(0.5, "#000")
KEYS = (Key(EVIL, "#000", "", (EVIL, EVIL), EVIL), Key(EVIL, "", "", (EVIL, EVIL), EVIL, True))
CHOICE = Choice(tuple(Option(name, name, (NUMBERS,)) for name in (EVIL, f"2{EVIL}")))
HOSTILE = Document(
    kind=EVIL,
    title=EVIL,
    facts=((EVIL, EVIL),),
    verdict=Verdict(
        "info", EVIL, f"and {EVIL}", (EVIL,), STEPS, EVIL, Tile(EVIL, EVIL), EVIL, (EVIL,)
    ),
    sections=(Section("one", EVIL, (*BLOCKS, CHOICE), gist=EVIL),),
    made_by=EVIL,
    opening=(
        Bars(EVIL, (Bar(EVIL, EVIL, (PIECE,), finer=(PIECE,)), Bar(EVIL, EVIL, (PIECE,))), KEYS),
        Tiles((Tile(EVIL, EVIL),)),
        Lead(EVIL, "info", EVIL, EVIL, EVIL, (STEPS[1],), "one"),
    ),
    moments=(EVIL, f"2{EVIL}"),
)


def as_summary(document):
    return write_summary(document, width=80, color=False, more="")


@pytest.mark.parametrize("write", [write_html, write_markdown, write_text, as_summary])
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
