"""A comparison as a comment on a pull request."""

import pytest

from gomem.comparison.budgets import budget_of, within_budgets
from gomem.comparison.builds import compare_many
from gomem.comparison.comparison import compare
from gomem.inputs.gobench.table import read_bench
from gomem.views.comparison.comment import MARK, render_builds_comment, render_comment
from tests.builders import FIXTURES

CHANGES = FIXTURES / "changes"
MAX_LINES = 40


def bench(scale, names=("A",)):
    lines = (f"Benchmark{n}-2 1 {v * scale} ns/op\n" for n in names for v in range(10, 16))
    return read_bench("".join(lines).encode())


def lines_of(compared):
    return render_comment(compared, before="main", after="a|b").splitlines()


def test_what_decides_comes_first():
    compared = within_budgets(compare(bench(1), bench(2)), [budget_of("sec/op", "+10%")])

    lines = lines_of(compared)

    assert [MARK, "", "**main → a\\|b**", ""] == lines[:4]
    assert lines[4].startswith("**Worse: 1 benchmark metric: 1 worse")
    assert lines.index("## Budgets") < lines.index("## What changed")


def test_nothing_changed_has_no_table_of_changes():
    assert "## What changed" not in lines_of(compare(bench(1), bench(1)))


def test_of_many_changes_the_first_few_are_shown_and_the_rest_is_counted():
    names = [f"A{number}" for number in range(150)]

    lines = lines_of(compare(bench(1, names), bench(2, names)))

    assert "- 144 more in the page" in lines
    assert len(lines) <= MAX_LINES


@pytest.mark.parametrize(
    ("change", "before", "after"),
    [
        ("buffers", "pooled", "gogc-1000"),
        ("buffers", "each", "pooled"),
        ("releases", "go1.23.4", "go1.24.2"),
        ("alloc-pressure", "before", "after"),
    ],
)
def test_a_comment_is_short_has_one_fold_and_no_spread_above_its_median(change, before, after):
    sides = [str(CHANGES / change / side / "*") for side in (before, after)]

    lines = lines_of(compare(*sides))

    assert len(lines) <= MAX_LINES
    assert 1 == sum("<details>" in line for line in lines) == sum("</details>" in x for x in lines)
    spreads = [int(part.split(" %")[0]) for line in lines for part in line.split("± ")[1:]]
    assert all(spread <= 100 for spread in spreads)
    assert not any("± ?" in line for line in lines)


def test_settings_that_differ_stand_in_the_first_line_that_is_seen():
    sides = [str(CHANGES / "buffers" / side / "*") for side in ("pooled", "gogc-1000")]

    assert "**main → a\\|b: GOGC 100 → 1000**" == lines_of(compare(*sides))[2]


def test_of_several_builds_each_has_a_line():
    compared = compare_many({"old": bench(1), "x": bench(2), "y": bench(1)})

    lines = render_builds_comment(compared).splitlines()

    assert [MARK, "", "**2 builds against old**", ""] == lines[:4]
    assert lines[4].startswith("**Worse: Against old, x is worse; y shows no change.")
    assert lines[6].startswith("- x: 1 benchmark metric: 1 worse")
