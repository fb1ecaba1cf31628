"""Why no more went back: each verdict, and both sides of every edge."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gomem.analysis.scavenger.retention import retention
from gomem.analysis.scavenger.sentences import SAID
from gomem.analysis.scavenger.verdicts import (
    MIN_BYTES,
    PAUSE_SECONDS,
    VERDICTS,
    _steps,
    episodes,
    verdicts,
)
from gomem.releases import GoRelease, GoVersion, known_version
from gomem.units import KIB, MIB
from tests.analysis.scavenger.readings_of_heap import codes, nothing, reading, readings

RELEASES = ("go1.9.7", "go1.12.17", "go1.13.15", "go1.16.15", "go1.19.13", "go1.21.13", "go1.27.3")
STEP = 64 * KIB / MIB


def asked(version, *rows):
    known = version if isinstance(version, GoVersion) else known_version(version, "by hand")
    return verdicts(retention(readings(*rows), known), known)


def told(version, *rows):
    return codes(asked(version, *rows))


def dropped(seconds, **said):
    """100 MiB idle of which NextGC lets 11 stay: far above every goal."""
    return reading(seconds, 10, 100, **({"NextGC": 10} | said))


def given_back(seconds, size, **said):
    return reading(seconds, 10, 100 - size, size, **({"NextGC": 10} | said))


def test_every_verdict_has_its_sentences():
    assert {code for code, _ in SAID} == set(VERDICTS)


@pytest.mark.parametrize("version", RELEASES)
def test_of_one_reading_nothing_is_said(version):
    assert [] == told(version, dropped(0))


def test_in_words_a_pause_is_no_way():
    """
    Nothing went back, or more was taken again: neither has a rate.
    """
    pause = asked("go1.19.13", dropped(0), dropped(2))["sentence"].iloc[0]
    taken = asked("go1.19.13", given_back(0, 40), given_back(2, 20))["sentence"].iloc[0]

    sleeps = "the scavenger sleeps between its steps."
    above = "of idle heap is still due for release (scavenger's goal: 11 MiB retained)"
    assert f"Nothing was returned to the OS in 2 s. 99 MiB {above}: {sleeps}" == pause
    assert f"More memory was reused than released in 2 s. 79 MiB {above}: {sleeps}" == taken


def test_dense_chunks_are_told_at_once():
    """
    In 1.21 and later nothing goes back of them: no pause between two steps.
    """
    assert ["dense-chunks"] == told("go1.27.3", dropped(0), dropped(1))
    begun = [dropped(0), given_back(1, 20), given_back(2, 20)]
    assert ["as-intended/going-back"] * 2 == told("go1.27.3", *begun)


def test_what_goes_back_is_as_intended():
    frame = asked("go1.27.3", dropped(0), given_back(1, 50))

    assert ["as-intended/going-back"] == codes(frame)
    assert "50 MiB was released in 1 s" in frame["sentence"].iloc[0]
    assert (
        "is still due for release (scavenger's goal: 11 MiB retained) and should follow in 980 ms"
        in (frame["sentence"].iloc[0])
    )


@pytest.mark.parametrize(
    ("size", "code"), [(STEP, "as-intended/going-back"), (STEP / 2, "starved/asleep")]
)
def test_less_than_its_quantum_is_not_seen_to_go_back(size, code):
    assert [code] == told("go1.19.13", dropped(0), given_back(10, size))


@pytest.mark.parametrize(
    ("seconds", "code"),
    [(PAUSE_SECONDS, "as-intended/going-back"), (PAUSE_SECONDS + 0.1, "starved/asleep")],
)
def test_a_short_pause_is_no_delay(seconds, code):
    assert [code] == told("go1.19.13", dropped(0), dropped(seconds))


def test_a_pause_is_counted_over_all_readings_in_it():
    """
    Two seconds and two seconds in which nothing goes back are four.
    """
    rows = [dropped(0), given_back(1, 20), given_back(3, 20), given_back(5, 20), given_back(6, 99)]

    expected = ["as-intended/going-back", "starved/asleep", "starved/asleep", "as-intended/little"]
    assert expected == told("go1.19.13", *rows)


def steps(*released, above=None):
    """Of readings a second apart with so many MiB given back: since when, how long nothing is."""
    rows = [
        {"seconds": float(at), "HeapReleased": size * MIB, "retained_bytes": (100 - size) * MIB}
        for at, size in enumerate(released)
    ]
    found = list(_steps(rows, [MIB] * len(rows) if above is None else above))
    silent = [None if one.goes_back else one.silent_seconds for one in found]
    return [(one.since["seconds"], seconds) for one, seconds in zip(found, silent, strict=True)]


@pytest.mark.parametrize(
    ("released", "above", "expected"),
    [
        pytest.param((0, 0, 0), None, [(0, 2), (0, 2)], id="silent"),
        pytest.param((0, 0, 9), None, [(0, 1), (0, None)], id="then some goes back"),
        pytest.param((0, 9, 9, 9), None, [(0, None), (0, 2), (0, 2)], id="first some goes back"),
        pytest.param((0, 0, 0), [0, 1, 1], [(1, 2), (1, 1)], id="above from the second on"),
        pytest.param((0, 0, 0), [1, 1, 0], [(0, 2), (2, 1)], id="above up to the second"),
    ],
)
def test_since_when_heap_lies_above_the_goal_and_how_long_nothing_goes_back(
    released, above, expected
):
    assert expected == steps(*released, above=above)


def test_before_1_13_idle_heap_waits_for_five_minutes():
    assert ["waiting/five-minutes"] == told("go1.12.17", dropped(0), dropped(100))
    assert ["as-intended/going-back"] == told("go1.12.17", dropped(0), given_back(5, 60))


@pytest.mark.parametrize(
    ("idle", "code"), [(20 + 4, "kept-for-goal/next-gc"), (20 + 4.1, "waiting/five-minutes")]
)
def test_before_1_13_up_to_next_gc_it_is_filled_again(idle, code):
    """
    20 MiB in use, NextGC 40: 20 more are filled before the next collection, and 4 are a chunk.
    """
    rows = [reading(at, 20, NextGC=40, HeapIdle=idle, HeapSys=20 + idle) for at in (0, 10)]

    assert [code] == told("go1.12.17", *rows)


@pytest.mark.parametrize("field", ["NextGC"])
def test_before_1_13_without_a_goal_nothing_lies_above_it(field):
    rows = [dropped(at, **{field: None}) for at in (0, 10)]

    assert ["kept-for-goal/next-gc"] == told("go1.12.17", *rows)


@pytest.mark.parametrize(
    ("version", "code"),
    [
        ("go1.13.15", "starved/asleep"),
        ("go1.20.14", "starved/asleep"),
        ("go1.21", "dense-chunks"),
        ("go1.27.3", "dense-chunks"),
    ],
)
def test_dense_chunks_stay_from_1_21_on(version, code):
    assert [code] == told(version, dropped(0), dropped(10))


@pytest.mark.parametrize(("collections", "code"), [(5, "dense-chunks"), (6, "starved/asleep")])
def test_another_collection_opens_dense_chunks(collections, code):
    assert [code] == told("go1.27.3", dropped(0), dropped(10, NumGC=collections))


def test_without_a_count_of_collections_it_is_not_known_whether_chunks_are_dense():
    rows = [dropped(at, NumGC=None) for at in (0, 10)]

    assert ["unknown/no-count"] == told("go1.27.3", *rows)
    assert ["starved/asleep"] == told("go1.19.13", *rows)


def test_of_a_release_that_may_have_them_the_release_would_tell():
    maybe = GoVersion(low=GoRelease(18), high=GoRelease(25))

    assert ["unknown/no-release"] == told(maybe, dropped(0), dropped(10))
    assert ["unknown/no-release"] == told(GoVersion(), dropped(0), dropped(10))
    assert ["starved/asleep"] == told(maybe, dropped(0), dropped(10, NumGC=6))


@pytest.mark.parametrize(
    ("version", "code"),
    [
        ("go1.13.15", "starved/asleep"),
        ("go1.14", "waiting/next-collection"),
        ("go1.18.10", "waiting/next-collection"),
        ("go1.19", "starved/asleep"),
    ],
)
def test_a_pass_over_the_heap_waits_for_the_next_collection(version, code):
    """
    From 1.14 to 1.18 the scavenger passes over the heap once in a cycle: it has given back more
    than is left, so it has been there.
    """
    rows = [dropped(0), given_back(1, 60), given_back(11, 60)]

    assert ["as-intended/going-back", code] == told(version, *rows)


def test_a_pass_that_hardly_began_is_none():
    rows = [dropped(0), given_back(1, 30), given_back(11, 30)]

    assert ["as-intended/going-back", "starved/asleep"] == told("go1.16.15", *rows)


def test_a_stopped_process_gives_nothing_back():
    frame = asked("go1.27.3", dropped(0), nothing(5, is_stopped=True), dropped(10))

    assert ["starved/stopped"] == codes(frame)
    assert (
        frame["sentence"]
        .iloc[0]
        .startswith("The process was stopped, so nothing could be released. 99 MiB")
    )


def test_who_is_stopped_only_to_be_read_has_run_in_between():
    """
    A debugger, or a collector of captures, stops a process while it reads.
    """
    read_only = asked("go1.27.3", dropped(0, is_stopped=True), dropped(10, is_stopped=True))
    stopped_and_ran = asked(
        "go1.27.3", dropped(0), nothing(5, is_stopped=True), dropped(10, NumGC=6)
    )

    for frame in (read_only, stopped_and_ran):
        assert "starved/stopped" not in codes(frame)


def test_a_stop_that_holds_nothing_up_is_not_told():
    rows = [reading(0, 30), nothing(5, is_stopped=True), reading(10, 30)]

    assert ["as-intended/little"] == told("go1.27.3", *rows)


@pytest.mark.parametrize(("idle", "code"), [(14, "kept-for-goal/goal"), (14.1, "starved/asleep")])
def test_a_chunk_above_the_goal_is_within_it(idle, code):
    """
    In use 10, the goal 20 (NextGC 18.2): up to 24 is near enough.
    """
    rows = [reading(at, 10, NextGC=20 / 1.1, HeapIdle=idle, HeapSys=10 + idle) for at in (0, 10)]

    assert MIN_BYTES == 4 * MIB
    assert [code] == told("go1.19.13", *rows)


@pytest.mark.parametrize(
    ("idle", "code"), [(119.9, "kept-for-goal/goal"), (120.1, "starved/asleep")]
)
def test_a_tenth_above_the_goal_is_within_it(idle, code):
    """
    In use 100, the goal 200: up to 220 is near enough.
    """
    rows = [reading(at, 100, NextGC=200 / 1.1, HeapIdle=idle, HeapSys=100 + idle) for at in (0, 10)]

    assert [code] == told("go1.19.13", *rows)


def test_heap_in_use_above_the_goal_is_not_idle():
    """
    A heap that grows past a goal of its past has nothing to give back.
    """
    rows = [reading(at, 100, NextGC=20) for at in (0, 10)]

    assert ["as-intended/little"] == told("go1.19.13", *rows)


def test_before_the_second_collection_idle_heap_waits():
    rows = [dropped(at, NumGC=1) for at in (0, 10)]

    assert ["waiting/second-collection"] == told("go1.27.3", *rows)
    little = [reading(at, 30, 3, NumGC=1) for at in (0, 10)]
    assert ["as-intended/little"] == told("go1.27.3", *little)


def test_with_gogc_off_it_is_kept():
    off = (1 << 60) / MIB

    assert ["kept-for-goal/gogc-off"] == told(
        "go1.27.3", *(dropped(at, NextGC=off) for at in (0, 9))
    )
    little = [reading(at, 30, 3, NextGC=off) for at in (0, 10)]
    assert ["as-intended/little"] == told("go1.27.3", *little)


def test_without_next_gc_it_is_unknown():
    rows = [dropped(at, NextGC=None) for at in (0, 10)]

    assert ["unknown/no-goal"] == told("go1.27.3", *rows)


@pytest.mark.parametrize(("idle", "code"), [(3.9, "as-intended/little"), (4, "kept-for-goal/goal")])
def test_less_than_a_chunk_is_not_worth_a_word(idle, code):
    rows = [reading(at, 20, HeapIdle=idle, HeapSys=20 + idle) for at in (0, 10)]

    assert [code] == told("go1.27.3", *rows)


@pytest.mark.parametrize(
    ("rss", "code"), [(200, "kept-for-goal/goal"), (201, "as-intended/little")]
)
def test_less_than_a_tenth_of_rss_is_not_worth_a_word(rss, code):
    """
    20 MiB idle, and 176 in use: in an RSS of 200 a tenth.
    """
    rows = [reading(at, 176, 20, rss_bytes=rss) for at in (0, 10)]

    assert [code] == told("go1.27.3", *rows)


@pytest.mark.parametrize(("alloc", "code"), [(10, "fragmented"), (95, "as-intended/little")])
def test_free_slots_that_no_pacing_explains_are_fragmentation(alloc, code):
    rows = [reading(at, 100, HeapAlloc=alloc, NextGC=2 * alloc) for at in (0, 10)]

    assert [code] == told("go1.27.3", *rows)


def test_two_moments_of_a_heap_full_of_holes_lie_below_its_goal():
    """
    As recorded under Go 1.23: in use 306 MiB, objects 109, NextGC 181, and 400 retained. By NextGC
    alone the goal would be 199; the runtime's was 408, for HeapInuse peaks at 370.
    """
    rows = [
        reading(0, 513, NumGC=9, NextGC=608),
        reading(33, 306, 94, 132, HeapAlloc=109, NextGC=181, NumGC=20, rss_bytes=415),
    ]

    assert ["fragmented"] == told("go1.23.12", *rows)


def test_free_slots_up_to_next_gc_are_not():
    rows = [reading(at, 100, HeapAlloc=50, NextGC=100) for at in (0, 10)]

    assert ["as-intended/little"] == told("go1.27.3", *rows)


def test_madv_free_leaves_it_resident():
    rows = [reading(at, 20, 2, 60, rss_bytes=86, lazy_free_bytes=60) for at in (0, 10)]

    assert ["madv-free"] == told("go1.15.15", *rows)


def test_huge_pages_fill_what_was_given_back():
    rows = [reading(at, 20, 2, 60, rss_bytes=86, huge_excess_bytes=60) for at in (0, 10)]

    assert ["huge-pages"] == told("go1.21.13", *rows)


def test_what_is_not_gos_is_not_the_scavengers():
    rows = [reading(at, 20, 2, rss_bytes=90) for at in (0, 10)]

    assert ["not-go-memory"] == told("go1.27.3", *rows)


@pytest.mark.parametrize(
    ("seconds", "code"), [(PAUSE_SECONDS, "as-intended/little"), (3.1, "not-go-memory")]
)
def test_a_heap_that_grows_while_it_is_read_is_gos(seconds, code):
    """
    RSS is read after MemStats: what the next reading counts as the runtime's is no native memory.
    """
    rows = [reading(0, 20), reading(10, 20, rss_bytes=60), reading(10 + seconds, 60, rss_bytes=64)]

    assert code == told("go1.27.3", *rows)[0]


def test_the_largest_of_several_is_told():
    """
    30 MiB idle, 40 given back and resident, 20 not Go's.
    """
    rows = [reading(at, 20, 30, 60, NextGC=60, rss_bytes=114, lazy_free_bytes=40) for at in (0, 9)]

    assert ["madv-free"] == told("go1.15.15", *rows)


@pytest.mark.parametrize(
    ("version", "idle", "code"),
    [
        ("go1.27.3", 15, "limit-driven"),
        ("go1.21.13", 15, "limit-driven"),
        ("go1.18.10", 15, "kept-for-goal/goal"),
        ("go1.27.3", 6, "kept-for-goal/goal"),  # 46 MiB of the 56.8 that are left: not near
    ],
)
def test_a_limit_decides_where_it_is_near(version, idle, code):
    """
    64 MiB leave 60 for the heap, and 56.8 in the background; pacing alone would leave 88.
    """
    rows = [reading(at, 40, idle, memory_limit_bytes=64) for at in (0, 10)]

    assert [code] == told(version, *rows)


def test_a_limit_far_away_decides_nothing():
    rows = [reading(at, 40, 15, memory_limit_bytes=640) for at in (0, 10)]

    assert ["kept-for-goal/goal"] == told("go1.27.3", *rows)


def test_without_memstats_it_is_unknown():
    frame = asked("go1.27.3", nothing(0, rss_bytes=MIB), nothing(1, rss_bytes=MIB))

    assert ["unknown/no-memstats"] == codes(frame)
    assert frame["bytes"].isna().all()


@pytest.mark.parametrize("field", ["HeapSys", "HeapIdle", "HeapInuse", "Sys"])
def test_a_reading_that_lacks_a_field_is_passed_over(field):
    rows = [reading(0, 30), reading(1, 30) | {field: None}, reading(2, 30)]

    assert ["as-intended/little"] == told("go1.27.3", *rows)


def test_without_heapalloc_free_slots_are_not_known():
    rows = [reading(at, 100, HeapAlloc=None, NextGC=20) for at in (0, 10)]

    assert ["as-intended/little"] == told("go1.27.3", *rows)


def test_moments_without_memstats_are_passed_over():
    frame = asked("go1.27.3", reading(0, 30), nothing(1, rss_bytes=MIB), reading(2, 30))

    assert [("at 0", "at 2")] == list(zip(frame["before"], frame["after"], strict=True))


def test_without_a_clock_what_stays_is_held_up():
    rows = [dropped(at) | {"seconds": None} for at in (0, 1)]
    frame = asked("go1.27.3", *rows)

    assert ["dense-chunks"] == codes(frame)
    assert frame["seconds"].isna().all()


def test_an_interlude_of_a_full_heap_is_part_of_what_stands_around_it():
    """
    Just before a collection little is idle; the heap is kept as before.
    """
    kept, full = {"in_use": 20, "idle": 16}, {"in_use": 35, "idle": 1}
    rows = [reading(at, **kept) for at in (0, 1, 2)]
    rows += [reading(3, **full, NextGC=40)] + [reading(at, **kept) for at in (4, 5)]
    version = known_version("go1.27.3", "")
    frame = retention(readings(*rows), version)
    intervals = verdicts(frame, version)

    expected = ["kept-for-goal/goal"] * 2 + ["as-intended/little"] + ["kept-for-goal/goal"] * 2
    assert expected == codes(intervals)
    joined = episodes(intervals, frame)
    assert ["kept-for-goal/goal"] == codes(joined)
    assert [5] == joined["intervals"].tolist()


def test_a_long_one_is_not():
    kept, full = {"in_use": 20, "idle": 16}, {"in_use": 35, "idle": 1, "NextGC": 40}
    rows = [reading(0, **kept), reading(1, **kept), reading(4.1, **full), reading(5, **kept)]
    version = known_version("go1.27.3", "")
    frame = retention(readings(*rows), version)

    assert 3 == len(episodes(verdicts(frame, version), frame))


SIZES = st.integers(0, 300)
HEAPS = st.tuples(
    SIZES, SIZES, SIZES, st.integers(0, 3), st.one_of(st.none(), SIZES), st.one_of(st.none(), SIZES)
)


@settings(max_examples=30, deadline=None)
@given(st.lists(HEAPS, min_size=2, max_size=6), st.sampled_from(RELEASES))
def test_whatever_is_read_something_is_said(heaps, version):
    """
    One verdict an interval, in words without a number below 0.
    """
    rows = [
        reading(at, in_use, idle, released, NumGC=1 + at + more, rss_bytes=rss,
                memory_limit_bytes=limit)
        for at, (in_use, idle, released, more, rss, limit) in enumerate(heaps)
    ]  # fmt: skip
    frame = asked(version, *rows)

    assert len(rows) - 1 == len(frame)
    assert set(frame["code"]) <= set(VERDICTS)
    assert not frame["sentence"].str.contains(r"-\d|nan|NA|None|\{").any()
    assert (frame["bytes"].dropna() >= 0).all()
