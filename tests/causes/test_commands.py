"""Commands are ready to paste, with the names of the capture's files."""

import pytest

from gomem.causes.commands import stacks_in, top


@pytest.mark.parametrize("path", ["stdin", "stdin:4"])
def test_what_a_pipe_brought_has_no_name_to_open(path):
    line = "+4 " * path.endswith(":4")
    assert f"less {line}FILE" == str(stacks_in(path))
    assert "gomem top FILE --cum" == str(top(path))


@pytest.mark.parametrize(
    ("path", "command"),
    [
        ("stacks.txt", "less stacks.txt"),
        ("stdin.txt", "less stdin.txt"),
        ("a b.txt", "less 'a b.txt'"),
        ("goroutine.pb.gz", "gomem top goroutine.pb.gz --traces"),
    ],
)
def test_a_file_has_its_name(path, command):
    assert command == str(stacks_in(path))
