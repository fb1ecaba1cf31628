"""How the numbers and the intervals of another setting are made, each by hand."""

import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from gomem.analysis.what_if import grid as grid_module
from gomem.analysis.what_if import what_if as module
from gomem.analysis.what_if.backtest import Backtest
from gomem.analysis.what_if.grid import Beside, Grid, Known, MemoryNow, Spread, _half_width, _whole
from gomem.analysis.what_if.pacer import Era
from gomem.analysis.what_if.replay import REPLAYED, Load
from gomem.analysis.what_if.watched import OFF, Present, Watched, present_of
from gomem.analysis.what_if.what_if import GOGC_GRID, MAX_CELLS, Asked, _advice, settings_of
from gomem.units import MIB
from tests.gc_logs import cycles_of

EVENT = SimpleNamespace(
    seconds=10.0, allocated_bytes=320.0 * MIB, gomaxprocs=4.0, lasting=np.array([0.5, 0.5, 9.0]),
    scanned=np.array([10.0, 2.0, 2.0]) * MIB,
)  # fmt: skip
SURE = Spread(0.0, 0.0, 0.0, 0.0)
NO_ERROR = Backtest(cycles_per_second_error=0.0, gc_cpu_cores_error=0.0, peak_heap_bytes_error=0.0)
TEN = Beside((10.0 * MIB,) * 3, (0.0,) * 3, None, "")


# Memory beside the heap


@pytest.mark.parametrize(
    ("era", "fixed", "share"),
    [
        (Era.RATIO_BOUNDED, (2, 5, 12), (0.01, 0.07, 0.13)),
        (Era.LIMIT, (2, 9, 16), (0.01, 0.07, 0.13)),
        (Era.LATEST_OF_FIVE, (2, 9, 16), (0.01, 0.04, 0.10)),
        (Era.HEADROOM, (2, 5, 12), (0.01, 0.04, 0.10)),
    ],
)
def test_without_memstats_what_a_release_usually_maps_is_assumed(era, fixed, share):
    """
    And stacks and globals, of which the median is 2 MiB.
    """
    beside = Beside.of(None, EVENT, era)

    assert [(one + 2) * MIB for one in fixed] == list(beside.fixed)
    assert share == pytest.approx(beside.share)
    assert beside.other_bytes is None


@pytest.mark.parametrize(
    ("slack", "most"), [(0, 0.06), (12, 0.06), (14, 0.07), (38, 0.19), (40, 0.2), (90, 0.2)]
)
def test_memstats_say_what_is_beside_the_heap(slack, most):
    """
    Of 8 MiB 3 grow with a heap of 200: 1.5 %; a tenth more or less; and free slots of spans.
    """
    memory = MemoryNow(200 * MIB, 8 * MIB, 3 * MIB, slack * MIB, 200 * MIB, 230 * MIB)

    beside = Beside.of(memory, EVENT, Era.HEADROOM)

    assert (4.5 * MIB, 5 * MIB, 5.5 * MIB) == pytest.approx(beside.fixed)
    assert (0.0235, 0.045, 0.0165 + most) == pytest.approx(beside.share)
    assert 30 * MIB == beside.other_bytes


def test_memstats_without_a_heap_or_an_rss_are_no_error():
    beside = Beside.of(MemoryNow(0, 0, 0, 0, 0, None), EVENT, Era.HEADROOM)

    assert (0.01, 0.03, 0.06) == pytest.approx(beside.share)
    assert beside.other_bytes is None


@pytest.mark.parametrize(
    ("limit", "which", "beside"),
    [(110, 1, 30), (110, 0, 5), (112, 2, 42), (10, 1, 10), (5, 1, 10), (math.inf, 1, 10)],
)
def test_of_a_limit_the_heap_has_the_rest(limit, which, beside):
    """
    10 MiB and a quarter of the heap: of 110 MiB 80 are the heap's.
    """
    both = Beside((5.0 * MIB, 10.0 * MIB, 12.0 * MIB), (0.0, 0.25, 3 / 7), None, "")

    assert beside * MIB == pytest.approx(float(both.of_limit(limit * MIB, which)))


