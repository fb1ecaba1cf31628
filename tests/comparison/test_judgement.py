"""What a comparison comes down to, in one sentence."""

from types import SimpleNamespace

import pandas as pd
import pytest

from gomem.comparison.comparison import compare, compare_diagnoses
from gomem.comparison.judgement import judge
from gomem.comparison.levels import enough_collections
from gomem.comparison.live_heap import live_heap_words
from gomem.comparison.samples import NOTHING_MEASURED
from gomem.comparison.settings import DIFFERING
from gomem.inputs.gobench.table import read_bench
from gomem.inputs.schema import build_rows
from gomem.text import Bytes, Count
from gomem.units import MIB
from tests.builders import FIXTURES, diagnosed, memstats_json

FOLDERS = FIXTURES / "captures"


def judged(before, after):
    return compare_diagnoses(diagnosed(FOLDERS / before), diagnosed(FOLDERS / after)).judgement


def bench(name, values, unit="ns/op"):
    return read_bench("".join(f"Benchmark{name}-2 1 {one} {unit}\n" for one in values).encode())


def test_memory_that_only_became_resident_is_said_to_be_that():
    """
    Go 1.24.2 touches what 1.23.4 left alone: tenfold RSS, the same heap.
    """
    worse = judged("zeroing-go1.23.4", "zeroing-go1.24.2")
    better = judged("zeroing-go1.24.2", "zeroing-go1.24.6")

    assert ("worse", "better") == (worse.verdict, better.verdict)
    assert worse.sentence.startswith(
        "go1.23.4 → go1.24.2: RSS rose from 9.2 MiB to 170 MiB (×19): 161 MiB more of the Go heap "
        "is resident, "
    )
    assert better.sentence.startswith(
        "go1.24.2 → go1.24.6: RSS fell from 170 MiB to 9.4 MiB (-94 %): 161 MiB less of the Go "
        "heap is resident, "
    )
    assert "New warning: untouched-now-resident." in worse.details


def test_what_is_decided_stands_before_what_is_not():
    """
    RSS of 48 and 52 MiB, one capture a side, decides nothing; ten runs of the benchmarks do.
    """
    pooled = judged("alloc-pressure-before-go1.27.3", "alloc-pressure-after-go1.27.3")

    assert "better" == pooled.verdict
    assert pooled.sentence.startswith(
        "9 of 19 benchmark metrics are better and 10 show no significant change"
    )
    assert "(Handle-2 B/op and 5 more)" in pooled.sentence
    assert "Warning gone: gc-pressure." in pooled.details
    assert any(line.startswith("RSS rose from 48 MiB to 52 MiB") for line in pooled.details)


@pytest.mark.parametrize(
    ("before", "after", "verdict", "sentence"),
    [
        (range(10, 16), range(20, 26), "worse", "is worse; the largest change is "),
        (range(20, 26), range(10, 16), "better", "is better; the largest change is "),
        (range(10, 16), range(10, 16), "same", "shows no significant change."),
        ([10, 11, 12], [20, 21, 22], "?", "has too few runs."),
    ],
)
def test_benchmarks_are_counted(before, after, verdict, sentence):
    judgement = compare(bench("A", before), bench("A", after)).judgement

    assert verdict == judgement.verdict
    assert judgement.sentence.startswith(f"1 benchmark metric {sentence}")
    assert ("(A-2 sec/op)" in judgement.sentence) == (verdict in {"worse", "better"})
    assert () == judgement.details


def chance(worse, of):
    """Benchmarks of which so many have a p of 0.021, and the rest one of 1."""
    higher = [4.5, 6.5, 7.5, 9, 10, 11, 12, 5.5]
    sides = [b"", b""]
    for number in range(of):
        after = higher if number < worse else range(1, 9)
        for side, values in enumerate((range(1, 9), after)):
            lines = [f"BenchmarkA{number}-2 1 {one} ns/op\n" for one in values]
            sides[side] += "".join(lines).encode()
    return compare(*map(read_bench, sides))


@pytest.mark.parametrize(
    ("worse", "of", "verdict"),
    [(1, 1, "worse"), (1, 20, "?"), (2, 20, "?"), (3, 20, "worse")],
)
def test_as_many_changes_as_chance_makes_are_no_verdict(worse, of, verdict):
    """
    Of 20 comparisons of unchanged code, at most 2 are worse in 95 of 100 tables.
    """
    compared = chance(worse, of)

    assert [worse, 0.021] == [len(compared.regressions), round(compared.metrics["p_value"][0], 3)]
    assert verdict == compared.judgement.verdict
    assert ("expected by chance" in compared.judgement.sentence) == (verdict == "?")


