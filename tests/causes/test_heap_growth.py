"""A leak is found in a series of heap profiles alone, and named where a log has found it."""

from dataclasses import replace
from types import SimpleNamespace

import pandas as pd
import pytest

from gomem.analysis.profiles.growth import Series, growth, series_of
from gomem.causes import heap_growth
from gomem.causes.thresholds import Thresholds
from gomem.facts.moment import MomentFacts
from gomem.releases import GoRelease, GoVersion
from gomem.units import MIB
from tests.builders import FIXTURES, but, case_of, diagnosed
from tests.causes.situations import facts, goroutines
from tests.causes.test_allocation_spike import taken
from tests.causes.test_gc_causes import answers as of_log
from tests.causes.test_gc_causes import every
from tests.heap_profiles import heap, seen

SPIKY = FIXTURES / "captures" / "spiky-go1.27.3"
MINUTE = 60


def answers(*sightings, seconds=1, names=("main.leaf", "main.root"), others=None, **about):
    """A profile every so many seconds, with so many sightings of 4 KiB in use, 2 MiB for each 4.

    Args:
        sightings: Of the site that is looked at.
        seconds: Between two profiles.
        names: The site, who called it, and another.
        others: Sightings of the other in each profile, if it is there.
        about: What else `Answers` has.
    """
    series = series_of(
        {
            f"{number:02}": taken(
                number * seconds,
                heap(
                    seen(count, 4096),
                    *([] if others is None else [seen(others[number], 4096, leaf=3)]),
                    names=names,
                ),
            )
            for number, count in enumerate(sightings)
        }
    )
    return case_of((), GoVersion(), heap_series=series, growth=growth(series), **about)


def test_a_leak_that_only_profiles_show_is_found():
    """
    From 50 to 140 sightings of 4 KiB, 526 338 B each: 90 × 526 338 B in 9 seconds.
    """
    (finding,) = heap_growth.find(answers(*range(50, 150, 10)))

    assert round(90 * 526_338 / 1e5) == round(finding.bytes / 1e5)
    assert "what main.leaf allocates is kept, and grows by at least 4." in finding.title
    assert ("possible", "09") == (finding.confidence, finding.moment)


def test_watched_for_long_it_is_likely():
    (finding,) = heap_growth.find(answers(*range(50, 150, 10), seconds=2 * MINUTE))

    assert "likely" == finding.confidence


@pytest.mark.parametrize(
    "sightings",
    [
        pytest.param(range(50, 90, 10), id="four profiles, and not twice as much"),
        pytest.param([50] * 5 + [60, 70, 80], id="four contents, though eight profiles"),
        pytest.param(
            [*range(10, 100, 30), 100, 101, 99, 100, 101, 100, 99], id="it has levelled off"
        ),
        pytest.param([50, 90] * 5, id="to and fro"),
        pytest.param(range(50, 65), id="7 MiB"),
        pytest.param([100] * 10, id="nothing moves"),
    ],
)
def test_what_is_no_leak_is_none(sightings):
    assert [] == heap_growth.find(answers(*sightings))


def test_the_recording_names_its_leak_beside_what_the_log_says():
    """
    With the log and without it: the audit records, which nobody ever deletes.
    """
    diagnosis = diagnosed(SPIKY)
    (with_log,) = [one for one in diagnosis.findings if one.code == "heap-growth"]
    profiles = case_of(
        diagnosis.moments,
        GoVersion(),
        heap_series=diagnosis.facts.profiles.heap_series,
        growth=diagnosis.growth,
        paths=diagnosis.facts.profiles.paths,
    )

    (alone,) = heap_growth.find(profiles)

    field = "inuse_space of main.newAuditRecord"
    assert field in {one.field for one in with_log.evidence}
    assert "main.newAuditRecord" in alone.title
    last = diagnosis.growth.set_index("function").loc["main.newAuditRecord", "last"]
    assert last in {one.value for one in alone.evidence if one.field == field}
    assert "settled/heap.pb.gz" in {one.artefact for one in alone.evidence}


