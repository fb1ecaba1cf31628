"""A level that leaves its base and comes back is found, with who has it; what stays is none."""

import json
from dataclasses import replace
from itertools import count, pairwise
from math import inf, log, nextafter

import numpy as np
import pandas as pd
import pytest

import gomem
from gomem.analysis.memory.live_heap import LiveHeap
from gomem.analysis.profiles.allocation_spikes import find_spike
from gomem.analysis.series.level import Level
from gomem.causes import allocation_spike
from gomem.causes.allocation_spike import _evidence
from gomem.causes.finding import Severity
from gomem.causes.thresholds import Thresholds
from gomem.facts.excursions import sightings
from gomem.facts.moment import MomentFacts
from gomem.releases import GoVersion
from gomem.text import Bytes, Function, MomentName
from gomem.units import MIB
from gomem.views.json.report import report_json
from tests.builders import FIXTURES, but, case_of, diagnosed, memstats_row
from tests.causes.situations import facts
from tests.gc_logs import facts_of
from tests.heap_profiles import heap, turned_over

SPIKY = FIXTURES / "captures" / "spiky-go1.27.3"
SECOND = 10**9
SIGHTING = 526_338  # bytes that one of 4 KiB stands for


def taken(seconds, profile):
    """The same profile, taken so many seconds after the first."""
    return replace(profile, columns=replace(profile.columns, time_nanos=(1 + seconds) * SECOND))


def profiles_of(*sightings, in_use=10, seconds=None):
    """One profile a second, with so many sightings of 4 KiB since the start, 2 MiB for each 4.

    Args:
        sightings: Of what was allocated.
        in_use: Of what is in use in each, or in all of them.
        seconds: When the profiles were taken, if not a second apart.
    """
    levels = [in_use] * len(sightings) if isinstance(in_use, int) else in_use
    times = range(1, len(sightings) + 1) if seconds is None else seconds
    return {
        f"{number:02}": taken(at, heap(turned_over(count, level, 4096)))
        for number, (count, level, at) in enumerate(
            zip(sightings, levels, times, strict=True), start=1
        )
    }


def answers(*counts, **about):
    profiles = profiles_of(*counts, **about)
    return case_of(
        (),
        GoVersion(),
        spike=find_spike(profiles),
        excursions=sightings((), profiles, None, {}),
    )


def test_the_recording_has_one_and_it_names_the_site():
    """
    Three bodies of 48 MiB at once, and what io.ReadAll copies on its way: profiles met that.
    """
    (finding,) = [one for one in diagnosed(SPIKY).findings if one.code == "allocation-spike"]

    site = finding.sites[0]
    assert ("io.ReadAll", "main.unpack") == (site.function, site.own_function)
    assert finding.bytes >= 3 * (48 << 20)
    assert site.low >= 3 * (48 << 20)
    # The profile of scrape-19 is shown until the end: no collection has found its burst over.
    assert ("settled", True) == (finding.moment, finding.now)
    assert "; the readings end in the last burst; " in str(finding.title)


# ---- a level

BURST = [40] * 4 + [362, 298, 170] + [40] * 4


def level_of(*levels, **about):
    """The finding by what is in use, where steadily a little is allocated."""
    return allocation_spike.find(level_case(*levels, **about))


def level_case(*levels, **about):
    return answers(*range(1000, 1000 + len(levels)), in_use=levels, **about)


def test_a_burst_that_a_profile_met_is_found_by_its_level():
    """
    The textbook's, once a second: 20 → 181 → 149 → 85 → 20 MiB.
    """
    (finding,) = level_of(*BURST)

    assert ("06", "possible") == (finding.moment, finding.confidence)
    assert round(322 * SIGHTING, -6) == round(finding.bytes, -6)
    base, highest = finding.title.of(Bytes)
    assert pytest.approx([40 * SIGHTING, 362 * SIGHTING], rel=1e-4) == [base.value, highest.value]
    assert "05" in finding.title.of(MomentName)[0]
    assert ("main.leaf",) == finding.title.of(Function)


def test_what_jumped_and_stays_is_no_spike():
    """
    A real database's: eight profiles at 46.7 MiB, two at 137. It is growth, or something loaded.
    """
    assert [] == level_of(93, 93, 94, 93, 94, 93, 93, 94, 273, 273)


def test_what_climbs_fills():
    """
    The same peak, reached in seven seconds of eleven.
    """
    assert [] == level_of(40, 190, 215, 240, 265, 290, 315, 340, 362, 40, 40, 40)


