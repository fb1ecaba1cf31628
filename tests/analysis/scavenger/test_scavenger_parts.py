"""What the scavenger did over a capture, each part of the answer by hand."""

import pandas as pd
import pytest

from gomem.analysis.memory.ledger_change import change_ledger
from gomem.analysis.scavenger.retention import LogCycle, log_cycles
from gomem.analysis.scavenger.scavenger import (
    CPU_CLASSES,
    ScavengerCpu,
    _cpu,
    _forced_by,
    _freed,
    heap_return,
    scavenger,
)
from gomem.analysis.scavenger.sentences import LITTLE, sentence_of
from gomem.releases import known_version
from gomem.units import MIB
from tests.analysis.scavenger.readings_of_heap import nothing, reading, readings
from tests.builders import memstats_row
from tests.gc_logs import cycles_of

GO = known_version("go1.27.3", "the test")
NOTHING = "Nothing was returned to the OS"


# CPU


def spent(*rows):
    return pd.DataFrame(rows, columns=list(CPU_CLASSES.values()))


def test_cpu_is_that_between_the_first_reading_and_the_last():
    found = _cpu(spent((1, 2, 100), (None, None, None), (3, 2.5, 120)))

    assert ScavengerCpu(2.0, 0.5, 20.0) == found
    assert 0.125 == found.fraction


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param(None, id="no metrics"),
        pytest.param([(1, 2, 100)], id="one moment"),
        pytest.param([(1, 2, 100), (3, None, 120)], id="one that says it all"),
        pytest.param([(1, 2, 100), (0.5, 2, 120)], id="two processes"),
    ],
)
def test_cpu_is_not_known(rows):
    assert _cpu(None if rows is None else spent(*rows)) is None


@pytest.mark.parametrize(("available", "fraction"), [(0.0, None), (0.5, 1.0)])
def test_a_share_needs_time(available, fraction):
    assert fraction == ScavengerCpu(0.25, 0.25, available).fraction


def test_two_readings_of_one_time_are_no_restart():
    assert ScavengerCpu(0.0, 0.0, 0.0) == _cpu(spent((1, 2, 100), (1, 2, 100)))


# Calls of FreeOSMemory


FORCED = {"forced": " (forced)"}


def lines(*rows):
    names = ["line", "event", "forced", "released_bytes", "released_eager_bytes", "run"]
    return pd.DataFrame([(*row, 1) for row in rows], columns=names)


def test_a_call_stands_with_the_collection_that_it_forced():
    """
    Its line may stand before the collection's or behind it; a line of the background's is no call,
    and one that does not say how much is none either.
    """
    cycles = cycles_of({}, FORCED, {}, FORCED, first=1, last=2, assist=100, background=300,
                       idle=900)  # fmt: skip
    cycles["line"] = [1, 3, 5, 9]

    freed = _freed(
        cycles,
        lines(
            (4, "scav", True, 5.0, None), (6, "scav", False, 7.0, None),
            (8, "scav", True, None, 6.0), (12, "scav", True, None, None),
        ),
    )  # fmt: skip

    assert [2, 4] == freed["number"].tolist()
    assert [5, 6] == freed["released_bytes"].tolist()
    assert [0.003] * 2 == pytest.approx(freed["stopped_seconds"].tolist())
    assert [0.001] * 2 == pytest.approx(freed["mark_seconds"].tolist())
    assert [0.4] * 2 == pytest.approx(freed["cpu_seconds"].tolist())


def test_a_call_whose_collection_is_not_in_the_log_has_no_cost():
    freed = _freed(cycles_of({}), lines((4, "scav", True, 5.0, None)))

    assert [5] == freed["released_bytes"].tolist()
    assert freed[["number", "stopped_seconds", "mark_seconds", "cpu_seconds"]].isna().all(axis=None)
    assert _freed(None, lines((4, "scav", True, 5.0, None))).empty
    assert _freed(cycles_of({}), None).empty


@pytest.mark.parametrize(
    ("event", "at", "number"),
    [
        pytest.param("scav", 4, 1, id="behind it"),
        pytest.param("scav", 7, 2, id="before it"),
        pytest.param("scav", 6, None, id="as near to two"),
        pytest.param("scvg", 5, 1, id="nearer to the one before"),
        pytest.param("scvg", 6, 2, id="nearer with its second line"),
    ],
)
def test_the_nearest_forced_collection_is_a_calls(event, at, number):
    """
    Forced ones stand in lines 3 and 9; of scvg there are two lines.
    """
    forced = pd.DataFrame({"number": [1, 2], "line": [3, 9]})

    found = _forced_by(forced, {"line": at, "event": event})["number"].tolist()

    assert ([] if number is None else [number]) == found


