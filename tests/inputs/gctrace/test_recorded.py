"""Recorded logs of twenty Go releases, each number against what the runtime itself said.

The runtime says it elsewhere: PauseNs, PauseEnd, NextGC and GCCPUFraction of MemStats, and
runtime/metrics, read by the same process as soon as its count of collections had changed.
"""

import numpy as np
import pytest

from gomem.releases import GoRelease
from gomem.units import MIB
from tests.gc_logs import cut_seconds, names, recorded, release_of, story_of

LOGS = names()
TORN = [name for name in LOGS if name.startswith(("noisy", "progress"))]
INTACT = [name for name in LOGS if name not in TORN]
PACER = [name for name in LOGS if name.startswith("all-")]
STOPS = ("sweep_termination_seconds", "mark_termination_seconds")
PHASES = (*STOPS, "scan_seconds", "write_barrier_seconds", "mark_seconds")
pytestmark = pytest.mark.at_most(12)  # of the logs
CLOCK_CUT = 1e-3  # `@` keeps whole milliseconds
READING = 1e-4  # from one reading of the clock to the next


def printed_mib(column):
    return column.dropna().astype("int64") // MIB


def test_there_are_at_least_fourteen_releases_and_every_way_to_log():
    stories = {story_of(name) for name in LOGS}

    assert 20 == len({release_of(name) for name in LOGS})
    assert {"plain", "all", "gogc-off", "gogc-1", "noisy", "limit", "idle", "restarted"} < stories


@pytest.mark.parametrize("name", INTACT)
def test_there_are_as_many_collections_as_the_runtime_counted(name):
    """
    At a memory limit, writing the notes brings a few more.
    """
    one = recorded(name)
    counted = sum(note["NumGC"] for note in one.notes)

    assert () == one.log.damaged
    if one.story == "limit":
        assert counted <= len(one.log.cycles) <= counted + 10
    else:
        assert counted == len(one.log.cycles)


@pytest.mark.parametrize("name", TORN)
def test_torn_lines_are_read_or_are_damage(name):
    """
    Each collection that is not read is accounted for by a broken line.
    """
    one = recorded(name)
    counted = sum(note["NumGC"] for note in one.notes)

    assert counted - len(one.log.cycles) <= len(one.log.damaged)
    assert 0.9 * counted <= len(one.log.cycles) <= counted


@pytest.mark.parametrize("name", LOGS)
def test_stops_are_the_pauses_of_memstats_as_far_as_they_are_printed(name):
    """
    PauseNs is what is printed and at most what was cut off it. In a few collections the system
    takes the CPU away between two readings of the clock: nine in ten must agree.
    """
    for run in recorded(name).runs_without_leak_checks:
        printed = run[list(STOPS)].sum(axis=1)
        cut = sum(cut_seconds(run[stop]) for stop in STOPS)
        above = run["PauseNs"] / 1e9 - printed
        if recorded(name).release < GoRelease(6):  # 1.5 counts the write barrier's stop, too
            cut += run["write_barrier_seconds"] + 1e-4
        agree = above.between(-2e-6, cut + 1e-6)
        assert agree.mean() >= 0.9 or run.empty


@pytest.mark.parametrize("name", LOGS)
def test_collections_end_when_memstats_says(name):
    """
    Start and phases together are PauseEnd, but for the clock's zero and what is cut off.
    """
    for run in recorded(name).runs_without_leak_checks:
        ends = (run["PauseEnd"] - run["PauseEnd"].min()) / 1e9
        cut = CLOCK_CUT + sum(cut_seconds(run[phase]) for phase in PHASES) + READING
        offset = ends - run["at_seconds"] - run[list(PHASES)].fillna(0).sum(axis=1)
        agree = offset - offset.min() <= cut
        assert agree.mean() >= 0.9 or run.empty


