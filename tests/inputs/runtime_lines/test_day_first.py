"""Dates with the day or the month first."""

import pytest

import gomem
from gomem.inputs.runtime_lines.day_first import with_iso_dates


@pytest.mark.parametrize(
    ("rows", "dates"),
    [
        pytest.param(b"27/11/2026 12:53,1\n", b"2026-11-27 12:53,1\n", id="a day above 12"),
        pytest.param(b"11/27/2026 12:53,1\n", b"2026-11-27 12:53,1\n", id="a month first"),
        pytest.param(b"3.4.2026 12:53,1\n", b"2026-04-03 12:53,1\n", id="with dots"),
        pytest.param(b"3/4/2026 12:53,1\n", b"3/4/2026 12:53,1\n", id="unknown"),
        pytest.param(
            b"3/4/2026 1:53,1\n13/4/2026 1:53,1\n",
            b"2026-04-03 1:53,1\n2026-04-13 1:53,1\n",
            id="another row decides",
        ),
        pytest.param(
            b"13/4/2026 1:53,1\n3/14/2026 1:53,1\n",
            b"13/4/2026 1:53,1\n3/14/2026 1:53,1\n",
            id="rows that disagree",
        ),
        pytest.param(b"1.2.20264,1\n", b"1.2.20264,1\n", id="a number"),
    ],
)
def test_what_comes_first_is_known_by_a_number_above_12_or_by_dots(rows, dates):
    assert dates == with_iso_dates(rows)


def test_a_dashboards_rows_have_times(tmp_path):
    row = "27/11/2026 12:53:{};{}.8 MiB;7.3 MiB\n"
    rows = "".join(row.format(40 + 4 * n, 14 + 10 * n) for n in range(4))
    (tmp_path / "dashboard.csv").write_text(f"Time;RSS;Heap inuse\n{rows}")

    times = [moment.time for moment in gomem.load(tmp_path).values()]

    assert [40, 44, 48, 52] == [time.second for time in times]
