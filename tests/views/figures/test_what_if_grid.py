"""The grid as a heat map: what was drawn, not pixels."""

import math

import pandas as pd
import pytest

from gomem.charts.look import BLUE, VERMILLION
from gomem.units import MIB
from gomem.views.figures.what_if_grid import DARKEST, LIGHTEST, plot_what_if_grid
from tests.charts.marks import bars, words


def grid_of(*rows):
    names = ("gogc", "memory_limit_bytes", "is_present", "bound_by", "cycles_per_second",
             "gc_cpu_cores", "peak_heap_bytes")  # fmt: skip
    frame = pd.DataFrame(rows, columns=names)
    return frame.assign(memory_limit_bytes=frame["memory_limit_bytes"].astype("Int64"))


FOUR = grid_of(
    (100, None, True, "gogc", 3.0, 0.04, 90 * MIB),
    (-1, None, False, "timer", 1 / 120, 0.0004, 9000 * MIB),
    (100, 64 * MIB, False, "limit", 6.0, 0.08, 60 * MIB),
    (-1, 64 * MIB, False, "live heap", 60.0, 1.0, 60 * MIB),
)


def panel_of(grid):
    (panel,) = plot_what_if_grid(grid).chart.panels
    return panel


def test_a_field_has_its_rate_and_its_peak():
    told = words(panel_of(FOUR))

    assert {"3/s", "90.0 MiB", "60/s"} <= set(told)


def test_more_cpu_is_darker():
    shades = [one.look.opacity for one in bars(panel_of(FOUR)) if one.look.fill == BLUE]

    by_cores = sorted(zip(FOUR["gc_cpu_cores"], shades, strict=True))
    assert sorted(shades) == [shade for _, shade in by_cores]
    assert (LIGHTEST, DARKEST) == pytest.approx((min(shades), max(shades)))


def test_shades_go_by_factors():
    """
    Each ten times the one before: steps of the same size.
    """
    rows = [(100 * n, None, False, "gogc", 1.0, 10.0**-n, MIB) for n in (1, 2, 3)]
    shades = [one.look.opacity for one in bars(panel_of(grid_of(*rows))) if one.look.fill == BLUE]

    assert shades[0] - shades[1] == pytest.approx(shades[1] - shades[2])


def test_today_is_framed_and_named():
    panel = panel_of(FOUR)
    (frame,) = [one for one in bars(panel) if one.look.edge == VERMILLION]

    assert (0, 0) == (frame.left, frame.low)
    assert 1 == words(panel).count("today")


def test_no_room_is_hatched():
    (field,) = [one for one in bars(panel_of(FOUR)) if one.look.hatch]

    assert (1, 1) == (field.left, field.low)


def test_axes_are_in_order():
    panel = panel_of(FOUR)

    assert ["GOGC=100", "GOGC=off"] == [tick.label for tick in panel.x.ticks]
    assert ["no limit", "64.0 MiB"] == [tick.label for tick in panel.y.ticks]


def test_one_field_is_drawn_as_well():
    (row,) = FOUR.head(1).itertuples(index=False)
    panel = panel_of(grid_of(tuple(row)))

    assert not math.isnan(bars(panel)[0].look.opacity)


def test_words_stand_for_it():
    told = plot_what_if_grid(FOUR).description

    assert "GOGC=100, no limit, today's: 3 GCs a second, 0.04 cores, 90.0 MiB" in told
    assert "GOGC=off, 64.0 MiB: 60 GCs a second" in told
