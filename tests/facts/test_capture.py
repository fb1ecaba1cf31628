"""What rules look at, worked out of moments that are made up in a line."""

import math
from dataclasses import replace
from types import SimpleNamespace

import pandas as pd
import pytest

from gomem.causes.checks import limit_decides, limit_may_decide
from gomem.causes.limit_risk import may_grow_on
from gomem.causes.thresholds import Thresholds
from gomem.facts.excursions import sightings
from gomem.facts.moment import (
    GOGC,
    GOMEMLIMIT,
    GOROUTINES,
    LIVE,
    NO_GOMEMLIMIT,
    ON_PAGE,
    HeapGoal,
    LimitedGoal,
    MomentFacts,
    seconds_of,
)
from gomem.facts.settings import Environment
from gomem.units import MIB
from tests.builders import case_of
from tests.gc_logs import facts_of
from tests.views.ledgers import ledger

NOON = pd.Timestamp("2026-11-20T12:00:00Z")


def moment(name="1", at=None, metrics=None, goroutines=None, arenas=None, **stats):
    """A moment with these fields of MemStats, in MiB but for counts."""
    time = None if at is None else NOON + pd.Timedelta(seconds=at)
    counts = None if goroutines is None else pd.DataFrame({"goroutines": goroutines})
    table = None if arenas is None else pd.DataFrame(
        {"kind": ["go-heap", "go-heap", "binary"], "Rss": [arenas * MIB, MIB, 90 * MIB]}
    )  # fmt: skip
    sizes = {key: size if key.startswith("Num") or size is None else size * MIB
             for key, size in stats.items()}  # fmt: skip
    row = pd.Series(sizes, dtype=object) if stats else None
    return MomentFacts(name, memstats=row, metrics=metrics or {}, time=time, goroutines=counts,
                       mappings=table)  # fmt: skip


def answers_of(*moments, collector=None, **thresholds):
    return case_of(moments, collector=collector, thresholds=Thresholds(**thresholds))


# Moments


@pytest.mark.parametrize(
    ("times", "seconds"),
    [((0, 5, 5), [0, 5, 5]), ((3, 9), [0, 6]), ((0, None), None), ((5, 4), None), ((), None)],
)
def test_seconds_are_since_the_first_of_moments_in_order(times, seconds):
    found = seconds_of([moment(at=one) for one in times])

    assert seconds == (None if found is None else found.tolist())


@pytest.mark.parametrize(
    ("profile", "metric", "page", "count", "path"),
    [
        ([3, 4], 9.0, 8.0, 7, "goroutine"),
        ([], 9.0, 8.0, 9, "metrics"),
        (None, 9.0, 8.0, 9, "metrics"),
        (None, None, 8.0, 8, "metrics-page"),
        (None, None, None, None, "metrics-page"),
    ],
)
def test_goroutines_are_counted_by_a_profile_then_metrics_then_a_page(
    profile, metric, page, count, path
):
    counted = None if profile is None else pd.DataFrame({"goroutines": profile})
    metrics = {} if metric is None else {GOROUTINES: metric}
    scraped = {} if page is None else {ON_PAGE: page}

    facts = MomentFacts("1", goroutines=counted, metrics=metrics, scraped=scraped)

    assert (count, path) == (facts.goroutine_count, facts.goroutine_path)


@pytest.mark.parametrize(
    ("about", "may"),
    [
        pytest.param({}, False, id="garbage up to a goal"),
        pytest.param({"claimed": (40, 49)}, True, id="less than half of it is Go's"),
        pytest.param({"claimed": (40, 50)}, False, id="half"),
        pytest.param({"memstats": None}, True, id="nothing says what is held"),
        pytest.param({"claimed": ()}, True, id="nothing says what Go claims"),
        pytest.param({"pile_up": True}, True, id="goroutines pile up"),
    ],
)
def test_what_is_resident_grows_on_unless_it_is_garbage(about, may):
    """
    20 MiB have come, and Go claims 40, then 60; what is marked stays.
    """
    told = {"claimed": (40, 60)} | about
    moments = []
    for number, claimed in enumerate(told["claimed"]):
        groups = SimpleNamespace(claimed={"go_objects": claimed * MIB})
        one = moment(str(number), HeapAlloc=40 + number, NextGC=80, NumGC=number, TotalAlloc=90)
        vars(one)["groups"] = groups
        if told.get("memstats", ...) is None:
            vars(one)["memstats"] = None
        moments.append(one)
    case = answers_of(*moments)
    vars(case.facts)["goroutines"] = SimpleNamespace(
        comes_and_goes=False,
        count=None,
        stacks=None,
        descriptors_bytes=1e9 * told.get("pile_up", False),
        waiting=None,
    )

    assert may == may_grow_on(case, 20 * MIB)


