"""Whose the memory is over the moments: what was drawn, not its pixels."""

import numpy as np
import pytest

from gomem.analysis.memory.groups import memory_groups
from gomem.charts.matplotlib_axes import draw_on
from gomem.views.figures.groups_over_moments import on_a_clock, plot_groups_over_moments
from tests.charts import marks
from tests.views.ledgers import ledger


def known(rss_bytes, **parts):
    """Groups and RSS of a moment with these parts, of which Go claims the objects."""
    made = ledger(rss_bytes, **parts)
    sizes = made.parts["bytes"].astype("Int64")
    claimed = sizes.where(made.parts["part"] == "heap_objects")
    return memory_groups(made.parts.assign(claimed_bytes=claimed), rss_bytes), rss_bytes


MIB = 1 << 20
MOMENTS = {
    "1-start": known(100 * MIB, heap_objects=60 * MIB, binary=40 * MIB),
    "2-loaded": known(110 * MIB, heap_objects=150 * MIB, heap_untouched=-80 * MIB, binary=40 * MIB),
}


def pieces(drawing):
    """Place, lower and upper end of each piece of each column."""
    for layer in marks.areas(drawing.chart.panels[0]):
        columns = np.stack([layer.x, layer.low, layer.high], axis=1).reshape(-1, 3, 3)
        for left, right, _ in columns:  # the third corner separates one column from the next
            yield round((left[0] + right[0]) / 2), left[1], left[2]


def tops(drawing, moments):
    """The upper end of each column."""
    ends = list(pieces(drawing))
    return [max(end for place, _, end in ends if place == moment) for moment in range(moments)]


def legend(drawing):
    return drawing.chart.legend.labels


def test_the_columns_are_as_high_as_rss_and_what_go_claims_besides():
    """
    150 MiB are claimed at 2-loaded, and 70 of them resident.
    """
    drawn = plot_groups_over_moments(MOMENTS)

    assert [100 * MIB, 190 * MIB] == tops(drawn, 2)
    assert 0 == min(low for _, low, _ in pieces(drawn))
    (stroke,) = marks.lines(drawn.chart.panels[0])
    assert {100 * MIB, 110 * MIB} == set(stroke.y[np.isfinite(stroke.y)])


def test_the_legend_is_in_the_order_of_the_columns():
    words = [
        "RSS", "reserved by Go, not in RSS", "program text and data", "Go heap",
    ]  # fmt: skip
    assert words == legend(plot_groups_over_moments(MOMENTS))


def test_groups_too_small_to_be_seen_are_drawn_as_one():
    """
    And lose nothing: the top is still RSS.
    """
    drawing = plot_groups_over_moments(
        {"a": known(10_000, heap_objects=9_980, stacks=12, binary=8)}
    )

    assert ["RSS", "other groups", "Go objects and garbage"] == legend(drawing)
    assert [10_000] == tops(drawing, 1)


@pytest.mark.parametrize("moments", [1, 11, 200])
def test_any_number_of_moments_can_be_drawn(moments):
    """
    Names below thin out before they run into one another.
    """
    one = known(10, heap_objects=10)
    drawing = plot_groups_over_moments({f"moment {n}": one for n in range(moments)})

    assert [10] * moments == tops(drawing, moments)
    assert len(drawing.chart.panels[0].x.ticks) <= 12


def test_moments_without_rss_show_what_go_claims_and_have_no_stroke():
    drawing = plot_groups_over_moments({"a": known(None, heap_objects=5)})

    assert ["Go objects and garbage"] == legend(drawing)
    assert [5] == tops(drawing, 1)


def test_columns_are_divided_alike():
    """
    Where one snapshot has the Go heap as one, or its objects, a finer column between would not
    compare.
    """
    marked = memory_groups(ledger(90 * MIB, heap_objects=90 * MIB).parts, 90 * MIB, 50 * MIB)
    divided = {"a": known(60 * MIB, heap_objects=60 * MIB), "b": (marked, 90 * MIB)}

    assert {"Go objects and garbage"} == set(legend(plot_groups_over_moments(divided))) - {"RSS"}
    assert [60 * MIB, 90 * MIB] == tops(plot_groups_over_moments(divided), 2)
    with_one = plot_groups_over_moments({**MOMENTS, "b": (marked, 90 * MIB)})
    assert {"Go heap", "program text and data"} == set(legend(with_one)) - {
        "RSS", "reserved by Go, not in RSS",
    }  # fmt: skip
    assert [100 * MIB, 190 * MIB, 90 * MIB] == tops(with_one, 3)


def test_many_columns_stand_on_a_clock():
    """
    Each from halfway to the one before to halfway to the one behind; without gaps.
    """
    one = known(10, heap_objects=10)
    seconds = [0.0, *np.arange(13) + 10.0]
    moments = {f"moment {n}": one for n in range(len(seconds))}
    (area,) = marks.areas(plot_groups_over_moments(moments, seconds).chart.panels[0])
    ordered = plot_groups_over_moments(moments).chart.panels[0].x

    edges = area.x.reshape(-1, 3)[:, :2]
    assert [[-5, 5], [5, 10.5], [10.5, 11.5]] == edges[:3].tolist()
    assert [21.5, 22.5] == edges[-1].tolist()
    labels = [
        tick.label for tick in plot_groups_over_moments(moments, seconds).chart.panels[0].x.ticks
    ]
    assert "10 s" in labels
    assert "moment 0" in [tick.label for tick in ordered.ticks]


@pytest.mark.parametrize(
    "seconds",
    [
        pytest.param(None, id="no clock"),
        pytest.param([0.0, 1.0, 2.0], id="few"),
        pytest.param([0.0] * 13, id="of one time"),
    ],
)
def test_few_columns_or_those_without_a_clock_stand_in_order(seconds):
    assert not on_a_clock(seconds)


def test_what_is_hollow_has_an_outline_in_any_number_of_columns():
    moments = {f"moment {n}": MOMENTS["2-loaded"] for n in range(30)}
    drawn = plot_groups_over_moments(moments)

    (hollow,) = [one for one in marks.areas(drawn.chart.panels[0]) if one.look.fill == "none"]
    assert hollow.look.width > 0


def test_the_longest_name_fits_beside_the_columns():
    """
    On Axes of matplotlib's, whose type is wider than a page's.
    """
    one = known(10, mapped_files=6, heap_objects=4)
    drawing = plot_groups_over_moments({"a": one, "b": one})

    figure = draw_on(drawing.chart)[0].figure
    figure.canvas.draw()
    words = [text.get_window_extent() for text in figure.legends[0].get_texts()]
    assert max(box.x1 for box in words) <= figure.bbox.x1