def test_better_and_worse_at_once_are_mixed():
    old = read_bench(b"".join(b"BenchmarkA-2 1 %d ns/op %d B/op\n" % (n, 90 + n) for n in range(6)))
    new = read_bench(b"".join(b"BenchmarkA-2 1 %d ns/op %d B/op\n" % (90 + n, n) for n in range(6)))

    assert "mixed" == compare(old, new).judgement.verdict


def test_rss_within_a_heaps_swing_is_no_verdict(tmp_path):
    for side, size in (("before", 60_000), ("after", 90_000)):
        (tmp_path / side).mkdir()
        (tmp_path / side / "status").write_text(f"Name:\tapp\nPid:\t7\nVmRSS:\t{size:>8} kB\n")

    judgement = compare(tmp_path / "before", tmp_path / "after").judgement

    assert "?" == judgement.verdict
    assert judgement.sentence.startswith("RSS rose from 59 MiB to 88 MiB (+50 %); these files ")
    assert judgement.details[-1].startswith("With one run per side, only large changes ")


def test_of_several_captures_a_side_the_medians_are_compared(tmp_path):
    sides = {"before": range(60_000, 60_060, 10), "after": range(62_000, 62_060, 10)}
    for side, sizes in sides.items():
        for size in sizes:
            folder = tmp_path / f"{side}-{size}"
            folder.mkdir()
            (folder / "status").write_text(f"Name:\tapp\nPid:\t7\nVmRSS:\t{size:>8} kB\n")
    runs = [[tmp_path / f"{side}-{size}" for size in sizes] for side, sizes in sides.items()]

    judgement = compare(*runs).judgement

    assert "worse" == judgement.verdict
    said = "RSS rose from 59 MiB to 61 MiB (+3 %, medians); in the median run of each side these "
    assert judgement.sentence.startswith(said)
    assert () == judgement.details


def test_without_rss_heap_objects_are_told(tmp_path):
    for side, size in (("before", 10), ("after", 30)):
        (tmp_path / side).mkdir()
        stats = memstats_json(HeapAlloc=size << 20, HeapInuse=size << 20)
        (tmp_path / side / "memstats.json").write_bytes(stats)

    judgement = compare(tmp_path / "before", tmp_path / "after").judgement

    assert "worse" == judgement.verdict
    assert judgement.sentence == (
        "HeapAlloc rose from 10 MiB to 30 MiB (×3); not both sides have RSS."
    )


def test_nothing_in_common_is_no_verdict():
    judgement = compare(bench("A", range(6)), bench("B", range(6))).judgement

    assert "?" == judgement.verdict
    assert "All 2 benchmark metrics have too few runs." == judgement.sentence


WARNING, INFO = "warning", "info"


def findings(*rows):
    """Causes as a comparison lays them out: state, severity, code."""
    return pd.DataFrame(
        [(code, state, severity, "") for state, severity, code in rows],
        columns=["code", "state", "severity", "title"],
    )


def compared(*rows, metrics=(), collections=((), ()), by_counters=False):
    """The verdict and what is said of a comparison of these causes and levels."""
    table = pd.DataFrame(list(metrics), columns=LEVEL)
    enough = enough_collections(*map(list, collections), by_counters=by_counters)
    too_little = {} if enough else {"gc_cpu_fraction": "too few"}
    comparison = laid_out(findings(*rows), table, too_little)
    return judge(comparison, SIDE, SIDE) if metrics else judge(comparison)


LEVEL = [
    "name", "layer", "before_median", "after_median", "verdict", "difference", "before_n",
    "after_n", "change",
]  # fmt: skip
SIDE = [SimpleNamespace(collector=None, moments=())]


def laid_out(causes, metrics, too_little=(), settings=(), unlike=""):
    """A comparison with these causes, levels and settings."""
    return SimpleNamespace(
        findings=causes,
        metrics=metrics,
        change=None,
        too_little=dict(too_little),
        margin=None,
        sites=pd.DataFrame(),
        unlike=unlike,
        settings=pd.DataFrame(list(settings), columns=["name", "before", "after", "source"]),
    )


def level(name, before, after, verdict="?", n=1):
    """A level of one value a side, or of so many."""
    change = (after - before) / before if before else None
    return name, "memory", before, after, verdict, after - before, n, n, change


@pytest.mark.parametrize(
    ("rows", "verdict", "sentence"),
    [
        ([("new", WARNING, "a"), ("same", WARNING, "b")], "worse", "New warning: a."),
        ([("gone", WARNING, "a"), ("gone", "critical", "b")], "better", "Warnings gone: a, b."),
        (
            [("new", WARNING, "a"), ("gone", WARNING, "b"), ("new", INFO, "c")],
            "mixed", "New warning: a; gone: b.",
        ),
    ],
)  # fmt: skip
def test_warnings_that_are_new_or_gone_are_a_verdict(rows, verdict, sentence):
    said = compared(*rows)

    assert (verdict, sentence) == (said.verdict, said.sentence)