def test_five_contents_of_eight_profiles_are_enough():
    assert heap_growth.find(answers(*[50] * 4, 60, 70, 80, 90))


def test_silence_is_that_of_collections_or_of_the_end():
    """
    10 sightings a second, up to 100. In 20 s of silence the slope would have added 200, twice what
    is in use, and a collection must have run; at GOGC=400 it need not. In 19 s it need not either.
    """
    filled = [*range(50, 110, 10)]

    assert [] == heap_growth.find(answers(*filled, *[100] * 21))
    assert heap_growth.find(answers(*filled, *[100] * 19))
    off = facts(metrics={"/gc/gogc:percent": 400.0}, HeapAlloc=1)
    assert heap_growth.find(but(answers(*filled, *[100] * 21), moments=(off,)))


def test_a_leak_shows_in_the_sum():
    """
    90 sightings more at one site. Where another has 45 fewer, half of them remain; 46, and they
    change places.
    """
    names = ("main.leaf", "main.root", "main.other")
    leak = range(50, 150, 10)

    assert heap_growth.find(answers(*leak, names=names, others=[60] * 9 + [15]))
    assert [] == heap_growth.find(answers(*leak, names=names, others=[60] * 9 + [13]))


@pytest.mark.parametrize(
    ("site", "named"),
    [
        ("io.ReadAll", "what io.ReadAll for main.root allocates is kept"),
        ("strings.(*Builder).grow", "what strings.(*Builder).grow for main.root allocates is kept"),
        ("internal/bytealg.MakeNoZero", "internal/bytealg.MakeNoZero for main.root allocates"),
        ("example.com/shop/cart.Add", "what example.com/shop/cart.Add allocates is kept"),
        ("shop/cart.Add", "what shop/cart.Add allocates is kept"),
    ],
)
def test_the_programs_own_function_is_named(site, named):
    """
    A module of the program's may be called without a dot, as the standard library's packages are.
    """
    (finding,) = heap_growth.find(answers(*range(50, 150, 10), names=(site, "main.root")))

    assert named in finding.title


def moments(*heap_alloc, goals=None, **about):
    """Moments in MiB, whose goals are twice as much if none are given."""
    goals = [2 * size for size in heap_alloc] if goals is None else goals
    return tuple(
        facts(
            name=str(place),
            HeapAlloc=size,
            NextGC=goal,
            **{key: value[place] for key, value in about.items()},
        )
        for place, (size, goal) in enumerate(zip(heap_alloc, goals, strict=True))
    )


def counted(told, each=2):
    """With NumGC, which is no size."""
    for place, one in enumerate(told):
        one.memstats["NumGC"] = place * each
    return told


def test_five_moments_of_memstats_are_enough():
    (finding,) = heap_growth.find(case_of(counted(moments(20, 30, 40, 50, 60)), GoVersion()))

    assert ("warning", "possible", 40 * MIB, "4") == (
        str(finding.severity),
        finding.confidence,
        finding.bytes,
        finding.moment,
    )
    assert "the heap in use grows by 40.0 MiB over 5 moments, to 60.0 MiB" == finding.title


def test_few_moments_must_know_the_slope_to_half_unless_they_last():
    """
    Up and down by 14 MiB, and up by 30 in 70 s.
    """
    start = pd.Timestamp("2026-11-20T12:00:00Z")
    times = [start + pd.Timedelta(seconds=10 * n) for n in range(8)]
    told = tuple(counted(moments(40, 26, 36, 54, 44, 58, 56, 70, time=times)))
    case = case_of(told, GoVersion())

    rising = case.facts.held_heap.rising
    assert 0 < rising.low < rising.slope / 2
    assert [] == heap_growth.find(case)
    for seconds, grows in ((70.0, True), (70.1, False)):
        limits = Thresholds(growth_sure_seconds=seconds)
        assert grows == bool(heap_growth.find(replace(case, thresholds=limits)))