@pytest.mark.parametrize(
    ("goal", "about", "limited"),
    [
        (199, {}, True),
        (200, {}, False),
        (199, {GOMEMLIMIT: float(NO_GOMEMLIMIT)}, False),
        (199, {GOGC: None}, False),
        (199, {LIVE: None}, False),
        (None, {}, False),
    ],
)
def test_a_goal_below_what_gogc_makes_is_the_limits(goal, about, limited):
    """
    Twice 100 MiB are GOGC's.
    """
    said = {GOMEMLIMIT: 300.0 * MIB, GOGC: 100.0, LIVE: 100.0 * MIB} | about
    metrics = {name: value for name, value in said.items() if value is not None}

    found = moment(metrics=metrics, NextGC=goal).limited_goal

    assert limited == (found is not None)
    if limited:
        made = LimitedGoal(300 * MIB, goal * MIB, 100 * MIB, 200.0 * MIB)
        assert (made, 0.99) == (found, found.room_fraction)
    assert MomentFacts("1", metrics=metrics).limited_goal is None


def test_where_gogc_is_off_every_goal_is_the_limits():
    """
    Then it need not be known what is live: HeapAlloc is at least that.
    """
    told = moment(NextGC=250, HeapAlloc=90)
    off, on = (
        replace(told, started=Environment({"GOGC": gogc, "GOMEMLIMIT": "300MiB"}, "environ"))
        for gogc in ("off", "100")
    )

    assert on.limited_goal is None
    assert LimitedGoal(
        300 * MIB, 250 * MIB, 90 * MIB, math.inf, live_is_marked=False, limit_is_in_force=False,
    ) == off.limited_goal  # fmt: skip


def test_without_anything_live_there_is_no_share_of_room():
    assert 0.0 == LimitedGoal(9, 5, 0, 9.0).room_fraction
    limits = [MomentFacts("1", metrics=one).gomemlimit_bytes for one in ({GOMEMLIMIT: 7.0}, {})]
    assert [7, None] == limits


@pytest.mark.parametrize(("files", "hides"), [(None, True), (3, False)])
def test_rss_that_no_file_divides_may_hide_what_was_never_touched(files, hides):
    parts = {"stacks": 1} if files is None else {"stacks": 1, "mapped_files": files}
    told = MomentFacts("1", ledger=ledger(9, **parts))

    assert hides == told.hides_untouched
    assert not replace(told, mappings=pd.DataFrame()).hides_untouched
    assert MomentFacts("1").hides_untouched


def test_the_arenas_are_what_is_resident_of_the_go_heap():
    assert (8 * MIB, None) == (moment(arenas=7).arenas_rss_bytes, moment().arenas_rss_bytes)


@pytest.mark.parametrize(
    ("paths", "artefact", "path"),
    [
        ({"memstats": "m", "metrics": "x"}, None, "m"), ({"metrics": "x"}, None, "x"),
        ({"heap_text": "h", "metrics": "x"}, None, "h"), ({}, None, "memstats"),
        ({"memstats": "m"}, "page", "page"),
    ],
)  # fmt: skip
def test_memstats_are_of_the_file_that_they_were_read_from(paths, artefact, path):
    row = None if artefact is None else pd.Series({"artefact": artefact})

    assert path == MomentFacts("1", memstats=row, paths=paths).path("memstats")


# Over the moments


def test_the_largest_rss_is_that_of_any_moment():
    sizes = [MomentFacts("1", ledger=ledger(size, stacks=1)) for size in (3, 9, 4, None)]

    assert (9, None) == (
        answers_of(*sizes).facts.largest_rss_bytes,
        answers_of().facts.largest_rss_bytes,
    )


@pytest.mark.parametrize(("limited", "decides"), [(5, False), (6, True)])
def test_a_limit_decides_where_it_makes_more_than_half_of_the_goals(limited, decides):
    collector = SimpleNamespace(
        triggers=SimpleNamespace(of=lambda one: {"limit": {"cycles": limited}}[one]),
        cost=SimpleNamespace(cycles=10),
    )

    assert decides == limit_decides(answers_of(collector=collector))


UNKNOWN = {"gogc_fraction": None, "goal": 14}  # 10 live: room of 0.4, of too small a heap to tell


@pytest.mark.parametrize(
    ("about", "may_decide"),
    [
        pytest.param(UNKNOWN, True, id="nothing says GOGC"),
        pytest.param(UNKNOWN | {"goal": 15}, False, id="half of the room that GOGC=100 leaves"),
        pytest.param(UNKNOWN | {"gogc_fraction": 0.4}, False, id="GOGC is known"),
        pytest.param(UNKNOWN | {"stacks": ""}, False, id="a release without limits"),
    ],
)
def test_a_limit_may_decide_where_goals_leave_little_room(about, may_decide):
    collector = facts_of(*[{}] * 5, **about)

    assert may_decide == limit_may_decide(answers_of(collector=collector))
    assert not limit_may_decide(
        answers_of(collector=replace(collector, memory_limit_bytes=math.inf))
    )
    assert may_decide == limit_may_decide(
        answers_of(collector=replace(collector, memory_limit_bytes=1e9))
    )
    assert not limit_may_decide(answers_of())


