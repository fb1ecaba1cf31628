"""A jump between periodic profiles is found, with its site; what happens all the time is none."""

import json
from dataclasses import replace
from math import inf, nextafter

import pandas as pd
import pytest

from gomem.analysis.profiles.allocation_spikes import find_spike
from gomem.analysis.profiles.large_objects import LargeObjects
from gomem.analysis.profiles.level_jumps import in_use_bursts, in_use_jump
from gomem.causes import allocation_spike
from gomem.causes.finding import Severity
from gomem.causes.thresholds import Thresholds
from gomem.facts.moment import LIVE, MomentFacts
from gomem.releases import GoVersion
from gomem.units import MIB
from gomem.views.json.report import report_json
from tests.builders import FIXTURES, case_of, diagnosed
from tests.causes.situations import facts
from tests.gc_logs import facts_of
from tests.heap_profiles import heap, turned_over

SPIKY = FIXTURES / "captures" / "spiky-go1.27.3"
SECOND = 10**9


def taken(seconds, profile):
    """The same profile, taken so many seconds after the first."""
    return replace(profile, columns=replace(profile.columns, time_nanos=(1 + seconds) * SECOND))


def answers(*sightings, in_use=10, seconds=None):
    """One profile a second, with so many sightings of 4 KiB since the start, 2 MiB for each 4.

    Args:
        sightings: Of what was allocated.
        in_use: Of what is in use in each, or in all of them.
        seconds: When the profiles were taken, if not a second apart.
    """
    levels = [in_use] * len(sightings) if isinstance(in_use, int) else in_use
    times = range(1, len(sightings) + 1) if seconds is None else seconds
    profiles = {
        f"{number:02}": taken(at, heap(turned_over(count, level, 4096)))
        for number, (count, level, at) in enumerate(
            zip(sightings, levels, times, strict=True), start=1
        )
    }
    return case_of(
        (),
        GoVersion(),
        spike=find_spike(profiles),
        jump=in_use_jump(profiles),
        bursts=in_use_bursts(profiles),
    )


def test_the_recording_has_one_and_it_names_the_site():
    """
    Three bodies of 48 MiB at once, of which a profile has met some: what is in use says how much.
    """
    (finding,) = [one for one in diagnosed(SPIKY).findings if one.code == "allocation-spike"]

    assert "warning" == str(finding.severity)
    assert "io.ReadAll for main.unpack" in finding.title
    assert pytest.approx(3 * (48 << 20), rel=0.1) == finding.bytes
    assert "inuse_space of io.ReadAll" in {one.field for one in finding.evidence}


def test_a_steady_rate_has_none():
    """
    100 sightings, 50 MiB, in each second.
    """
    assert [] == allocation_spike.find(answers(*range(100, 1300, 100)))


def test_a_jump_is_found_where_it_was():
    """
    Six seconds of 10 sightings of 4 KiB, which stand for 526 338 B each, then one of 510, 10 of
    them usual: 500 × 526 338 B are extra.
    """
    (finding,) = allocation_spike.find(answers(*range(10, 70, 10), *range(570, 630, 10)))

    assert ("07", 263) == (finding.moment, round(finding.bytes / 1e6))
    assert ("warning", "certain") == (str(finding.severity), finding.confidence)
    assert finding.title == (
        "256 MiB was allocated within 1.00 s, where 5.02 MiB is usual; main.leaf "
        "allocated 100.0 % of the excess"
    )
    assert [
        ("06", "seconds before the next", 1.0, "s"),
        ("07", "alloc_space since then", 268_432_720, "B"),
        ("07", "alloc_space of main.leaf", 268_432_720, "B"),
        ("07", "inuse_space of main.leaf", 5_263_386, "B"),
    ] == [(one.artefact, one.field, one.value, one.unit) for one in finding.evidence]