# The log's own spread


def load(knots=((0.0, 1.0, 2.0), (0.0, 10.0, 20.0)), survived=(100,) * 4, cpu=(1.0,) * 4):
    """Collections that found so many MiB and took so much CPU, in the order of the log."""
    nothing = np.empty(0)
    return Load(
        begin=np.arange(float(len(cpu))),
        knots_seconds=np.array(knots[0]), knots_bytes=np.array(knots[1]),
        survived=np.array(survived) * float(MIB), meanwhile=nothing, lasting=nothing,
        cpu_seconds=np.array(cpu), scanned=nothing, runway=nothing, forced=nothing, gomaxprocs=4.0,
    )  # fmt: skip


def test_half_an_interval_is_students_for_one_run_more():
    """
    Of 9, 10 and 11: t(2) = 4.3027, times 1/√3, times √2, of 10; of 9 and 11: t(1) = 12.706.
    """
    assert pytest.approx(0.35131, rel=1e-4) == _half_width(np.array([9.0, 10.0, 11.0]))
    assert pytest.approx(1.79690, rel=1e-4) == _half_width(np.array([9.0, 11.0]))
    assert 0 == _half_width(np.array([0.0, 0.0]))


TWO = 12.706 * math.sqrt(2) / 10  # of two means of which one is 9 and the other 11


def test_the_spread_is_that_of_stretches():
    """
    Four collections are two stretches; what survives is known to half a mebibyte of a hundred.
    """
    even = Spread.of(load(), np.array([100.0] * 4))
    rate = Spread.of(load(knots=((0.0, 1.0, 2.0), (0.0, 9.0, 20.0))), np.ones(4))
    live = Spread.of(load(survived=(85, 95, 105, 115)), np.ones(4))
    cost = Spread.of(load(cpu=(0.8, 1.0, 1.1, 1.1)), np.ones(4))

    assert (0.0, 0.005, 0.0, 0.0) == pytest.approx((even.rate, even.survival, even.cost, even.peak))
    assert rate.rate == pytest.approx(TWO, rel=1e-4)
    assert live.survival == pytest.approx(math.hypot(TWO, 0.005))
    assert cost.cost == pytest.approx(TWO)


@pytest.mark.parametrize(
    "cpu",
    [
        pytest.param((1, 3, 2), id="two at least"),
        pytest.param((2, 2, 2, *[1, 3] * 4), id="half as many as collections"),
        pytest.param((1, 1, 3, 3) * 10, id="ten at most"),
    ],
)
def test_how_many_stretches_there_are(cpu):
    """
    Each has a mean of 2, and others have not.
    """
    same = load(survived=(100,) * len(cpu), cpu=cpu)

    assert 0 == Spread.of(same, np.ones(4)).cost


def test_a_load_of_less_than_a_second_has_a_spread():
    half = load(knots=((0.0, 0.25, 0.5), (0.0, 5.0, 10.0)))

    assert pytest.approx(0.0) == Spread.of(half, np.ones(4)).rate


def test_the_highest_heap_stands_above_nine_in_ten():
    """
    A fifth of 125; and nothing of nothing.
    """
    assert pytest.approx(0.2) == Spread.of(load(), np.array([100.0] * 10 + [125.0])).peak
    assert 0 == Spread.of(load(), np.zeros(4)).peak


# A setting's numbers


