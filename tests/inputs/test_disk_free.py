"""What df printed of tmpfs is named with its sizes: files there are memory."""

import pytest

import gomem
from gomem.inputs.disk_free import lines_of_df
from gomem.inputs.looks_like import looks_like

TABLE = "  PID   RSS COMMAND\n 6217 12976 /bin/spool\n"


def df(used, unit="1M-blocks", mount="/dev/shm"):
    return (
        f"Filesystem     {unit}  Used Available Use% Mounted on\n"
        f"/dev/vda1          50000  9000     41000  18% /\n"
        f"tmpfs              24106    {used}     24079   1% {mount}\n"
    )


@pytest.mark.parametrize(
    ("unit", "sizes"),
    [
        ("1M-blocks", (27, 54, 108)), ("Size", ("27M", "54M", "108M")),
        ("1K-blocks", (27 << 10, 54 << 10, 108 << 10)),
        ("1024-blocks", (27 << 10, 54 << 10, 108 << 10)),
    ],
)  # fmt: skip
def test_a_tmpfs_that_grows_is_named_with_its_sizes(unit, sizes):
    seen = looks_like("".join(df(size, unit) for size in sizes).encode(), "")

    assert seen.is_evidence
    assert (
        "what df printed: files in tmpfs /dev/shm rose from 27 MiB to 108 MiB in 3 readings"
        == str(seen.what)
    )


def test_of_a_small_tmpfs_nothing_is_said():
    assert set() == lines_of_df(df(2, mount="/run").encode())
    assert {1, 3} == lines_of_df(df(17).encode())


@pytest.mark.parametrize("between", ["{df}{ps}", "--- 07:44:{n}\n{df}{ps}", "{ps}{df}"])
def test_between_listings_of_ps_it_is_named_once(between, tmp_path):
    text = "".join(between.format(df=df(27 * n), ps=TABLE, n=10 * n) for n in (1, 2, 4))
    (tmp_path / "shm.txt").write_text(text)

    capture = gomem.load(tmp_path)

    (name,) = capture.unread_evidence
    assert "rose from 27 MiB to 108 MiB in 3 readings" in capture.looks[name]
    assert 3 == len(capture)
    assert [] == list(capture.damaged)