@pytest.mark.parametrize(
    ("low", "high", "seconds", "known"),
    [
        (5.0, 20.0, 30.0, True),
        (4.9, 20.0, 30.0, False),
        (5.0, 20.1, 30.0, False),
        (5.0, 20.1, 60.0, True),
    ],
)
def test_a_slope_of_10_is_known_within_half_and_twice_as_much(low, high, seconds, known):
    rise = SimpleNamespace(slope=10.0, low=low, high=high, seconds=seconds)

    assert known == heap_growth._is_known(rise, Thresholds(growth_sure_seconds=60.0))


@pytest.mark.parametrize(
    ("counts", "measured"),
    [
        pytest.param((10, 1010, 2010, 2010, 2010, 2010, 2010, 2010), 6, id="came and stayed"),
        pytest.param((10, 1010, 1809, 1811, 2010, 2010, 2010, 2010), 5, id="nearly as many"),
        pytest.param((10, 300, 600, 900, 1200, 1500, 1800, 2100), 8, id="still come"),
        pytest.param((10, 300, 600, 600, 600, 600, 600, 600), 6, id="however few"),
        pytest.param((300, 450, 600, 600, 600, 600, 600, 600), 6, id="twice as many"),
        pytest.param((301, 450, 600, 600, 600, 600, 600, 600), 8, id="not twice as many"),
    ],
)
def test_what_goroutines_hold_that_came_and_stayed_is_no_growth(counts, measured):
    """
    The heap is measured from when their number is within a tenth of its rise of the last.
    """
    heap = (20, 30, 40, 40, 41, 40, 40, 41)
    told = counted(moments(*heap, goroutines=[goroutines(one) for one in counts]))

    held = case_of(told, GoVersion()).facts.held_heap

    assert measured == held.allocated.moments


@pytest.mark.parametrize(
    ("profiles", "step"),
    [(1, "Take two heap profiles"), (2, "Look at who holds the most in the last heap profile")],
)
def test_profiles_that_are_there_are_not_asked_for(profiles, step):
    paths = {str(number): f"{number}/heap.pb.gz" for number in range(profiles)}
    case = case_of(counted(moments(20, 30, 40, 50, 60)), GoVersion(), paths=paths)

    (finding,) = heap_growth.find(case)

    assert finding.next_step.startswith(step)


def test_times_give_a_rate():
    told = [
        replace(one, time=pd.Timestamp("2026-11-22T06:00Z") + pd.Timedelta(seconds=place))
        for place, one in enumerate(counted(moments(20, 30, 40, 50, 60)))
    ]

    (finding,) = heap_growth.find(case_of(tuple(told), GoVersion()))

    assert "grows by 10.0 MiB/s (10.0 MiB/s to 10.0 MiB/s): 40.0 MiB in 4.00 s" in finding.title


@pytest.mark.parametrize(
    ("told", "each"),
    [
        pytest.param(lambda: moments(20, 27, 33, 39), 2, id="four moments, and not twice as much"),
        pytest.param(lambda: moments(20, 45, 44, 70), 2, id="four moments that do not only rise"),
        pytest.param(lambda: moments(20, 90, 100), 2, id="three moments that slow down"),
        pytest.param(lambda: moments(20, 60), 2, id="two moments"),
        pytest.param(
            lambda: moments(20, 40, 60, goals=[40, 40, 40]), 2, id="three, nothing is marked"
        ),
        pytest.param(lambda: moments(20, 40, 60, 60, 60), 2, id="it has stopped"),
        pytest.param(lambda: moments(20, 22, 24, 26, 27), 2, id="7 MiB"),
        pytest.param(
            lambda: moments(20, 30, 40, 50, 60), 0, id="no collection ran: it may be garbage"
        ),
        pytest.param(
            lambda: moments(20, 30, 40, 50, 60, goals=[64] * 5), 2, id="nothing more is marked"
        ),
    ],
)
def test_moments_that_show_no_leak(told, each):
    assert [] == heap_growth.find(case_of(counted(told(), each), GoVersion()))


