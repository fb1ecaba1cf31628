"""Each metric before and after, as a multiple of what it was."""

import pandas as pd
import pytest

from gomem.charts.chart import Line, Words
from gomem.comparison.samples import compare_samples
from gomem.views.figures.builds import plot_builds
from gomem.views.figures.dumbbells import MAX_RATIO, MIN_RATIO, plot_dumbbells
from tests.builders import samples_frame


def drawn(*pairs):
    """The figure of metrics with so much before and after."""
    old, new = (
        pd.concat([samples_frame(f"m{n}", "B", [pair[side]]) for n, pair in enumerate(pairs)])
        for side in (0, 1)
    )
    return plot_dumbbells(compare_samples(old, new).metrics, titles={"m0": "RSS"})


def lines(drawing):
    """From where to where each row goes."""
    marks = [one for one in drawing.chart.panels[0].marks if isinstance(one, Line)]
    return [tuple(mark.x.tolist()) for mark in marks if len(mark.x) == 2]


@pytest.mark.parametrize(
    ("pair", "ends"),
    [
        ((100, 200), (1.0, 2.0)),
        ((200, 100), (1.0, 0.5)),
        ((100, 0), (1.0, MIN_RATIO)),
        ((1, 10**9), (1.0, MAX_RATIO)),
    ],
)
def test_a_row_goes_from_what_it_was_to_its_multiple(pair, ends):
    assert [ends] == lines(drawn(pair))


def test_what_was_nothing_has_no_multiple():
    assert [(1.0, 2.0)] == lines(drawn((0, 9), (1, 2)))


def test_both_sides_and_the_change_stand_beside_it():
    drawing = drawn((1 << 20, 3 << 19))
    words = [one.text for one in drawing.chart.panels[0].marks if isinstance(one, Words)]

    assert ["1.00 MiB → 1.50 MiB, +50.0 %"] == words
    assert ["RSS"] == [tick.label for tick in drawing.chart.panels[0].y.ticks]


def test_builds_have_a_panel_a_metric_with_the_baseline_as_a_rule():
    rows = [
        {"layer": "memory", "unit": "B", "name": name, "build": build, "median": value,
         "low": None, "high": None, "baseline_median": 4.0, "verdict": verdict}
        for name in ("RSS", "Sys")
        for build, value, verdict in (("old", 4.0, None), ("new", 9.0, "worse"))
    ]  # fmt: skip

    drawing = plot_builds(pd.DataFrame(rows), titles={"Sys": "all of it"})

    assert 2 == len(drawing.chart.panels)
    for panel, title in zip(drawing.chart.panels, ("RSS", "all of it"), strict=True):
        assert ["old", "new"] == [tick.label for tick in panel.y.ticks]
        assert [4.0] == [one.x for one in panel.marks if type(one).__name__ == "Rule"]
        assert title in [one.text for one in panel.marks if isinstance(one, Words)]
