"""Budgets of the command line and of gomem.toml, down to the exit code."""

import pytest

from gomem.cli.main import run as run_gomem

FAST = "".join(f"BenchmarkA-2 1000 {value} ns/op\n" for value in (10, 11, 12, 13, 14, 15))
SLOW = "".join(f"BenchmarkA-2 1000 {value} ns/op\n" for value in (20, 21, 22, 23, 24, 25))


@pytest.fixture
def compared(tmp_path, capsys, monkeypatch):
    """Compare fast with slow, in a folder below the one with this gomem.toml."""
    below = tmp_path / "below"
    below.mkdir()
    monkeypatch.chdir(below)
    (below / "fast.txt").write_text(FAST)
    (below / "slow.txt").write_text(SLOW)

    def run(*options, toml=None):
        if toml is not None:
            (tmp_path / "gomem.toml").write_text(toml)
        code = run_gomem(["compare", "fast.txt", "slow.txt", *options])
        return code, *capsys.readouterr()

    return run


@pytest.mark.parametrize(
    ("budget", "code"),
    [("sec/op=+10%", 1), ("ns/op=+5ns", 1), ("sec/op=+200%", 0), ("regression", 1)],
)
def test_a_broken_budget_ends_with_1(compared, budget, code):
    assert code == compared("--fail-on", budget)[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        pytest.param(["--fail-on", "regresion"], "did you mean regression?", id="no-budget"),
        pytest.param(["--fail-on", ""], "--fail-on: nothing: neither regression", id="empty"),
        pytest.param(["--fail-on", "rss=+1%"], "there are sec/op", id="not-measured"),
        pytest.param(["--fail-on", "sec/op=fast"], "not a size", id="no-size"),
        pytest.param(["--config", "other.toml"], "other.toml: no such file", id="no-file"),
    ],
)
def test_what_is_no_budget_ends_with_2(compared, options, message):
    code, output, errors = compared(*options)

    assert (2, "") == (code, output)
    assert message in errors
    assert 1 == errors.count("\n")


def test_the_nearest_gomem_toml_holds(compared):
    code, output, _ = compared(toml='[budgets]\n"sec/op" = "+10%"\n')

    assert 1 == code
    assert "\nBudgets\n" in output
    assert "Budget: 1 broken (A-2 +80 % where +10% is allowed)." in output


def test_the_command_line_overrides_the_file(compared):
    toml = '[budgets]\n"sec/op" = "+10%"\n'

    assert 0 == compared("--fail-on", "sec/op=+300%", toml=toml)[0]


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        pytest.param("[budgets\n", "not TOML", id="not-toml"),
        pytest.param("[budget]\n", "did you mean budgets?", id="another-table"),
        pytest.param("budgets = 1\n", "budgets is not a table", id="no-table"),
        pytest.param("[budgets]\nrss = 10\n", 'wanted one such as "+10%"', id="a-number"),
        pytest.param('[budgets]\nrss = "ten"\n', "gomem.toml: budget rss=ten: ", id="no-size"),
    ],
)
def test_a_faulty_gomem_toml_ends_with_2(compared, toml, message):
    code, output, errors = compared(toml=toml)

    assert (2, "") == (code, output)
    assert message in errors


def test_what_cannot_be_told_does_not_fail_and_is_told(compared, tmp_path):
    (tmp_path / "below" / "slow.txt").write_text(SLOW.replace("2", "1", 1)[:30])

    code, output, errors = compared("--fail-on", "sec/op=+10%")

    assert 0 == code
    assert "gomem: 1 of 1 budgets need more runs to decide; see Budgets\n" == errors
    assert "use 4 or more" in output