@pytest.mark.parametrize("levels", [(20, 40, 60), (20, 30, 40, 50)])
def test_few_moments_in_a_line_are_possible(levels):
    (finding,) = heap_growth.find(case_of(counted(moments(*levels)), GoVersion()))

    assert ("warning", "possible") == (str(finding.severity), finding.confidence)
    assert (levels[-1] - levels[0]) * MIB == finding.bytes


def test_few_moments_for_long_are_possible_all_the_same():
    told = [
        replace(one, time=pd.Timestamp("2026-11-22T06:00Z") + pd.Timedelta(hours=place))
        for place, one in enumerate(counted(moments(20, 40, 60)))
    ]

    (finding,) = heap_growth.find(case_of(tuple(told), GoVersion()))

    assert "possible" == finding.confidence


def test_few_moments_must_show_much():
    """
    30 MiB more, from 20 to 50: two and a half times as much.
    """
    told = counted(moments(20, 30, 40, 50))

    def found(**thresholds):
        return heap_growth.find(case_of(told, GoVersion(), thresholds=Thresholds(**thresholds)))

    assert found(growth_few_bytes=30 * MIB)
    assert [] == found(growth_few_bytes=30 * MIB + 1)
    assert found(growth_few_ratio=2.5)
    assert [] == found(growth_few_ratio=2.5 * (1 + 1e-9))


def test_four_profiles_in_a_line_are_possible():
    """
    From 40 to 160 sightings of 512 KiB: 60 MiB more.
    """
    (finding,) = heap_growth.find(answers(40, 80, 120, 160, seconds=10 * MINUTE))

    assert ("warning", "possible") == (str(finding.severity), finding.confidence)


LEAK = range(50, 150, 10)  # 45 MiB, from profile 00 to 09


def beside(first, last, goals=(60, 60)):
    """The leak's profiles, with HeapAlloc and the goal in MiB at the first and at the last."""
    ends = zip(("00", "09"), (first, last), goals, strict=True)
    told = (facts(name=name, HeapAlloc=size, NextGC=goal) for name, size, goal in ends)
    return but(answers(*LEAK), moments=tuple(told))


@pytest.mark.parametrize(
    ("collections", "sure"), [(range(5), "likely"), ([0, 1, 2, 3, 3], "possible")]
)
def test_moments_of_few_marks_do_not_make_it_likely(collections, sure):
    """
    MemStats rise with the profiles: by five marks, or by four.
    """
    told = moments(60, 72, 84, 96, 108)
    for one, count in zip(told, collections, strict=True):
        one.memstats["NumGC"] = count

    (finding,) = heap_growth.find(but(answers(*LEAK), moments=told))

    assert "main.leaf allocates" in finding.title
    assert sure == finding.confidence


def test_what_memstats_do_not_see_grow_the_first_profile_only_lagged_by():
    """
    45 MiB more in the last profile: half of it in HeapAlloc, or in the marks, is growth.
    """
    assert [] == heap_growth.find(beside(60, 82))
    assert heap_growth.find(beside(60, 83))
    assert [] == heap_growth.find(beside(60, 60, goals=(60, 105)))
    assert heap_growth.find(beside(60, 60, goals=(60, 106)))


@pytest.mark.parametrize("place", [0, 1])
def test_memstats_of_one_end_alone_say_nothing_of_what_grew(place):
    """
    Of both ends they say that nothing did.
    """
    case = beside(60, 60)
    told = list(case.facts.moments)
    told[place] = replace(told[place], memstats=None)

    assert [] == heap_growth.find(case)
    assert heap_growth.find(but(case, moments=tuple(told)))