@pytest.mark.parametrize(
    "counts",
    [
        pytest.param([10, 20, 520, 530], id="too few profiles for a usual rate"),
        pytest.param([*range(10, 70, 10), 80, *range(90, 150, 10)], id="twice the usual"),
        pytest.param([*range(1, 7), 26, *range(27, 33)], id="10 MiB"),
    ],
)
def test_what_does_not_stand_out_is_none(counts):
    assert [] == allocation_spike.find(answers(*counts))


STEADY = range(10, 130, 10)  # twelve profiles, ten sightings, 5 MiB, a second


def spike_of(*sightings, **about):
    """The finding by the interval."""
    found = allocation_spike.find(answers(*sightings, **about))
    return [one for one in found if "was allocated within" in one.title]


def test_what_is_still_in_use_is_growth_and_no_spike():
    """
    Of 500 sightings beyond the usual, 249 are still in use, and then 251.
    """
    counts = [*range(10, 70, 10), *range(570, 630, 10)]
    at_half, above = ([10] * 6 + [level] * 6 for level in (259, 261))

    assert spike_of(*counts, in_use=at_half)
    assert [] == spike_of(*counts, in_use=above)


def test_a_spike_is_more_than_the_heap_holds():
    """
    500 beyond the usual of a second are 480 beyond that of the three that the interval may show.
    """
    counts = [*range(10, 70, 10), *range(570, 630, 10)]

    assert spike_of(*counts, in_use=480)
    assert [] == spike_of(*counts, in_use=481)


def test_the_last_interval_may_hold_what_the_earlier_ones_lag_by():
    """
    Ten sightings a second; the profile at the end, after a forced collection, shows three seconds
    at once, which is three times the usual. And no collection ran for four seconds before.
    """
    steady = [*range(100, 1300, 100)]

    assert [] == spike_of(*steady, 1200 + 300)
    assert [] == spike_of(*steady, 1200, 1200, 1200, 1200, 1200 + 700)


def test_a_profile_at_once_makes_no_interval():
    """
    A forced collection 13 ms after the last of them: 20 MiB more, in what would be 13 ms.
    """
    seconds = [*range(12), 11.013]

    assert [] == allocation_spike.find(answers(*STEADY, 120 + 40, seconds=seconds))


def test_intervals_without_news_are_intervals():
    """
    Six contents in thirteen profiles, as a service has that collects every other second: a burst in
    one of them is found, and with fewer profiles it is not.
    """
    contents = [10, 20, 30, 540, 550, 560]
    counts = [count for count in contents for _ in (1, 2)]

    assert spike_of(*counts, 570)
    assert [] == spike_of(*contents, 570)


def test_the_spike_is_no_part_of_its_own_usual():
    """
    Two intervals: the usual is what the other one has.
    """
    spike = answers(10, 20, 320).facts.profiles.spike

    assert pytest.approx(spike.allocated_bytes / 30) == spike.usual_bytes


def test_a_restart_is_no_interval():
    """
    The counts fall from 120 to 10: what the new process allocated is nobody's spike.
    """
    spike = answers(*STEADY, 10, 20, 30).facts.profiles.spike

    assert pytest.approx(spike.allocated_bytes) == spike.usual_bytes


BURST = [40] * 4 + [362, 298, 170] + [40] * 4


def level_of(*levels, **about):
    """The finding by what is in use, where steadily a little is allocated."""
    counts = range(1000, 1000 + len(levels))
    return allocation_spike.find(answers(*counts, in_use=levels, **about))


def test_a_burst_that_a_profile_met_is_found_by_its_level():
    """
    The textbook's, once a second: 20 → 181 → 149 → 85 → 20 MiB.
    """
    (finding,) = level_of(*BURST)

    assert ("05", "certain") == (finding.moment, finding.confidence)
    assert "warning" == str(finding.severity)
    assert pytest.approx(322 * 526_338, rel=1e-4) == finding.bytes
    assert (
        "jumped by at least 162 MiB, from 20.1 MiB to 182 MiB within 1.00 s, 4.00 s after the first"
        in finding.title
    )
    assert "and fell back; main.leaf has 162 MiB more" in finding.title


