"""Paths where nothing is: the nearest name, or how to fetch a URL."""

import os
import re
import threading

import pytest

import gomem
from gomem.errors import CaptureError
from gomem.sources.captures import captures_below
from gomem.sources.paths import matching, no_such_path
from tests.builders import FIXTURES

SMAPS = FIXTURES / "captures/healthy-go1.27.3/3-later/smaps"


@pytest.mark.parametrize(
    ("path", "file", "url"),
    [
        ("http://api:6060/debug/pprof/heap", "heap", "http://api:6060/debug/pprof/heap"),
        ("HTTPS:/api/heap?debug=1&gc=1", "heap", "'https://api/heap?debug=1&gc=1'"),
        ("http://api:6060/", "api:6060", "http://api:6060/"),
        ("http:/proxy/HTTP:/api", "api", "http://proxy/HTTP:/api"),
    ],
)
def test_a_url_is_told_with_the_command_that_fetches_it(path, file, url):
    """
    A path as such has one slash where the URL has two.
    """
    said = str(no_such_path(path))

    assert "is a URL, wanted a file" in said
    assert f"curl -f -o {file} {url}, then name {file} to gomem" in said


@pytest.mark.parametrize(
    "url",
    [
        "http://me:PASSWORD@api:6060/debug/pprof/heap?token=SECRET",
        "http:/me:PASSWORD@api:6060/debug/pprof/heap#SECRET",
        "https://SECRET@api:6060/debug/pprof/heap?debug=1&key=SECRET",
    ],
)
def test_what_lets_somebody_in_is_not_told(url):
    said = str(no_such_path(url))

    assert "://api:6060/debug/pprof/heap: is a URL" in said
    assert "curl -f -o heap URL, then name heap to gomem" in said
    assert not {"PASSWORD", "SECRET", "me:"} & set(re.split(r"[^A-Za-z:]", said))
    assert "SECRET" not in said


def test_a_store_is_told_without_its_key():
    with pytest.raises(CaptureError) as raised:
        captures_below("nostore://key:SECRET@bucket/x")

    assert "SECRET" not in str(raised.value.message.parts[0])
    assert str(raised.value).startswith("nostore://bucket/x: ")


@pytest.mark.parametrize("name", ["pipe", "heap.pb.gz", "p.tar", "p.tgz", "p.zip"])
@pytest.mark.parametrize("read", [gomem.load, gomem.read, gomem.read_pprof, gomem.read_gctrace])
def test_a_named_pipe_is_refused_and_not_waited_for(name, read, tmp_path):
    path = tmp_path / name
    os.mkfifo(path)

    with pytest.raises(CaptureError, match=r"is a named pipe.*: cat .* > FILE"):
        read(path)


def test_among_loose_files_a_named_pipe_is_refused_too(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "smaps").write_bytes(SMAPS.read_bytes())

    with pytest.raises(CaptureError, match="is a named pipe"):
        gomem.load(tmp_path / "smaps", tmp_path / "pipe")


@pytest.mark.parametrize("named", ["/dev/fd/{}", "/proc/self/fd/{}"])
def test_a_pipe_that_a_shell_opened_is_read(named):
    """
    As `gomem report <(kubectl exec …)` gives one.
    """
    out, into = os.pipe()
    writer = threading.Thread(target=_written, args=(into, SMAPS.read_bytes()))
    writer.start()
    try:
        read = gomem.load(named.format(out))
    finally:
        writer.join()
        os.close(out)

    assert len(gomem.load(SMAPS).smaps) == len(read.smaps) > 0


def _written(into, data):
    with os.fdopen(into, "wb") as file:
        file.write(data)


def test_a_folder_that_is_called_like_a_scheme_is_no_url():
    assert str(no_such_path("a/http:/x")).startswith("a/http:/x: no such file or folder")


def test_the_nearest_of_the_first_thousand_names_is_told(tmp_path):
    for number in range(1000):
        (tmp_path / f"a{number:04}").touch()
    (tmp_path / "heap.pb").touch()

    assert "did you mean" not in str(no_such_path(tmp_path / "haep.pb"))
    (tmp_path / "a0000").unlink()
    assert str(no_such_path(tmp_path / "haep.pb")).endswith(
        f"no such file or folder; did you mean {tmp_path / 'heap.pb'}?"
    )
    assert str(no_such_path(tmp_path / "x" / "y")).endswith("x/y: no such file or folder")


@pytest.mark.parametrize("name", ["run-1", "http://api/heap?x", "https:/api/heap?x"])
def test_what_is_no_pattern_is_itself(name):
    assert [name] == matching(name)


def test_a_name_that_is_there_is_meant_itself(tmp_path):
    for name in ("run-[1]", "run-1"):
        (tmp_path / name).touch()

    assert [str(tmp_path / "run-[1]")] == matching(tmp_path / "run-[1]")
    assert [str(tmp_path / "run-1")] == matching(tmp_path / "run-?")