def test_how_little_room_may_be_a_limits():
    """
    10 live, and a goal of 15: less than the threshold.
    """
    case = answers_of(collector=facts_of(*[{}] * 5, **UNKNOWN | {"goal": 15}))

    assert not limit_may_decide(replace(case, thresholds=Thresholds(small_room_fraction=0.5)))
    above = math.nextafter(0.5, 1)
    assert limit_may_decide(replace(case, thresholds=Thresholds(small_room_fraction=above)))


@pytest.mark.parametrize(("goals", "decides"), [((200, 200), False), ((200, 150, 200), True)])
def test_without_a_log_a_limit_decides_where_it_made_some_moments_goal(goals, decides):
    metrics = {GOMEMLIMIT: 300.0 * MIB, GOGC: 100.0, LIVE: 100.0 * MIB}

    assert decides == limit_decides(
        answers_of(*(moment(metrics=metrics, NextGC=one) for one in goals))
    )


def test_levels_are_of_the_moments_that_say_them_by_their_time():
    """
    Two of the seven lack both sides; between the others lie 1, 1, 8, 1 and 1 s.
    """
    times, sizes = (0, 1, 2, 10, 11, 12), (20, 20, 90, 20, 20, 20)
    told = [moment(str(at), at, arenas=size - 1, HeapAlloc=size, NextGC=2 * size)
            for at, size in zip(times, sizes, strict=True)]  # fmt: skip

    seen = sightings((told[0], MomentFacts("x"), *told[1:], MomentFacts("y")), {}, None, {})

    (heap_alloc,) = [one for one in seen if one.source == "HeapAlloc"]
    assert ("2", 40 * MIB) == (heap_alloc.peak_moment, heap_alloc.swing_bytes)
    assert (20 * MIB, 90 * MIB) == (heap_alloc.excursion.base, heap_alloc.excursion.highest)
    assert 9 / 12 == heap_alloc.excursion.away_fraction


# Goroutines


def trend(first, last, *, moments=5, rises=True, only_rises=True):
    return SimpleNamespace(
        first=float(first), last=float(last), grown=float(last - first), moments=moments,
        rises=rises, only_rises=only_rises,
    )  # fmt: skip


def piling(count=None, stacks=None, descriptors=0.0, rises=True, **thresholds):
    """Whether goroutines pile up, of ten more and twice as many, in three moments."""
    limits = {"goroutine_growth": 10, "goroutine_growth_ratio": 2.0, "goroutine_bytes": 100}
    case = answers_of(**limits | thresholds)
    vars(case.facts)["goroutines"] = SimpleNamespace(
        comes_and_goes=False, count=count, stacks=stacks, descriptors_bytes=descriptors, rises=rises
    )
    return case


def test_goroutines_are_of_the_moments_that_count_them():
    told = [
        moment("1", 0, goroutines=[3], StackInuse=1), moment("2", 5),
        moment("3", 9, goroutines=[4, 5], StackInuse=4), MomentFacts("4"),
    ]  # fmt: skip
    for one in (0, 2):
        told[one].goroutines["function"] = "main.wait"

    found = answers_of(*told).facts.goroutines

    assert (2, 9.0, 3.0, 9.0) == (
        found.count.readings, found.count.seconds, found.count.first, found.count.last,
    )  # fmt: skip
    assert (2, 3.0 * MIB) == (found.stacks.readings, found.stacks.grown)


def test_without_a_ledger_no_idle_heap_is_resident():
    assert 0 == MomentFacts("1").idle_heap_bytes


def test_a_log_lasts_from_its_first_collection_to_its_last_if_it_is_of_one_run():
    of_one = facts_of({"at": 1.5}, {}, {"at": 9.25})
    of_two = facts_of({}, {"at": 7.0}, {"number": 1, "at": 2.0})

    assert (1.5, 9.25) == of_one.log_seconds
    assert of_two.log_seconds is None


@pytest.mark.parametrize(
    ("row", "paths", "goal"),
    [
        ({"NextGC": 20}, {"memstats": "m.json", "metrics": "r.json"},
         HeapGoal(20 * MIB, "m.json", "NextGC")),
        ({"NextGC": 20}, {"metrics": "r.json"},
         HeapGoal(20 * MIB, "r.json", "/gc/heap/goal:bytes")),
        ({"NextGC": 1 << 41}, {"memstats": "m.json"}, None),
        ({"NextGC": None}, {"memstats": "m.json"}, None),
    ],
)  # fmt: skip
def test_a_moment_has_one_heap_goal_with_what_says_it(row, paths, goal):
    """
    2^61 is of GOGC=off: no heap reaches it.
    """
    assert goal == replace(moment(**row), paths=paths).goal
    assert MomentFacts("1").goal is None
