"""Lists of open files: how many there are, and what is open most."""

import pytest

from gomem.inputs.looks_like import looks_like
from gomem.text import Count, File, Text

LS = "total 0\n" + "".join(
    f"lr-x------ 1 root root 64 Nov 28 08:39 {number} -> {{}}\n" for number in range(120)
)
LSOF = "COMMAND  PID USER   FD   TYPE DEVICE SIZE/OFF NODE NAME\n" + "".join(
    f"shop    4711 root   {number}r   REG  254,1    12813  123 {{}}\n" for number in range(120)
)


@pytest.mark.parametrize("form", [LS, LSOF], ids=["ls", "lsof"])
def test_what_is_open_most_is_counted(form):
    seen = looks_like(form.replace("{}", "/etc/hosts").encode(), "fd.txt")

    assert seen.is_evidence
    assert [120, 120] == [part.value for part in Text(seen.what).of(Count)]
    assert ["/etc/hosts"] == [part.value for part in Text(seen.what).of(File)]


def test_sockets_are_alike():
    rows = LS.split("\n")
    data = "\n".join(row.format(f"socket:[{number}]") for number, row in enumerate(rows))

    assert ["socket"] == [part.value for part in Text(looks_like(data.encode(), "").what).of(File)]


def test_a_few_of_each_are_only_counted():
    data = "\n".join(row.format(f"/f/{number}") for number, row in enumerate(LS.split("\n")))
    seen = looks_like(data.encode(), "fd.txt")

    assert not seen.is_evidence
    assert [120] == [part.value for part in Text(seen.what).of(Count)]