@pytest.fixture
def grid(monkeypatch):
    """The grid of replays in which each number is 100, and what was changed adds to it.

    Half as much as the rate does, 0.3 times what survives, 8 from begin to end of the load, and
    1 for each MiB beside the heap beyond ten.
    """

    def replayed(_, setting, __):
        base = 100 + 50 * (setting.rate - 1) + 30 * (setting.survival - 1) + 8 * setting.offset
        base = base + setting.not_heap / MIB - 10
        share = {100: "met", 120: "periodic", 140: "forced", 160: "limited"}
        columns = {
            "cycles_per_second": base / 100, "gc_cpu_cores": base / 100,
            "peak_heap_bytes": base * MIB, "goal_bytes": base * MIB,
        }  # fmt: skip
        for limit, name in share.items():
            columns[f"{name}_fraction"] = np.where(setting.limit == limit * MIB, 0.51, 0.5)
        return pd.DataFrame(columns)[list(REPLAYED)]

    monkeypatch.setattr(grid_module, "replay", replayed)

    def made(limit=math.inf, *, spread=SURE, tested=NO_ERROR, beside=TEN, era=Era.HEADROOM,
             container=None, live=50.0):  # fmt: skip
        present = Present(100, math.inf, live_bytes=live * MIB)
        known = Known(EVENT, era, present, beside, tested, spread)
        return Grid(known, [(100, limit * MIB)], container).table.iloc[0]

    return made


def half(row, metric):
    """Half of an interval, of both sides' the same."""
    low, high = row[metric] - row[f"{metric}_low"], row[f"{metric}_high"] - row[metric]
    assert low == pytest.approx(high, abs=2)
    return high


# The value is the mean over the four places where the load can begin: 100, 102, 104 and 106.
VALUE = 103
BEGUN = 3.0


def test_a_number_is_the_mean_over_the_begins(grid):
    row = grid()

    assert pytest.approx(VALUE / 100) == row["cycles_per_second"] == row["gc_cpu_cores"]
    assert VALUE * MIB == row["peak_heap_bytes"] == row["goal_bytes"]


def test_two_runs_of_a_program_differ(grid):
    """
    By 8 % in collections, and by 10 % more in what one costs; sizes are whole mebibytes.
    """
    row = grid()

    assert half(row, "cycles_per_second") == pytest.approx(math.hypot(BEGUN, 8.24) / 100)
    assert half(row, "gc_cpu_cores") == pytest.approx(math.hypot(BEGUN, 8.24, 10.3) / 100)
    assert half(row, "peak_heap_bytes") == pytest.approx(math.hypot(BEGUN, 1) * MIB)
    assert half(row, "goal_bytes") == pytest.approx(math.hypot(BEGUN, 1) * MIB)


@pytest.mark.parametrize(
    ("spread", "part"),
    [
        pytest.param(Spread(0.2, 0, 0, 0), 10, id="rate"),
        pytest.param(Spread(2.0, 0, 0, 0), 45, id="a rate is not below a tenth"),
        pytest.param(Spread(0, 0.2, 0, 0), 6, id="survival"),
        pytest.param(Spread(0, 2.0, 0, 0), 27, id="survival is not below a tenth"),
    ],
)
def test_the_logs_spread_widens_every_interval(grid, spread, part):
    row = grid(spread=spread)

    assert half(row, "goal_bytes") == pytest.approx(math.hypot(BEGUN, 1, part) * MIB)
    assert half(row, "cycles_per_second") == pytest.approx(math.hypot(BEGUN, 8.24, part) / 100)


def test_what_a_collection_costs_widens_the_cpu_alone_and_chance_the_heap_alone(grid):
    row = grid(spread=Spread(0, 0, 0.2, 0.1))

    assert half(row, "gc_cpu_cores") == pytest.approx(math.hypot(BEGUN, 8.24, 10.3, 20.6) / 100)
    assert half(row, "cycles_per_second") == pytest.approx(math.hypot(BEGUN, 8.24) / 100)
    assert half(row, "peak_heap_bytes") == pytest.approx(math.hypot(BEGUN, 1, 10.3) * MIB)
    assert half(row, "goal_bytes") == pytest.approx(math.hypot(BEGUN, 1, 10.3) * MIB)


