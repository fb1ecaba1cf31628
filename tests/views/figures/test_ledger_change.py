"""A change as bars: what was drawn, not its pixels."""

import pandas as pd
import pytest

from gomem.analysis.memory.ledger_change import LedgerChange, change_ledger
from gomem.units import MIB
from gomem.views.figures.ledger_change import plot_ledger_change
from tests.charts import marks


def change(before: dict[str, int], after: dict[str, int]) -> LedgerChange:
    frames = [
        pd.DataFrame({"part": list(side), "bytes": [size * MIB for size in side.values()]})
        for side in (before, after)
    ]
    return change_ledger(*frames, *(sum(side.values()) * MIB for side in (before, after)))


MOVED = change(
    {"heap_objects": 100, "heap_idle": 5, "binary": 3},
    {"heap_objects": 20, "heap_idle": 65, "binary": 3},
)


def bars(drawing) -> list[tuple[float, float]]:
    return [(bar.left, bar.width / MIB) for bar in marks.bars(drawing.chart.panels[0])]


def words(drawing) -> list[str]:
    return marks.words(drawing.chart.panels[0])


def test_every_bar_begins_at_zero_and_the_last_is_rss():
    """
    -80 of objects and +60 of idle heap are -20 of RSS; the program did not change.
    """
    assert [(0, -80), (0, 60), (0, -20)] == bars(plot_ledger_change(MOVED))


def test_names_and_signed_bytes_stand_beside_the_bars():
    assert [
        "heap objects", "\u221280.0 MiB", "heap idle", "+60.0 MiB", "RSS", "\u221220.0 MiB"
    ] == words(plot_ledger_change(MOVED))  # fmt: skip


@pytest.mark.parametrize(
    ("after", "label"),
    [(-2, "heap newly in RSS"), (-20, "more heap not in RSS")],
)
def test_what_was_never_touched_is_said_without_a_double_negation(after, label):
    drawing = plot_ledger_change(change({"heap_untouched": -9}, {"heap_untouched": after}))

    assert label == words(drawing)[0]
    assert f"By part: {label} " in drawing.description


def test_the_words_for_who_cannot_see_it_say_the_verdict():
    drawing = plot_ledger_change(MOVED, before="1", after="2")

    assert "Change from 1 to 2, by part" == drawing.title
    assert "heap objects \N{MINUS SIGN}80.0 MiB" in drawing.description
    assert drawing.description.startswith("RSS fell by 20.0 MiB")


def test_parts_that_one_side_cannot_tell_are_said_and_not_drawn():
    """
    Without MemStats the heap stands in one piece there.
    """
    drawing = plot_ledger_change(change({"heap_unexplained": 9}, {"heap_objects": 12}))

    assert "Unknown on at least one side: heap objects" in drawing.description
    assert [(0, 3)] == bars(drawing)


def test_no_change_can_be_drawn():
    assert [(0, 0)] == bars(plot_ledger_change(change({"binary": 3}, {"binary": 3})))
