"""One quantity has one number on a page: what stands in two places agrees, or is named apart."""

import pytest

from gomem.analysis.collector.cost import cost_of_collection
from gomem.analysis.collector.phases import gc_phases
from gomem.analysis.memory.groups import LIVE
from gomem.analysis.memory.live_heap import PROFILES
from gomem.analysis.memory.readings import ALL
from gomem.facts.live_heap import live_heap_by_run
from gomem.inputs.gctrace.table import read_gctrace
from gomem.text import Bytes, Rate
from gomem.units import MIB
from tests.builders import CAPTURES, FIXTURES, diagnosed

LABORATORY = FIXTURES / "laboratory" / "captures"
GROWING = ("barcoded-a", "clinicd-g", "courierd-d", "homeworkd-b", "mailboxd-b", "ringerd-a")
RECORDED = [*CAPTURES, *(LABORATORY / f"{name}.tar.gz" for name in GROWING)]
LOGS = sorted((FIXTURES / "gctrace").glob("*.log"))


@pytest.fixture(params=RECORDED, ids=lambda path: path.name)
def recorded(request):
    return diagnosed(request.param)


def value_of(finding, *fields):
    """The evidence of the first of these fields, or fields that end so."""
    rows = [row for name in fields for row in finding.evidence if row.field.endswith(name)]
    return rows[0].value if rows else None


@pytest.mark.at_most(3)
def test_what_grows_with_a_rate_has_reached_its_last_reading(recorded):
    for finding in recorded.findings:
        rates = finding.title.of(Rate)
        last = value_of(finding, ", median of the last 10 % of readings", ", last")
        if rates and last is not None:
            reached = value_of(finding, ", last", ", median of the last 10 % of readings")
            assert reached in [size.value for size in finding.title.of(Bytes)]


def test_the_slope_in_evidence_is_the_rate_in_the_title_and_lies_between_its_bounds(recorded):
    for finding in recorded.findings:
        slope = value_of(finding, "slope")
        low, high = (value_of(finding, f"slope, {end}") for end in ("low", "high"))
        if slope is not None and finding.title.of(Rate):
            said = finding.title.of(Rate)[0].value
            assert said in {slope, low} or (low is not None and low <= 0 and said == high)
            assert low is None or low <= slope <= high


def test_what_is_still_growing_does_so_at_the_rate_of_its_level_within_its_bounds(recorded):
    account = recorded.facts.account
    whole = [row for row in recorded.observations if row.group == "+".join(sorted(ALL))]
    for row in whole:
        for rate in row.sentence.of(Rate):
            rise = account.rise(ALL)
            assert rise.low <= rate.value == rise.rate <= rise.high


def test_the_live_heap_that_growth_has_reached_is_what_the_last_snapshot_shows(recorded):
    """
    Not the median of the last tenth of the GCs: but in a burst, which the level leaves out.
    """
    account, live = recorded.facts.account, recorded.facts.live_heap
    if account is None or live is None or live.rise is None or live.burst_at_end is not None:
        return
    shown = account.last.likely.parts[LIVE]
    for finding in recorded.findings:
        if finding.code == "heap-growth" and shown.width < MIB:
            reached = [size.value for size in finding.title.of(Bytes)]
            assert any(shown.around(2 * MIB).holds(size, tolerance=0) for size in reached)


def test_headroom_is_what_its_evidence_leaves_above_the_live_heap(recorded):
    for finding in recorded.findings:
        counted = value_of(finding, "resident heap up to the goal")
        if finding.code == "heap-headroom" and counted is not None:
            live = finding.evidence[0].value
            assert abs(finding.bytes - (counted - live)) <= 1


@pytest.mark.at_most(6)
@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.name)
def test_a_log_of_one_phase_has_its_numbers(path):
    """
    A phase that holds all collections has the log's interval, its CPU and its allocation rate.
    """
    cycles = read_gctrace(path).cycles
    phases, cost = gc_phases(cycles), cost_of_collection(cycles)
    if len(phases) != 1 or cost.cycles < 2 or cost.seconds <= 0:
        return
    (phase,) = phases.to_dict("records")

    assert (cost.cycles, cost.interval.p50) == (phase["cycles"], phase["interval_p50_seconds"])
    assert pytest.approx(cost.seconds) == phase["end_seconds"] - phase["begin_seconds"]
    if cost.gc_cpu_fraction is not None:
        assert pytest.approx(cost.gc_cpu_fraction) == phase["gc_cpu_fraction"]
    rate = cost.allocation_rate.value
    assert rate is None or pytest.approx(rate) == phase["allocation_rate_bytes_per_second"]


def test_the_live_heap_has_one_slope_with_one_interval_in_the_finding_and_in_the_log(recorded):
    live, runs = recorded.facts.live_heap, live_heap_by_run(recorded.facts)
    for finding in recorded.findings:
        if finding.code != "heap-growth" or live is None or live.rises_between_bursts or not runs:
            continue
        said = tuple(value_of(finding, field) for field in ("slope", "slope, low", "slope, high"))
        run = runs[-1]
        if live.level.source != PROFILES and run.slope_low is not None:
            assert said == (run.slope_bytes_per_second, run.slope_low, run.slope_high)


def test_the_first_and_the_last_value_of_a_rise_name_the_file_that_has_it(recorded):
    said = {(str(row.field), row.artefact) for each in recorded.findings for row in each.evidence}
    for first, last in (
        (f"{what}, first", f"{what}, last") for what in ("StackInuse", "HeapAlloc")
    ):
        ends = [{path for field, path in said if field == name} for name in (first, last)]
        assert not (ends[0] & ends[1])