def test_the_back_tests_error_widens_its_own_interval(grid):
    """
    Of a tenth where nothing could be tested; that of the highest heap is the goal's, too.
    """
    tested = Backtest(cycles_per_second_error=0.2, peak_heap_bytes_error=0.3)
    row = grid(tested=tested)

    assert half(row, "cycles_per_second") == pytest.approx(math.hypot(BEGUN, 8.24, 20.6) / 100)
    assert half(row, "gc_cpu_cores") == pytest.approx(math.hypot(BEGUN, 8.24, 10.3, 10.3) / 100)
    assert half(row, "goal_bytes") == pytest.approx(math.hypot(BEGUN, 1, 30.9) * MIB)
    assert half(row, "peak_heap_bytes") == pytest.approx(math.hypot(BEGUN, 1, 30.9) * MIB)


@pytest.mark.parametrize(("least", "most", "part"), [(8, 15, 5), (4, 11, 6)])
def test_what_is_not_known_beside_the_heap_widens_it(grid, least, most, part):
    """
    By the end that is farther off.
    """
    beside = Beside((least * MIB, 10 * MIB, most * MIB), (0.0,) * 3, None, "")

    row = grid(beside=beside)

    assert half(row, "goal_bytes") == pytest.approx(math.hypot(BEGUN, 1, part) * MIB)


def test_a_cell_is_replayed_with_its_own_gogc(monkeypatch):
    """
    In per cent; off is no goal at all.
    """
    asked = []
    monkeypatch.setattr(
        grid_module, "replay", lambda *about: asked.append(about[1]) or pd.DataFrame()
    )
    known = Known(EVENT, Era.HEADROOM, Present(100, math.inf), TEN, NO_ERROR, SURE)

    Grid(known, [(50, math.inf), (OFF, 9.0)], None)

    (setting,) = asked
    assert [0.5, math.inf] * 10 == setting.gogc.tolist()
    assert [math.inf, 9.0] * 10 == setting.limit.tolist()


def test_no_interval_begins_below_nothing(grid):
    row = grid(tested=Backtest(cycles_per_second_error=2.0))

    assert 0 == row["cycles_per_second_low"]


@pytest.mark.parametrize(
    ("limit", "bound"),
    [(100, "live heap"), (120, "timer"), (140, "program"), (160, "limit"), (180, "gogc")],
)
def test_what_more_than_half_of_the_collections_come_by_decides(grid, limit, bound):
    assert bound == grid(limit)["bound_by"]


def test_where_live_heap_and_limit_meet_the_log_says_less(grid):
    """
    At the lower end a third; the CPU up to half of four; the heap goes past the goal by a tenth of
    50 MiB, and by what two collections of half a second allocate at 32 MiB a second.
    """
    free, met = grid(180), grid(100)

    assert met["cycles_per_second_low"] == pytest.approx(free["cycles_per_second_low"] / 3)
    assert met["gc_cpu_cores_low"] == pytest.approx(free["gc_cpu_cores_low"] / 3)
    assert 2.0 == met["gc_cpu_cores_high"]
    above = met["peak_heap_bytes_high"] - free["peak_heap_bytes_high"]
    assert above == pytest.approx((5 + 32) * MIB, abs=2)
    for name in ("cycles_per_second", "gc_cpu_cores", "peak_heap_bytes", "peak_heap_bytes_low"):
        assert met[name] == free[name]
    nothing_known = Known(EVENT, Era.HEADROOM, Present(100, math.inf), TEN, NO_ERROR, SURE)
    row = Grid(nothing_known, [(100, 100 * MIB)], None).table.iloc[0]
    assert row["peak_heap_bytes_high"] == met["peak_heap_bytes_high"] - 5 * MIB


