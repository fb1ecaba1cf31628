"""The collector's figures: what was drawn, at forty collections and at four hundred thousand."""

from functools import cache
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from gomem.analysis.collector.mmu import WINDOWS_SECONDS, mutator_utilization
from gomem.analysis.collector.pauses import gc_pauses
from gomem.analysis.collector.timeline import WINDOWS, gc_timeline
from gomem.capture.load import load
from gomem.charts.chart import Rule
from gomem.diagnosis.diagnosis import diagnose
from gomem.units import MIB
from gomem.views.document import Figure, Folded, Table
from gomem.views.figures.gc_activity import plot_gc_activity
from gomem.views.figures.gc_timeline import plot_gc_timeline
from gomem.views.figures.mmu import plot_mmu
from gomem.views.figures.pauses import plot_gc_pauses
from gomem.views.figures.scavenges import plot_gc_scavenges
from gomem.views.report.collector import collector_section
from gomem.views.report.collector_tables import (
    activity_table,
    histogram_table,
    live_heap_table,
    mmu_table,
    scavenges_table,
    timeline_table,
    times_table,
)
from tests.builders import CAPTURES, FIXTURES, as_text, diagnosed
from tests.charts import marks
from tests.gc_logs import captured_facts, cycles_of, facts_of

MANY = 400_000
LARGEST_SVG = 150_000  # characters: a page of five such figures still opens at once
SCAV = "\nscav 64 KiB work (bg), 0 KiB work (eager), 128 KiB now, 75% util"
SCAVENGED = b"scvg: inuse: 3, idle: 60, sys: 63, released: 57, consumed: 6 (MB)\n"
OLD_FORM = FIXTURES / "pasted" / "forms" / "gctrace-go1.3.txt"


@cache
def many_cycles() -> pd.DataFrame:
    """A day of collections, one of them with a long stop, one with a high heap."""
    cycles = cycles_of({}).loc[np.zeros(MANY, dtype=int)].reset_index(drop=True)
    rng = np.random.default_rng(1)
    cycles["number"] = np.arange(1, MANY + 1)
    cycles["at_seconds"] = rng.uniform(0.05, 0.4, MANY).cumsum().round(3)
    cycles["mark_termination_seconds"] = rng.exponential(0.0001, MANY)
    cycles["heap_live_bytes"] = rng.integers(9, 12, MANY) * MIB
    cycles.loc[123_456, "mark_termination_seconds"] = 0.5
    cycles.loc[234_567, "heap_at_mark_end_bytes"] = 999 * MIB
    return cycles


def legend(drawing):
    return drawing.chart.legend.labels


def tops(panel):
    """The highest point of each filled area."""
    return [float(np.nanmax(area.high)) for area in marks.areas(panel)]


def ends(stems):
    """Where stems drawn as one line end."""
    return list(stems.y[1::3])


def test_forty_collections_are_saw_teeth():
    """
    From the live heap of 10 MiB up to the 18 at which the next one begins; it ends at 19.
    """
    drawing = plot_gc_timeline(gc_timeline(cycles_of(*[{}] * 40)))
    heap, pauses = drawing.chart.panels

    assert ["allocated since the last GC", "live heap", "goal"] == legend(drawing)
    assert [19 * MIB, 10 * MIB] == tops(heap)
    (goal,) = marks.lines(heap)
    assert {20 * MIB} == set(goal.y)
    stems, dots = marks.lines(pauses)
    assert 40 == len(dots.y)
    assert list(dots.y) == ends(stems)


def test_of_four_hundred_thousand_collections_no_peak_is_lost():
    """
    One stop of 500 ms and one heap of 999 MiB stand in the figure, which is as small as any other;
    the line is the median of each column, and so a usual stop of 10 and some 70 µs.
    """
    drawing = plot_gc_timeline(gc_timeline(many_cycles()))
    heap, pauses = drawing.chart.panels

    assert 999 * MIB == max(tops(heap))
    assert [0.50001] == pytest.approx(tops(pauses))
    (median,) = marks.lines(pauses)
    assert WINDOWS + 1 == len(set(median.x))
    assert 0.00006 < min(median.y) < max(median.y) < 0.0001
    assert len(drawing.svg()) < LARGEST_SVG


def test_a_restart_is_marked():
    cycles = cycles_of({}, {}, {"number": 1, "at": 0.5})

    heap = plot_gc_timeline(gc_timeline(cycles)).chart.panels[0]

    assert ["restart"] == marks.words(heap)


def test_of_very_many_restarts_there_is_a_number():
    """
    A container that is restarted all day: as many lines would cover the figure.
    """
    facts = facts_of(*[{"number": 1}] * 30)

    heap = plot_gc_timeline(facts.timeline).chart.panels[0]

    assert ["29 restarts"] == marks.words(heap)
    assert not any(isinstance(one, Rule) for one in heap.marks)


def test_of_very_many_runs_the_longest_have_a_row():
    """
    Thirty processes of one collection each, and one, the last, that is watched for a second.
    """
    facts = facts_of(*[{"number": 1}] * 31, {"number": 2})

    table = live_heap_table(facts.live)

    assert 24 == len(table.rows)
    assert "run 31" == table.rows[-1][0].text
    assert table.caption.endswith("the longest 24 of 31 runs")


