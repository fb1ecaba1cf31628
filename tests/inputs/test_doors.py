"""One process, read through every door that it has: all say the same of it.

No collection ran between the readings, and MemStats stand before the first and behind the last. So
what only grows lies between these two in every door; in between the program allocates the texts
that it dumps, which is the one race there is.
"""

import pandas as pd
import pytest

import gomem
from gomem.inputs.metrics.table import memstats_of_metrics
from tests.builders import FIXTURES

DOORS = FIXTURES / "doors"
RELEASES = sorted(path.name for path in DOORS.iterdir())
# Without a collection these only grow. Stacks do not: a goroutine that gathers the page ends, and
# its stack is given back to the heap; and what is idle the scavenger gives back at any time.
GROW = (
    "Alloc", "TotalAlloc", "Mallocs", "Frees", "HeapAlloc", "HeapInuse", "HeapObjects",
    "MSpanInuse", "MSpanSys", "MCacheSys", "BuckHashSys", "GCSys", "Sys", "NumGC", "NumForcedGC",
)  # fmt: skip
# Up to Go 1.18 runtime/metrics count a span that a P has taken as full ("assume all objects from
# this span will be allocated", mcache.go); ReadMemStats puts that right, metrics.Read does not.
COUNTS_WHOLE_SPANS = {"go1.16.15", "go1.18.10"}
OF_OBJECTS = {"Alloc", "TotalAlloc", "Mallocs", "Frees", "HeapAlloc", "HeapObjects"}
FIXED = ("PauseTotalNs", "NumGC")
LAST_GC = pd.Timedelta(nanoseconds=256)  # what a float of seconds resolves


def door(release, name):
    path = next((DOORS / release).glob(f"{name}*"), None)
    return None if path is None else gomem.read(path)


def rows_of(release):
    """MemStats by door."""
    doors = {
        "expvar": door(release, "vars.json").stats,
        "page": door(release, "metrics.prom").stats,
        "%+v": door(release, "memstats-plus-v").stats,
        "%#v": door(release, "memstats-sharp-v").stats,
        "debug=1": door(release, "heap.txt").memstats.stats,
    }
    if (page := door(release, "metrics.om")) is not None:
        doors["OpenMetrics"] = page.stats
        doors["runtime/metrics of the page"] = memstats_of_metrics(page.values)
    if (metrics := door(release, "metrics.json")) is not None:
        doors["runtime/metrics"] = memstats_of_metrics(metrics.values)
    return {name: frame.iloc[-1] for name, frame in doors.items() if len(frame)}


def of_metrics(name):
    return "page" in name or "metrics" in name.lower()


def test_there_are_at_least_eight_releases():
    assert 8 <= len(RELEASES)


@pytest.mark.at_most(5)
@pytest.mark.parametrize("release", RELEASES)
def test_every_door_lies_between_memstats_before_and_behind(release):
    first, last = (door(release, name).stats.iloc[0] for name in ("memstats.json", "last.json"))
    assert first["NumGC"] == last["NumGC"]

    wrong = [
        (name, field, value, first[field], last[field])
        for name, row in rows_of(release).items()
        for field in GROW
        if field in row and not pd.isna(value := row[field])
        if not (release in COUNTS_WHOLE_SPANS and of_metrics(name) and field in OF_OBJECTS)
        if not min(first[field], last[field]) <= value <= max(first[field], last[field])
    ]

    assert [] == wrong


@pytest.mark.at_most(5)
@pytest.mark.parametrize("release", RELEASES)
def test_what_no_allocation_moves_is_the_same_through_every_door(release):
    """
    Exactly, but for the end of the last collection where it is a float of seconds.
    """
    first = door(release, "memstats.json").stats.iloc[0]

    for name, row in rows_of(release).items():
        for field in FIXED:
            if field in row and not pd.isna(row[field]):
                assert first[field] == row[field], (name, field)
        if "LastGC" in row:
            resolution = LAST_GC if of_metrics(name) else pd.Timedelta(0)
            assert abs(row["LastGC"] - first["LastGC"]) <= resolution, name


@pytest.mark.parametrize("release", sorted(COUNTS_WHOLE_SPANS))
def test_where_whole_spans_are_counted_objects_never_exceed_them(release):
    """
    The race is bounded: objects are too many by free slots, and stay within the spans in use.
    """
    for row in rows_of(release).values():
        assert row["HeapAlloc"] <= row["HeapInuse"]


@pytest.mark.at_most(5)
@pytest.mark.parametrize("release", RELEASES)
def test_every_door_adds_up(release):
    """
    Sys is the sum of its parts, and the heap is what is used and what is idle: to the byte.
    """
    parts = ("HeapSys", "StackSys", "MSpanSys", "MCacheSys", "BuckHashSys", "GCSys", "OtherSys")
    for name, row in rows_of(release).items():
        if all(field in row and not pd.isna(row[field]) for field in ("Sys", *parts, "HeapIdle")):
            assert row["Sys"] == sum(row[part] for part in parts), name
            assert row["HeapSys"] == row["HeapInuse"] + row["HeapIdle"], name
            assert row["HeapReleased"] <= row["HeapIdle"], name


@pytest.mark.parametrize("release", RELEASES)
def test_both_printed_forms_are_the_same_dump(release):
    """
    %+v and %#v of one struct: to the last field, the pauses and the size classes.
    """
    plain, sharp = (door(release, f"memstats-{form}-v") for form in ("plus", "sharp"))

    assert () == plain.damaged == sharp.damaged
    pd.testing.assert_frame_equal(plain.stats, sharp.stats)
    pd.testing.assert_frame_equal(plain.pauses, sharp.pauses)
    pd.testing.assert_frame_equal(plain.size_classes, sharp.size_classes)
    assert 61 == len(plain.size_classes)
    assert plain.stats["NumGC"].iloc[0] == len(plain.pauses)


@pytest.mark.parametrize("release", RELEASES)
def test_every_door_names_the_same_release_and_rss(release):
    page = door(release, "metrics.prom")

    assert release == page.go_version
    vm_rss = door(release, "status").status["VmRSS"].iloc[0]
    rss = page.process["process_resident_memory_bytes"].iloc[0]
    # Between the two the program reads through the other doors, and the scavenger gives back.
    assert abs(rss - vm_rss) < 0.2 * vm_rss
    assert 21 < page.process["go_goroutines"].iloc[0] + 2