def test_what_fills_up_and_is_dropped_is_named_before_what_allocates_most():
    """
    The interval with most allocation stands out, too; who allocates then need not be who filled up.
    """
    counts = [4 * n + 4000 * (n > 7) for n in range(12)]
    filling = answers(*counts, in_use=[40, 190, 215, 240, 265, 290, 315, 340, 362, 40, 40, 40])
    spiking = answers(*counts, in_use=40)

    (filled,), (spike,) = allocation_spike.find(filling), allocation_spike.find(spiking)

    assert (Severity.INFO, "09") == (filled.severity, filled.moment)
    assert "inuse_space rose from" in filled.title
    assert "allocated in 1 s" in spike.title


def edge(case, name, at):
    over = at + 1 if isinstance(at, int) else nextafter(at, inf)
    return [
        bool(allocation_spike.find(replace(case, thresholds=Thresholds(**{name: one}))))
        for one in (at, over)
    ]


def test_a_level_on_both_sides_of_its_thresholds():
    case = level_case(*BURST)
    found = case.facts.excursions[0].excursion

    assert [True, False] == edge(case, "spike_bytes", round(found.extra))
    assert [True, False] == edge(case, "jump_ratio", found.highest / found.base)
    assert [True, False] == edge(case, "spike_back_fraction", found.back_fraction)
    slow = level_case(40, 190, 290, 362, *[40] * 9)
    climb = slow.facts.excursions[0].excursion.climb_fraction
    assert [False, True] == [
        bool(allocation_spike.find(replace(slow, thresholds=Thresholds(spike_climb_fraction=one))))
        for one in (nextafter(climb, 0), climb)
    ]


RARE = [40, 40, 362, 40, 40, 40, 40, 362, 40, 40, 40, 40]


def severity_of(case, **about):
    (finding,) = allocation_spike.find(replace(case, thresholds=Thresholds(**about)))
    return str(finding.severity)


def test_an_exception_is_a_warning_where_the_score_says_so():
    case = level_case(*RARE)
    away = case.facts.excursions[0].excursion.away_fraction

    assert "warning" == severity_of(case, possible_probability=0.0)
    assert "info" == severity_of(case, possible_probability=1.0)
    assert "info" == severity_of(case, possible_probability=0.0, spike_away_fraction=away)
    assert "info" == severity_of(case, possible_probability=0.0, spike_times=2)


def test_a_score_has_all_its_features():
    values = allocation_spike.features(level_case(*RARE))

    assert pytest.approx(log(2)) == values["times"]
    assert (1.0, 1.0) == (values["kinds"], values["in_profiles"])
    assert allocation_spike.features(level_case(*[40] * 8)) is None


def test_profiles_name_who_has_more_at_the_peak():
    (seen,) = level_case(*BURST).facts.excursions

    assert ("04", "05") == seen.profiles
    assert pytest.approx(322 * SIGHTING, rel=1e-4) == seen.holders["change"].iloc[0]


def moments(*mib, **about):
    return tuple(
        facts(name=f"{place:02}", HeapAlloc=size, **about) for place, size in enumerate(mib)
    )


def of_moments(*mib, profiles=None, **about):
    told = moments(*mib, **about)
    return case_of(told, GoVersion(), excursions=sightings(told, profiles or {}, None, {}))


def test_heap_alloc_says_so_where_there_are_no_profiles():
    """
    20 MiB, once 60, and 20 again: of five moments, too. At the end it has not come back.
    """
    (finding,) = allocation_spike.find(of_moments(20, 20, 60, 20, 20))

    assert ("02", "info", 40 * MIB) == (finding.moment, str(finding.severity), finding.bytes)
    assert () == finding.sites
    assert [] == allocation_spike.find(of_moments(20, 20, 20, 20, 60))
    assert [] == allocation_spike.find(of_moments(35, 35, 60, 35, 35))


@pytest.mark.parametrize(("goal", "found"), [(30, True), (31, False)])
def test_heap_alloc_swings_up_to_its_goal_anyway(goal, found):
    """
    20 MiB, once 60: twice a goal of 30.
    """
    assert found == bool(allocation_spike.find(of_moments(20, 20, 60, 20, 20, NextGC=goal)))