def test_a_log_without_a_goal_is_drawn_without_one():
    drawing = plot_gc_timeline(gc_timeline(cycles_of({}, {}, goal=17592186044415)))

    (goal,) = marks.lines(drawing.chart.panels[0])
    assert np.isnan(goal.y).all()


def test_cpu_is_stacked_in_cores():
    """
    In each second 0.3 ms of assists, 0.7 of workers, 0.5 idle, nothing stopped: 1.5 ms.
    """
    drawing = plot_gc_activity(gc_timeline(cycles_of({}, {}, {})))

    assert ["pauses", "mark assists", "background workers", "idle marking"] == legend(drawing)
    assert [0.0, 0.0003, 0.001, 0.0015] == pytest.approx(tops(drawing.chart.panels[0]))


def test_the_activity_of_many_collections_is_small_too():
    assert len(plot_gc_activity(gc_timeline(many_cycles())).svg()) < LARGEST_SVG


def test_bars_are_collections():
    """
    Two stops of 1.01 ms and one of 100: bars of two and of one.
    """
    pauses = gc_pauses(cycles_of({"first": 1}, {"first": 1}, {"first": 100}))

    panel = plot_gc_pauses(pauses).chart.panels[0]

    assert [2, 1] == [bar.height for bar in marks.bars(panel)]
    assert ["pause", "p50 1.02 ms", "p99 100 ms"] == marks.words(panel)


def test_one_collection_has_no_interval_to_draw():
    stopped, interval = plot_gc_pauses(gc_pauses(cycles_of({}))).chart.panels

    assert 1 == len(marks.bars(stopped))
    assert [] == marks.bars(interval)


def test_the_curve_has_a_point_for_each_window_that_fits():
    """
    Three seconds of log: 13 windows up to 10 s, of which those of 5 and 10 s do not fit.
    """
    utilization = mutator_utilization(cycles_of({}, {}, {}))

    (curve,) = marks.lines(plot_mmu(utilization).chart.panels[0])

    assert list(WINDOWS_SECONDS[:11]) == list(curve.x)
    assert "–" == mmu_table(utilization).rows[-1][1].text


def test_the_scavengers_lines_are_drawn_where_they_stand():
    facts = facts_of({}, {"after": SCAV}, {}, {"after": SCAV})

    total, work = plot_gc_scavenges(facts.scavenges, 5.0).chart.panels

    assert [2.0, 4.0] == list(marks.lines(work)[0].x[::3])
    assert 128 * 1024 == tops(total)[0]
    said = plot_gc_scavenges(facts.scavenges, 5.0).description
    assert "2 scavenger lines" in said
    assert "128 KiB" in said


def diagnosis_of(collector):
    facts = SimpleNamespace(collector=collector, live_heap=None)
    return SimpleNamespace(collector=collector, facts=facts, owners="RSS by owner")


@pytest.mark.parametrize("count", [1, 2, 40, 1000])
def test_every_figure_has_its_numbers_below(count):
    """
    However many collections there are; tables that are printed have as many rows as a page bears.
    """
    facts = facts_of(*[{"after": SCAV}] * count)

    blocks = collector_section(diagnosis_of(facts)).blocks

    figures = [place for place, block in enumerate(blocks) if isinstance(block, Figure)]
    assert 5 == len(figures)
    for place in figures:
        (table,) = blocks[place + 1].blocks
        assert isinstance(blocks[place + 1], Folded)
        assert 1 <= len(table.rows) <= 50
        assert blocks[place].draw().svg().startswith("<svg")


def test_every_row_has_as_many_cells_as_its_table_has_columns():
    facts = facts_of(*[{"after": SCAV}] * 3)
    section = collector_section(diagnosis_of(facts))
    tables = [block for block in section.blocks if isinstance(block, Table)]
    tables += [timeline_table(facts.timeline_table), activity_table(facts.timeline_table)]
    tables += [times_table(facts.pauses), histogram_table(facts.pauses)]
    tables += [mmu_table(facts.utilization), scavenges_table(facts.scavenges)]

    for table in tables:
        assert {len(table.columns)} == {len(row) for row in table.rows} | {len(table.sides)}


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
def test_the_bars_of_the_table_are_all_collections(path):
    """
    Two sources, one number: the bins sum up to the collections of the log.
    """
    facts = captured_facts(path)

    stops = [row for row in histogram_table(facts.pauses).rows if row[0].text == "pause"]

    assert len(facts.cycles) == sum(int(row[2].text.replace("\u202f", "")) for row in stops)


def test_the_text_report_says_what_the_figures_show():
    text = as_text(diagnosed(CAPTURES[0]))

    for words in ("pause", "median", "p90", "GC CPU", "pacer", "start-up", "slope"):
        assert words in text


@pytest.mark.parametrize(
    ("log", "said"),
    [(SCAVENGED, "The log has no GC."), (OLD_FORM.read_bytes(), "No GC that gomem reads.")],
    ids=["none", "of an old release"],
)
def test_a_log_without_a_gc_says_so(log, said, tmp_path):
    (tmp_path / "gctrace.log").write_bytes(log)

    section = collector_section(diagnose(load(tmp_path)))

    assert said == section.blocks[0].text
