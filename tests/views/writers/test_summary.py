"""What a terminal shows of a report: a screen."""

import re

import pytest

from gomem.views.document import Bar, Bars, Document, Key, Lead, Piece, Step, Tile, Verdict
from gomem.views.report.report import report_document
from gomem.views.writers.summary import LINES, write_summary
from tests.builders import CAPTURES, diagnosed

MORE = "There is more."
LONG = "word " * 80


def lead(place):
    return Lead(
        f"finding {place}", "info", "note", f"code-{place}", LONG, (Step(LONG),), "findings"
    )


def document_of(*opening, details=(), **more):
    steps = (Step("Empty it."), Step("rm -r /tmp/a-long-name-without-end", is_command=True))
    verdict = Verdict("warning", "warning · likely", "It is full.", details, steps, **more)
    return Document("report", "api, go1.27", (("Files", LONG),), verdict, (), opening=opening)


def lines_of(document, width=80):
    return write_summary(document, width=width, color=False, more=MORE).splitlines()


@pytest.mark.at_most(4)
@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
@pytest.mark.parametrize("width", [60, 80, 200])
def test_it_fits_the_screen(path, width):
    """
    A command, which is there to be pasted, is as long as it is.
    """
    document = report_document(diagnosed(path))
    lines = lines_of(document, width)

    leads = [step for block in document.opening if isinstance(block, Lead) for step in block.steps]
    steps = [step.text for step in (*document.verdict.steps, *leads) if step.is_command]
    assert len(lines) <= LINES
    assert all(len(line) <= width or line.strip() in steps for line in lines)
    assert MORE == lines[-1]


def test_what_matters_least_gives_way_first():
    """
    Facts, then proofs, then next steps; never the verdict and what to do about it.
    """
    text = "\n".join(lines_of(document_of(*map(lead, range(3)), details=(LONG,)), 60))

    assert "▲ WARNING · LIKELY: It is full." in text
    assert "Next: Empty it." in text
    assert "\n  rm -r /tmp/a-long-name-without-end\n" in text
    assert "files word" not in text
    assert all(f"finding {place} (code-{place})" in text for place in range(3))


def test_a_further_finding_has_its_label_its_proof_and_the_first_thing_to_do():
    command = Step("gomem top heap.pb.gz", is_command=True)
    document = document_of(
        Lead("It is slow", "warning", "warning · certain", "slow", "a.json: x 1", (command,), "f")
    )

    lines = lines_of(document)
    start = lines.index("▲ WARNING · CERTAIN: It is slow (slow)")
    assert ["  a.json: x 1", "  gomem top heap.pb.gz"] == lines[start + 1 : start + 3]


def test_a_command_is_never_broken():
    command = "gomem top " + "long-name/" * 20
    verdict = Verdict("info", "note", "So it is.", steps=(Step(command, is_command=True),))
    document = Document("report", "api", (), verdict, ())

    assert f"  {command}" in lines_of(document, 40)
    assert "Next:" in lines_of(document, 40)


def test_what_rss_consists_of_is_in_words_only_where_no_bar_shows_it():
    bars = Bars("RSS by owner", (Bar("1", "5 MiB", (Piece(1.0, "red"),)),))
    where = "RSS is 5 MiB: 5 MiB Go heap."

    assert where in lines_of(document_of(where=where))
    assert where in lines_of(document_of(lead(1), where=where))
    assert where not in "\n".join(lines_of(document_of(bars, where=where)))


def test_the_one_number_and_the_proof_follow_the_headline():
    size = Tile("394 MiB", "RSS at settled")
    lines = lines_of(document_of(size=size, proof=("heap.pb.gz: inuse_space 207 MiB",)))

    start = lines.index("▲ WARNING · LIKELY: It is full.")
    assert ["394 MiB RSS at settled", "heap.pb.gz: inuse_space 207 MiB"] == (
        lines[start + 1 : start + 3]
    )


def test_the_legend_has_a_line_a_part_with_its_sizes_and_what_divides_it_indented():
    parts = (Piece(0.5, "red"), Piece(0.5, "blue"))
    bars = Bars(
        "RSS by owner",
        (Bar("first", "2 B", parts), Bar("last", "2 B", parts, finer=(Piece(1.0, "green"),))),
        (
            Key("Go heap", "red", "", ("1 B", "1 B"), "+0 B"),
            Key("live heap", "green", "", ("", "1 B"), is_finer=True),
            Key("C memory", "blue", "", ("1 B", "1 B"), "+0 B"),
        ),
    )
    lines = lines_of(document_of(bars))

    start = next(place for place, line in enumerate(lines) if line.startswith("█ Go heap"))
    assert ["█ Go heap", "    live heap", "▓ C memory"] == [
        line[: len("█ ") + 11].rstrip() for line in lines[start : start + 3]
    ]
    assert lines[start + 1].endswith("  1 B")
    assert 1 == lines[start + 1].count("1 B")
    for line in (lines[start], lines[start + 2]):
        assert line.endswith("1 B  1 B  +0 B")


def test_a_legend_that_is_too_wide_loses_the_earlier_sizes_first():
    parts = (Piece(0.5, "red"), Piece(0.5, "blue"))
    sizes = ("between 6 MiB and 6.8 MiB", "21 MiB", "22 MiB")
    bars = Bars(
        "RSS by owner",
        tuple(Bar(name, "2 B", parts) for name in "abc"),
        (Key("live heap", "red", "", sizes, "+5 MiB"), Key("C", "blue", "", sizes, "+5 MiB")),
    )

    wide, narrow, narrowest = (
        next(line for line in lines_of(document_of(bars), width) if "live heap" in line)
        for width in (80, 50, 40)
    )

    assert ["live heap", *sizes, "+5 MiB"] == re.split(" {2,}", wide[2:])
    assert ["live heap", *sizes[1:], "+5 MiB"] == re.split(" {2,}", narrow[2:])
    assert narrow == narrowest


def test_bars_share_one_scale_and_end_at_the_same_column():
    bars = Bars("By owner", (
        Bar("first", "1 B", (Piece(0.5, "red"),)),
        Bar("last", "2 B", (Piece(0.25, "red"), Piece(0.25, "red"), Piece(0.5, ""))),
    ))  # fmt: skip
    first, last = (line for line in lines_of(document_of(bars)) if line.endswith(" B"))

    assert len(first) == len(last)
    assert first.count("█") == last.count("█") == last.count("·")
    assert 30 < last.count("█") < 40


def test_what_an_input_wrote_cannot_steer_the_terminal():
    bars = Bars("By owner", (Bar("\x1b[2Jname", "1 B", (Piece(1.0, "red"),)),))

    assert "\x1b" not in "\n".join(lines_of(document_of(bars)))