@pytest.mark.parametrize("name", LOGS)
def test_the_percentage_is_gccpufraction_in_whole_per_cent(name):
    for run in recorded(name).runs:
        latest = run[run["Latest"]]

        expected = np.floor(latest["GCCPUFraction"] * 100)

        assert list(expected) == list((latest["gc_cpu_since_start_fraction"] * 100).round())


@pytest.mark.parametrize("name", LOGS)
def test_a_goal_is_nextgc_of_the_collection_before(name):
    """
    Where a collection begins late, the runtime moves its goal above the heap it began with; Go 1.5
    prints that heap as the goal of a forced one. What is allocated between the two readings of the
    heap can move it further: nineteen in twenty must agree.
    """
    one = recorded(name)
    for run in one.runs:
        next_gc = run.loc[run["Latest"], "NextGC"]
        goals = printed_mib(run["heap_goal_bytes"]).reindex(next_gc.index + 1).dropna()
        starts = printed_mib(run["heap_at_start_bytes"]).reindex(goals.index)
        expected = next_gc.reindex(goals.index - 1).set_axis(goals.index) // MIB
        moved = (goals > expected) & goals.between(starts, starts + 1)
        if one.release < GoRelease(9):
            moved |= run["forced"].reindex(goals.index) & (goals == starts)
        assert ((goals == expected) | moved).mean() >= 0.95 or goals.empty


