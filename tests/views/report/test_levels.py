"""Typical and highest memory over many moments: in a sentence and a table, or not at all."""

import gomem
from gomem.views.report.levels import levels_section
from tests.builders import FIXTURES

MIB = 1 << 20


def pages(folder, count):
    """Moments whose RSS is 101, 102, … MiB, each a page of metrics."""
    for number in range(1, count + 1):
        text = f"go_goroutines 4\nprocess_resident_memory_bytes {(100 + number) * MIB}\n"
        (folder / f"metrics-{number:04}.prom").write_text(text)
    return gomem.diagnose(folder)


def test_a_hundred_moments_carry_the_99th_percentile(tmp_path):
    section = levels_section(pages(tmp_path, 100))

    text, table = section.blocks
    assert "RSS over 100 snapshots: median 150 MiB, p99 199 MiB, peak 200 MiB." == text.text
    assert [["RSS", "100", "150 MiB", "199 MiB", "200 MiB"]] == [
        [cell.text for cell in row] for row in table.rows
    ]


def test_few_moments_have_no_quantiles(tmp_path):
    assert levels_section(pages(tmp_path, 19)) is None


def test_a_recorded_series_tells_the_half_and_the_highest():
    section = levels_section(gomem.diagnose(FIXTURES / "captures/spiky-go1.27.3"))

    text, table = section.blocks
    assert "RSS over 25 snapshots: median 314 MiB, peak 412 MiB." == text.text
    assert ["RSS", "HeapAlloc", "HeapInuse"] == [row[0].text for row in table.rows]
    assert ("level", "snapshots", "median", "peak") == table.columns
