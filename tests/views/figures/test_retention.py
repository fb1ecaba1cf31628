"""Heap over time against its goals, and how fast it goes back: what is drawn."""

import numpy as np
import pandas as pd
import pytest

from gomem.analysis.scavenger.retention import retention
from gomem.charts.chart import Area, Line
from gomem.releases import known_version
from gomem.units import MIB
from gomem.views.figures.retention import POINTS, plot_release, plot_retention
from tests.analysis.scavenger.readings_of_heap import reading, readings

NO_MARKS = pd.DataFrame({"seconds": [], "released_bytes": []}, dtype=float)


def rows(*told, version="go1.27.3"):
    return retention(readings(*told), known_version(version, ""))


def falling():
    return rows(
        reading(0, 10, 40, rss_bytes=60, NextGC=20),
        reading(1, 10, 30, 10, rss_bytes=50, NextGC=20),
        reading(2, 10, 12, 28, rss_bytes=32, NextGC=20),
    )


def by_label(panel):
    return {one.label: one for one in panel.labelled()}


def test_idle_heap_stands_on_what_is_in_use():
    panel = plot_retention(falling(), NO_MARKS).chart.panels[0]

    drawn = by_label(panel)
    idle = drawn["idle heap"]
    assert isinstance(idle, Area)
    assert [10 * MIB] * 3 == list(idle.low)
    assert [50 * MIB, 40 * MIB, 22 * MIB] == list(idle.high)
    assert [0, 10 * MIB, 28 * MIB] == list(drawn["released"].y)
    assert [60 * MIB, 50 * MIB, 32 * MIB] == list(drawn["RSS"].y)


def test_the_goals_are_steps():
    frame = rows(*(reading(at, 40, 15, memory_limit_bytes=64) for at in (0, 1, 2)))
    drawn = by_label(plot_retention(frame, NO_MARKS).chart.panels[0])

    assert {"goal from the pacer", "goal from GOMEMLIMIT", "room under GOMEMLIMIT"} <= set(drawn)
    looks = [drawn[label].look for label in drawn if "GOMEMLIMIT" in label or "goal" in label]
    assert len({(one.edge, one.dash) for one in looks}) == len(looks)


def test_before_1_13_no_goal_is_drawn():
    frame = rows(*(reading(at, 40, 15) for at in (0, 1, 2)), version="go1.12.17")

    assert "goal from the pacer" not in by_label(plot_retention(frame, NO_MARKS).chart.panels[0])


def test_what_is_still_resident_is_drawn_where_there_is_some():
    lazy = rows(*(reading(at, 10, 5, 30, lazy_free_bytes=30) for at in (0, 1, 2)))
    none = rows(*(reading(at, 10, 5, 30, lazy_free_bytes=0) for at in (0, 1, 2)))

    label = "released, still in RSS"
    assert label in by_label(plot_retention(lazy, NO_MARKS).chart.panels[0])
    assert label not in by_label(plot_retention(none, NO_MARKS).chart.panels[0])


def test_each_line_of_the_log_is_a_mark():
    marks = pd.DataFrame({"seconds": [0.5, 1.5, np.nan], "released_bytes": [1.0, 2.0, 3.0]})
    stems = plot_retention(falling(), marks).chart.panels[1].marks[0]

    assert isinstance(stems, Line)
    assert [0.5, 1.5] == stems.x[::3].tolist()


@pytest.mark.parametrize(("count", "drawn"), [(POINTS, POINTS), (POINTS + 1, None)])
def test_of_very_many_readings_no_peak_is_lost(count, drawn):
    told = [reading(at, 10, 5) for at in range(count - 1)]
    told.insert(700, reading(699.5, 10, 500))
    area = by_label(plot_retention(rows(*told), NO_MARKS).chart.panels[0])["idle heap"]

    assert len(area.x) == (drawn or len(area.x))
    assert len(area.x) <= POINTS + 1
    assert 510 * MIB == area.high.max()


def test_a_rate_is_of_the_time_that_ends_with_its_reading():
    rate, to_goal = plot_release(falling()).chart.panels

    bars = rate.marks[0]
    assert 18 * MIB == bars.high.max()
    assert 10 * MIB == bars.high[(bars.x > 0) & (bars.x < 2)].min()
    times = to_goal.marks[0]
    # 40 MiB retained and 22 the goal, at 10 MiB/s.
    assert times.y[1] == pytest.approx(1.8, abs=0.01)


def test_without_a_time_to_the_goal_there_is_the_rate_alone():
    frame = rows(*(reading(at, 10, 5) for at in (0, 1, 2)))

    assert 1 == len(plot_release(frame).chart.panels)


def test_it_is_said_in_words():
    drawing = plot_retention(falling(), NO_MARKS)

    assert "50.0 MiB at first, 22.0 MiB at last, peak 50.0 MiB" in drawing.description
    assert "<title" in drawing.svg()
