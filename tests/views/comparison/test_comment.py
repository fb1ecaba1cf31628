"""A comparison as a comment on a pull request."""

import pytest

from gomem.comparison.budgets import budget_of, within_budgets
from gomem.comparison.comparison import compare
from gomem.comparison.samples import compare_bench
from gomem.inputs.gobench.table import read_bench
from gomem.views.comparison import comment
from gomem.views.comparison.comment import MARK, render_comment


def bench(scale, names=("A",)):
    lines = (f"Benchmark{n}-2 1 {v * scale} ns/op\n" for n in names for v in range(10, 16))
    return read_bench("".join(lines).encode())


def lines_of(compared):
    return render_comment(compared, before="main", after="a|b").splitlines()


def test_what_decides_comes_first_and_the_rest_is_folded():
    compared = within_budgets(compare(bench(1), bench(2)), [budget_of("sec/op", "+10%")])

    lines = lines_of(compared)

    assert MARK == lines[0]
    assert lines[2].startswith("**Worse: 1 benchmark metric: 1 worse")
    assert "main → a\\|b" in lines
    before_folds = lines[: lines.index("<details><summary>Benchmarks</summary>")]
    assert {"## What changed", "## Budgets"} <= set(before_folds)
    assert sum("<details>" in one for one in lines) == sum("</details>" in one for one in lines)


def test_nothing_changed_has_no_table_of_changes():
    assert "## What changed" not in lines_of(compare(bench(1), bench(1)))


@pytest.mark.parametrize(("longest", "left"), [(10_000, True), (60_000, False)])
def test_no_comment_is_longer_than_a_host_takes(monkeypatch, longest, left):
    monkeypatch.setattr(comment, "LONGEST", longest)
    names = [f"A{number}" for number in range(150)]
    text = render_comment(compare_bench(bench(1, names), bench(1, names)), before="a", after="b")

    assert len(text) < longest + 500
    assert left == ("More than a comment holds was left out: Benchmarks" in text)