def test_stacks_in_the_goal_of_go_118_are_no_growth():
    """
    The goals rise by 46 MiB, which would be enough; of 1 MiB of it stacks are the half or more.
    """
    case = beside(60, 60, goals=(60, 106))
    stacks = tuple(
        replace(one, memstats=pd.Series({**one.memstats, "StackInuse": size * MIB}))
        for one, size in zip(case.facts.moments, (1, 2), strict=True)
    )

    assert heap_growth.find(but(case, moments=stacks))
    assert [] == heap_growth.find(
        but(case, moments=stacks, go_version=GoVersion(GoRelease(18), GoRelease(18)))
    )


def test_the_size_is_of_all_that_rises():
    """
    Of two sites the one has 90 sightings more, the other 60; the sum shows both.
    """
    others = [round(40 + 6.7 * n) for n in range(10)]
    names = ("main.leaf", "main.root", "main.other")

    (finding,) = heap_growth.find(answers(*LEAK, others=others, names=names))

    assert pytest.approx((90 + others[-1] - 40) * 526_338, rel=1e-3) == finding.bytes
    assert (
        "at least 45.2 MiB in 9.00 s, of at least 75.3 MiB that came and stayed in all"
        in finding.title
    )


def test_what_others_add_is_told_from_its_share_on():
    """
    90 sightings more at one site, and 27 at the other.
    """
    names = ("main.leaf", "main.root", "main.other")
    case = answers(*LEAK, others=range(40, 70, 3), names=names)
    share = (
        case.facts.profiles.growing_site.grown_in_all / case.facts.profiles.growing_site.grown - 1
    )

    def title(least):
        (finding,) = heap_growth.find(replace(case, thresholds=Thresholds(growth_fraction=least)))
        return finding.title

    assert pytest.approx(27 / 90) == share
    assert "that came and stayed in all" in title(share * (1 - 1e-9))
    assert "in all" not in title(share * (1 + 1e-9))


def test_the_garbage_is_no_growth():
    """
    10 MiB more marked each moment of 100 allocated: of the 40 that HeapAlloc has beyond the mark
    at the end, a tenth stays.
    """
    told = counted(
        moments(
            20, 40, 62, 81, 100, goals=[40, 60, 80, 100, 120], TotalAlloc=[10, 120, 232, 341, 450]
        )
    )

    (finding,) = heap_growth.find(case_of(told, GoVersion()))

    assert 44 * MIB == finding.bytes
    assert "what the heap holds grows by 44.0 MiB over 5 moments, to 64.0 MiB" == finding.title


def test_a_log_of_few_collections_is_thin():
    """
    From where the live heap first reached its median: three, from 16 to 48 MiB.
    """
    few = of_log(
        *({"live": size, "start": 40, "end": 41, "goal": 90} for size in (8, 8, 8, 16, 24, 48))
    )

    lack = heap_growth.lack(few)

    assert "collections marked 16.0 MiB at first and 48.0 MiB at last" in lack.seen
    assert "8 for a slope" == lack.needed
    assert None is heap_growth.lack(replace(few, thresholds=Thresholds(growth_few_ratio=3.1)))
    assert None is heap_growth.lack(but(few, moments=counted(moments(20, 30, 31))))


def test_a_log_of_two_collections_is_nothing():
    few = of_log(*({"live": size, "start": 40, "end": 41, "goal": 90} for size in (8, 8, 16, 48)))

    assert None is heap_growth.lack(few)


def test_a_heap_that_has_stopped_by_heap_alloc_is_no_leak_by_profiles_that_lag():
    filled = counted(moments(20, 60, 90, 90, 90, 90))

    assert [] == heap_growth.find(but(answers(*range(50, 150, 10)), moments=filled))