def test_a_step_is_told_with_its_function_and_as_what_may_be_meant():
    """
    A real database's: eight profiles at 46.7 MiB, two at 137.
    """
    (finding,) = level_of(93, 93, 94, 93, 94, 93, 93, 94, 273, 273)

    assert ("10", "possible") == (finding.moment, finding.confidence)
    assert "and has stayed there; main.leaf has 89" in finding.title


def edge(levels, name, at):
    case = answers(*range(1000, 1000 + len(levels)), in_use=levels)
    over = at + 1 if isinstance(at, int) else nextafter(at, inf)
    return [
        bool(allocation_spike.find(replace(case, thresholds=Thresholds(**{name: one}))))
        for one in (at, over)
    ]


def test_a_level_on_both_sides_of_its_thresholds():
    levels = answers(*range(11), in_use=BURST).facts.profiles.jump.levels

    assert [True, False] == edge(BURST, "spike_bytes", round(levels.extra))
    assert [True, False] == edge(BURST, "jump_ratio", levels.highest / levels.usual)
    assert [True, False] == edge(BURST, "spike_intervals", 10)


def test_a_step_on_both_sides_of_its_thresholds():
    """
    Each level before it differs from the one before, except where there was no news.
    """
    step = [93, 93, 94, 93, 94, 93, 93, 94, 273, 273]

    assert [True, False] == edge(step, "step_contents", 6)
    assert [True, False] == edge(step, "step_profiles", 2)


def heap_alloc(*mib):
    return case_of(
        tuple(
            MomentFacts(f"{place:02}", memstats=pd.Series({"HeapAlloc": one * MIB, "NextGC": 0}))
            for place, one in enumerate(mib)
        ),
        GoVersion(),
    )


def test_heap_alloc_says_so_where_there_are_no_profiles():
    """
    20 MiB, once 60, and 20 again; eight intervals, and one fewer; half of the way up to the end.
    """
    (finding,) = allocation_spike.find(heap_alloc(20, 20, 20, 60, 20, 20, 20, 20, 20))

    assert ("03", "likely", 40 * MIB) == (finding.moment, finding.confidence, finding.bytes)
    assert "warning" == str(finding.severity)
    assert [] == allocation_spike.find(heap_alloc(20, 20, 20, 60, 20, 20, 20, 20))
    assert [] == allocation_spike.find(heap_alloc(20, 20, 20, 20, 20, 20, 20, 20, 60))
    assert [] == allocation_spike.find(heap_alloc(35, 35, 35, 60, 35, 35, 35, 35, 35))


@pytest.mark.parametrize(
    ("high", "goals", "severity"),
    [
        pytest.param((3,), 0, "warning", id="for a moment"),
        pytest.param((3, 4), 0, "info", id="for two"),
        pytest.param((3, 4), 120, "warning", id="for two, and marked so"),
        pytest.param((3, 4, 5, 6), 120, "info", id="marked so for half of the time"),
    ],
)
def test_heap_alloc_that_is_high_for_several_moments_may_be_a_wave(high, goals, severity):
    """
    20 MiB and 60; where goals say so, marked are 10 MiB and 60 at one moment more.
    """
    told = (
        facts(
            name=f"{n:02}",
            HeapAlloc=60 if n in high else 20,
            NextGC=goals if goals and n in (*high, high[-1] + 1) else 20,
        )
        for n in range(11)
    )

    found = allocation_spike.find(case_of(tuple(told), GoVersion()))

    assert severity == str(found[0].severity)


@pytest.mark.parametrize(
    ("goal", "severity"), [(30, "warning"), (31, "info"), (1 << 40, "warning")]
)
def test_heap_alloc_below_twice_the_usual_goal_may_swing_as_it_always_does(goal, severity):
    """
    20 MiB, once 60; the goal at all moments, or none.
    """
    told = [facts(name=f"{n:02}", HeapAlloc=60 if n == 3 else 20, NextGC=goal) for n in range(9)]

    (finding,) = allocation_spike.find(case_of(tuple(told), GoVersion()))

    assert severity == str(finding.severity)


