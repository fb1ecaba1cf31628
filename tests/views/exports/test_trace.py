"""The GC log as a trace: what stands where on the clock, and how much there is of it."""

import itertools
import json

import pytest

from gomem.analysis.collector.steps import log_seconds, stopped_seconds
from gomem.analysis.collector.timeline import gc_scavenges
from gomem.inputs.gctrace.table import read_gctrace
from gomem.units import MIB
from gomem.views.exports.trace import render_trace
from tests.gc_logs import names, recorded

LOG = (
    b"gc 1 @1.000s 4%: 0.25+4.0+0.5 ms clock, 0.054+0.26/0.063/4.1+0.11 ms cpu, "
    b"14->20->10 MB, 16 MB goal, 2 P\n"
    b"scvg: 2 MB released\n"
    b"gc 2 @1.004s 4%: 0.25+4.0+0.5 ms clock, 0.054+0.26/0.063/4.1+0.11 ms cpu, "
    b"14->20->10 MB, 16 MB goal, 2 P (forced)\n"
)


def trace(log):
    scavenges = gc_scavenges(log.cycles, log.scavenges)
    pieces = render_trace([(log.cycles, log_seconds(log.cycles), scavenges)])
    return json.loads("".join(pieces))["traceEvents"]


def complete(events):
    return [(one["name"], one["ts"], one["dur"]) for one in events if one["ph"] == "X"]


def test_phases_follow_one_another_inside_their_collection():
    """
    The second one's start was cut to 1 ms, before the first one's end: it is drawn at that end.
    """
    assert [
        ("gc 1", 1_000_000.0, 4750.0),
        ("stop the world: sweep termination", 1_000_000.0, 250.0),
        ("mark", 1_000_250.0, 4000.0),
        ("stop the world: mark termination", 1_004_250.0, 500.0),
        ("gc 2 (forced)", 1_004_750.0, 4750.0),
        ("stop the world: sweep termination", 1_004_750.0, 250.0),
        ("mark", 1_005_000.0, 4000.0),
        ("stop the world: mark termination", 1_009_000.0, 500.0),
    ] == complete(trace(read_gctrace(LOG)))


def test_heaps_are_counters_in_bytes():
    counters = [one for one in trace(read_gctrace(LOG)) if one["name"] == "heap (bytes)"]

    assert {"at start": 14 * MIB, "live": 10 * MIB, "goal": 16 * MIB} == counters[0]["args"]
    assert [1_000_000.0, 1_004_750.0] == [one["ts"] for one in counters]


def test_a_scavenge_stands_at_the_collection_before_it():
    (scavenge,) = [one for one in trace(read_gctrace(LOG)) if one["ph"] == "i"]

    assert ("scvg", 1_000_000.0) == (scavenge["name"], scavenge["ts"])
    assert 2 * MIB == scavenge["args"]["released_bytes"]


@pytest.mark.at_most(14)
@pytest.mark.parametrize(
    "name", [name for name in names() if name.startswith(("all-", "restarted", "gogc-off"))]
)
def test_a_recorded_log_is_all_there_and_nothing_overlaps(name):
    """
    As many collections as lines, stops as long as theirs, each after the one before.
    """
    log = recorded(name).log
    events = trace(log)
    stops = [one["dur"] / 1e6 for one in events if one["name"].startswith("stop the world")]
    collections = [one for one in events if one["ph"] == "X" and one["name"].startswith("gc ")]

    assert len(log.cycles) == len(collections)
    assert stopped_seconds(log.cycles).sum() == pytest.approx(sum(stops), abs=1e-9 * len(stops))
    for before, after in itertools.pairwise(collections):
        assert before["pid"] != after["pid"] or before["ts"] + before["dur"] <= after["ts"] + 1e-3
    assert {"run 1"} <= {one["args"]["name"] for one in events if one["ph"] == "M"} or not stops


def test_a_log_of_nothing_is_a_trace_of_nothing():
    assert [] == trace(read_gctrace(b"hello\n"))