@pytest.mark.parametrize("name", [name for name in LOGS if release_of(name).minor >= 21])
@pytest.mark.parametrize(
    ("column", "metric"),
    [
        ("heap_live_bytes", "/gc/heap/live:bytes"),
        ("stacks_bytes", "/gc/scan/stack:bytes"),
        ("globals_bytes", "/gc/scan/globals:bytes"),
    ],
)
def test_sizes_are_those_of_runtime_metrics_in_whole_mib(name, column, metric):
    for run in recorded(name).runs:
        latest = run[run["Latest"]]

        assert list(latest[metric] // MIB) == list(latest[column] // MIB)


@pytest.mark.parametrize("name", [n for n in LOGS if release_of(n).minor <= 17 and "gogc" not in n])
def test_live_heap_is_half_of_the_next_goal(name):
    """
    Before 1.18 the goal is twice the live heap, unless that is below the smallest goal; in 1.5 the
    heap of the goal is a little later's.
    """
    smallest = 4.5 * MIB
    later = 1 if recorded(name).release < GoRelease(9) else 0
    for run in recorded(name).runs:
        latest = run[run["Latest"] & (run["NextGC"] > smallest)]
        expected = latest["NextGC"] // 2 // MIB
        away = (expected - printed_mib(latest["heap_live_bytes"])).abs()
        assert (away <= later).mean() >= 0.95 or latest.empty


@pytest.mark.parametrize("name", [name for name in LOGS if release_of(name).minor >= 20])
@pytest.mark.parametrize(
    ("column", "kind"),
    [
        ("cpu_assist_seconds", "mark/assist"),
        ("cpu_background_seconds", "mark/dedicated"),
        ("cpu_idle_seconds", "mark/idle"),
    ],
)
def test_cpu_adds_up_to_what_runtime_metrics_counts(name, column, kind):
    """
    The metric is a sum since the start; the log's sum lacks what is cut off, and no more.
    """
    for number, run in enumerate(recorded(name).runs, start=1):
        last = run.index[run["Latest"]].max()
        cycles = recorded(name).run(number).loc[:last]
        if len(cycles) < last or recorded(name).story == "progress":
            continue  # a collection was torn: the sum would lack it
        counted = run.loc[last, f"/cpu/classes/gc/{kind}:cpu-seconds"]
        printed, cut = cycles[column].sum(), cut_seconds(cycles[column]).sum()
        assert printed - 1e-5 <= counted <= (printed + cut) * 1.001 + 1e-5


@pytest.mark.parametrize("name", [n for n in LOGS if release_of(n) >= GoRelease(9)])
def test_forced_collections_are_those_of_memstats(name):
    """
    NumForcedGC was read after each FreeOSMemory. The runtime marks one more where the program
    already waits for the next: that one follows.
    """
    one = recorded(name)
    for note, run in zip(one.notes, one.runs, strict=True):
        for freed in note["freed"] or []:
            until = run.loc[: freed["NumGC"]]
            waited = until["forced"] & until["forced"].shift(-1, fill_value=False)
            if len(until) == freed["NumGC"]:
                surplus = until["forced"].sum() - freed["NumForcedGC"]
                assert 0 <= surplus <= waited.sum()


@pytest.mark.parametrize("name", PACER)
def test_released_memory_is_heapreleased_right_after_freeosmemory(name):
    """
    Until MemStats is read the program takes back a MiB at most, and the background scavenger may
    go on to give back what is idle.
    """
    one = recorded(name)
    (note,) = one.notes
    scavenges = one.log.scavenges
    totals = scavenges.loc[scavenges["forced"], "released_total_bytes"].dropna()
    freed = note["freed"]

    assert [3, 3] == [len(freed), len(totals)] or one.release < GoRelease(6)
    for heap, total in zip(freed, totals, strict=True):
        assert total - MIB <= heap["HeapReleased"] <= heap["HeapIdle"]
    assert abs(np.median([heap["HeapReleased"] for heap in freed] - totals.astype(int))) <= MIB


@pytest.mark.parametrize("name", PACER)
def test_the_pacer_names_the_same_heaps_as_the_collector(name):
    """
    Its lines stand before those of their collection.
    """
    one = recorded(name)
    cycles = one.log.cycles.set_index("number")
    pacer = one.log.pacer.assign(number=one.log.pacer["after_cycle"].fillna(0) + 1)
    begun = pacer[(pacer["kind"] == "assist") & pacer["number"].isin(cycles.index)]
    begun = begun.drop_duplicates("number", keep="first").set_index("number")
    reached = pacer[pacer["kind"].isin(["goal", "cycle"])].drop_duplicates("number", keep="last")
    reached = reached[reached["number"].isin(cycles.index)].set_index("number")
    heaps = reached["heap_live_bytes"].fillna(reached["H_a"]) // MIB

    assert 0.9 * (~cycles["forced"]).sum() <= len(begun)
    for size in ("heap_at_start_bytes", "heap_goal_bytes"):
        assert (cycles[size].reindex(begun.index) == begun[size]).mean() >= 0.9
    ends = cycles["heap_at_mark_end_bytes"].reindex(reached.index) // MIB
    assert (ends.to_numpy() == heaps.to_numpy()).mean() >= 0.9


@pytest.mark.parametrize("name", LOGS)
def test_the_forms_of_the_log_fit_the_release_that_wrote_it(name):
    one = recorded(name)
    minor = GoRelease(one.release.minor)
    forms = one.log.go_version_range

    assert (forms.low or minor) <= minor <= (forms.high or minor)


@pytest.mark.parametrize("name", [name for name in LOGS if name.startswith("restarted")])
def test_a_restart_begins_a_run(name):
    assert [1, 2] == sorted(set(recorded(name).log.cycles["run"]))


@pytest.mark.parametrize("name", [name for name in LOGS if name.startswith("idle")])
def test_two_idle_minutes_bring_a_periodic_collection(name):
    cycles = recorded(name).log.cycles
    (periodic,) = np.flatnonzero(cycles["periodic"])

    assert 120 <= cycles["at_seconds"].diff().iloc[periodic]


@pytest.mark.parametrize("name", [name for name in LOGS if name.startswith("gogc-off")])
def test_without_gogc_there_is_no_goal(name):
    """
    In 1.5, with GOGC=off there is no collection either, even if asked for.
    """
    cycles = recorded(name).log.cycles

    assert cycles["heap_goal_bytes"].isna().all()
    assert (recorded(name).release >= GoRelease(9)) == (len(cycles) > 0)
