"""What a cell shows: exact numbers behind the rounded, nothing that becomes markup, short reprs."""

from gomem.views.document import Cell, Table
from gomem.views.values import bytes_cell
from gomem.views.writers.notebook_cells import LINES, Shown, sentences


def shown(*cells, caption="c", heading="h"):
    return Shown((Table(caption, (heading,), ">", tuple((cell,) for cell in cells)),))


def test_the_exact_number_stands_behind_the_rounded_one():
    html = shown(Cell("HeapIdle"), bytes_cell(1_572_864)).html

    assert '<span title="1\u202f572\u202f864 B">1.50 MiB</span>' in html


def test_what_is_unknown_is_not_0():
    assert shown(bytes_cell(None)).text.endswith("\n–")


def test_names_from_a_capture_are_text():
    html = shown(Cell("<script>"), caption="<b>", heading="<i>").html

    for raw in ("<script>", "<i>", "<b>"):
        assert raw not in html
    assert "<p>&lt;script&gt;</p>" in sentences("<script>").html


def test_no_sentence_is_no_box():
    assert Shown() == sentences("", "")
    assert "" == Shown().html


def test_a_repr_is_no_longer_than_a_screen():
    """
    Caption and heading are two of its lines; what is left out is counted.
    """
    lines = repr(shown(*[Cell("1")] * 100)).splitlines()

    assert LINES + 1 == len(lines)
    assert f"and {100 + 2 - LINES} more lines" == lines[-1]


def test_a_name_of_pages_is_its_beginning_and_its_end_in_a_sentence():
    name = "a" * 200 + "b" * 10_000 + "c" * 200

    html = sentences(f"Held by {name}, most of it.").html

    assert f"Held by {'a' * 150}…{'c' * 149}, most of it." in html
    assert "d" * 400 in sentences(f"by {'d' * 400}").html
    assert f"{'d' * 150}…{'d' * 150}" in sentences(f"by {'d' * 401}").html
