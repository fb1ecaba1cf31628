"""Medians, intervals, changes, p and `~` are those that benchstat prints.

`fixtures/benchstat` holds the pairs, recorded and awkward ones, each with what benchstat said.
"""

import csv
import shutil
import subprocess

import pytest

from gomem.comparison.benchmarks import compare_bench
from gomem.inputs.gobench.table import read_bench
from gomem.units import is_unknown
from tests.builders import FIXTURES

PAIRS = sorted((FIXTURES / "benchstat/pairs").iterdir())
UNSURE = {"~", "?"}


def tables(text):
    """Benchstat's CSV: for each package and unit, its rows; settings stand before the tables."""
    package, unit, found = "", "", {}
    for row in csv.reader(text.splitlines()):
        if len(row) == 1 and row[0].startswith("pkg: "):
            package = row[0].removeprefix("pkg: ")
        elif len(row) > 1 and row[-1] == "P":
            unit = row[1]
        elif row and row[0] not in {"", "geomean"} and len(row) > 1:
            found[package, row[0], unit] = [*row[1:], *[""] * (7 - len(row))]
    return found


def per_cent(low, high, median):
    """The interval as benchstat prints it: its farther end, in whole per cent of the median."""
    if is_unknown(low):
        return "∞"
    if low == high == median:
        return "0%"
    if not median:
        return "?"
    return f"{100 * max(high / median - 1, 1 - low / median):.0f}%"


def as_benchstat(metric):
    """A metric's cells as benchstat prints them; what only one side has leaves the rest empty."""
    sides = []
    for side in ("before", "after"):
        median, low, high = (metric[f"{side}_{key}"] for key in ("median", "low", "high"))
        sides += ["", ""] if is_unknown(median) else [float(median), per_cent(low, high, median)]
    counts = metric["before_n"], metric["after_n"]
    if not all(counts):
        return [*sides, "", ""]
    n = f"n={counts[0]}" if counts[0] == counts[1] else f"n={counts[0]}+{counts[1]}"
    p = 1.0 if is_unknown(metric["p_value"]) else metric["p_value"]
    change = "~" if metric["verdict"] in UNSURE else f"{100 * metric['change']:+.2f}%"
    return [*sides, change, f"p={p:.3f} {n}"]


def check(pair, text):
    expected = tables(text)
    sides = [read_bench((pair / f"{side}.txt").read_bytes()) for side in ("before", "after")]
    rows = compare_bench(*sides).metrics.to_dict("records")

    assert len(expected) == len(rows)
    for (package, name, unit), cells in expected.items():
        (row,) = [
            one
            for one in rows
            if one["unit"] == unit
            and (one["name"] == name or (name in one["name"] and package in one["name"]))
        ]
        cells[0], cells[2] = (cell and float(cell) for cell in (cells[0], cells[2]))
        got = as_benchstat(row)
        assert cells[1::2] + cells[4:] == got[1::2] + got[4:], name
        assert [cells[0], cells[2]] == pytest.approx([got[0], got[2]]), name


def test_there_are_pairs_enough_and_awkward_ones_among_them():
    assert len(PAIRS) >= 40
    assert {"recorded", "made"} == {pair.name.partition("-")[0] for pair in PAIRS}


@pytest.mark.at_most(17)
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_a_pair_gives_what_benchstat_printed(pair):
    check(pair, (pair / "benchstat.csv").read_text())


@pytest.mark.go
@pytest.mark.skipif(shutil.which("benchstat") is None, reason="benchstat is not on this machine")
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_a_pair_gives_what_benchstat_prints_now(pair):
    command = ["benchstat", "-format", "csv", "before.txt", "after.txt"]
    done = subprocess.run(command, cwd=pair, capture_output=True, text=True, check=True)

    check(pair, done.stdout)