@pytest.mark.parametrize(("era", "most"), [(Era.CONS_MARK, 3.0), (Era.LIMIT, 2.0)])
def test_the_limiter_takes_no_more_than_half_of_the_cpu(grid, era, most):
    """
    Since 1.19: an upper end of three cores of four is cut.
    """
    error = math.sqrt(1.97**2 - 0.0824**2 - 0.103**2 - 0.03**2) / 1.03
    row = grid(180, era=era, tested=Backtest(gc_cpu_cores_error=error))

    assert most == pytest.approx(row["gc_cpu_cores_high"])


def test_what_is_left_to_the_program_is_the_rest_of_the_cpu(grid):
    row = grid()

    for end, other in (("", ""), ("_low", "_high"), ("_high", "_low")):
        left = 1 - row[f"gc_cpu_cores{other}"] / 4
        assert left == pytest.approx(row[f"mutator_utilization_fraction{end}"])


def test_the_heap_that_is_kept(grid):
    """
    The highest heap and 3 % in free slots; at most 1.1 times as much; not beyond the limit.
    """
    free, under, tight, met = grid(), grid(117), grid(105), grid(100)
    low, high = free["peak_heap_bytes_low"], free["peak_heap_bytes_high"]

    assert free["retained_bytes"] == pytest.approx(1.03 * VALUE * MIB)
    assert free["retained_bytes_low"] == low
    assert free["retained_bytes_high"] == pytest.approx(1.1 * 1.03 * high)
    assert 107 * MIB == pytest.approx(under["retained_bytes_high"])
    assert 1.03 * VALUE * MIB == pytest.approx(under["retained_bytes"])
    assert VALUE * MIB == tight["retained_bytes"] == tight["retained_bytes_high"]
    assert met["retained_bytes_high"] > 107 * MIB


def test_rss_is_what_is_kept_and_what_else_is_resident(grid):
    """
    And of a container that is left which the upper end does not take; without RSS, 10 MiB beside.
    """
    with_rss = Beside((10.0 * MIB,) * 3, (0.0,) * 3, 30.0 * MIB, "")
    known, unknown = grid(beside=with_rss, container=400 * MIB), grid(container=400 * MIB)

    for end in ("", "_low", "_high"):
        assert known[f"rss_bytes{end}"] == pytest.approx(known[f"retained_bytes{end}"] + 30 * MIB)
        assert unknown[f"rss_bytes{end}"] is pd.NA
    assert known["headroom_bytes"] == 400 * MIB - known["rss_bytes_high"]
    beside = 400 * MIB - unknown["retained_bytes_high"] - unknown["headroom_bytes"]
    assert 10 * MIB == pytest.approx(beside, abs=1)
    assert grid()["headroom_bytes"] is pd.NA


def test_no_rss_is_below_nothing(grid):
    assert 0 == grid(beside=Beside((0.0,) * 3, (0.0,) * 3, -500.0 * MIB, ""))["rss_bytes"]


# What is looked at


@pytest.mark.parametrize(
    ("present", "asked", "limits"),
    [
        pytest.param(Present(100, None, peak_heap_bytes=100 * MIB), {}, [112], id="110, by 16"),
        pytest.param(Present(100, None, peak_heap_bytes=160 * MIB), {}, [176], id="176 itself"),
        pytest.param(Present(100, 77.0 * MIB, peak_heap_bytes=100 * MIB), {}, [77, 112],
                     id="todays"),
        pytest.param(Present(100, None, peak_heap_bytes=100 * MIB),
                     {"container_bytes": 400 * MIB}, [360], id="the containers"),
        pytest.param(Present(100, None), {}, [], id="nothing is known"),
        pytest.param(Present(100, None), {"limits": [9 * MIB]}, None, id="as asked"),
    ],
)  # fmt: skip
def test_the_limits_that_are_looked_at(present, asked, limits):
    cells = settings_of(present, Era.HEADROOM, Asked(gogc=[100], **asked))

    told = [9 * MIB] if limits is None else [math.inf, *(one * MIB for one in limits)]
    if limits is None:
        told.append(math.inf)  # what the log was made with
    assert [(100, one) for one in told] == cells


