"""A wrong word is answered with the nearest right one; a URL and a path with what was meant."""

import pytest

import gomem
from gomem.cli.main import run
from tests.builders import FIXTURES

CAPTURE = FIXTURES / "captures/healthy-go1.27.3"
HEAP = next(CAPTURE.rglob("heap.pb.gz"))
SMAPS = next(CAPTURE.rglob("smaps"))


@pytest.mark.parametrize(
    ("arguments", "near"),
    [
        (["reprot", "x"], "report"),
        (["top", HEAP, "--granularity", "function"], "functions"),
        (["top", HEAP, "--sample-type", "inuse_spce"], "inuse_space"),
        (["top", HEAP, "--sample-type", "INUSE_SPACE"], "inuse_space"),
        (["top", HEAP, "--granulartiy", "lines"], "--granularity"),
        (["top", HEAP, "--format", "jsn"], "json"),
        (["table", SMAPS, "--frame", "mapings"], "mappings"),
        (["notebook", "rss-vs-haep", CAPTURE], "rss-vs-heap"),
        (["schema", "reports"], "report"),
        (["report", CAPTURE, "--fail-on", "critcal"], "critical"),
    ],
    ids=lambda case: str(case[-1]) if isinstance(case, list) else case,
)
def test_a_wrong_word_is_answered_with_the_nearest_right_one(capsys, arguments, near):
    assert 2 == run([str(one) for one in arguments])
    said = capsys.readouterr().err

    assert f"did you mean {near}?" in said
    assert 1 == said.count("\n")
    assert "Value error" not in said


@pytest.mark.parametrize(
    "arguments",
    [["xyzzy"], ["top", HEAP, "--granularity", "xyzzy"], ["table", SMAPS, "--frame", "xyzzy"]],
    ids=str,
)
def test_where_no_word_is_near_none_is_offered(capsys, arguments):
    assert 2 == run([str(one) for one in arguments])
    assert "did you mean" not in capsys.readouterr().err


def test_python_names_are_answered_likewise():
    capture = gomem.load(CAPTURE)

    with pytest.raises(AttributeError, match=r"did you mean read_smaps\?"):
        _ = gomem.read_smap
    with pytest.raises(AttributeError, match=r"did you mean memstats\?"):
        _ = capture.memstat
    with pytest.raises(AttributeError, match=r"did you mean status\?"):
        _ = capture["2-steady"].statu
    with pytest.raises(KeyError, match=r"did you mean 2-steady\?"):
        capture["2-steddy"]
    with pytest.raises(ValueError, match=r"did you mean lines\?"):
        gomem.read_pprof(HEAP).top(granularity="line")


@pytest.mark.parametrize("command", ["inspect", "top", "table"])
def test_a_url_is_answered_with_how_to_fetch_it(capsys, command):
    url = "http://localhost:6060/debug/pprof/heap?gc=1"

    assert 2 == run([command, url])
    said = capsys.readouterr().err

    assert f"{url}: is a URL, wanted a file; fetch it first: curl -f -o heap '{url}'" in said
    assert "then name heap to gomem" in said


def test_a_url_without_a_path_gets_a_file_name(capsys):
    assert 2 == run(["top", "HTTPS://example.com/"])
    assert "curl -f -o example.com https://example.com," in capsys.readouterr().err


@pytest.mark.parametrize("command", ["report", "inspect", "top", "table"])
def test_a_path_that_is_not_there_is_answered_with_its_neighbour(tmp_path, capsys, command):
    (tmp_path / "heap.pb.gz").touch()

    assert 2 == run([command, str(tmp_path / "heap.bp.gz")])
    said = capsys.readouterr().err

    assert f"no such file or folder; did you mean {tmp_path / 'heap.pb.gz'}?" in said


def test_a_folder_that_is_not_there_has_no_neighbours(tmp_path, capsys):
    assert 2 == run(["top", str(tmp_path / "nowhere/heap.pb.gz")])
    said = capsys.readouterr().err

    assert said.endswith("heap.pb.gz: no such file or folder\n")
