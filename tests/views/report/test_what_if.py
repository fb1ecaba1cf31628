"""The report's section on other settings: what it says, and when it says that it cannot."""

import pytest

import gomem
from gomem.analysis.what_if.what_if import Asked
from gomem.text import Bytes
from gomem.units import MIB
from gomem.views.document import Figure, Notes, Paragraph, Table
from gomem.views.report.report import SECTIONS, what_if_section
from gomem.views.what_if.blocks import memory_table
from tests.builders import FIXTURES, diagnosed
from tests.gc_logs import GCLOGS

HEALTHY = FIXTURES / "captures" / "healthy-go1.27.3"


def test_a_long_log_has_a_table_and_a_figure():
    section = what_if_section(diagnosed(HEALTHY))

    assert what_if_section in {part.make for part in SECTIONS}
    assert not section.brief
    kinds = [type(block) for block in section.blocks]
    assert {Table, Figure, Notes, Paragraph} <= set(kinds)
    (grid,) = [one for one in section.blocks if isinstance(one, Table)]
    assert ("GOGC", "limit", "GC/s", "millicores", "highest heap") == grid.columns
    assert ["50", "100 today", "200", "400", "off"] == [row[0].text for row in grid.rows[:5]]


def test_the_figure_draws_what_the_table_has():
    diagnosis = diagnosed(HEALTHY)
    (figure,) = [one for one in what_if_section(diagnosis).blocks if isinstance(one, Figure)]

    assert figure.numbers()["grid"] is diagnosis.what_if.grid
    assert "<svg" in figure.draw().svg()


def test_a_short_log_has_one_sentence(tmp_path):
    log = tmp_path / "gctrace.log"
    lines = (GCLOGS / "plain-go1.27.3.log").read_text().splitlines(keepends=True)
    log.write_text("".join(lines[:4]))

    (said,) = what_if_section(gomem.diagnose(log)).blocks

    assert said.text.startswith("No estimate of other settings.")
    assert "are needed" in said.text


def test_without_a_log_there_is_no_section():
    capture = FIXTURES / "captures" / "healthy-go1.27.3" / "2-steady"
    diagnosis = gomem.diagnose(capture)

    assert None is diagnosis.what_if
    assert None is what_if_section(diagnosis)


def test_no_person_meets_a_negative_size():
    """
    GOGC=off without a limit is far beyond any container: over, by so much.
    """
    answer = diagnosed(HEALTHY).facts.what_if_set(Asked(container_bytes=128 << 20))
    (cell,) = [row[-1] for row in memory_table(answer).rows if row[0].text == "off"][:1]

    assert answer.grid["headroom_bytes"].min() < 0
    assert cell.text.endswith(" GiB over")
    assert "-" not in cell.text


def test_today_is_said_with_its_numbers():
    said = next(
        block.text
        for block in what_if_section(diagnosed(HEALTHY)).blocks
        if isinstance(block, Paragraph)
    )

    assert said.startswith("Today (GOGC=100): 3.62 GCs per second take 2.35 millicores")
    assert [52.5 * MIB, 26.5 * MIB] == pytest.approx([part.value for part in said.of(Bytes)], 0.01)
