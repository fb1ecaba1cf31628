"""Several builds against one of them."""

import json

import pandas as pd
import pytest

import gomem
from gomem.comparison.builds import BUILD_METRICS
from gomem.inputs.gobench.table import read_bench
from gomem.statistics.rank_tests import holm


def bench(*names, at=10, n=6):
    """A file with so many measurements of each, one apart."""
    lines = [f"Benchmark{name} 1000 {at + step} ns/op" for name in names for step in range(n)]
    return read_bench("\n".join(lines).encode())


def rows_of(compared, build):
    return compared.metrics[compared.metrics["build"] == build].reset_index(drop=True)


def test_each_build_has_a_row_for_each_metric_the_baselines_first():
    """
    Whichever it is, and in whatever order they were given; a build's row says how it differs.
    """
    builds = {"new": bench("A", at=20), "old": bench("A"), "same": bench("A")}

    compared = gomem.compare_many(builds, baseline="old")
    told = compared.metrics[["build", "median", "baseline_median", "change", "verdict"]]

    assert ("old", "new", "same") == compared.builds
    assert [column.name for column in BUILD_METRICS] == list(compared.metrics)
    assert ["old", "new", "same"] == told["build"].tolist()
    assert pytest.approx([12.5e-9, 22.5e-9, 12.5e-9]) == told["median"].tolist()
    assert pytest.approx([12.5e-9] * 3) == told["baseline_median"].tolist()
    assert [True, False, False] == told["change"].isna().tolist()
    assert pytest.approx([0.8, 0]) == told["change"].tolist()[1:]
    assert ["worse", "~"] == told["verdict"].tolist()[1:]


def test_a_row_says_what_a_comparison_of_the_two_says():
    sides = {"old": bench("A", "B"), "new": bench("A", "C", at=20)}

    pair = gomem.compare(*sides.values()).metrics
    many = rows_of(gomem.compare_many(sides), "new")

    same = ["name", "unit", "difference", "change", "p_value", "p_adjusted", "verdict", "note"]
    pd.testing.assert_frame_equal(pair[same], many[same])


def test_p_is_corrected_for_all_comparisons_of_all_builds():
    """
    The plain p, and with it the verdict, does not depend on how many builds there are.
    """
    sides = {"old": bench("A", "B"), "x": bench("A", "B", at=14), "y": bench("A", "B", at=20)}

    metrics = gomem.compare_many(sides).metrics.dropna(subset=["p_value"])
    pair = gomem.compare(sides["old"], sides["x"]).metrics

    assert pytest.approx(holm(metrics["p_value"].tolist())) == metrics["p_adjusted"].tolist()
    assert pair["p_value"].tolist() == metrics.loc[metrics["build"] == "x", "p_value"].tolist()


def test_a_metric_that_cannot_differ_is_none_of_those_corrected_for():
    flat = "\n".join("BenchmarkA 1000 5 ns/op 7 B/op" for _ in range(6)).encode()
    moved = "\n".join(f"BenchmarkA 1000 {9 + n} ns/op 7 B/op" for n in range(6)).encode()

    metrics = gomem.compare_many({"old": read_bench(flat), "new": read_bench(moved)}).metrics
    timed = metrics[(metrics["unit"] == "sec/op") & (metrics["build"] == "new")].iloc[0]

    assert timed["p_value"] == timed["p_adjusted"]


def test_a_note_names_how_many_comparisons_there_are_of_all_builds():
    """
    p is 0.0087 for x, below 5 % among two comparisons and above it among eight.
    """
    x = read_bench("\n".join(f"BenchmarkA 1 {n} ns/op" for n in (10, 16, 17, 18, 19, 20)).encode())
    sides = {"old": bench("A"), "x": x} | {f"y{n}": bench("A", at=11) for n in range(7)}

    row = rows_of(gomem.compare_many(sides), "x").iloc[0]

    assert "worse" == row["verdict"]
    assert "p < 0.05 by itself, but not significant among 8 comparisons (Holm)" == row["note"]


def test_the_sentence_names_each_build_with_what_became_of_it():
    """
    Three slower ones and one that shows no change.
    """
    slow = {name: bench("A", at=20) for name in ("b", "c")}

    judgement = gomem.compare_many({"old": bench("A"), **slow, "d": bench("A")}).judgement

    assert "worse" == judgement.verdict
    assert "Compared with old, b and c are worse; d shows no change." == judgement.sentence
    assert ["b", "c", "d"] == [said.partition(":")[0] for said in judgement.details]


