"""Lines of a GC log that somebody set in Markdown, each as an item of a list."""

import pytest

from gomem.inputs.gctrace.table import read_gctrace

LINE = (
    "gc {0} @{0}.404s 2%: 0.10+2.2+0.30 ms clock, 0.41+1.1/2.0/3.0+1.2 ms cpu, 10->12->6 MB, "
    "13 MB goal, 4 P"
)


@pytest.mark.parametrize("item", ["* `{}`", "`{}`", "**{}**", "- {}"])
def test_each_decorated_line_is_read(item):
    lines = "".join(item.format(LINE.format(number)) + "\n" for number in range(3, 9))
    log = read_gctrace(f"The log says:\n\n{lines}\nThat is all.\n".encode())

    assert [3, 4, 5, 6, 7, 8] == log.cycles["number"].tolist()
    assert log.damage.empty
