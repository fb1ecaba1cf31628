"""CPU against heap: what was drawn, not pixels."""

import numpy as np
import pandas as pd
import pytest

from gomem.charts.look import VERMILLION
from gomem.units import MIB
from gomem.views.figures.what_if_trade import LINES, MILLI, plot_what_if_trade
from tests.charts.marks import lines, words


def grid_of(*rows):
    names = ("gogc", "memory_limit_bytes", "is_present", "gc_cpu_cores", "peak_heap_bytes")
    frame = pd.DataFrame(rows, columns=names)
    for name in ("gc_cpu_cores", "peak_heap_bytes"):
        frame[f"{name}_low"], frame[f"{name}_high"] = 0.9 * frame[name], 1.1 * frame[name]
    return frame.assign(memory_limit_bytes=frame["memory_limit_bytes"].astype("Int64"))


SIX = grid_of(
    (400, None, False, 0.02, 200 * MIB),
    (100, None, True, 0.08, 90 * MIB),
    (50, None, False, 0.16, 70 * MIB),
    (-1, None, False, 0.0004, 9000 * MIB),
    (100, 80 * MIB, False, 0.10, 75 * MIB),
    (-1, 80 * MIB, False, 0.09, 76 * MIB),
)


def panel_of(grid):
    (panel,) = plot_what_if_trade(grid).chart.panels
    return panel


def line_of(panel, label):
    return next(line for line in lines(panel) if line.label == label)


def test_a_line_goes_through_the_settings_of_a_limit_by_gogc():
    line = line_of(panel_of(SIX), "no limit")

    assert [70 * MIB, 90 * MIB, 200 * MIB] == line.x.tolist()
    assert [160, 80, 20] == pytest.approx(line.y.tolist())


def test_each_limit_has_a_mark_and_a_colour_of_its_own():
    panel = panel_of(SIX)
    looks = [line_of(panel, label) for label in ("no limit", "GOMEMLIMIT 80.0 MiB")]

    assert [(mark, colour) for colour, mark, _ in LINES[:2]] == [
        (line.marker, line.look.edge) for line in looks
    ]


def test_every_point_is_named_by_its_gogc():
    names = words(panel_of(SIX))

    assert {"GOGC 50", "GOGC 100", "GOGC 400"} <= set(names)


def test_a_label_that_has_no_room_is_left_out():
    twice = grid_of(
        (100, None, True, 0.08, 90 * MIB),
        *((gogc, 80 * MIB, False, 0.08, 90 * MIB) for gogc in (100, 200, 400)),
    )

    assert 2 == sum(word.startswith("GOGC") for word in words(panel_of(twice)))


def test_a_setting_that_a_limit_does_not_touch_is_named_once():
    same = grid_of(
        (100, None, True, 0.08, 90 * MIB),
        (100, 256 * MIB, False, 0.08, 90 * MIB),
    )

    assert 1 == words(panel_of(same)).count("GOGC 100")


def test_today_is_marked():
    mark = line_of(panel_of(SIX), "today")

    assert ([90 * MIB], VERMILLION) == (mark.x.tolist(), mark.look.edge)
    assert [MILLI * 0.08] == pytest.approx(mark.y.tolist())


def test_intervals_are_bars_along_both_axes():
    bars = [line for line in lines(panel_of(SIX.head(1))) if not line.marker]

    assert [0.9 * 200 * MIB, 1.1 * 200 * MIB] == pytest.approx(bars[0].x.tolist())
    assert [18, 22] == pytest.approx(bars[1].y.tolist())


def test_an_interval_that_is_missing_draws_nothing():
    grid = SIX.head(1).assign(gc_cpu_cores_low=np.nan)

    bars = [line for line in lines(panel_of(grid)) if not line.marker]
    assert np.isnan(bars[1].y[0])


def test_a_setting_far_beyond_the_others_has_no_point():
    panel = panel_of(SIX)

    assert panel.x.scale.high < 300 * MIB
    assert "9000" not in plot_what_if_trade(SIX).description


def test_words_stand_for_it():
    description = plot_what_if_trade(SIX).description

    assert "GOGC 100, no limit, today's: 0.08 cores, 90.0 MiB" in description
    assert "GOGC off, GOMEMLIMIT 80.0 MiB: 0.09 cores, 76.0 MiB" in description
