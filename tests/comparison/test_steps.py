"""Each build against the one before it, as the matrix has it."""

import pandas as pd
import pytest

import gomem
from gomem.comparison.steps import STEPS
from gomem.fleets.fleet import fleet
from gomem.fleets.matrix import matrix_of
from tests.builders import FIXTURES

RELEASES = ("go1.23.4", "go1.24.2", "go1.24.6")


def recorded(release):
    return FIXTURES / "captures" / f"zeroing-{release}"


@pytest.fixture(scope="module")
def compared():
    return gomem.compare_many({release: recorded(release) for release in RELEASES})


@pytest.fixture(scope="module")
def matrix(tmp_path_factory):
    into = tmp_path_factory.mktemp("fleet") / "dataset"
    runs = [recorded(release) for release in RELEASES]
    return matrix_of(fleet(*runs, into=into, workers=0))


def test_the_steps_are_those_of_the_matrix(compared, matrix):
    same = [column.name for column in STEPS]

    assert same == list(compared.steps)
    pd.testing.assert_frame_equal(matrix.compared[same], compared.steps)
    assert matrix.sentence == compared.steps_words


def test_the_build_that_brought_a_change_and_the_one_that_took_it_back(compared):
    rows = compared.steps.set_index(["name", "build"])["verdict"]

    assert "differs" == rows["rss_bytes", "go1.24.2"]
    assert "differs" == rows["rss_bytes", "go1.24.6"]
    assert "~" == rows["live_heap", "go1.24.2"]
    assert ["RSS first differs at go1.24.2", "it changes again at go1.24.6"] == [
        part.partition(":")[0] for part in str(compared.steps_words).split("; ")
    ]


def test_another_order_has_other_steps():
    turned = gomem.compare_many({release: recorded(release) for release in reversed(RELEASES)})
    rows = turned.steps.query("name == 'rss_bytes'")

    assert list(reversed(RELEASES)) == rows["build"].tolist()
    assert ["differs", "differs"] == rows["verdict"].tolist()[1:]
    assert rows["change"].iloc[1] > 10
    assert rows["change"].iloc[2] < 0


def test_builds_that_are_alike_have_no_words():
    same = gomem.compare_many(dict.fromkeys(("a", "b"), recorded("go1.23.4")))

    assert "" == str(same.steps_words)
    assert {"~"} == set(same.steps["verdict"].dropna())


def test_benchmarks_alone_have_none_of_the_quantities():
    from gomem.inputs.gobench.table import read_bench

    bench = read_bench(b"BenchmarkA 1000 10 ns/op\n")

    assert gomem.compare_many({"a": bench, "b": bench}).steps.empty
