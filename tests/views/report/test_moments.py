"""The ledger over the moments, side by side as far as their names leave room."""

from types import SimpleNamespace

import pytest

import gomem
from gomem.views.document import Folded, Table, unchosen
from gomem.views.report.ledger import ledger_section
from gomem.views.report.moments import WIDTH, moments_section
from gomem.views.report.shown import first_of
from tests.builders import FIXTURES, diagnosed, memstats_json

MIB = 1 << 20
COUNT = 8


def tables_of(blocks):
    return [block for block in unchosen(blocks) if isinstance(block, Table)]


def table_of(folder, name):
    """The table of eight moments whose RSS is 101, 102, … MiB, in folders that are called so."""
    for number in range(1, COUNT + 1):
        moment = folder / name.format(number)
        moment.mkdir()
        text = f"go_goroutines 4\nprocess_resident_memory_bytes {(100 + number) * MIB}\n"
        (moment / "metrics.prom").write_text(text)
    blocks = moments_section(gomem.diagnose(folder)).blocks
    return next(block for block in blocks if isinstance(block, Table))


def test_beside_upper_bounds_what_is_left_is_a_lower_bound(tmp_path):
    """
    Without smaps, what Go retains is the most that it has in RSS.
    """
    fields = {"HeapSys": 40 * MIB, "HeapInuse": 20 * MIB, "HeapIdle": 20 * MIB}
    (tmp_path / "memstats.json").write_bytes(memstats_json(HeapAlloc=15 * MIB, **fields))
    (tmp_path / "status").write_text("Name:\tapi\nState:\tS\nPid:\t7\nVmRSS:\t61440 kB\n")

    (table, *_) = tables_of(ledger_section(gomem.diagnose(tmp_path)).blocks)

    sizes = {row[0].text: row[1].text for row in table.rows}
    assert "≥ 20.0 MiB" == sizes["not broken down"]
    assert all(size.startswith("≤ ") for name, size in sizes.items() if name.startswith("free"))


def test_short_names_stand_side_by_side_six_at_most(tmp_path):
    assert 1 + 6 == len(table_of(tmp_path, "{}-step").columns)


def test_long_names_leave_room_for_the_owners_first_and_last_among_them(tmp_path):
    """
    26 characters and two between: two or three beside the owners' names, in 100.
    """
    table = table_of(tmp_path, "{}-20261124T190342Z-api-7d9")

    _, *moments = table.columns
    labels = max(len(row[0].text) for row in table.rows)
    assert 2 <= len(moments) < 6
    assert labels + sum(len(moment) + 2 for moment in moments) <= WIDTH
    assert ("1", "8") == (moments[0][0], moments[-1][0])


def test_parts_of_which_nothing_is_known_are_still_a_table():
    """
    Without status or smaps, no part has a size in RSS at any snapshot.
    """
    section = moments_section(diagnosed(FIXTURES / "laboratory/captures/bakeryd-c.tar.gz"))

    tables = [block for block in unchosen(section.blocks) if isinstance(block, Folded)]
    assert tables


@pytest.mark.parametrize(("verdict", "first"), [("2", "2"), ("4", "3"), (None, "3")])
def test_without_the_verdicts_moment_the_last_is_shown(verdict, first):
    assert first == first_of(("1", "2", "3"), SimpleNamespace(shown_first=verdict))
