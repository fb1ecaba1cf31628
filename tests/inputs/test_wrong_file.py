"""A reader that is given another file names it, and the way out."""

import pytest

import gomem
from gomem.errors import FormatError
from gomem.inputs.kinds import readers
from tests.builders import FIXTURES

MOMENT = FIXTURES / "captures/healthy-go1.27.3/2-steady"
ANY_TEXT = "read_gctrace"  # a program's log may hold anything, and no line of the collector's
READERS = sorted(set(readers()) - {ANY_TEXT})
PAGE = b"<!DOCTYPE html>\n<html><head><title>502 Bad Gateway</title></head></html>\n"
LOST = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 12345\n"


def said_of(reader, data):
    with pytest.raises(FormatError) as refused:
        getattr(gomem, reader)(data)
    return str(refused.value)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    ("data", "came"),
    [
        pytest.param(PAGE, "an HTML page, titled '502 Bad Gateway', wanted", id="page"),
        pytest.param(b"404 page not found\n", "a server's refusal, '404 page not", id="refusal"),
        pytest.param(LOST, "a Git LFS pointer, not the file itself, wanted", id="git-lfs"),
        pytest.param(b"", "an empty file, wanted", id="empty"),
        pytest.param(b"it was slow\n", "text of no known kind, wanted", id="any-text"),
    ],
)
def test_what_came_is_named(reader, data, came):
    assert f"<bytes>: {came}" in said_of(reader, data)


@pytest.mark.parametrize("reader", sorted({*READERS} - {"read_smaps"}))
def test_another_artefact_is_named_though_lines_of_it_look_right(reader):
    """
    status and smaps both have lines of a name, a colon and a size in kB.
    """
    said = said_of(reader, (MOMENT / "smaps").read_bytes())

    assert said.startswith("<bytes>: smaps, wanted ")
    assert said.endswith("; gomem report and gomem table read it")


def test_json_of_another_program_is_told_by_its_keys():
    for reader in ("read_memstats", "read_metrics"):
        assert "found the keys user, id; wanted" in said_of(reader, b'{"user": 1, "id": 2}')


def test_a_damaged_file_of_its_own_kind_is_read():
    cut = (MOMENT / "smaps").read_bytes()[:3000]

    assert gomem.read_smaps(cut).damaged


def test_a_damaged_file_in_which_nothing_is_recognised_is_read():
    smaps = b"who knows\n" + (MOMENT / "smaps").read_bytes()

    assert 1 == len(gomem.read_smaps(smaps).damaged)