def test_two_kinds_of_evidence_that_agree_are_likely():
    told = counted(moments(20, 30, 40, 50, 60))

    (finding,) = heap_growth.find(but(answers(*range(50, 150, 10)), moments=told))

    assert "likely" == finding.confidence
    assert {"HeapAlloc", "inuse_space of main.leaf"} <= {one.field for one in finding.evidence}


@pytest.mark.parametrize(("enough", "sure"), [(5, "likely"), (6, "possible")])
def test_profiles_agree_where_they_are_enough(enough, sure):
    """
    Five of them, each twice the one before.
    """
    case = but(answers(10, 30, 50, 70, 90), moments=counted(moments(20, 30, 40, 50, 60)))

    (finding,) = heap_growth.find(replace(case, thresholds=Thresholds(growth_profiles=enough)))

    assert sure == finding.confidence


@pytest.mark.parametrize(("timed", "said"), [(True, 80), (False, 45)])
def test_how_much_it_is_memstats_say_however_uneven(timed, said):
    """
    From 20 to 100 MiB, most of it in two of four steps; the site has at least 45 of it. Without
    times MemStats have no rate.
    """
    told = [
        replace(one, time=pd.Timestamp("2026-11-22T06:00Z") + pd.Timedelta(seconds=2 * place))
        if timed
        else one
        for place, one in enumerate(counted(moments(20, 22, 60, 62, 100)))
    ]

    (finding,) = heap_growth.find(but(answers(*range(50, 150, 10)), moments=tuple(told)))

    assert said == finding.bytes // MIB
    assert ("at least" in finding.title) != timed


def test_what_goroutines_hold_is_a_note():
    """
    They pile up, and nothing says that the heap is another's.
    """
    told = counted(moments(20, 30, 40, 50, 60, StackInuse=[4, 8, 12, 16, 20]))

    (finding,) = heap_growth.find(case_of(told, GoVersion()))

    assert "info" == str(finding.severity)
    assert "goroutine-leak" in finding.mechanism


def test_what_others_allocate_is_not_the_goroutines():
    told = counted(moments(20, 30, 40, 50, 60, StackInuse=[4, 8, 12, 16, 20]))

    (finding,) = heap_growth.find(but(answers(*range(50, 150, 10)), moments=told))

    assert ("warning", "possible") == (str(finding.severity), finding.confidence)


def test_a_site_of_few_profiles_is_not_told_from_the_goroutines():
    """
    Four profiles in which another site rises: what it allocates may be what they refer to.
    """
    told = counted(moments(20, 30, 40, 50, 60, StackInuse=[4, 8, 12, 16, 20]))
    case = but(answers(40, 80, 120, 160), moments=told)

    (finding,) = heap_growth.find(case)

    assert "info" == str(finding.severity)
    assert "main.leaf" in finding.title
    (apart,) = heap_growth.find(replace(case, thresholds=Thresholds(growth_profiles=4)))
    assert "warning" == str(apart.severity)


def one_interval():
    """Of the two between three moments, the one in which collections ran."""
    told = moments(20, 40, 60, goals=[40, 80, 80])
    for one, collections in zip(told, (0, 3, 3), strict=True):
        one.memstats["NumGC"] = collections
    return told


def test_a_rise_over_one_collection_is_thin():
    """
    From 20 to 60 MiB, and what was marked from 20 to 40, but only between two of the moments.
    """
    lack = heap_growth.lack(case_of(one_interval(), GoVersion()))

    assert "the heap in use rises from 20.0 MiB to 60.0 MiB over 3 moments" == lack.seen
    assert "collections ran in 1 of the 2 intervals between them" == lack.had
    assert "4 such intervals, to tell what is held from garbage" == lack.needed
    assert [20 * MIB, 60 * MIB, 3] == [one.value for one in lack.evidence]


PILING = SimpleNamespace(count=None, stacks=None, descriptors_bytes=1e9, stopped=False)


