"""Paths where nothing is: the nearest name, or how to fetch a URL."""

import pytest

from gomem.sources.paths import matching, no_such_path


@pytest.mark.parametrize(
    ("path", "file", "url"),
    [
        ("http://api:6060/debug/pprof/heap", "heap", "http://api:6060/debug/pprof/heap"),
        ("HTTPS:/api/metrics?x=1#y", "metrics", "'https://api/metrics?x=1#y'"),
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
