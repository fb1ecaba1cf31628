"""Figures as SVG that stands in a page."""

import re

import matplotlib as mpl
import pytest

from gomem.views.figures.figure import Drawing, byte_ticks, new_figure, style, tick_label
from gomem.views.figures.look import LOOK

MIB = 1 << 20


def drawing(name: str = "one", title: str = "Title") -> Drawing:
    with style():
        figure = new_figure(2, 1)
        axes = figure.add_subplot()
        axes.bar([0], [1], color="#0072b2", hatch="//")
        axes.text(0, 0, "<b>&")
    return Drawing(name, title, "What is seen", figure)


def test_the_same_figure_gives_the_same_bytes():
    assert drawing().svg() == drawing().svg()


def test_a_users_own_matplotlib_settings_change_nothing():
    """
    A report does not depend on a configuration file of the machine it is made on.
    """
    expected = drawing().svg()

    with mpl.rc_context({"font.size": 30, "svg.fonttype": "path", "lines.linewidth": 9}):
        assert expected == drawing().svg()


def test_ids_of_two_figures_on_one_page_differ():
    def ids(svg):
        return set(re.findall(r'\bid="([^"]+)"', svg))

    one, other = ids(drawing("one").svg()), ids(drawing("other").svg())

    assert len(one) > 2
    assert set() == one & other


def test_every_reference_in_a_figure_has_its_target():
    svg = drawing().svg()

    referred = set(re.findall(r'(?:url\(|href=")#([^)"]+)', svg))

    assert referred
    assert set() == referred - set(re.findall(r'\bid="([^"]+)"', svg))


def test_text_stays_text_and_is_escaped():
    svg = drawing(title="<script>").svg()

    assert "&lt;b&gt;&amp;" in svg
    assert '<title id="one-title">&lt;script&gt;</title>' in svg


def test_what_is_drawn_in_ink_takes_the_colour_of_the_page():
    """
    So that one figure reads on light and on dark paper; it brings no paper of its own.
    """
    svg = drawing().svg()

    assert "currentColor" in svg
    assert "#ffffff" not in svg


def test_a_figure_says_what_it_shows_to_those_who_cannot_see_it():
    svg = drawing().svg()

    assert 'role="img" aria-labelledby="one-title one-desc"' in svg
    assert '<desc id="one-desc">What is seen</desc>' in svg


def test_a_name_that_cannot_be_an_id_is_refused():
    with pytest.raises(ValueError, match="not an id"):
        drawing('2" onload="')


def test_no_two_parts_look_the_same():
    """
    Colour or hatching tells them apart, so a grey print does not mix up more than it must.
    """
    assert len(LOOK) == len(set(LOOK.values()))


def test_ticks_are_round_in_binary():
    assert [0, 32 * MIB, 64 * MIB, 96 * MIB] == byte_ticks(0, 100 * MIB)
    assert [-64 * MIB, 0, 64 * MIB] == byte_ticks(-80 * MIB, 70 * MIB, at_most=3)


def test_a_tick_says_no_digits_that_mean_nothing():
    assert ["0", "64 MiB", "1.5 GiB", "\u221232 KiB"] == [
        tick_label(size) for size in (0, 64 * MIB, 1536 * MIB, -32768)
    ]


def test_paths_have_no_digits_that_nobody_sees_and_text_keeps_its_own():
    """
    A hundredth of a point is finer than any print; what is written is another matter.
    """
    with style():
        figure = new_figure(2, 1)
        figure.add_subplot().plot([0, 1, 2], [0, 1 / 3, 1])
        figure.text(0, 0, "0.12345")
    svg = Drawing("one", "Title", "", figure).svg()

    assert [] == re.findall(r' d="[^"]*\.\d{3}[^"]*"', svg)
    assert "0.12345" in svg