def test_rss_says_so_with_the_kernels_own_peak():
    """
    Five moments at 40 MiB; between the second and the third VmHWM rose to 300.
    """
    told = tuple(replace(one, ledger=None, memstats=None) for one in moments(1, 1, 1, 1, 1))
    with_rss = tuple(_with_rss(one, 40 * MIB) for one in told)
    peaks = {"00": 45.0 * MIB, "01": 45.0 * MIB, "02": 300.0 * MIB, "03": 300.0 * MIB}
    (seen,) = sightings(with_rss, {}, None, peaks)

    assert ("RSS", 260 * MIB, "02") == (seen.source, seen.excursion.extra, seen.peak_moment)
    assert () == sightings(with_rss, {}, None, dict.fromkeys(peaks, 300.0 * MIB))


def _with_rss(moment, size):
    """The same with so much RSS."""
    return _Resident(moment.name, rss=size)


class _Resident(MomentFacts):
    def __init__(self, name, rss):
        super().__init__(name)
        object.__setattr__(self, "_rss", rss)

    @property
    def rss_bytes(self):
        return self._rss


def test_profiles_around_it_tell_who_allocated_meanwhile():
    """
    HeapAlloc jumps at 6 s; the profiles of 4 and 8 s have 30 and 900 sightings allocated.
    """
    at = [pd.Timestamp(second + 1, unit="s", tz="UTC") for second in range(12)]
    told = tuple(
        replace(one, time=time)
        for one, time in zip(moments(*[20] * 6, 90, *[20] * 5), at, strict=True)
    )
    profiles = profiles_of(10, 30, 900, in_use=10, seconds=[0, 4, 8])
    seen = sightings(told, profiles, None, {})[-1]

    assert ("HeapAlloc", ("02", "03")) == (seen.source, seen.profiles)
    assert pytest.approx(870 * SIGHTING, rel=1e-4) == seen.holders["change"].iloc[0]


# ---- a log


MARKED = [15, 15, 15, 30, 50, 65]