@pytest.mark.parametrize(
    "about",
    [
        pytest.param(lambda: {"moments": counted(moments(20, 40, 60))}, id="that is found"),
        pytest.param(
            lambda: {"moments": counted(moments(20, 40, 60, goals=[40] * 3))}, id="not marked"
        ),
        pytest.param(lambda: {"moments": one_interval()[1:]}, id="two moments"),
        pytest.param(lambda: {"collector": of_log().facts.collector}, id="a log says more"),
        pytest.param(lambda: {"goroutines": PILING}, id="they hold it"),
        pytest.param(
            lambda: {"thresholds": Thresholds(growth_few_bytes=40 * MIB + 1)}, id="too small"
        ),
        pytest.param(
            lambda: {"heap_series": answers(50, 51, 52, 53, 54).facts.profiles.heap_series},
            id="profiles say no",
        ),
    ],
)
def test_of_such_a_rise_nothing_more_is_said(about):
    case = but(case_of(one_interval(), GoVersion()), **about())

    assert heap_growth.lack(case) is None


def test_such_a_rise_is_thin_at_its_edges():
    """
    Of 40 MiB more; and beside four profiles, which name no site however it rises.
    """
    case = case_of(one_interval(), GoVersion())
    four = answers(50, 51, 52, 53).facts.profiles.heap_series

    assert heap_growth.lack(replace(case, thresholds=Thresholds(growth_few_bytes=40 * MIB)))
    assert heap_growth.lack(but(case, heap_series=four))


def few(*sightings, **about):
    return but(answers(*sightings), **about)


@pytest.mark.parametrize(
    ("case", "told"),
    [
        pytest.param(lambda: few(10, 30, 50), "3", id="three"),
        pytest.param(lambda: few(10, 10, 30, 30, 50), "3", id="three of five"),
        pytest.param(lambda: few(10, 50), None, id="two"),
        pytest.param(lambda: few(10, 30, 40, 50), None, id="four"),
        pytest.param(lambda: few(10, 50, 45), None, id="they do not only rise"),
        pytest.param(lambda: few(10, 30, 50, moments=one_interval()), None, id="moments say more"),
        pytest.param(
            lambda: few(10, 30, 50, collector=of_log().facts.collector), None, id="a log says more"
        ),
        pytest.param(
            lambda: few(10, 30, 50, thresholds=Thresholds(growth_few_ratio=5.01)),
            None,
            id="too small",
        ),
    ],
)
def test_profiles_of_few_collections_are_thin(case, told):
    """
    From 10 to 50 sightings of 526 338 B.
    """
    lack = heap_growth._lack_of_profiles(case())

    assert (lack is None) == (told is None)
    if lack is not None:
        assert lack.seen.startswith("what is in use rises from 5.02 MiB to 25.1 MiB over ")
        assert lack.had.startswith(f"{told} of them say something new")
        sizes = [10 * 526_338.65, 50 * 526_338.65, 3]
        assert pytest.approx(sizes, rel=1e-6) == [one.value for one in lack.evidence]


def all_in_use(*mib, seconds=None, repeated=(), until=None):
    """Profiles whose sum is so much, a second apart, and no site of which surely rises."""
    names = [str(n) for n in range(len(mib))]
    at = list(range(len(mib))) if seconds is None else seconds
    levels = pd.DataFrame([[one * MIB for one in mib]], index=["main.main"], columns=names)
    moments = pd.DataFrame({"moment": names, "seconds": [float(one) for one in at]})
    series = Series(
        "inuse_space", "bytes", moments, levels, levels * 0, repeated, until_seconds=until
    )
    return but(case_of((), GoVersion()), heap_series=series)


