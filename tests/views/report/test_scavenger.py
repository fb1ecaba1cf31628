"""What goes back to the kernel, in the report: sentences, tables and figures."""

import json

import pytest

import gomem
from gomem.views.document import Figure, Folded, Notes, Paragraph, Table
from gomem.views.json.report import report_json
from gomem.views.report.scavenger import EPISODES, TABLE_ROWS, scavenger_section
from tests.retention_captures import log, thinned

RULES = "When the runtime releases idle heap (sizes exclude goroutine stacks)"


@pytest.fixture(scope="module")
def quiet(tmp_path_factory):
    return gomem.diagnose(thinned("quiet-go1.27.3", tmp_path_factory.mktemp("quiet"), every=4))


def blocks(section, kind):
    return [one for one in section.blocks if isinstance(one, kind)]


def test_the_last_verdict_stands_first(quiet):
    section = scavenger_section(quiet)

    first = section.blocks[0]
    assert isinstance(first, Paragraph)
    assert "At the last snapshot, almost no idle heap is left to release." == first.text
    assert section.brief


def test_each_time_has_its_reason(quiet):
    table = blocks(scavenger_section(quiet), Table)[0]

    verdict, why = map(table.columns.index, ("verdict", "why"))
    codes = [row[verdict].text for row in table.rows]
    assert "dense chunks" in codes
    reason = table.rows[codes.index("dense chunks")][why].text
    assert "4 MiB chunks that were nearly full" in reason
    assert len(table.rows) <= EPISODES


def test_every_figure_has_its_numbers_below(quiet):
    section = scavenger_section(quiet)

    figures = [place for place, one in enumerate(section.blocks) if isinstance(one, Figure)]
    assert 2 == len(figures)
    for place in figures:
        below = section.blocks[place + 1]
        assert isinstance(below, Folded)
        assert 0 < len(below.blocks[0].rows) <= TABLE_ROWS


def test_the_figure_draws_heap_goal_and_lines(quiet):
    figure = blocks(scavenger_section(quiet), Figure)[0]
    drawing = figure.draw()

    upper, lower = drawing.chart.panels
    labels = [one.label for one in upper.labelled()]
    assert ["in use", "idle heap", "released", "goal from the pacer", "RSS"] == labels
    assert drawing.chart.legend.labels == labels
    assert "readings in" in drawing.description
    # A mark for each line that gave memory back: behind the second collection, and the call.
    stems = lower.marks[0]
    assert 2 == len(stems.x) // 3
    assert "<svg" in drawing.svg()


def test_the_goals_are_told_with_their_formulas(quiet):
    tables = {one.caption: one for one in blocks(scavenger_section(quiet), Table)}
    goals = tables[RULES]

    paced = "release down to 1.1 × (HeapInuse at the last GC) × (NextGC / previous NextGC)"
    assert [[paced, "applies", "9.71 MiB"]] == [[cell.text for cell in row] for row in goals.rows]
    folded = blocks(scavenger_section(quiet), Folded)
    (others,) = [one for one in folded if one.summary.startswith("Rules of other Go versions")]
    assert 4 == len(others.blocks[0].rows)
    calls = tables["Calls to debug.FreeOSMemory in the log"]
    assert ["8", "912 KiB"] == [cell.text for cell in calls.rows[0][:2]]


def test_what_free_os_memory_and_madvdontneed_would_do(tmp_path):
    section = scavenger_section(gomem.diagnose(thinned("busy-go1.15.15", tmp_path)))

    *_, notes = blocks(section, Notes)
    assert notes.lines[0].startswith(
        "debug.FreeOSMemory would release up to 424 KiB of idle heap, and the garbage"
    )
    assert "With GODEBUG=madvdontneed=1, RSS would be 176 MiB lower" in notes.lines[1]


def test_a_log_alone_has_its_calls(tmp_path):
    section = scavenger_section(gomem.diagnose(log("quiet-go1.27.3", tmp_path)))

    captions = [one.caption for one in blocks(section, Table)]
    assert "Calls to debug.FreeOSMemory in the log" in captions
    assert [] == blocks(section, Figure)


def test_nothing_is_said_of_nothing(tmp_path):
    (tmp_path / "status").write_text("Name:\tapi\nPid:\t1\nVmRSS:\t    9392 kB\n")

    assert scavenger_section(gomem.diagnose(tmp_path)) is None
    assert report_json(gomem.diagnose(tmp_path))["scavenger"] is None


def test_json_has_the_same(quiet):
    told = json.loads(json.dumps(report_json(quiet)["scavenger"], allow_nan=False))

    assert "dense-chunks" in {one["code"] for one in told["intervals"]}
    assert len(told["moments"]) == len(told["intervals"]) + 1
    assert 0 < told["cpu"]["cpu_fraction"] < 0.02


def test_names_of_moments_can_be_hidden(quiet):
    hidden = json.dumps(report_json(quiet, redact=True)["scavenger"])

    assert not any(f'"{name}"' in hidden for name in quiet.by_moment)


def test_of_an_unknown_release_each_rule_has_its_own_target(tmp_path):
    fields = {"Alloc": 5000000, "TotalAlloc": 9000000, "Sys": 11000000, "HeapAlloc": 5000000,
              "HeapSys": 8000000, "HeapIdle": 1000000, "HeapInuse": 7000000, "HeapReleased": 0,
              "NextGC": 8000000, "NumGC": 3, "StackInuse": 400000, "StackSys": 400000,
              "MSpanInuse": 60000, "MSpanSys": 65000, "MCacheInuse": 1200, "MCacheSys": 16000,
              "BuckHashSys": 1400000, "GCSys": 270000, "OtherSys": 849000}  # fmt: skip
    (tmp_path / "memstats.json").write_text(json.dumps({"memstats": fields}))
    section = scavenger_section(gomem.diagnose(gomem.load(tmp_path)))

    (goals,) = (found for found in blocks(section, Table) if found.caption == RULES)
    target = {row[0].text: row[-1].text for row in goals.rows}
    assert "8.39 MiB" == target["release down to 1.1 × NextGC"]
    (steady,) = (size for rule, size in target.items() if "at the last GC" in rule)
    assert "–" == steady  # it needs the previous NextGC