def test_settings_come_once_off_last_and_todays_is_among_them():
    asked = Asked(gogc=[OFF, 200, 50, 200], limits=[MIB, MIB])

    assert [(50, MIB), (200, MIB), (OFF, MIB)] == settings_of(
        Present(None, None), Era.HEADROOM, asked
    )
    assert (75, 2.0) == settings_of(Present(75, 2.0), Era.HEADROOM, asked)[-1]
    assert 3 == len(settings_of(Present(200, float(MIB)), Era.HEADROOM, asked))


def test_no_more_settings_than_a_page_holds():
    cells = settings_of(Present(None, None), Era.HEADROOM, Asked(gogc=range(1, 300)))

    assert MAX_CELLS == len(cells) == 200


def test_without_a_question_half_twice_four_times_the_usual_gogc_and_none_are_looked_at():
    assert (50, 100, 200, 400, OFF) == GOGC_GRID == Asked().gogc


def test_a_size_that_is_none_is_missing():
    """
    From 2^62 bytes on it is no limit, or no goal.
    """
    most = float(1 << 62)

    sizes = _whole(np.array([1.6, math.inf, math.nan, most, -most, most / 2]))

    assert [2, None, None, None, None, 1 << 61] == [None if one is pd.NA else one for one in sizes]


def test_before_1_19_no_limit_is_looked_at():
    cells = settings_of(Present(None, None), Era.CONS_MARK, Asked(gogc=[100], limits=[MIB]))

    assert [(100, math.inf)] == cells


@pytest.mark.parametrize(("left", "limit"), [(1, 1), (0, None), (-1, None)])
def test_a_limit_is_what_the_arithmetic_leaves(left, limit):
    steps = pd.DataFrame({"bytes": [10, left - 10]})

    assert limit == Asked(container_bytes=10, steps=steps).advised_limit
    assert Asked().advised_limit is None
    assert steps is Asked(steps=steps).advised_steps


# What the log shows


def test_what_the_log_shows():
    """
    While they mark 2 and 3 MiB are allocated, between them 5 and 9, in two seconds; that of the
    last one is in none of them.
    """
    cycles = cycles_of(
        {"start": 20, "end": 22, "live": 10, "assist": 100, "background": 300},
        {"start": 15, "end": 18, "live": 11, "assist": 0, "background": 200},
        {"start": 20, "end": 29, "live": 12, "assist": 0, "background": 900, "p": 8},
    )
    cycles["gomaxprocs"] = [4, 4, 8]

    found = present_of(Watched(cycles, None, ()), 1.5, None)

    assert (150, math.inf, 3) == (found.gogc, found.limit_bytes, found.cycles)
    assert (11.5 * MIB, 29.5 * MIB) == (found.live_bytes, found.peak_heap_bytes)
    assert (9.5 * MIB, 1.0) == (found.allocation_bytes_per_second, found.cycles_per_second)
    assert found.gc_cpu_cores == pytest.approx(0.3)
    assert found.mark_cpu_seconds_per_cycle == pytest.approx(0.5)
    assert (4.0, 2.0) == (found.gomaxprocs, found.seconds)


@pytest.mark.parametrize(("gogc", "percent"), [(None, None), (math.inf, OFF), (0.755, 76)])
def test_gogc_is_told_in_per_cent(gogc, percent):
    one = cycles_of({})
    found = present_of(Watched(one, None, ()), gogc, 7.0)
    nothing = present_of(Watched(one.iloc[:0], None, ()), gogc, 7.0)

    assert (percent, 7.0) == (found.gogc, found.limit_bytes) == (nothing.gogc, nothing.limit_bytes)
    assert found.cycles_per_second is found.gc_cpu_cores is found.allocation_bytes_per_second
    assert (None, 1, 0) == (found.cycles_per_second, found.cycles, nothing.cycles)