@pytest.mark.parametrize("rows", [[("new", INFO, "a")], [("same", WARNING, "a")], []])
def test_notes_and_what_stays_are_none(rows):
    assert NOTHING_MEASURED == compared(*rows)


SHARE = level("gc_cpu_fraction", 0.10, 0.30)


@pytest.mark.parametrize(
    ("collections", "by_counters", "verdict"),
    [
        (([20], [20]), False, "worse"),
        (([19], [20]), False, None),
        (([20], [19]), False, None),
        (([20, 20], [20, 19]), False, None),
        (([], []), False, None),
        (([20], [1]), True, "worse"),
        (([1], [20]), True, "worse"),
        (([19], [19]), True, None),
        (([20, 19], [1, 1]), True, None),
    ],
)
def test_the_collectors_share_counts_from_20_collections_on(collections, by_counters, verdict):
    """
    On each side by logs, which a start-up can fill; on the side that collects more by counters.
    """
    said = compared(metrics=[SHARE], collections=collections, by_counters=by_counters)

    assert (NOTHING_MEASURED.verdict if verdict is None else verdict) == said.verdict
    assert (verdict is not None) == ("GC CPU rose from 10 % to 30 %." == said.sentence)


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [(0.0, 0.01, "worse"), (0.0, 0.0099, "same"), (0.01, 0.0, "better"), (0.1, 0.2, "?")],
)
def test_a_point_of_the_cpu_and_more_than_a_swing_are_a_change(before, after, verdict):
    """
    Twice as much may be a heap's swing.
    """
    share = level("gc_cpu_fraction", before, after)

    said = compared(metrics=[share], collections=([50], [50]))

    assert verdict == said.verdict


def test_what_is_decided_is_said_before_what_is_the_same():
    rss = level("RSS", 100 << 20, 100 << 20, "~")

    said = compared(("new", WARNING, "a"), metrics=[rss])

    assert ("worse", "New warning: a.") == (said.verdict, said.sentence)
    assert said.details[0] == "RSS is about the same: 100 MiB before, 100 MiB after."
    assert said.details[1].startswith("With one run per side, only large changes ")
    comparison = laid_out(findings(), pd.DataFrame([rss], columns=LEVEL))
    assert () == judge(comparison, SIDE * 2, SIDE).details


# What was gained, and what it cost


ENOUGH = ([50], [50])


def test_what_was_gained_and_what_it_cost_stand_in_one_sentence():
    said = compared(
        metrics=[
            level("RSS", 61 << 20, 306 << 20),
            level("gc_cpu_fraction", 0.318, 0.105),
        ],
        collections=ENOUGH,
    )

    assert "mixed" == said.verdict
    assert "GC CPU fell from 32 % to 10 % for 245 MiB more RSS." == said.sentence
    assert said.details[0] == "RSS rose from 61 MiB to 306 MiB (×5)."


@pytest.mark.parametrize(
    ("rise", "verdict", "sentence"),
    [
        (82, "mixed", "GC CPU fell from 32 % to 10 % for 82 MiB more RSS."),
        (20, "mixed", "GC CPU fell from 32 % to 10 % for 20 MiB more RSS."),
        (19, "better", "GC CPU fell from 32 % to 10 % for 19 MiB more RSS."),
        (11, "better", "GC CPU fell from 32 % to 10 % for 11 MiB more RSS."),
        (10, "better", "GC CPU fell from 32 % to 10 %."),
    ],
)
def test_a_gain_says_that_rss_rose_by_more_than_a_tenth_and_from_a_fifth_on_is_mixed(
    rise, verdict, sentence
):
    """
    One run a side cannot tell such a rise from a heap's swing, and it stays a cost all the same.
    """
    said = compared(
        metrics=[
            level("RSS", 100 << 20, (100 + rise) << 20),
            level("gc_cpu_fraction", 0.318, 0.105),
        ],
        collections=ENOUGH,
    )

    assert (verdict, sentence) == (said.verdict, said.sentence)


def test_a_mixed_sentence_has_both_sides():
    metrics = [level("RSS", 132 << 20, 230 << 20)]

    said = compared(("gone", WARNING, "a"), metrics=metrics)

    assert "mixed" == said.verdict
    assert said.sentence == "RSS rose from 132 MiB to 230 MiB (+74 %); warning gone: a."


def test_a_gain_of_memory_names_what_it_cost():
    said = compared(
        metrics=[
            level("RSS", 306 << 20, 61 << 20),
            level("gc_cpu_fraction", 0.105, 0.318),
        ],
        collections=ENOUGH,
    )

    assert "mixed" == said.verdict
    assert said.sentence == (
        "RSS fell from 306 MiB to 61 MiB (-80 %), but GC CPU rose from 10 % to 32 %."
    )


