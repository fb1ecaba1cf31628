"""A table with more readings than become snapshots."""

import gomem
from gomem.inputs.runtime_lines.table import MAX_MOMENTS, read_runtime_lines
from gomem.views.report.changes import FIGURES, changes_section
from gomem.views.report.ledger import ledger_section

ROWS = 288
PEAK = 253  # row


def _table():
    sizes = [900 if row == PEAK else 300 + row % 7 for row in range(1, ROWS + 1)]
    minutes = (divmod(row * 5, 60) for row in range(ROWS))
    times = [f"2026-11-22 {hour:02}:{minute:02}" for hour, minute in minutes]
    rows = (f"{at},{size}" for at, size in zip(times, sizes, strict=True))
    return "\n".join(["time,rss_mb", *rows]) + "\n"


def test_a_snapshot_has_the_time_of_its_row(tmp_path):
    (tmp_path / "mem.csv").write_text(_table())

    capture = gomem.load(tmp_path)

    peak = max(capture.logged.itertuples(), key=lambda row: row.rss_bytes)
    assert "21:00:00" == peak.moment
    assert "23:55:00" == list(capture.by_moment)[-1]
    assert MAX_MOMENTS == len(capture.by_moment)


def test_readings_that_are_no_snapshots_are_counted(tmp_path):
    (tmp_path / "mem.csv").write_text(_table())

    said = " ".join(map(str, gomem.diagnose(tmp_path).verdict.whose)).replace("\u00a0", " ")

    assert f"mem.csv has {ROWS} readings, of which {MAX_MOMENTS} are snapshots" in said
    assert "the highest in each interval" in said


def test_a_table_of_which_all_rows_are_snapshots_keeps_its_names():
    few = "\n".join(_table().split("\n")[: MAX_MOMENTS + 1]) + "\n"

    dumps = list(read_runtime_lines(few.encode()).dumps)

    assert {None} == {dump.row for dump in dumps}


def test_snapshots_with_rss_alone_have_no_tables_of_their_own(tmp_path):
    (tmp_path / "mem.csv").write_text(_table())

    diagnosis = gomem.diagnose(tmp_path)

    (choice,) = ledger_section(diagnosis).blocks
    assert [list(diagnosis.by_moment)[-1]] == [option.name for option in choice.options]
    (table, *folds) = changes_section(diagnosis).blocks
    assert MAX_MOMENTS - 1 == len(table.rows)  # intervals
    assert FIGURES == len(folds)