@pytest.mark.parametrize(("usual", "found"), [(30, True), (31, False)])
def test_a_level_is_far_above_the_usual_from_twice_as_much_on(usual, found):
    levels = heap_alloc(*[usual] * 3, 60, *[usual] * 5)

    assert found == bool(allocation_spike.find(levels))


def test_with_two_other_rates_the_higher_is_the_usual():
    """
    4 s without news, then 20 and 40 sightings in 2 s each, 600 in one, and silence. Half of the
    news is gone then; with one other rate nothing is usual.
    """
    counts = [100, 100, 120, 120, 160, 760, 760, 760, 760]

    (finding,) = spike_of(*counts, in_use=200)

    assert ("info", "possible") == (str(finding.severity), finding.confidence)
    assert "where 10.0 MiB is usual" in finding.title
    assert [] == spike_of(*[160] * 5, *[760] * 4, in_use=200)
    assert "certain" == spike_of(90, 90, *counts[:-2], in_use=200)[0].confidence


AGAIN = [8, 8, 66, 126, 126, 8, 8, 68, 128, 128, 8, 6, 66, 126]


def test_bursts_that_come_again_are_a_note():
    """
    From 4 MiB to 64, three times in 13 seconds, high for most of the time.
    """
    (finding,) = level_of(*AGAIN)

    assert ("info", "possible", "14") == (
        str(finding.severity),
        finding.confidence,
        finding.moment,
    )
    assert pytest.approx(120 * 526_338, rel=1e-4) == finding.bytes
    assert "bursts: 3 seen in 13.0 s, the highest by at least 60.2 MiB, from 4.02" in finding.title
    assert "main.leaf has 60.2 MiB more then" in finding.title


def test_bursts_on_both_sides_of_their_thresholds():
    levels = answers(*range(14), in_use=AGAIN).facts.profiles.bursts.levels

    assert [True, False] == edge(AGAIN, "burst_count", 3)
    assert [True, False] == edge(AGAIN, "spike_bytes", round(levels.extra))
    assert [True, False] == edge(AGAIN, "jump_ratio", levels.highest / levels.low)
    assert [True, False] == edge(AGAIN, "spike_intervals", 13)


def test_what_is_high_for_half_of_the_time_is_how_the_program_works():
    """
    High twice in 13 seconds, from the low reading before to the low one after: 2 + 3, or 4 + 3.
    """
    rare = [8, 8, 8, 66, 126, 8, 8, 6, 8, 68, 128, 8, 9, 8]
    often = [8, 8, 8, 68, 126, 127, 8, 6, 8, 68, 128, 8, 9, 8]

    assert ["warning"] == [str(one.severity) for one in level_of(*rare)]
    assert ["info"] == [str(one.severity) for one in level_of(*often)]
    high = answers(*range(14), in_use=rare).facts.profiles.bursts.high_fraction
    assert 5 / 13 == high
    for share, severity in ((high + 1e-9, "warning"), (high, "info")):
        case = replace(
            answers(*range(14), in_use=rare), thresholds=Thresholds(spike_high_fraction=share)
        )
        assert [severity] == [str(one.severity) for one in allocation_spike.find(case)]


@pytest.mark.parametrize("gone", range(14))
def test_a_profile_less_makes_no_note_a_warning(gone):
    often = [8, 8, 8, 68, 126, 127, 8, 6, 8, 68, 128, 8, 9, 8]
    seconds = [one for one in range(14) if one != gone]
    left = [often[one] for one in seconds]

    found = allocation_spike.find(answers(*range(13), in_use=left, seconds=seconds))

    assert {"info"} >= {str(one.severity) for one in found}


