"""What `gomem inspect` lists."""

import pytest

from gomem.capture.load import load
from gomem.views.inspect.inspection import inspection_document
from gomem.views.writers.html import write_html
from gomem.views.writers.markdown import write_markdown
from gomem.views.writers.text import write_text
from tests.builders import FIXTURES

ZEROING = FIXTURES / "captures" / "zeroing-go1.24.2"


def test_each_moment_has_its_files_and_the_capture_those_of_all():
    document = inspection_document(load(ZEROING))

    headings = [section.heading.partition(":")[0] for section in document.sections]
    files = [len(section.blocks[0].rows) for section in document.sections]
    assert ["1-start", "2-loaded", "Files of the whole capture"] == headings
    assert [8, 8, 1] == files


def test_what_could_not_be_read_comes_first_and_with_its_place(tmp_path):
    (tmp_path / "memstats.json").write_text('{"HeapAlloc": 1')
    (tmp_path / "status").write_bytes((ZEROING / "2-loaded" / "status").read_bytes())

    text = write_text(inspection_document(load(tmp_path)))

    assert "\n▲ damage: 1 place could not be read.\n" in text
    assert "\nmemstats.json: " in text


@pytest.mark.parametrize("write", [write_text, write_markdown, write_html])
def test_a_name_cannot_steer_the_terminal(tmp_path, write):
    """
    A member of an archive can be called anything: a title for the window, a cleared screen.
    """
    (tmp_path / "status\x1b]0;gone\x07\x1b[2J").write_bytes(
        (ZEROING / "2-loaded" / "status").read_bytes()
    )

    text = write(inspection_document(load(tmp_path)))

    assert "\x1b" not in text
    assert "\x07" not in text
    assert "x1b" in text
