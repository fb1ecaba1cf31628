"""Is it said that the live heap is level?"""

from types import SimpleNamespace

import numpy as np
import pytest

import gomem
from gomem.analysis.profiles.published import published
from gomem.analysis.series.level import Level
from gomem.diagnosis.live_level import level_at_end, level_profiles_words
from gomem.inputs.pprof.read import read_pprof
from gomem.units import MIB
from tests.builders import FIXTURES
from tests.pprof_messages import field, profile, sample


def _level(values, seconds=None, error=0.0):
    seconds = np.arange(len(values), dtype=float) if seconds is None else np.array(seconds, float)
    return Level("marks", seconds, np.array(values, float) * MIB, np.full(len(values), error * MIB))


@pytest.mark.parametrize(
    ("values", "readings"),
    [
        pytest.param([40, 41, 40, 41], 4, id="all alike"),
        pytest.param([4, 14, 40, 41, 40, 41], 4, id="a fill that has ended"),
        pytest.param([80, 60, 40, 41, 40, 41], 4, id="a fall that has ended"),
    ],
)
def test_readings_that_are_alike_at_the_end_are_a_level(values, readings):
    stretch = level_at_end(_level(values))

    assert (readings, readings == len(values)) == (stretch.readings, stretch.is_whole)
    assert (40 * MIB, 41 * MIB) == (stretch.least, stretch.most)


@pytest.mark.parametrize(
    "values",
    [
        pytest.param([10, 20, 30, 40, 50, 60], id="a line"),
        pytest.param([100, 101.5, 103, 104.5, 106, 108], id="a slow line, within a tenth"),
        pytest.param([10, 40, 10, 40, 10, 40], id="a saw-tooth"),
        pytest.param([40, 41], id="two readings"),
        pytest.param([30, 40, 41], id="two readings after one"),
        pytest.param([60, 30, 40, 41], id="two readings below what there was"),
        pytest.param([40, 41, 40, 41, 40, 60], id="a rise in the last reading"),
    ],
)
def test_other_readings_are_none(values):
    assert level_at_end(_level(values)) is None


def test_two_gcs_that_found_the_same_are_a_level_if_they_are_far_apart():
    values = [7, 25, 49, 89.2, 89.3]

    assert 2 == level_at_end(_level(values, [0, 4, 9, 22, 50])).readings
    assert level_at_end(_level(values, [0, 4, 9, 45, 50])) is None


LOG = (
    "gc {number} @{at:.3f}s 0%: 0.02+9.0+0.01 ms clock, 0.04+0.1/1.0/16+0.02 ms cpu, "
    "{high}->{high}->{live} MB, {goal} MB goal, 0 MB stacks, 0 MB globals, 2 P\n"
)


def test_a_log_of_few_gcs_says_that_the_live_heap_is_level(tmp_path):
    """
    With GOGC=100, and no RSS to explain, the headroom of the default is no finding.
    """
    lives = [3, 6, 12, 23, 39, 66, 66, 66, 66, 66]
    ats = [0.2, 0.5, 0.9, 1.5, 2.8, 5.2, 12.7, 20.8, 29.0, 37.2]
    goals = [4, *(2 * live + 1 for live in lives)]
    rows = zip(range(1, 11), ats, goals, lives, strict=False)
    lines = (
        LOG.format(number=number, at=at, high=goal - 4, live=live, goal=goal)
        for number, at, goal, live in rows
    )
    (tmp_path / "gc.log").write_text("".join(lines))

    diagnosis = gomem.diagnose(tmp_path)

    assert "has been level for the last 5 GCs" in diagnosis.verdict.sentence
    assert "heap-headroom" not in {finding.code for finding in diagnosis.findings}


def test_a_level_lasts_for_a_third_of_the_time():
    values = [10, 40, 40, 40]

    assert level_at_end(_level(values, [0, 1, 2, 3])) is not None
    assert level_at_end(_level(values, [0, 8, 9, 10])) is None


def test_two_readings_after_a_rise_show_that_it_has_ended():
    seconds = [0, 8, 16, 24, 56]

    assert 2 == level_at_end(_level([6, 24, 47, 89, 89], seconds)).readings
    assert level_at_end(_level([6, 24, 47, 65, 89], seconds)) is None


TABLE = """After the deploy the memory only goes up. From our collector:

| time | rss kB | HeapAlloc MiB | NextGC MiB | NumGC |
|---|---|---|---|---|
| 10:00:02 | 13984 | 9.3 | 12.8 | 2 |
| 10:00:10 | {0}5924 | 34.3 | 48.0 | 4 |
| 10:00:18 | {0}9552 | 74.2 | 93.3 | 5 |
| 10:00:26 | 103480 | 98.3 | 178.7 | 6 |
| 10:00:58 | 115632 | 111.6 | {1} | 7 |
"""


@pytest.mark.parametrize(
    ("rss", "goal", "is_level", "is_of_rss"),
    [(4, 178.8, True, False), (8, 240.0, False, True), (8, 178.8, True, True)],
)
def test_goals_and_the_heap_in_a_table_of_a_text_are_used(tmp_path, rss, goal, is_level, is_of_rss):
    """
    A heap above RSS is not all in it, so later it is no share of RSS.
    """
    (tmp_path / "ticket.md").write_text(TABLE.format(rss, goal))
    verdict = gomem.diagnose(tmp_path / "ticket.md").verdict

    said = f"{verdict.sentence} {' '.join(verdict.whose)}"
    assert is_level == ("The live heap is level: 89 MiB after the last 2 GCs" in said)
    assert is_of_rss == ("is Go objects and garbage (HeapAlloc)" in said)


