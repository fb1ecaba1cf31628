"""The report as text."""

import pytest

from gomem.units import format_bytes
from gomem.views.document import Card, Cell, Document, Section, Table
from gomem.views.report.report import report_document
from gomem.views.writers.text import readable, write_text
from tests.builders import CAPTURES, FIXTURES, as_text, diagnosed, memstats_json
from tests.views.ledgers import HEALTHY, SHRUNK, diagnosis_of, lazy_free_bytes

ALONE = """\
api

● no verdict: Go retains 9.8 KiB: 4.9 KiB Go objects and garbage, 2.9 KiB goroutine stacks.
One reading does not show whether memory grows.
Next: See how much of this is in RSS:
  cat /proc/PID/smaps > smaps

Capture: api
Go release: unknown (no file states it)
Snapshots: 1
Files: 1
"""


def test_the_verdict_of_a_capture_of_one_file(tmp_path):
    """
    It says what is known, and that the rest is not.
    """
    memstats = memstats_json(HeapAlloc=5000, HeapInuse=7000, HeapSys=7000, StackInuse=3000)

    text = as_text(diagnosis_of(tmp_path / "api", m_json=memstats))

    assert ALONE == text[: len(ALONE)]


def test_a_finding_comes_with_evidence_reason_and_next_step():
    lines = as_text(diagnosed(SHRUNK)).splitlines()
    start = lines.index("  released-but-resident (warning · certain, at 4-freed)")

    assert f"  4-freed/smaps  LazyFree = {format_bytes(lazy_free_bytes())}" == lines[start + 1]
    why = "  Why: The runtime released the memory with MADV_FREE"
    assert any(line.startswith(why) for line in lines[start:])
    assert any(line.startswith("  What to do:") for line in lines[start:])


def test_a_healthy_capture_has_no_warning():
    text = as_text(diagnosed(HEALTHY))

    assert "✓ healthy: RSS is 60 MiB at 3-later: 26 MiB live heap, 21 MiB allocated" in text
    assert "Next: Nothing to do." in text
    assert "▲" not in text


def test_what_rss_consists_of_follows_a_headline_that_says_something_else():
    """
    A terminal draws no bar here. The size is said there, and not in a line of its own.
    """
    lines = as_text(diagnosed(SHRUNK), width=400).splitlines()

    assert lines[3].startswith("RSS is 184 MiB at 4-freed: 162 MiB free Go heap (88 %)")


@pytest.mark.at_most(6)
@pytest.mark.parametrize("capture", CAPTURES, ids=lambda path: path.name)
@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_line_is_wider_than_the_terminal(capture, width):
    """
    But for a command, which is there to be pasted.
    """
    lines = as_text(diagnosed(capture), width=width).splitlines()

    wide = [line for line in lines if len(line) > width]
    assert {*map(str.strip, wide)} <= commands_of(report_document(diagnosed(capture)))


def commands_of(document):
    """Every command of a document, as a terminal shows it."""
    cards = [block for section in document.sections for block in section.blocks
             if isinstance(block, Card)]  # fmt: skip
    steps = [step for card in cards for _, some in card.explained for step in some]
    return {readable(step.text) for step in (*document.verdict.steps, *steps) if step.is_command}


def test_colours_are_for_terminals():
    document = report_document(diagnosed(SHRUNK))

    assert "\x1b[" not in write_text(document)
    assert "\x1b[" in write_text(document, color=True)


def test_what_an_input_wrote_cannot_steer_the_terminal(tmp_path):
    (tmp_path / "two\x1b[31m").mkdir()
    (tmp_path / "two\x1b[31m" / "m.json").write_bytes(memstats_json(HeapAlloc=5))

    text = as_text(diagnosis_of(tmp_path))

    assert "two\\x1b[31m" in text
    assert "\x1b" not in text


def test_damage_is_told_with_its_place(tmp_path):
    text = as_text(diagnosis_of(tmp_path, m_json=memstats_json(), memstats_json=b'{"hello"'))

    place = text.partition("What could not be read\n")[2]
    assert "memstats.json: whole file: text that begins like JSON and is not" in place


MANY = FIXTURES / "injected/memory-go1.27.3"  # eight moments


def test_many_moments_stand_beside_one_another_and_who_is_left_out_is_said():
    """
    First, last, and the largest RSS are among those shown; no number is cut.
    """
    text = as_text(diagnosed(MANY))

    table = text.partition("Over time\n")[2].partition("\n\n")[0].splitlines()
    shown = table[1].split()
    left_out = table[-1].partition("snapshots do not fit into the table: ")[2].split(", ")
    rss = next(line.split("  ") for line in table[2:] if line.startswith("RSS "))

    assert set(diagnosed(MANY).ledgers) == {*shown, *left_out}
    assert {"1-start", "8-sparse"} <= set(shown)
    assert [format_bytes(diagnosed(MANY).ledgers[name].rss_bytes) for name in shown] == [
        cell.strip() for cell in rss[1:] if cell
    ]


def test_the_terminal_says_what_moved_from_moment_to_moment():
    text = as_text(diagnosed(SHRUNK))

    assert "What changed\n" in text
    assert "Worst-case RSS\n" in text


def test_no_word_of_a_wide_table_is_broken():
    """
    Seven columns of sizes leave two characters to the first, unless their heads take two lines.
    """
    heads = ("snapshot", *["released, at"] * 7)
    rows = tuple((Cell(name), *[Cell("27.5 MiB")] * 7) for name in ("t01", "t02"))
    wide = Table("Wide", heads, "<" + ">" * 7, rows)
    section = Section("wide", "Wide", (wide,))

    lines = write_text(Document("a", "b", (), None, (section,)), width=100).splitlines()

    words = " ".join(lines).split()
    assert 1 == words.count("snapshot")
    assert ["t01", "t02"] == [line.split()[0] for line in lines if "27.5 MiB" in line]
    assert 7 == words.count("released,")


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_a_number_is_never_cut(width):
    """
    Columns that do not fit follow below, beside the names of the rows.
    """
    heads = ("limit", *[f"time to limit {number}" for number in range(1, 10)])
    times = [f"in 2.{number} min" for number in range(1, 10)]
    rows = (("memory.max of the cgroup of the container", *times), ("GOMEMLIMIT", *times))
    cells = tuple(tuple(map(Cell, row)) for row in rows)
    section = Section("wide", "Wide", (Table("Wide", heads, "<" + ">" * 9, cells),))

    text = write_text(Document("a", "b", (), None, (section,)), width=width)

    assert {2} == {text.count(time) for time in times}
    assert all(len(line) <= width for line in text.splitlines())
    of_limit = [line for line in text.splitlines() if line.startswith("GOMEMLIMIT")]
    assert len(of_limit) == {60: 3, 80: 2, 100: 2, 140: 1}[width]