def test_a_log_alone_tells_bursts_of_what_was_marked():
    """
    From 15 to 65 MiB, 2 s apart, each over within half of that; the log rounds to half a MiB.
    """
    times = (0.4, 0.8, 1.2, 1.3, 1.4, 1.5)
    changes = [
        {"at": 2 * (n // 6) + times[n % 6], "live": MARKED[n % 6], "goal": 200} for n in range(12)
    ]
    log = facts_of({"at": 0.1, "live": 15, "goal": 200}, *changes, {"at": 9.0, "live": 15})
    (finding,) = allocation_spike.find(case_of((), GoVersion(), collector=log))

    assert ("info", "possible", None, 50 * MIB) == (
        str(finding.severity), finding.confidence, finding.moment, finding.bytes,
    )  # fmt: skip
    assert 2 == next(one.value for one in finding.evidence if one.unit == "count")
    told = {one.field: one.value for one in finding.evidence}
    assert 0 == told["the live heap, highest"] % MIB  # half a MiB is no reading


@pytest.mark.parametrize(
    ("peak_mib", "times", "is_found"),
    [
        pytest.param(27, 6, False, id="small, and how the program works"),
        pytest.param(27, 2, True, id="small and rare"),
        pytest.param(47, 6, True, id="large"),
    ],
)
def test_bursts_that_are_how_the_program_works_matter_if_they_are_large(peak_mib, times, is_found):
    cycles = [
        {"at": 1.0 * burst + 0.1 * place, "live": peak_mib if place == 5 else 7, "goal": 200}
        for burst in range(times)
        for place in range(10)
    ]

    found = allocation_spike.find(case_of((), GoVersion(), collector=facts_of(*cycles)))

    assert is_found == bool(found)


def test_a_log_that_stays_has_none():
    log = facts_of(*({"at": 0.1 * n, "live": 40, "goal": 200} for n in range(1, 20)))

    assert [] == allocation_spike.find(case_of((), GoVersion(), collector=log))


# ---- an interval between two profiles


def spike_of(*counts, **about):
    """The finding by the interval."""
    found = allocation_spike.find(answers(*counts, **about))
    return [one for one in found if one.evidence[0].field == "time to the next profile"]


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
    (finding,) = spike_of(*range(10, 70, 10), *range(570, 630, 10))

    assert ("07", 263) == (finding.moment, round(finding.bytes / 1e6))
    assert ("warning", "likely") == (str(finding.severity), finding.confidence)
    assert [
        ("06", "time to the next profile", 1.0, "s"),
        ("07", "alloc_space since then", 268_432_720, "B"),
        ("07", "alloc_space of main.leaf", 268_432_720, "B"),
        ("07", "inuse_space of main.leaf", 5_263_386, "B"),
    ] == [(one.artefact, str(one.field), one.value, one.unit) for one in finding.evidence]


@pytest.mark.parametrize(
    "counts",
    [
        pytest.param([10, 20, 520], id="too few profiles for a usual rate"),
        pytest.param([*range(10, 70, 10), 80, *range(90, 150, 10)], id="twice the usual"),
        pytest.param([*range(1, 7), 26, *range(27, 33)], id="10 MiB"),
    ],
)
def test_what_does_not_stand_out_is_none(counts):
    assert [] == allocation_spike.find(answers(*counts))


STEADY = range(10, 130, 10)  # twelve profiles, ten sightings, 5 MiB, a second


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


def test_in_the_last_interval_it_is_a_note_because_nothing_says_that_it_ended():
    (ended,) = spike_of(*range(10, 70, 10), 570, 580)
    (last,) = spike_of(*range(10, 70, 10), 570)

    assert ("warning", "likely") == (str(ended.severity), ended.confidence)
    assert ("info", "possible") == (str(last.severity), last.confidence)


def test_with_two_other_rates_the_higher_is_the_usual():
    """
    4 s without news, then 20 and 40 sightings in 2 s each, 600 in one, and silence. Half of the
    news is gone then; with one other rate nothing is usual.
    """
    counts = [100, 100, 120, 120, 160, 760, 760, 760, 760]

    (finding,) = spike_of(*counts, in_use=200)

    assert ("info", "possible") == (str(finding.severity), finding.confidence)
    assert pytest.approx(20 * SIGHTING, rel=1e-3) == finding.title.of(Bytes)[1].value
    assert [] == spike_of(*[160] * 5, *[760] * 4, in_use=200)
    assert "likely" == spike_of(90, 90, *counts[:-2], 780, in_use=200)[0].confidence


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


def test_a_level_that_is_high_in_most_readings_and_most_of_the_time_is_the_usual_one():
    dips = 40, 362, 362, 40, 362, 362, 362, 362
    assert [] == level_of(*dips)
    assert [] != level_of(40, 40, 40, 362, 40, 40, 362, 40)


@pytest.mark.parametrize(
    ("filled", "named"),
    [pytest.param(60, "main.chart", id="in use"), pytest.param(4, None, id="too little")],
)
def test_who_has_more_in_use_in_a_burst_is_named_before_who_allocates_most(filled, named):
    """
    HeapAlloc 20 → 180 MiB, in one of twelve readings; there a lagging profile shows a part of it.
    The feed allocates 500 MiB until the end, and has as much in use as ever.
    """
    names = ("main.feed", "main.chart", "main.main")

    def profile(seconds, fed, drawn, in_use):
        buckets = [
            turned_over(fed, 20, 1 << 20, leaf=1, root=3),
            turned_over(drawn, in_use, 1 << 20, leaf=2, root=3),
        ]
        return taken(seconds, heap(*buckets, names=names))

    levels = [20, 20, 20, 20, 180, 20, 20, 20, 20, 20, 20, 20]
    profiles = {"04": profile(4, 100, 60, filled), "11": profile(11, 600, 160, 0)}
    case = of_moments(*levels, profiles=profiles)

    (seen,) = (each for each in case.facts.excursions if each.source == "HeapAlloc")

    first = None if seen.holders is None else seen.holders["own_function"].iloc[0]
    assert (named, "inuse_space" if named else "") == (first, seen.held_in)


@pytest.mark.parametrize("is_timed", [True, False])
def test_readings_without_a_time_have_no_seconds(is_timed):
    """
    Five readings are four intervals, not four seconds.
    """
    told = moments(20, 20, 180, 20, 20)
    if is_timed:
        begin = pd.Timestamp("2026-11-27", tz="UTC")
        told = tuple(
            replace(moment, time=begin + pd.Timedelta(seconds=10 * place))
            for place, moment in enumerate(told)
        )
    case = case_of(told, GoVersion(), excursions=sightings(told, {}, None, {}))

    (finding,) = allocation_spike.find(case)

    seconds = [found.value for found in finding.evidence if found.unit == "s"]
    assert [40.0] * is_timed == seconds
    assert is_timed == any("share of time" in str(found.field) for found in finding.evidence)


@pytest.mark.parametrize(("away", "is_told"), [(0.9, True), (0.91, False), (0.98, False)])
def test_a_bound_that_says_nothing_is_left_out(away, is_told):
    """
    That bursts take at most 98 % of the time is no news.
    """
    case = level_case(10, 12, 10, 100, 10)
    seen = case.facts.excursions[0]
    bound = replace(seen, excursion=replace(seen.excursion, away_fraction=away))

    fields = [row.field for row in _evidence(bound, case)]

    assert is_told == ("share of time in bursts, at most" in fields)


def test_a_spike_of_marks_without_a_log_names_the_snapshots_and_the_heap_it_took():
    """
    The scrapes met 40 MiB; HeapSys, which stays, says 200. No file is a GC log.
    """
    moments = [
        MomentFacts(str(n), memstats=memstats_row(HeapSys=size * MIB))
        for n, size in enumerate((8, 8, 80, 200, 200))
    ]
    marked = Level("marks", np.arange(5.0), np.array([2.0, 2, 40, 2, 2]) * MIB)
    live = LiveHeap(marked, frozenset({"marks"}), 1.0, marked)
    seen = sightings(moments, {}, live, {})

    (finding,) = allocation_spike.find(case_of(moments, live_heap=live, excursions=seen))

    assert {"5 snapshots"} == {one.artefact for one in finding.evidence}
    assert [2 * MIB, 40 * MIB, 200 * MIB] == [size.value for size in finding.title.of(Bytes)]


def test_a_profile_that_there_is_says_who_allocates():
    """
    No pair of profiles surrounds the spike, but one counts all since the start.
    """
    diagnosis = diagnosed(FIXTURES / "captures" / "spiky-go1.27.3")
    case = but(diagnosis.case, excursions=())

    assert "of alloc_space is from main.unpack" in allocation_spike._of_all_allocation(case)


RAMPS = {
    10.9: 46, 11.0: 69, 11.1: 109, 11.4: 170, 30.6: 6, 30.69: 9, 30.7: 19, 30.74: 29, 30.78: 42,
    30.81: 95, 30.97: 187, 31.6: 238,
}  # fmt: skip
SAW = (63, 36, 60, 9, 39, 66, 3, 24, 42, 12, 30, 75, 6, 33, 72)
SAWS = {at / 10: size for at, size in enumerate(SAW, 7)}


def of_ramps(folder, sizes, question=""):
    """A text with a log of GCs that left these sizes, by time."""
    lines = "".join(
        f"gc {n} @{at:.3f}s 1%: 0.02+4+0.02 ms clock, 0.04+0/4/1+0.04 ms cpu, "
        f"{size + 5}->{size + 6}->{size} MB, {2 * before} MB goal, 0 MB stacks, 0 MB globals, 2 P\n"
        for n, at, (before, size) in zip(count(7), sizes, pairwise((40, *sizes.values())))
    )
    (folder / "mail.txt").write_text(f"Our batch is killed. {question}\n\n{lines}\nHow so?\n")
    return gomem.diagnose(folder / "mail.txt")


@pytest.mark.parametrize("sizes", [RAMPS, {at: 3 * size for at, size in SAWS.items()}])
def test_where_bursts_are_ramps_the_lowest_reading_stands_for_a_baseline(tmp_path, sizes):
    diagnosis = of_ramps(tmp_path, sizes)
    (finding,) = (each for each in diagnosis.findings if each.code == "allocation-spike")
    said = {row.field: row.value for row in finding.evidence}

    assert min(sizes.values()) * MIB == said["the live heap, lowest"]
    assert "the live heap outside bursts" not in said


def test_a_rise_at_the_end_of_a_log_is_said_where_there_is_no_trend(tmp_path):
    second = of_ramps(tmp_path, RAMPS).verdict.sentence

    assert "The live heap is 238 MiB after the last GC, up from 6 MiB 1 s earlier." in second
    assert "does not grow" not in second


def test_a_rise_at_the_end_of_bursts_that_fell_back_is_no_growth(tmp_path):
    second = of_ramps(tmp_path, SAWS).verdict.sentence

    assert "72 MiB after the last GC, up from 6 MiB 200 ms earlier; between bursts it" in second


def test_who_asks_for_a_forced_gc_is_told_what_a_gc_leaves(tmp_path):
    asked = of_ramps(tmp_path, SAWS, "Should I call runtime.GC() after each segment?").verdict
    step = of_ramps(tmp_path, SAWS).verdict.next_step

    assert asked.next_step.startswith("runtime.GC() would not lower this")
    assert "runtime.GC()" not in step
