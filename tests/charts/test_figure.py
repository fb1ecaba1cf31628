"""Figures as SVG that stands in a page."""

import re

import numpy as np
import pytest

from gomem.charts.chart import Chart, Look, Panel, Scale
from gomem.charts.figure import Drawing, byte_ticks, tick_label
from gomem.charts.look import LOOK

MIB = 1 << 20


def drawing(name: str = "one", title: str = "Title") -> Drawing:
    chart, panel = one_panel()
    panel.bar(0, 0, 0.4, 1, Look("#0072b2", "//", "#17191c"), label="bar")
    panel.bar(0.5, 0, 0.4, 1, Look("none", "xx", "currentColor"))
    panel.words("<b>&", 0, 0)
    chart.explain(panel.labelled(), left=0)
    return Drawing(name, title, "What is seen", chart)


def one_panel() -> tuple[Chart, Panel]:
    """From 0 to 100 points to the right, from 100 up to 0 points below the top."""
    chart = Chart(100 / 72, 100 / 72)
    return chart, chart.panel(left=0, right=0, top=0, bottom=0)


def paths(chart: Chart) -> list[str]:
    """Those of marks, without the panel's foot."""
    svg = Drawing("one", "Title", "", chart).svg()
    return re.findall(r'<path d="([^"]*)"', svg)[:-1]


def test_the_same_figure_gives_the_same_bytes():
    assert drawing().svg() == drawing().svg()


def test_ids_of_two_figures_on_one_page_differ():
    def ids(svg):
        return set(re.findall(r'\bid="([^"]+)"', svg))

    one, other = ids(drawing("one").svg()), ids(drawing("other").svg())

    assert len(one) == 4  # title, description, two hatchings
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
    chart, panel = one_panel()
    panel.line([0, 0.5, 1], [0, 1 / 3, 1], Look(edge="#000"))
    panel.words("0.12345", 0, 0)
    svg = Drawing("one", "Title", "", chart).svg()

    assert "M0 100 50 66.67 100 0" in svg
    assert "0.12345" in svg


def test_a_line_breaks_where_a_number_is_missing_or_outside():
    """
    What is unknown is not drawn as a number, nor what is too large as the largest that fits.
    """
    chart, panel = one_panel()
    panel.line([0, 0.1, 0.2, 0.3, 0.4, 0.5], [0, 0, np.nan, 1, 2, 1], Look(edge="#000"))

    assert ["M0 100 10 100M30 0M50 0"] == paths(chart)


def test_an_area_goes_there_on_top_and_back_below():
    chart, panel = one_panel()
    panel.area([0, 0.5, 1], 0, [0.5, 1, np.nan], Look("#000"))

    assert ["M0 50 50 0 50 100 0 100Z"] == paths(chart)


def test_a_step_holds_until_the_next():
    chart, panel = one_panel()
    panel.line([0, 0.5, 1], [0.5, 1, 1], Look(edge="#000"), steps=True)

    assert ["M0 50 50 50 50 0 100 0 100 0"] == paths(chart)


def test_a_bar_is_cut_at_the_end_of_its_axis():
    """
    From -0.5 to 2 on an axis from 0 to 1, and on one of logarithms from below its first number.
    """
    chart, panel = one_panel()
    panel.bar(0, -0.5, 0.5, 2.5, Look("#000"))
    assert 'x="0" y="0" width="50" height="100"' in Drawing("one", "", "", chart).svg()

    chart, panel = one_panel()
    panel.y.scale = Scale(1, 100, log=True)
    panel.bar(0, 0, 0.5, 10, Look("#000"))
    assert 'x="0" y="50" width="50" height="50"' in Drawing("one", "", "", chart).svg()


def test_an_axis_can_go_down():
    """
    Rows are counted from the top.
    """
    assert [0.75, 0.25] == list(Scale(1.5, -0.5).shares([0, 1]))
    assert [True, False] == list(Scale(1.5, -0.5).holds([0, 2]))


def test_the_text_of_a_figure_cannot_change_how_a_page_reads():
    chart, panel = one_panel()
    panel.words("a\u202eb", 0, 0)

    assert "a\\u202eb" in Drawing("one", "", "", chart).svg()