def test_one_burst_that_may_have_lasted_for_half_of_the_time_is_a_note():
    """
    One profile of nine has it; between the ones before and after lie 4 seconds of 8, or 5 of 10.
    """
    levels = [8, 8, 8, 8, 128, 8, 8, 8, 8, 8]
    short, long = [0, 1, 2, 3, 5, 7, 8, 9, 10, 11], [0, 1, 2, 3, 6, 9, 10, 11, 12, 12.5]

    (rare,), (often,) = (
        allocation_spike.find(answers(*range(10), in_use=levels, seconds=seconds))
        for seconds in (short, long)
    )
    assert ("warning", "certain") == (str(rare.severity), rare.confidence)
    assert ("warning", "certain") == (str(often.severity), often.confidence)
    edge = [0, 1, 2, 3, 6, 10, 11, 12, 13, 14]
    (often,) = allocation_spike.find(answers(*range(10), in_use=levels, seconds=edge))
    assert ("info", "possible") == (str(often.severity), often.confidence)


def test_heap_alloc_that_is_high_twice_may_be_a_saw_tooth():
    """
    No goal says what is marked.
    """
    (finding,) = allocation_spike.find(heap_alloc(20, 20, 60, 20, 20, 20, 58, 20, 20, 20))

    assert ("info", "possible") == (str(finding.severity), finding.confidence)


def test_heap_alloc_that_jumps_with_what_is_marked_again_and_again_is_no_spike():
    """
    20 MiB and 80; marked are 10 MiB and 60, for 4 of 9 intervals at most, or for 6.
    """

    def told(high):
        return [
            facts(
                name=f"{n:02}", HeapAlloc=80 if n in high else 20, NextGC=120 if n in high else 20
            )
            for n in range(10)
        ]

    rare, often = (case_of(tuple(told(high)), GoVersion()) for high in ((3, 7), (2, 3, 6, 7)))

    assert ["warning"] == [str(one.severity) for one in allocation_spike.find(rare)]
    assert ["info"] == [str(one.severity) for one in allocation_spike.find(often)]


def marked(*goals):
    """Moments with these goals in MiB, of GOGC=100."""
    return case_of(
        tuple(facts(name=f"{n:02}", NextGC=goal) for n, goal in enumerate(goals)), GoVersion()
    )


def test_what_collections_mark_comes_in_bursts():
    """
    Marked is half of the goal: 20 MiB, and 150 twice. Garbage moves neither.
    """
    goals = [40, 200, 300, 300, 300, 300, 40, 40, 42, 240]

    (finding,) = allocation_spike.find(marked(*goals))

    assert ("info", "09", 130 * MIB) == (str(finding.severity), finding.moment, finding.bytes)
    assert finding.title.endswith("seen in 10 moments, from 20.0 MiB to 150 MiB at the most")
    assert [] == allocation_spike.find(marked(*goals[:-1]))


def test_what_the_runtime_counted_as_live_is_the_least_that_a_burst_was():
    """
    Where a moment does not say it, the goal does, if GOGC is known.
    """
    goals = [40, 200, 300, 300, 300, 300, 40, 40, 42, 240]
    told = [
        facts(name=f"{n:02}", NextGC=goal, metrics={LIVE: goal * MIB / 2})
        for n, goal in enumerate(goals)
    ]

    (counted,) = allocation_spike.find(case_of(tuple(told), GoVersion()))
    (partly,) = allocation_spike.find(case_of((facts(name="", NextGC=40), *told), GoVersion()))

    assert counted.title.endswith("the highest by at least 130 MiB, from 20.0 MiB to 150 MiB")
    assert partly.title.endswith("from 20.0 MiB to 150 MiB at the most")


def test_without_profiles_there_is_none():
    assert [] == allocation_spike.find(case_of((), GoVersion()))


def test_a_healthy_service_has_none():
    findings = diagnosed(FIXTURES / "captures" / "healthy-go1.27.3").findings

    assert "allocation-spike" not in {one.code for one in findings}


def test_a_redacted_report_does_not_name_its_moments():
    """
    They are numbered there; the texts of findings must not tell their names.
    """
    report = report_json(diagnosed(SPIKY), redact=True)

    assert "allocation-spike" in {one["code"] for one in report["findings"]}
    assert "scrape-" not in json.dumps(report)


MARKED = [15, 15, 15, 30, 50, 65]


