"""What a terminal shows of a report: a screen."""

import pytest

from gomem.views.document import Bar, Bars, Document, Lead, Piece, Verdict
from gomem.views.report.report import report_document
from gomem.views.writers.summary import LINES, write_summary
from tests.builders import CAPTURES, diagnosed

MORE = "There is more."
LONG = "word " * 80


def lead(place):
    return Lead(f"finding {place}", "info", f"code-{place}", LONG, LONG, "findings")


def document_of(*opening, details=()):
    verdict = Verdict("warning", "warning", "It is full.", details, "Empty it.")
    return Document("report", "api, go1.27", (("Files", LONG),), verdict, (), opening=opening)


def lines_of(document, width=80):
    return write_summary(document, width=width, color=False, more=MORE).splitlines()


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
@pytest.mark.parametrize("width", [60, 80, 200])
def test_it_fits_the_screen(path, width):
    lines = lines_of(report_document(diagnosed(path)), width)

    assert len(lines) <= LINES
    assert max(map(len, lines)) <= width
    assert MORE == lines[-1]


def test_what_matters_least_gives_way_first():
    """
    Facts, then proofs, then next steps; never the verdict and what to do about it.
    """
    text = "\n".join(lines_of(document_of(*map(lead, range(3)), details=(LONG,)), 60))

    assert "▲ warning: It is full." in text
    assert "Next: Empty it." in text
    assert "files word" not in text
    assert all(f"finding {place} (code-{place})" in text for place in range(3))


def test_a_finding_that_the_verdict_has_said_is_not_said_again():
    document = document_of(Lead("it is full", "warning", "full", "a.json: x = 1", "", "findings"))

    assert "▲ full" in lines_of(document)
    assert "  a.json: x = 1" in lines_of(document)


def test_bars_share_one_scale_and_end_at_the_same_column():
    bars = Bars("Whose", (
        Bar("first", "1 B", (Piece(0.5, "red"),)),
        Bar("last", "2 B", (Piece(0.25, "red"), Piece(0.25, "red"), Piece(0.5, ""))),
    ))  # fmt: skip
    first, last = (line for line in lines_of(document_of(bars)) if line.endswith(" B"))

    assert len(first) == len(last)
    assert first.count("█") == last.count("█") == last.count("·")
    assert 30 < last.count("█") < 40


def test_what_an_input_wrote_cannot_steer_the_terminal():
    bars = Bars("Whose", (Bar("\x1b[2Jname", "1 B", (Piece(1.0, "red"),)),))

    assert "\x1b" not in "\n".join(lines_of(document_of(bars)))