# A container


def advice(grid_rows, monkeypatch, era=Era.HEADROOM, container=None, steps=None, live=50.0):
    class Made:
        def __init__(self, _, cells, __):
            self.table = pd.DataFrame(
                {
                    "gogc": [one for one, _ in cells],
                    "limit": [limit for _, limit in cells],
                    "retained_bytes_high": [grid_rows(one) * MIB for one, _ in cells],
                }
            )

    monkeypatch.setattr(module, "Grid", Made)
    known = Known(EVENT, era, Present(100, None, live_bytes=live and live * MIB), TEN, NO_ERROR,
                   SURE)  # fmt: skip
    return _advice(known, Asked(container_bytes=container, steps=steps))


def test_the_largest_gogc_that_stays_below_the_limit(monkeypatch):
    """
    Of 400 MiB 360 are the limit, 10 of them beside the heap; each per cent takes a MiB. The heap
    has 350, less 3 % of headroom: there live heap and limit meet. GOGC=300 reaches that at a
    quarter of it, less what three times 2 MiB of stacks take.
    """
    found = advice(lambda gogc: gogc, monkeypatch, container=400 * MIB)

    assert (360 * MIB, 300, 310 * MIB) == (found.gomemlimit_bytes, found.gogc, found.held_bytes)
    assert 50 * MIB == found.live_bytes
    assert found.met_bytes == pytest.approx(0.97 * 350 * MIB)
    assert found.limit_decides_bytes == pytest.approx((0.97 * 350 - 6) / 4 * MIB)
    assert (300, 360.0 * MIB) == tuple(found.expected[["gogc", "limit"]])


@pytest.mark.parametrize(
    ("container", "gogc"),
    [(38, None), (39, 25), (95, 75), (125, 100), (180, 150), (240, 200), (1000, 800)],
)
def test_what_is_advised_is_a_round_gogc_and_the_usual_one_where_no_other_fits(
    monkeypatch, container, gogc
):
    """
    Each per cent takes a MiB beside 10, of nine tenths of the container.
    """
    assert gogc == advice(lambda gogc: gogc, monkeypatch, container=container * MIB).gogc


@pytest.mark.parametrize(("each", "gogc"), [(350, 800), (351, None)])
def test_what_go_holds_may_come_up_to_the_limit(monkeypatch, each, gogc):
    assert gogc == advice(lambda _: each, monkeypatch, container=400 * MIB).gogc


def test_before_1_19_gogc_alone_is_advised(monkeypatch):
    """
    Stacks count since 1.18; the headroom was 1 MiB to 1.20.
    """
    found = advice(lambda gogc: gogc, monkeypatch, Era.RATIO_BOUNDED, 400 * MIB)

    assert (None, 300) == (found.gomemlimit_bytes, found.gogc)
    assert math.isinf(found.expected["limit"])
    assert found.limit_decides_bytes == pytest.approx(349 / 4 * MIB)


def test_where_stacks_take_all_the_limit_decides_from_the_start(monkeypatch):
    steps = pd.DataFrame({"bytes": [16 * MIB]})

    found = advice(lambda _: 1, monkeypatch, container=16 * MIB, steps=steps)

    assert (800, 0.0) == (found.gogc, found.limit_decides_bytes)


def test_without_a_container_or_room_nothing_is_advised(monkeypatch):
    full = pd.DataFrame({"bytes": [0]})

    assert advice(lambda gogc: gogc, monkeypatch) is None
    assert advice(lambda gogc: gogc, monkeypatch, steps=full) is None
    found = advice(lambda gogc: gogc, monkeypatch, container=9, steps=full, live=None)
    assert (None, None, None, None, None, None, 0.0) == (
        found.gomemlimit_bytes, found.gogc, found.held_bytes, found.expected,
        found.limit_decides_bytes, found.met_bytes, found.live_bytes,
    )  # fmt: skip
