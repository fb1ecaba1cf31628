"""The ledger over the moments: what was drawn, not its pixels."""

import numpy as np
import pytest

from gomem.views.figures.ledger_over_moments import plot_timeline
from tests.views.figures import marks
from tests.views.ledgers import ledger

LEDGERS = {
    "1-start": ledger(100, heap_objects=60, binary=40),
    "2-loaded": ledger(110, heap_objects=150, heap_untouched=-80, binary=40),
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


def test_the_top_of_each_column_is_rss():
    """
    Whatever was claimed and never touched hangs below zero.
    """
    assert [100, 110] == tops(plot_timeline(LEDGERS), 2)


def test_a_column_begins_as_far_below_zero_as_was_never_touched():
    assert -80 == min(low for _, low, _ in pieces(plot_timeline(LEDGERS)))


def test_the_legend_is_in_the_order_of_the_columns():
    assert ["RSS", "binary", "heap objects"] == legend(plot_timeline(LEDGERS))


def test_parts_too_small_to_be_seen_are_drawn_as_one():
    """
    And lose nothing: the top is still RSS.
    """
    drawing = plot_timeline({"a": ledger(10_000, heap_objects=9_980, kernel=12, binary=8)})

    assert ["RSS", "other parts", "heap objects"] == legend(drawing)
    assert [10_000] == tops(drawing, 1)


@pytest.mark.parametrize("moments", [1, 11, 200])
def test_any_number_of_moments_can_be_drawn(moments):
    """
    Names below thin out before they run into one another.
    """
    drawing = plot_timeline({f"moment {n}": ledger(10, heap_objects=10) for n in range(moments)})

    assert [10] * moments == tops(drawing, moments)
    assert len(drawing.chart.panels[0].x.ticks) <= 12


def test_moments_without_rss_have_no_line():
    assert ["heap objects"] == legend(plot_timeline({"a": ledger(None, heap_objects=5)}))