def test_a_rise_of_memory_stands_beside_a_warning_that_is_gone():
    said = compared(("gone", WARNING, "a"), metrics=[level("RSS", 100 << 20, 115 << 20)])

    assert ("better", "Warning gone: a; RSS rose from 100 MiB to 115 MiB (+15 %).") == (
        said.verdict, said.sentence,
    )  # fmt: skip


def test_a_rise_that_may_be_noise_is_said_to_be_that():
    said = compared(("gone", WARNING, "a"), metrics=[level("RSS", 100 << 20, 130 << 20, "~", n=6)])

    assert "better" == said.verdict
    assert "RSS rose from 100 MiB to 130 MiB (+30 %, medians, not significant)." in said.sentence


# Settings, and what cannot be compared


def test_settings_that_differ_come_first():
    comparison = laid_out(
        findings(("gone", WARNING, "a")),
        pd.DataFrame([], columns=LEVEL),
        settings=[("GOGC", "100", "400", "runtime/metrics")],
    )

    assert "GOGC 100 → 400: Warning gone: a." == judge(comparison).sentence


def test_what_one_side_could_not_have_shown_is_neither_new_nor_gone():
    said = compared(("not comparable", WARNING, "allocation-spike"))

    assert "?" == said.verdict
    assert said.details == (
        "Not comparable: allocation-spike. Only one side has the files for this.",
    )


def test_different_programs_are_not_judged():
    comparison = laid_out(
        findings(("gone", WARNING, "a")),
        pd.DataFrame([level("RSS", 300 << 20, 61 << 20)], columns=LEVEL),
        unlike="These are different programs.",
    )

    said = judge(comparison, SIDE, SIDE)

    assert ("?", "These are different programs.") == (said.verdict, said.sentence)
    assert "better" not in said.sentence


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        (1, 4201, "worse"),
        (4201, 1, "better"),
        (1, 101, "worse"),
        (1, 100, None),
        (1000, 1999, None),
    ],
)
def test_a_hundred_goroutines_more_and_twice_as_many_are_no_noise(before, after, verdict):
    said = compared(metrics=[level("goroutines", before, after)])

    assert (verdict or "?") == said.verdict
    assert (verdict is not None) == said.sentence.startswith("Goroutines ")


@pytest.mark.parametrize(
    ("settings", "live", "goal"),
    [
        pytest.param(
            [("GOGC", "50", "100")], (60, 283), "raises the heap goal by 30 MiB", id="GOGC"
        ),
        pytest.param([("GOMEMLIMIT", "none", "1GiB")], (60, 283), "", id="a limit"),
        pytest.param([("GOGC", "50", "100")], (60, 80), None, id="about as much live"),
        pytest.param([("GOMAXPROCS", "2", "4")], (60, 283), None, id="not of the GC"),
        pytest.param([("GOGC", "50", "100")], (None, 283), None, id="unknown"),
    ],
)
def test_no_setting_of_the_gc_explains_another_live_heap(settings, live, goal):
    sides = [
        [SimpleNamespace(moments=[SimpleNamespace(live_bytes=size and size * MIB)])]
        for size in live
    ]
    differing = build_rows([(*row, "runtime/metrics") for row in settings], DIFFERING)

    said = f"{live_heap_words(differing, *sides)}"

    assert (goal is not None) == ("the runs did different work" in said)
    assert (goal or "") in said
    assert bool(goal) == ("heap goal" in said)


def counted(folder, **stats):
    folder.mkdir()
    given = {"TotalAlloc": 400 * MIB, "NumGC": 8, "NextGC": 280 * MIB, "HeapAlloc": 180 * MIB}
    (folder / "memstats.json").write_bytes(memstats_json(**given | stats))
    return diagnosed(folder)


@pytest.mark.parametrize(
    ("after", "is_told"),
    [
        pytest.param({"NumGC": 3, "NextGC": 560 * MIB}, True, id="fewer GCs"),
        pytest.param({"NumGC": 24, "NextGC": 120 * MIB}, True, id="more GCs"),
        pytest.param({"NumGC": 6, "NextGC": 300 * MIB}, False, id="about as many"),
        pytest.param({"NumGC": 3, "TotalAlloc": 150 * MIB}, False, id="less work"),
    ],
)
def test_as_much_allocation_with_another_number_of_gcs_is_said(after, is_told, tmp_path):
    """
    GOGC was raised, and no file states it.
    """
    sides = counted(tmp_path / "before"), counted(tmp_path / "after", **after)

    details = compare_diagnoses(*sides).judgement.details

    paced = [line for line in details if "so GOGC, GOMEMLIMIT or the live heap differs" in line]
    assert is_told == bool(paced)
    for line in paced:
        assert [400 * MIB, 280 * MIB, after["NextGC"]] == [size.value for size in line.of(Bytes)]
        assert [8, after["NumGC"]] == [count.value for count in line.of(Count)]
