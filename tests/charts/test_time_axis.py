"""Ticks of time are round as people count time."""

from gomem.charts.time_axis import duration_label, time_label, time_ticks


def test_ticks_of_seconds_minutes_and_hours():
    assert [0, 2, 4, 6, 8, 10] == time_ticks(0, 10.5)
    assert [0, 900, 1800, 2700, 3600] == time_ticks(0, 3600, at_most=5)
    assert [43200, 86400] == time_ticks(43000, 90000, at_most=2)


def test_a_tick_is_named_in_the_unit_of_the_step():
    assert ["0", "90 s", "30 min", "12 h", "250 ms"] == [
        time_label(seconds, step)
        for seconds, step in ((0, 1), (90, 15), (1800, 900), (43200, 10800), (0.25, 0.05))
    ]


def test_a_decade_is_named_in_one_digit():
    assert ["100 ns", "1 µs", "100 µs", "1 ms", "10 s"] == [
        duration_label(seconds) for seconds in (1e-7, 1e-6, 1e-4, 1e-3, 10.0)
    ]