# The whole answer


def test_what_a_log_says_of_each_collection():
    cycles = cycles_of({}, {"goal": 30})
    cycles["heap_goal_bytes"] = cycles["heap_goal_bytes"].astype("Int64")
    cycles.loc[0, "heap_goal_bytes"] = pd.NA

    assert {1: LogCycle(19 * MIB, None), 2: LogCycle(19 * MIB, 30 * MIB)} == log_cycles(cycles)
    assert {} == log_cycles(None) == log_cycles(cycles.assign(number=1))


def test_what_a_call_would_free_is_what_is_idle_at_the_last_moment():
    """
    And at most all that is retained; moments without MemStats say nothing of it.
    """
    rows = readings(
        reading(0, 10, 100, lazy_free_bytes=3), reading(5, 20, 40, lazy_free_bytes=2), nothing(9)
    )

    found = scavenger(rows, GO)
    silent = scavenger(readings(nothing(0), nothing(5)), GO)

    assert (40 * MIB, 60 * MIB, 2 * MIB) == (
        found.would_free_bytes, found.may_free_bytes, found.lazy_free_bytes,
    )  # fmt: skip
    assert silent.would_free_bytes is silent.may_free_bytes is silent.lazy_free_bytes is None


@pytest.mark.parametrize(
    ("limits", "has_no_limit", "applies"),
    [
        ((None, None), False, "unknown"), ((None, None), True, "no"), ((None, 90), False, "yes"),
        ((90, None), True, "yes"),
    ],
)  # fmt: skip
def test_a_limits_goal_holds_where_one_is_set(limits, has_no_limit, applies):
    rows = readings(*(reading(at, 9, 9, memory_limit_bytes=one) for at, one in enumerate(limits)))

    goals = {
        goal.name: goal.applies for goal in scavenger(rows, GO, has_no_limit=has_no_limit).goals
    }

    assert applies == goals["limit-background"]


# Releases and moments


def test_the_last_row_of_a_moment_counts_and_nothing_is_in_excess_below_nothing():
    rows = pd.DataFrame([
        memstats_row(HeapInuse=size, HeapIdle=4, NextGC=100) for size in (5, 6, 7)
    ]).assign(moment=["1", "1", "2"])  # fmt: skip

    heap = heap_return(rows, pd.DataFrame({"kind": [], "moment": [], "LazyFree": [], "Rss": []}))

    assert [("1", 6, 0), ("2", 7, 0)] == list(
        zip(heap["moment"], heap["HeapInuse"], heap["excess_bytes"], strict=True)
    )
    assert heap["arena_rss_bytes"].isna().all()


def test_what_is_in_use_beyond_the_goal_is_not_in_excess():
    rows = memstats_row(
        HeapAlloc=300, HeapInuse=300, HeapIdle=40, HeapReleased=10, NextGC=100, NumGC=2
    )
    mappings = pd.DataFrame({
        "kind": ["go-heap", "go-heap", "binary"], "moment": ["1", "1", "1"],
        "LazyFree": pd.array([3, 4, 9], "Int64"), "Rss": pd.array([30, 40, 90], "Int64"),
    })  # fmt: skip

    (heap,) = heap_return(rows.to_frame().T.assign(moment="1"), mappings).to_dict("records")

    assert (30, 330, 30) == (
        heap["idle_kept_bytes"], heap["retained_bytes"], heap["excess_bytes"],
    )  # fmt: skip
    assert (110, 7, 70) == (heap["goal_bytes"], heap["lazy_free_bytes"], heap["arena_rss_bytes"])


# In words


def words_of(case, before=None, **after):
    rows = {"seconds": 0.0, "HeapReleased": 0, "retained_bytes": 50} | (before or {})
    return sentence_of(rows, {"seconds": 2.0, "HeapReleased": 0, "retained_bytes": 50} | after,
                       case, 8 * MIB)  # fmt: skip