def test_growth_with_a_level_live_heap_is_said_in_the_headline(tmp_path):
    text = TABLE.format(3, 178.8).replace("103480", "63480")
    (tmp_path / "ticket.md").write_text(text)

    headline = gomem.diagnose(tmp_path / "ticket.md").verdict.headline

    assert "is still growing" in headline
    assert headline.endswith("The live heap is level: 89 MiB after the last 2 GCs (32 s).")


def test_readings_differ_by_their_errors():
    values = [20, 24, 20, 24]

    assert level_at_end(_level(values)) is None
    assert level_at_end(_level(values, error=1.5)) is not None


def _said(name):
    diagnosis = gomem.diagnose(FIXTURES / "laboratory" / "captures" / f"{name}.tar.gz")
    return [str(words) for words in diagnosis.verdict.whose]


def test_a_healthy_process_whose_heap_filled_is_said_to_be_level():
    assert "The live heap is level: 40 MiB to 41 MiB after the last 4 GCs (3.7 s)." in _said(
        "geod-b"
    )


@pytest.mark.parametrize("name", ["sessiond-h", pytest.param("geod-e", id="by a log")])
def test_profiles_that_lag_behind_a_level_heap_are_no_growth(name):
    said = " ".join(_said(name))

    assert "The live heap is level" in said
    assert "inuse_space rose" not in said


def test_a_heap_that_grows_is_not_said_to_be_level():
    assert "level" not in " ".join(_said("hubd-f"))


def test_profiles_with_the_same_data_show_no_growth():
    assert (
        "3 heap profiles in 12 s have the same data: no GC ran in between, so they cannot show "
        "growth." in _said("routegraph-f")
    )


def _profiles(*sizes):
    """Heap profiles that are so large, in MiB, taken a second apart."""
    made = {}
    for n, size in enumerate(sizes):
        data = profile(sample(1, 2, value=size * MIB)) + field(9, (n + 1) * 10**9)
        made[f"{n}"] = read_pprof(data)
    return made


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        pytest.param(
            (40, 41, 40), "In use is level: 40 MiB to 41 MiB in 3 heap profiles (2 s)", id="level"
        ),
        pytest.param((40, 40), "2 heap profiles in 1 s have the same data", id="repeated"),
        pytest.param((40, 60, 80), "", id="risen"),
        pytest.param((40,), "", id="one"),
    ],
)
def test_what_several_heap_profiles_show_is_said(sizes, words):
    made = _profiles(*sizes)
    facts = SimpleNamespace(profiles=SimpleNamespace(of_in_use=published(made)))

    said = level_profiles_words(
        SimpleNamespace(facts=facts, capture=SimpleNamespace(heap_profiles=made))
    )

    assert said.startswith(words)
    assert bool(words) == bool(said)


def test_many_goroutines_stand_beside_a_heap_profile():
    diagnosis = gomem.diagnose(FIXTURES / "laboratory" / "captures" / "hubd-f.tar.gz")

    assert "10 004 goroutines; 10 000 wait in main.(*client).deliver." in str(
        diagnosis.verdict.second
    ).replace("\u202f", " ")


def test_a_heap_profile_accounts_for_a_part_of_the_go_heap_in_smaps():
    assert (
        "The heap profile has 161 MiB of the 417 MiB of Go heap in RSS; with garbage (GOGC 100, "
        "assumed), up to about 323 MiB. The other 94 MiB was allocated since that profile's GC, or "
        "is freed heap that Go keeps." in _said("lidard-e")
    )


def _log(first):
    """A log of six GCs, each of a heap that has doubled; the first has this number."""
    return "".join(
        f"gc {first + n} @{n + 2}.000s 9%: 0.01+9+0.1 ms clock, 0.02+1/2/3+0.2 ms cpu, "
        f"{4 << n}->{4 << n}->{(4 << n) - 1} MB, {4 << n} MB goal, 0 MB stacks, 0 MB globals, 2 P\n"
        for n in range(6)
    )


@pytest.mark.parametrize(
    ("first", "is_said"), [pytest.param(1, True, id="from 1"), pytest.param(2, False, id="from 2")]
)
def test_a_log_of_nothing_but_a_rise_says_when_it_ends(first, is_said, tmp_path):
    log = tmp_path / "gctrace.log"
    log.write_text(_log(first))
    words = "The heap grew at each, as in a start-up or a leak; the log ends 7 s after the start."

    assert is_said == (words in str(gomem.diagnose(log).verdict.sentence))


def test_a_level_of_a_log_is_as_the_log_prints_it(tmp_path):
    line = (
        "gc {0} @{1}.000s 0%: 0.1+9+0.01 ms clock, 0.2+0.1/1/9+0.02 ms cpu, 240->241->57 MB, "
        "242 MB goal, 0 MB stacks, 0 MB globals, 2 P\n"
    )
    row = "  611 root      3.9  1.2 1898492 {0}     00:{1} 5 bin/risk\n"
    head = "  PID USER     %CPU %MEM    VSZ   RSS     ELAPSED NLWP COMMAND\n"
    log = "".join(line.format(number, 8 * number) for number in range(1, 9))
    rows = "".join(row.format(263000 + at, at) for at in (17, 34, 51))
    (tmp_path / "mail.txt").write_text(f"It runs with GOGC=off.\n\n{log}\n{head}{rows}")

    diagnosis = gomem.diagnose(tmp_path / "mail.txt")

    assert "The live heap is level: 57 MiB after all 8 GCs" in diagnosis.verdict.headline
    assert 8 == diagnosis.collector.triggers.of("limit")["cycles"]
