"""The waterfall: what was drawn, not its pixels."""

from gomem.views.figures.waterfall import plot_rss_vs_heap
from tests.charts import marks
from tests.views.ledgers import ledger

# 100 claimed, of which 30 never touched, and 5 of the binary: 75 resident.
LEDGER = ledger(75, heap_objects=80, heap_idle=20, heap_untouched=-30, heap_unexplained=0, binary=5)


def bars(drawing):
    """Where each bar begins and ends, from the top."""
    return [(bar.left, bar.left + bar.width) for bar in marks.bars(drawing.chart.panels[0])]


def words(drawing):
    return marks.words(drawing.chart.panels[0])


def test_each_bar_begins_where_the_one_above_it_ends():
    """
    The last but one ends at RSS, and RSS is drawn from zero.
    """
    assert [(0, 80), (80, 100), (100, 70), (70, 75), (0, 75)] == bars(plot_rss_vs_heap(LEDGER))


def test_parts_of_no_bytes_are_left_out():
    assert "heap unexplained" not in words(plot_rss_vs_heap(LEDGER))


def test_every_bar_has_its_name_its_bytes_and_its_share():
    """
    Colour is never the only cue.
    """
    assert ["heap objects", "80 B", "106.7 %"] == words(plot_rss_vs_heap(LEDGER))[:3]
    assert ["RSS", "75 B", "100.0 %"] == words(plot_rss_vs_heap(LEDGER))[-3:]


def test_without_rss_there_is_no_total_and_no_share():
    assert ["heap objects", "8 B"] == words(plot_rss_vs_heap(ledger(None, heap_objects=8)))


def test_a_ledger_without_bytes_can_be_drawn():
    assert [] == bars(plot_rss_vs_heap(ledger(None)))


def test_the_description_has_every_bar():
    description = plot_rss_vs_heap(LEDGER).description

    assert (
        "subtracted: heap not in RSS -30 B (reserved by Go, never touched, not in RSS)"
        in description
    )
    assert description.endswith("RSS is 75 B.")