@pytest.mark.parametrize(
    ("goal", "words"),
    [(None, "release memory at the limit itself"), (5, "down to 0.95 × GOMEMLIMIT")],
)
def test_what_keeps_to_a_limit_is_said(goal, words):
    said = words_of(("limit-driven", ""), mapped_bytes=60 * MIB, memory_limit_bytes=64 * MIB,
                    limit_goal_bytes=goal)  # fmt: skip

    assert "GOMEMLIMIT (64 MiB): 60 MiB is mapped and not released" in said
    assert words in said


@pytest.mark.parametrize(
    ("retained", "paced", "by", "words"),
    [
        (
            22,
            22,
            "steady",
            "retained heap is 22 MiB, and the scavenger's goal is at most 22 MiB",
        ),
        (
            23,
            22,
            "collection",
            "(set at the last GC). The other 1 MiB is above the goal, by less than 10 %",
        ),
        (22, 22, None, "the scavenger's goal is at most 22 MiB"),
        (21.99, 22, "collection", "retained heap is at the scavenger's goal of 22 MiB"),
        (22, 30, "steady", "(set by GOMEMLIMIT)"),
    ],
)
def test_what_is_kept_for_a_goal_is_said_with_what_makes_it(retained, paced, by, words):
    said = words_of(("kept-for-goal", "goal"), retained_bytes=retained * MIB,
                    above_goal_bytes=max(0, retained - 22) * MIB, goal_bytes=22 * MIB,
                    paced_goal_bytes=paced * MIB, paced_by=by)  # fmt: skip

    assert words in said


@pytest.mark.parametrize(
    ("alloc", "slots"),
    [(2, "10 MiB of HeapInuse (12 MiB) is free slots; the next GC starts before 8 MiB"),
     (4, "8 MiB of HeapInuse (12 MiB) is free slots. Go")],
)  # fmt: skip
def test_free_slots_are_said_and_those_beyond_the_goal_apart(alloc, slots):
    said = words_of(("fragmented", ""), HeapInuse=12 * MIB, HeapAlloc=alloc * MIB)

    assert said.startswith(slots)


@pytest.mark.parametrize(
    ("released", "seconds", "words"),
    [
        (4, 2.0, ("4 MiB was released in 2 s. ", " and should follow in 4 s at this rate.")),
        (4, None, ("4 MiB was released between these snapshots. ", " and should follow.")),
        (0, 2.0, (f"{NOTHING} in 2 s. ", ": the scavenger sleeps between its steps.")),
    ],
)  # fmt: skip
def test_what_goes_back_is_said_with_how_long_the_rest_takes(released, seconds, words):
    before, goal = {"retained_bytes": 90 * MIB}, "(scavenger's goal: 22 MiB retained)"

    assert f"8 MiB of idle heap is still due for release {goal}".join(words) == words_of(
        ("as-intended", "going-back"), before, HeapReleased=released * MIB, seconds=seconds,
        retained_bytes=(90 - released) * MIB, goal_bytes=22 * MIB, idle_resident_bytes=8 * MIB,
    )  # fmt: skip


def test_how_much_of_the_excess_can_be_resident_is_said_where_that_is_less():
    said = words_of(("dense-chunks", ""), goal_bytes=22 * MIB, idle_resident_bytes=3 * MIB)

    assert "8 MiB of idle heap is due for release (scavenger's goal: 22 MiB retained)." in said
    assert "At most 3 MiB of that is in RSS." in said


@pytest.mark.parametrize(
    ("size", "rss", "words"),
    [
        (3, None, "3 MiB of heap is idle."),
        (8, 100, "8 MiB of heap is idle, under a tenth of RSS."),
        (8, None, "8 MiB of heap is idle, under a tenth of what Go has mapped."),
        (0, 100, "Almost no idle heap is left to release."),
    ],
)
def test_why_little_idle_heap_is_not_asked_about(size, rss, words):
    rows = {"seconds": 0.0}, {"seconds": 2.0, "rss_bytes": rss}

    assert sentence_of(*rows, LITTLE, size * MIB).endswith(words)


# How much a fall must be


@pytest.mark.parametrize(("after", "verdict"), [(98, "allocation"), (98.1, "unchanged")])
def test_a_fall_is_one_from_2_per_cent_of_the_larger_side_on(after, verdict):
    sizes = [int(size * MIB) for size in (100, after)]
    ledgers = [pd.DataFrame({"part": ["heap_objects"], "bytes": [size]}) for size in sizes]

    assert verdict == change_ledger(*ledgers, *sizes).verdict
