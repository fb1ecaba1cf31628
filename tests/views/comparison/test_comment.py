"""A comparison as a comment on a pull request."""

import pytest

from gomem.comparison.budgets import budget_of, within_budgets
from gomem.comparison.builds import compare_many
from gomem.comparison.comparison import compare
from gomem.inputs.gobench.table import read_bench
from gomem.views.comparison.comment import MARK, MAX_BUDGETS, render_builds_comment, render_comment
from tests.builders import FIXTURES

CHANGES = FIXTURES / "changes"
MAX_LINES = 40
SIDES = ["before_n", "after_n"]


def bench(scale, names=("A",)):
    lines = (f"Benchmark{n}-2 1 {v * scale} ns/op\n" for n in names for v in range(10, 16))
    return read_bench("".join(lines).encode())


def lines_of(compared):
    return render_comment(compared, before="main", after="a|b").splitlines()


def test_what_decides_comes_first():
    compared = within_budgets(compare(bench(1), bench(2)), [budget_of("sec/op", "+10%")])

    lines = lines_of(compared)

    assert [MARK, "", "**main → a\\|b**", ""] == lines[:4]
    assert lines[4].startswith("**Worse: 1 benchmark metric is worse")
    assert lines.index("**Budgets**") < lines.index("**What changed**")


def test_nothing_changed_has_no_table_of_changes():
    assert "**What changed**" not in lines_of(compare(bench(1), bench(1)))


def test_of_many_changes_the_first_few_are_shown_and_the_rest_is_counted():
    names = [f"A{number}" for number in range(150)]

    lines = lines_of(compare(bench(1, names), bench(2, names)))

    assert "**What changed, 10 of 150**" in lines
    assert len(lines) <= MAX_LINES


@pytest.mark.at_most(2)
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

    assert [MARK, "", "**2 builds compared with old**", ""] == lines[:4]
    assert lines[4].startswith("**Worse: Compared with old, x is worse; y shows no change.")
    assert lines[6].startswith("- x: 1 benchmark metric is worse")


def test_the_last_line_says_how_to_get_the_whole_page():
    lines = lines_of(compare(bench(1), bench(2)))

    assert lines[-1].startswith("The whole page: `gomem compare BEFORE AFTER ")


def test_a_comment_with_everything_has_at_most_40_lines():
    """
    Many budgets, many changes, details, owners and sites: something of each, or it is counted.
    """
    sides = [str(CHANGES / "alloc-pressure" / side / "*") for side in ("before", "after")]
    compared = compare(*sides)
    budgets = [
        budget_of(name, "+0")
        for name in dict.fromkeys(compared.metrics["name"])
        if (compared.metrics.loc[compared.metrics["name"] == name, SIDES] > 0).all(axis=None)
    ]

    lines = lines_of(within_budgets(compared, budgets))

    assert len(lines) <= MAX_LINES
    assert f"**Budgets, {MAX_BUDGETS} of {len(budgets)}**" in lines
    assert any(line.startswith("**What changed") for line in lines)


def test_rss_is_said_once_in_the_verdict():
    sides = [str(CHANGES / "releases" / side / "*") for side in ("go1.23.4", "go1.24.2")]

    lines = lines_of(compare(*sides))

    verdict = [line for line in lines if line.startswith(("**Worse", "- "))]
    assert 1 == sum(line.count("RSS") for line in verdict)


def test_of_many_builds_the_comment_is_as_short():
    sides = {f"b{number}": bench(1 + number % 3) for number in range(30)}

    lines = render_builds_comment(compare_many(sides)).splitlines()

    assert len(lines) <= MAX_LINES


def test_each_build_has_a_row_with_its_rss():
    folders = FIXTURES / "captures"
    names = [f"zeroing-{release}" for release in ("go1.23.4", "go1.24.2", "go1.24.6")]

    lines = render_builds_comment(
        compare_many({name: folders / name for name in names})
    ).splitlines()

    rows = [line for line in lines if line.startswith("| zeroing")]
    assert names == [row.split(" | ")[0].removeprefix("| ") for row in rows]
    assert ["baseline", "worse", "no change"] == [row.split(" | ")[-1].strip(" |") for row in rows]