def test_a_note_on_all_builds_stands_once_and_others_with_their_build():
    told = gomem.compare_many(
        {"old": bench("A", "B"), "x": bench("A", at=20), "y": bench("A", at=30)}
    ).notes

    assert 1 == sum(note.startswith("timings also depend") for note in told)
    assert "only before: B" in told

    told = gomem.compare_many({"old": bench("A", "B"), "x": bench("A", "B"), "y": bench("A")}).notes
    assert ("y: only before: B",) == told


@pytest.mark.parametrize(
    ("names", "baseline", "words"),
    [
        (["old"], None, "builds: 1 given; wanted at least two"),
        (["old", "new"], "odl", "baseline odl: wanted one of old, new; did you mean old"),
    ],
)
def test_what_cannot_be_asked_is_said(names, baseline, words):
    with pytest.raises(ValueError, match=words):
        gomem.compare_many({name: bench("A") for name in names}, baseline=baseline)


def test_a_pattern_is_the_runs_of_one_build(tmp_path):
    for side, value in (("old", 10), ("new", 20)):
        for run in range(4):
            text = f"BenchmarkA 1000 {value + run} ns/op\n"
            (tmp_path / f"{side}-{run}.txt").write_text(text)

    metrics = gomem.compare_many({side: tmp_path / f"{side}-*.txt" for side in ("old", "new")})

    assert [4, 4] == metrics.metrics["n"].tolist()


# A population


@pytest.fixture
def pods(tmp_path):
    """Captures of one moment each: so many goroutines, and so many MiB of RSS."""

    def made(**counts):
        for name, (goroutines, mib) in counts.items():
            (tmp_path / name).mkdir()
            metrics = {"/memory/classes/total:bytes": 9 << 20}
            metrics["/sched/goroutines:goroutines"] = goroutines
            (tmp_path / name / "metrics.json").write_text(json.dumps(metrics))
            status = f"Name:\tapp\nPid:\t7\nVmRSS:\t{mib * 1024:>8} kB\n"
            (tmp_path / name / "status").write_text(status)
        return gomem.compare_many({name: tmp_path / name for name in counts})

    return made


def test_the_pod_that_is_unlike_all_others_is_named_and_is_worse(pods):
    """
    4 201 goroutines where each of the others has one: that is no matter of how often it was read.
    """
    compared = pods(a=(1, 100), b=(1, 104), c=(4201, 101), d=(1, 99), e=(1, 102))

    assert "worse" == compared.judgement.verdict
    assert compared.judgement.sentence.startswith("Compared with a, c is worse; d and e show ")
    assert "Most unlike the others is c: goroutines 4 201, where the others have 1." in (
        compared.judgement.sentence.replace("\u202f", " ")
    )
    assert compared.judgement.details[0].startswith("c: Unlike the others: goroutines 4")
    assert [("c", "goroutines")] == list(
        zip(compared.outliers["build"], compared.outliers["name"], strict=True)
    )


def test_a_baseline_that_is_unlike_the_others_is_said_to_be_that(pods):
    compared = pods(a=(4201, 100), b=(1, 104), c=(1, 101), d=(1, 99))

    assert compared.judgement.details[0].startswith("a, the baseline, is unlike the others: ")


@pytest.mark.parametrize(
    "counts",
    [
        {"a": (1, 100), "b": (1, 104), "c": (4201, 101)},
        {"a": (1000, 100), "b": (1100, 104), "c": (1900, 101), "d": (1050, 99)},
        {"a": (1, 100), "b": (1, 190), "c": (1, 140), "d": (1, 120)},
        {"a": (1, 100), "b": (2000, 100), "c": (1, 100), "d": (4000, 100), "e": (900, 100)},
    ],
)
def test_too_few_builds_a_usual_spread_and_less_than_twice_are_nobody_alone(pods, counts):
    assert 0 == len(pods(**counts).outliers)


def test_settings_of_each_build_come_first_and_with_its_name(tmp_path):
    for name, gogc in (("a", 100), ("b", 400), ("c", 50)):
        (tmp_path / name).mkdir()
        metrics = {"/memory/classes/total:bytes": 9 << 20, "/gc/gogc:percent": gogc}
        (tmp_path / name / "metrics.json").write_text(json.dumps(metrics))

    compared = gomem.compare_many({name: tmp_path / name for name in "abc"})
    of_one = gomem.compare_many({"a": tmp_path / "a", "b": tmp_path / "b", "x": tmp_path / "a"})

    assert "GOGC 100 → 400, 50" == compared.settings_words
    assert compared.judgement.sentence.startswith("GOGC 100 → 400, 50: compared with a, ")
    assert "GOGC 100 → 400 in b" == of_one.settings_words
    assert ["b", "c"] == list(compared.settings["build"])
