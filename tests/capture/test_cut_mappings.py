"""An smaps that ends between two mappings looks whole; other files tell that it is cut."""

import re
import shutil

import pytest

import gomem
from tests.builders import FIXTURES

CAPTURE = FIXTURES / "captures/healthy-go1.27.3"
LAST, OTHER = "2-steady", "1-start"
HEADER = re.compile(rb"(?m)^[0-9a-f]+-[0-9a-f]+ .*$")


def cut_before(path, name):
    """Cut it right before the mapping of a name."""
    data = path.read_bytes()
    (header,) = [one for one in HEADER.finditer(data) if one[0].endswith(name)]
    path.write_bytes(data[: header.start()])


@pytest.fixture
def capture(tmp_path):
    """Two moments of smaps alone, by hand."""
    for moment in (OTHER, LAST):
        (tmp_path / moment).mkdir()
        shutil.copy(CAPTURE / moment / "smaps", tmp_path / moment)
    return tmp_path


def damage_of(capture):
    return {(one.source, one.what.partition(":")[0]) for one in gomem.load(capture).damaged}


def test_whole_files_are_whole(capture):
    assert set() == damage_of(capture)


@pytest.mark.parametrize("missing", [b"[vsyscall]", b"[stack]"])
def test_what_another_moment_ends_with_is_missing(capture, missing):
    cut_before(capture / LAST / "smaps", missing)

    ((source, what),) = damage_of(capture)

    assert f"{LAST}/smaps" == source
    assert missing.decode() in what
    assert f"which {OTHER}/smaps has, " in what


def test_alone_it_is_cut_where_the_kernels_sum_is_larger(capture):
    """
    Before the program's first mapping of libraries or the stack: hardly anything is counted.
    """
    shutil.rmtree(capture / OTHER)
    shutil.copy(CAPTURE / LAST / "smaps_rollup", capture / LAST)
    path = capture / LAST / "smaps"
    headers = list(HEADER.finditer(path.read_bytes()))
    path.write_bytes(path.read_bytes()[: headers[3].start()])

    ((source, what),) = damage_of(capture)

    assert f"{LAST}/smaps" == source
    assert f"where {LAST}/smaps_rollup says" in what


def test_alone_and_without_any_sum_nobody_can_tell(capture):
    shutil.rmtree(capture / OTHER)
    cut_before(capture / LAST / "smaps", b"[stack]")

    assert set() == damage_of(capture)


def test_a_sum_that_is_larger_than_a_whole_file_is_another_moments(capture):
    """
    With [stack] in it, it is whole: the process has grown between two readings.
    """
    shutil.rmtree(capture / OTHER)
    rollup = (CAPTURE / LAST / "smaps_rollup").read_bytes()
    (capture / LAST / "smaps_rollup").write_bytes(
        re.sub(rb"(?m)^Rss: .*$", b"Rss:              999999 kB", rollup)
    )

    assert set() == damage_of(capture)
