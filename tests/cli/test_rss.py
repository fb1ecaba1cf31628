"""`gomem rss`: what it writes and where, and how it refuses."""

import pytest

from gomem.cli.main import run
from gomem.inputs.pprof.read import read_pprof
from tests.builders import FIXTURES, diagnosed

pytestmark = pytest.mark.usefixtures("in_an_empty_folder")

CAPTURE = FIXTURES / "captures" / "cache-shrink-go1.27.3"


def test_a_profile_is_named_after_the_capture(tmp_path, capsys):
    assert 0 == run(["rss", str(CAPTURE)])

    assert "cache-shrink-go1.27.3.rss.pb.gz\n" == capsys.readouterr().out
    written = read_pprof(tmp_path / "cache-shrink-go1.27.3.rss.pb.gz")
    assert diagnosed(CAPTURE).moments[-1].rss_bytes == written.total("rss")


def test_a_moment_and_what_it_has_more_than_another(tmp_path):
    options = ["--moment", "3-collected", "--base-moment", "1-filled", "-o", "grown.pb.gz"]

    assert 0 == run(["rss", str(CAPTURE), *options])

    by_moment = diagnosed(CAPTURE).by_moment
    grown = by_moment["3-collected"].rss_bytes - by_moment["1-filled"].rss_bytes
    assert grown == read_pprof(tmp_path / "grown.pb.gz").values("rss").sum()


def test_the_same_input_gives_the_same_bytes_and_ones_own_file_is_written_again(tmp_path):
    target = tmp_path / "rss.pb.gz"
    assert 0 == run(["rss", str(CAPTURE), "-o", str(target)])
    before = target.read_bytes()

    assert 0 == run(["rss", str(CAPTURE), "-o", str(target)])
    assert before == target.read_bytes()


def test_a_heap_profile_is_the_users(tmp_path, capsys):
    target = tmp_path / "heap.pb.gz"
    mine = (CAPTURE / "1-filled" / "heap.pb.gz").read_bytes()
    target.write_bytes(mine)

    assert 2 == run(["rss", str(CAPTURE), "-o", str(target)])

    assert "does not say that gomem wrote it" in capsys.readouterr().err
    assert mine == target.read_bytes()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([CAPTURE / "1-filled" / "heap.pb.gz"], "add smaps: cat /proc/PID/smaps > smaps"),
        ([CAPTURE, "--moment", "1-filed"], "did you mean 1-filled?"),
        ([CAPTURE, "--base-moment", "1-filed"], "did you mean 1-filled?"),
        (["nowhere"], "nowhere"),
    ],
)
def test_what_cannot_be_written_is_said_with_the_way_out(arguments, said, tmp_path, capsys):
    assert 2 == run(["rss", *map(str, arguments)])

    assert said in capsys.readouterr().err
    assert [] == list(tmp_path.iterdir())


def test_a_report_can_be_that_profile(tmp_path):
    assert 0 == run(["report", str(CAPTURE), "--format", "pprof"])
    assert 0 == run(["report", str(CAPTURE), "-o", "same.pb.gz"])

    made = (tmp_path / "cache-shrink-go1.27.3.rss.pb.gz").read_bytes()
    assert made == (tmp_path / "same.pb.gz").read_bytes()
    assert 0 == run(["rss", str(CAPTURE), "-o", "again.pb.gz"])
    assert made == (tmp_path / "again.pb.gz").read_bytes()


def test_against_a_baseline_pprof_compares(capsys):
    options = ["--baseline", str(CAPTURE), "--format", "pprof"]

    assert 2 == run(["report", str(CAPTURE), *options])

    assert "go tool pprof -diff_base" in capsys.readouterr().err
