"""Two numbers a row, as `ps -o rss=,vsz=` prints them in a loop."""

import pytest

import gomem
from gomem.inputs.kinds import kind_of
from gomem.inputs.processes.table import read_processes
from gomem.units import KIB

ROWS = "19124 1529588\n20664 1530100\n 21104 1530100\n"
TURNED = "1529588 19124\n1530100 20664\n1530100 21104\n"


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("rss.txt", ROWS),
        ("rss-vsz.log", TURNED),
        ("notes.txt", "api prod-3, rss in kB / vsz, every 8s:\n" + ROWS),
        ("notes.txt", "$ while sleep 8; do ps -o rss=,vsz= -p 4711; done\n\n" + ROWS),
        ("rss.txt", "1336 8588\n" + ROWS),
    ],
)
def test_the_smaller_number_is_rss(name, data):
    assert "processes" == kind_of(data.encode(), name).name


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("sizes.txt", ROWS),
        ("stress.txt", ROWS),
        ("rss.txt", ROWS.replace("20664", "20665")),
        ("rss.txt", "19124 15295\n20664 15301\n21104 15301\n"),
        ("rss.txt", ROWS[:28]),
    ],
)
def test_without_that_word_or_in_other_units_it_is_not_read(name, data):
    assert kind_of(data.encode(), name) is None


def test_the_rows_are_in_the_order_of_time(tmp_path):
    (tmp_path / "rss.txt").write_text(ROWS)

    read = read_processes(tmp_path / "rss.txt").processes

    assert [19124 * KIB, 20664 * KIB, 21104 * KIB] == list(read["rss_bytes"])
    assert 3 == len(gomem.load(tmp_path))


def test_what_stands_below_is_named(tmp_path):
    text = f"rss vsz:\n{ROWS}\nopen files:\n11:07:43 fds=5\n"
    (tmp_path / "notes.txt").write_text(text)

    (damage,) = gomem.load(tmp_path).damaged

    assert ("line 6", "open files:") == (damage.where, damage.text)