def logged(count=12, **about):
    """A log of bursts from 15 to 65 MiB, 2 s apart, each over within half of that."""
    times = (0.4, 0.8, 1.2, 1.3, 1.4, 1.5)
    changes = [
        {"at": 2 * (n // 6) + times[n % 6], "live": MARKED[n % 6], "goal": 200}
        for n in range(count)
    ]
    gc = facts_of({"at": 0.1, "live": 15, "goal": 200}, *changes, {"at": 9.0, "live": 15})
    return case_of((), GoVersion(), collector=gc, thresholds=Thresholds(**about))


def test_marks_that_stay_as_they_are_are_no_bursts():
    assert [] == allocation_spike.find(marked(*[40] * 12))


def test_a_log_alone_tells_bursts_of_what_was_marked():
    (finding,) = allocation_spike.find(logged())

    assert ("info", "possible", None) == (
        str(finding.severity), finding.confidence, finding.moment,
    )  # fmt: skip
    assert 50 * MIB == finding.bytes
    assert finding.title.startswith(
        "the live heap comes in bursts: 2 seen in 8.90 s, the highest by at least 50.0 MiB, from"
    )
    assert [15 * MIB, 65 * MIB, 2] == [one.value for one in finding.evidence]


def test_bursts_of_a_log_on_both_sides_of_their_thresholds():
    for name, at in (("burst_count", 2), ("spike_bytes", 50 * MIB), ("spike_intervals", 13)):
        told = [len(allocation_spike.find(logged(**{name: one}))) for one in (at, at + 1)]
        assert [1, 0] == told, name
    assert [] == allocation_spike.find(logged(count=0))


def test_an_interval_that_has_one_of_several_bursts_is_as_usual_as_they_are():
    """
    12 profiles, in one interval of which 30 times the usual was allocated.
    """
    counts = [*range(100, 700, 100), *range(3600, 4200, 100)]

    (bursts,) = allocation_spike.find(answers(*counts, in_use=[8, 8, 66, 126] * 3))
    (interval,) = allocation_spike.find(answers(*counts, in_use=8))

    assert ("info", "possible") == (str(bursts.severity), bursts.confidence)
    assert "comes in bursts: 3 seen in 11.0 s" in bursts.title
    assert "was allocated within 1.00 s" in interval.title


# ---- a single object


def of_object(size_mib, *, usual_mib=20, intervals=2, of_intervals=8, **thresholds):
    found = LargeObjects(
        "bytes.Repeat", "main.print", size_mib * MIB, "5", 2.0, intervals, of_intervals,
        usual_mib * MIB,
    )  # fmt: skip
    limits = Thresholds(**thresholds)
    return case_of((), GoVersion(), large_objects=lambda _: found, thresholds=limits)


def test_an_object_as_large_as_what_is_in_use_is_a_note():
    (finding,) = allocation_spike.find(of_object(20))

    assert Severity.INFO is finding.severity
    assert ("likely", 20 * MIB, "5") == (finding.confidence, finding.bytes, finding.moment)
    assert (
        "an object of 20.0 MiB is there in one piece now and then, in 2 of 8 intervals between "
        "heap profiles, which show 20.0 MiB in use; bytes.Repeat for main.print allocates it"
        == finding.title
    )


@pytest.mark.parametrize(
    ("about", "told"),
    [
        pytest.param({"size_mib": 19}, False, id="less than is in use"),
        pytest.param({"size_mib": 60, "jump_ratio": 4.0}, True, id="three times"),
        pytest.param({"size_mib": 60, "jump_ratio": 4.1}, False, id="less than that"),
        pytest.param({"size_mib": 20, "intervals": 4}, True, id="in half of the intervals"),
        pytest.param({"size_mib": 20, "intervals": 5}, False, id="in most"),
        pytest.param({"size_mib": 20, "of_intervals": 7}, False, id="few intervals"),
    ],
)
def test_what_an_object_must_be(about, told):
    assert told == bool(allocation_spike.find(of_object(**about)))
