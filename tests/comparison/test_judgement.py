"""What a comparison comes down to, in one sentence."""

from types import SimpleNamespace

import pandas as pd
import pytest

from gomem.comparison.comparison import compare, compare_diagnoses, enough_collections
from gomem.comparison.judgement import judge
from gomem.comparison.samples import NOTHING_MEASURED
from gomem.inputs.gobench.table import read_bench
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
        "From 9.17 MiB to 170 MiB (×18.5), RSS rose by 161 MiB: residency changed, not allocation"
    )
    assert better.sentence.startswith("From 170 MiB to 9.38 MiB (-94.5 %), RSS fell by 160 MiB")
    assert "Warnings new: untouched-now-resident." in worse.details


def test_what_is_decided_stands_before_what_is_not():
    """
    RSS of 48 and 52 MiB, one capture a side, decides nothing; ten runs of the benchmarks do.
    """
    pooled = judged("alloc-pressure-before-go1.27.3", "alloc-pressure-after-go1.27.3")

    assert "better" == pooled.verdict
    assert pooled.sentence.startswith("19 benchmark metrics: 9 better, 10 may be noise")
    assert "Warnings gone: gc-pressure." in pooled.details
    assert any("RSS rose by 4.27 MiB" in line for line in pooled.details)


@pytest.mark.parametrize(
    ("before", "after", "verdict", "sentence"),
    [
        (range(10, 16), range(20, 26), "worse", "1 worse; the largest change is A-2, sec/op, "),
        (range(20, 26), range(10, 16), "better", "1 better; the largest change is A-2, sec/op, "),
        (range(10, 16), range(10, 16), "same", "1 may be noise."),
        ([10, 11, 12], [20, 21, 22], "?", "1 measured too few times to tell."),
    ],
)
def test_benchmarks_are_counted(before, after, verdict, sentence):
    judgement = compare(bench("A", before), bench("A", after)).judgement

    assert verdict == judgement.verdict
    assert judgement.sentence.startswith(f"1 benchmark metric: {sentence}")
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
    assert ("chance alone" in compared.judgement.sentence) == (verdict == "?")


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
    assert judgement.sentence.startswith(
        "From 58.6 MiB to 87.9 MiB (+50.0 %), RSS rose by 29.3 MiB"
    )
    assert "of one capture a side" in judgement.details[-1]


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
    said = "RSS rose from 58.6 MiB to 60.6 MiB (+3.3 %) (medians). In the middle runs, RSS rose by "
    assert judgement.sentence.startswith(f"{said}1.95 MiB; no file on both sides says ")
    assert () == judgement.details


def test_without_rss_heap_objects_are_told(tmp_path):
    for side, size in (("before", 10), ("after", 30)):
        (tmp_path / side).mkdir()
        stats = memstats_json(HeapAlloc=size << 20, HeapInuse=size << 20)
        (tmp_path / side / "memstats.json").write_bytes(stats)

    judgement = compare(tmp_path / "before", tmp_path / "after").judgement

    assert "worse" == judgement.verdict
    assert judgement.sentence == (
        "Heap objects take 30.0 MiB, and took 10.0 MiB before; RSS is not on both sides."
    )


def test_nothing_in_common_is_no_verdict():
    judgement = compare(bench("A", range(6)), bench("B", range(6))).judgement

    assert "?" == judgement.verdict
    assert "2 benchmark metrics: 2 measured too few times to tell." == judgement.sentence


WARNING, INFO = "warning", "info"


def findings(*rows):
    """Causes as a comparison lays them out: state, severity, code."""
    return pd.DataFrame(
        [(code, state, severity, "") for state, severity, code in rows],
        columns=["code", "state", "severity", "title"],
    )


def compared(*rows, metrics=(), collections=((), ()), by_counters=False):
    """The verdict and what is said of a comparison of these causes and levels."""
    names = ["name", "layer", "before_median", "after_median", "verdict", "difference"]
    table = pd.DataFrame(list(metrics), columns=names)
    enough = enough_collections(*map(list, collections), by_counters=by_counters)
    too_little = {} if enough else {"gc_cpu_fraction": "too few"}
    comparison = SimpleNamespace(
        findings=findings(*rows), metrics=table, change=None, too_little=too_little, margin=None
    )
    side = [SimpleNamespace(collector=None, moments=())]
    return judge(comparison, side, side) if metrics else judge(comparison)


@pytest.mark.parametrize(
    ("rows", "verdict", "sentence"),
    [
        ([("new", WARNING, "a"), ("same", WARNING, "b")], "worse", "Warnings new: a."),
        ([("gone", WARNING, "a"), ("gone", "critical", "b")], "better", "Warnings gone: a, b."),
        (
            [("new", WARNING, "a"), ("gone", WARNING, "b"), ("new", INFO, "c")],
            "mixed", "Warnings new: a; gone: b.",
        ),
    ],
)  # fmt: skip
def test_warnings_that_are_new_or_gone_are_a_verdict(rows, verdict, sentence):
    said = compared(*rows)

    assert (verdict, sentence) == (said.verdict, said.sentence)


@pytest.mark.parametrize("rows", [[("new", INFO, "a")], [("same", WARNING, "a")], []])
def test_notes_and_what_stays_are_none(rows):
    assert NOTHING_MEASURED == compared(*rows)


SHARE = ("gc_cpu_fraction", "collector", 0.10, 0.30, "?", 0.2)


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
    assert (verdict is not None) == ("GC CPU rose from 10.0 % to 30.0 %." == said.sentence)


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [(0.0, 0.01, "worse"), (0.0, 0.0099, None), (0.01, 0.0, "better"), (0.1, 0.2, None)],
)
def test_a_point_of_the_cpu_and_more_than_a_swing_are_a_change(before, after, verdict):
    """
    Twice as much may be a heap's swing.
    """
    share = ("gc_cpu_fraction", "collector", before, after, "?", after - before)

    said = compared(metrics=[share], collections=([50], [50]))

    assert (NOTHING_MEASURED.verdict if verdict is None else verdict) == said.verdict


def test_what_is_decided_is_said_before_what_is_the_same():
    level = ("RSS", "memory", 100 << 20, 100 << 20, "~", 0)
    comparison = SimpleNamespace(
        findings=findings(("new", WARNING, "a")),
        metrics=pd.DataFrame(
            [(*level, 1, 1, 0.0)],
            columns=["name", "layer", "before_median", "after_median", "verdict", "difference",
                     "before_n", "after_n", "change"],
        ),
        change=None, too_little={}, margin=None,
    )  # fmt: skip
    side = [SimpleNamespace(collector=None, moments=())]

    said = judge(comparison, side, side)

    assert ("worse", "Warnings new: a.") == (said.verdict, said.sentence)
    assert said.details[0] == "RSS is about the same: 100 MiB before, 100 MiB after."
    assert "of one capture a side" in said.details[1]
    assert 1 == len(judge(comparison, side * 2, side).details)
