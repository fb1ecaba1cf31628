"""What is made of the recorded logs, against what the runtime itself said of the same runs."""

import json
from functools import cache
from pathlib import Path

import pandas as pd
import pytest

from gomem.analysis.collector.cost import cost_of_collection
from gomem.analysis.collector.heap_pacing import heap_pacing
from gomem.analysis.collector.mmu import mutator_utilization
from gomem.analysis.collector.steps import ROUNDING_BYTES, gc_steps
from gomem.analysis.collector.triggers import gc_triggers
from gomem.inputs.gctrace.table import read_gctrace
from tests.builders import CAPTURES, FIXTURES
from tests.gc_logs import captured, dumps_of

STORIES = ("plain", "gogc-1", "gogc-off", "limit")
LOGS = [path for story in STORIES for path in sorted(FIXTURES.glob(f"gctrace/{story}-*.log"))]
UNLIMITED = [path for path in LOGS if not path.name.startswith("limit")]
MARKING = "/cpu/classes/gc/mark/"
BY_KIND = {"assist": "assist", "dedicated": "background", "idle": "idle"}
STOPS_FROM_THEIR_REQUEST = 23  # Go 1.x, since which the runtime counts them from when they stand


def release(path: Path) -> int:
    return int(path.name.split("-go1.")[1].split(".")[0])


@cache
def cycles_of(path: Path) -> pd.DataFrame:
    return read_gctrace(path).cycles


def truth_of(path: Path) -> dict:
    """What the runtime said after the last collection that the program looked at."""
    lines = path.with_suffix(".json").read_text().splitlines()
    return next(iter(reversed(json.loads(lines[0])["samples"])), {})


def until(path: Path) -> pd.DataFrame:
    """The collections up to that one."""
    cycles = cycles_of(path)
    return cycles[cycles["number"] <= truth_of(path).get("NumGC", 0)]


def ids(path: Path) -> str:
    return path.stem


def test_there_are_logs_of_many_releases():
    assert 14 <= len({release(path) for path in LOGS})


@pytest.mark.at_most(20)
@pytest.mark.parametrize("path", LOGS, ids=ids)
def test_cpu_by_kind_is_that_of_the_metrics(path):
    """
    Two sources, one number: runtime/metrics sum the same times up, exactly. The log cuts each to
    two digits, which takes up to a tenth off and nothing on.
    """
    metrics = truth_of(path).get("Metrics", {})

    for kind, column in BY_KIND.items():
        if (exact := metrics.get(f"{MARKING}{kind}:cpu-seconds")) is not None:
            printed = until(path)[f"cpu_{column}_seconds"].sum()
            assert 0.9 * exact <= printed <= exact + 1e-9, kind


@pytest.mark.at_most(20)
@pytest.mark.parametrize("path", LOGS, ids=ids)
def test_utilisation_is_that_of_the_runtime(path):
    """
    GCCPUFraction is what the collector took since the start, so 1 less what the program kept. Up
    to Go 1.22 both count a stop from its request; since then the log alone does, and so the
    program kept at least what is said here.
    """
    truth = truth_of(path).get("GCCPUFraction", 0)
    cycles = until(path)
    if not truth or cycles.empty:
        assert release(path) < 9 or cycles.empty
        return

    taken = 1 - mutator_utilization(cycles).mean_fraction

    assert 0.9 * truth <= taken
    if release(path) < STOPS_FROM_THEIR_REQUEST:
        assert taken <= truth * 1.03


@pytest.mark.at_most(8)
@pytest.mark.parametrize("path", UNLIMITED, ids=ids)
def test_without_a_memory_limit_no_collection_is_a_limits(path):
    """
    Whatever GOGC is, 1 or 100 or off, and whatever the release: no false alarm.
    """
    counts = gc_triggers(cycles_of(path)).counts.set_index("trigger")["cycles"]

    assert 0 == counts["limit"]


@pytest.mark.parametrize("path", sorted(set(LOGS) - set(UNLIMITED)), ids=ids)
def test_with_gogc_off_and_a_limit_collections_are_the_limits(path):
    """
    These ran with GOGC=off and GOMEMLIMIT=24MiB. Known GOGC tells it of all but a run's first
    collections; where it must be inferred, of those that the first goal lets know.
    """
    cycles = cycles_of(path)
    unforced = int((~cycles["forced"]).sum())

    known = gc_triggers(cycles, float("inf")).counts.set_index("trigger")["cycles"]
    inferred = gc_triggers(cycles).counts.set_index("trigger")["cycles"]

    assert unforced - 1 <= known["limit"] <= unforced
    assert inferred["limit"] <= known["limit"]
    if release(path) > 19:  # there the first collection began above its goal, which hides GOGC
        assert 0.9 * unforced <= inferred["limit"]


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
def test_what_was_allocated_is_total_alloc(path):
    """
    Two sources, one number: MemStats count every byte. What the log makes of it up to the last
    collection before a dump is less, and up to the next one more, give or take the rounding.
    """
    cycles, memstats = captured(path).cycles, dumps_of(path)
    steps = gc_steps(cycles)
    allocated = (steps["heap_grown_bytes"] + steps["heap_freed_bytes"]).cumsum()
    first = int(cycles["heap_at_start_bytes"].iloc[0])

    for collections, exact in zip(memstats["NumGC"], memstats["TotalAlloc"], strict=True):
        if not collections:
            continue
        rounding = (collections + 2) * ROUNDING_BYTES
        before = first + (int(allocated.iloc[collections - 2]) if collections > 1 else 0)
        assert before - rounding <= exact
        if collections - 1 < len(allocated):
            assert exact <= first + int(allocated.iloc[collections - 1]) + rounding


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
def test_the_room_of_the_last_goal_is_that_of_memstats(path):
    """
    NextGC is the goal that the log prints with the next collection: less the live heap, the same
    room, each size cut to 1 MiB.
    """
    cycles, memstats = captured(path).cycles, dumps_of(path)
    pacing = heap_pacing(cycles).cycles.set_index("number")["headroom_bytes"]
    live = cycles.set_index("number")["heap_live_bytes"]

    for collections, goal in zip(memstats["NumGC"], memstats["NextGC"], strict=True):
        if not pd.isna(pacing.get(collections)):
            assert abs(goal - live[collections] - pacing[collections]) < 2 * ROUNDING_BYTES


def test_a_share_of_marking_is_less_than_of_all():
    summary = cost_of_collection(cycles_of(LOGS[0]))

    assert 0 < summary.marking_cpu_fraction < summary.gc_cpu_fraction