@pytest.mark.parametrize(
    ("case", "thin"),
    [
        pytest.param(lambda: all_in_use(6, 6.4, 10, 16, 25), True, id="it rises to the end"),
        pytest.param(lambda: all_in_use(6, 16, 25, 25, 25, 25), False, id="it has filled"),
        pytest.param(lambda: all_in_use(6, 25, 6, 24, 25), False, id="it comes and goes"),
        pytest.param(lambda: all_in_use(6, 6.4, 10, 16, 21.9), False, id="less than 16 MiB"),
        pytest.param(lambda: all_in_use(16, 16, 20, 26, 32), True, id="it doubles"),
        pytest.param(lambda: all_in_use(17, 17, 20, 26, 33), False, id="it does not double"),
    ],
)
def test_what_rises_in_all_and_at_no_site_is_thin(case, thin):
    lack = heap_growth.lack(case())

    assert thin == (lack is not None)
    if lack is not None:
        assert "5 of them say something new, and no site surely rises in these" == lack.had


def test_what_would_have_brought_a_collection_since_has_stopped():
    """
    20 MiB in 4 s, to 25: after 10 s of 5 MiB each 50 more were due, which is twice as much.
    """
    mib = (5, 6, 10, 16, 25)

    assert heap_growth.lack(all_in_use(*mib, repeated=("5",), until=14.0)) is not None
    assert heap_growth.lack(all_in_use(*mib, repeated=("5",), until=14.1)) is None


def test_what_is_found_is_not_thin_as_well(monkeypatch):
    monkeypatch.setattr(heap_growth, "find", lambda _: ["a finding"])

    assert heap_growth.lack(all_in_use(6, 6.4, 10, 16, 25)) is None


def resident(*mib):
    """Moments of smaps alone."""
    told = [
        MomentFacts(str(n), mappings=pd.DataFrame({"kind": ["go-heap"], "Rss": [size * MIB]}))
        for n, size in enumerate(mib)
    ]
    return case_of(tuple(told), GoVersion())


def test_resident_memory_alone_is_a_note():
    (finding,) = heap_growth.find(resident(10, 20, 30, 40, 50))

    assert ("info", "possible", 40 * MIB) == (
        str(finding.severity),
        finding.confidence,
        finding.bytes,
    )
    assert "whether that is in use, no file says" in finding.title
    assert "4" == finding.moment
    assert [10 * MIB, 50 * MIB] == [one.value for one in finding.evidence]
    assert [] == heap_growth.find(resident(10, 20, 30, 40))
    assert [] == heap_growth.find(resident(10, 12, 14, 16, 17))
    assert [] == heap_growth.find(resident(10, 30, 50, 50, 50))


def test_resident_memory_is_no_sign_of_growth_where_memstats_say_what_is_in_use():
    case = resident(10, 20, 30, 40, 50)
    first = replace(case.facts.moments[0], memstats=facts().memstats)

    assert [] == heap_growth.find(but(case, moments=(first, *case.facts.moments[1:])))


@pytest.mark.parametrize(
    ("last", "apart", "grows"),
    [
        pytest.param(30, 60.0, False, id="hold less than half of what it adds"),
        pytest.param(110, 60.0, True, id="go on as it says"),
        pytest.param(30, 12.0, True, id="were not watched for twice as long"),
        pytest.param(30, None, True, id="without times"),
    ],
)
def test_a_log_of_the_start_is_no_growth_if_moments_go_on_otherwise(last, apart, grows):
    """
    Up by 1 MiB a second in 39 seconds; then two moments.
    """
    log = of_log(
        *({"live": 10 + n, "start": 50, "end": 51, "goal": 90} for n in range(40))
    ).facts.collector
    start = pd.Timestamp("2026-11-20T12:00:00Z")
    times = [None, None] if apart is None else [start, start + pd.Timedelta(seconds=2 * apart)]
    told = tuple(counted(moments(28, last, time=times), 40))

    assert grows == bool(heap_growth.find(case_of(told, GoVersion(), collector=log)))


def test_a_thin_log_is_no_veto():
    """
    Three collections say nothing about a slope.
    """
    log = but(answers(*range(50, 150, 10)), collector=of_log(*every(1.0)[:3]).facts.collector)

    assert heap_growth.find(log)
