"""Tables that a script writes, with a line of names above."""

import pytest

import gomem
from gomem.inputs.kinds import kind_of
from gomem.units import MIB

ROWS = [("2026-11-27T04:37:13Z", 32, 5), ("2026-11-27T04:37:16Z", 53, 5), ("1795754239", 74, 6)]


@pytest.mark.parametrize(
    ("names", "factor"),
    [
        ("ts,rss_kb,threads", 1024),
        ("time;RSS (KiB);threads", 1024),
        ("timestamp\tVmRSS_mb\tthreads", 1),
        ('"date","rss","threads"', MIB),
    ],
)
def test_a_size_has_the_unit_in_its_name(names, factor, tmp_path):
    separator = next(each for each in ",;\t" if each in names)
    lines = [separator.join((at, str(size * factor), str(n))) for at, size, n in ROWS]
    (tmp_path / "mem.csv").write_text("\n".join([names, *lines]) + "\n")

    capture = gomem.load(tmp_path)

    rise = gomem.diagnose(capture).facts.rss_level.rise
    assert (3, 32 * MIB, 74 * MIB, 6.0) == (rise.readings, rise.first, rise.last, rise.seconds)
    assert () == capture.damaged


@pytest.mark.parametrize(
    "text",
    ["ts,requests\n1795754239,7\n", "ts,rss,rss\n1795754239,7,8\n", "ts,rss_kb\nnow,unknown\n"],
)
def test_without_a_time_and_a_size_it_is_no_such_table(text):
    kind = kind_of(text.encode(), "x.txt")

    assert kind is None or kind.name != "runtime_lines"
