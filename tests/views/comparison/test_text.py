"""A comparison as text."""

from itertools import pairwise

import pandas as pd
import pytest

from gomem.analysis.comparison.before_after import Comparison, compare_bench, compare_samples
from gomem.analysis.profiles.site_changes import compare_sites
from gomem.diagnosis.comparison import compare_diagnoses
from gomem.errors import Damage
from gomem.inputs.gobench.table import read_bench
from gomem.sources.artefact import open_source
from gomem.views.comparison.text import (
    format_difference,
    format_level,
    format_p,
    format_spread,
    format_value,
    render_compare_text,
)
from tests.builders import CAPTURES, FIXTURES, diagnosed

FOLDERS = FIXTURES / "captures"
PAIRS = {
    "cache-shrink": (FOLDERS / "cache-shrink-go1.12.17", FOLDERS / "cache-shrink-go1.16.15"),
    "alloc-pressure": tuple(FOLDERS / f"alloc-pressure-{s}-go1.27.3" for s in ("before", "after")),
}
NOTHING = pd.DataFrame({"name": [], "unit": [], "value": []})
BEFORE = b"""\
cpu: EPYC
BenchmarkHandle-2 1000 103 ns/op 64 B/op
BenchmarkHandle-2 1000 101 ns/op 64 B/op
BenchmarkHandle-2 1000 102 ns/op 64 B/op
BenchmarkHandle-2 1000 99 ns/op 64 B/op
BenchmarkHandle-2 1000 98 ns/op 64 B/op
BenchmarkHandle-2 1000 97 ns/op 64 B/op
BenchmarkLookup-2 1000 20 ns/op 0 B/op
"""
AFTER = b"""\
cpu: Xeon
BenchmarkHandle-2 1000 53 ns/op 0 B/op
BenchmarkHandle-2 1000 51 ns/op 0 B/op
BenchmarkHandle-2 1000 52 ns/op 0 B/op
BenchmarkHandle-2 1000 49 ns/op 0 B/op
BenchmarkHandle-2 1000 48 ns/op 0 B/op
BenchmarkHandle-2 1000 47 ns/op 0 B/op
BenchmarkLookup-2 1000 21 ns/op 0 B/op
BenchmarkLookup-2 1000
"""
# By hand: the medians' intervals are all six values; p is 2/924, twice; the means are roots of
# 100 * 20 and 50 * 21, their ratio that of 1/2 * 21/20.
EXPECTED = """\
before: a.txt
after:  b.txt

4 metrics: 2 better, 2 ~ (may be noise)

sec/op    before        after          verdict   change
Handle-2  100 ns ± 3 %  50.0 ns ± 6 %  better   -50.0 %  p=0.004 n=6
Lookup-2  20.0 ns ± ?   21.0 ns ± ?    ~         +5.0 %  p unknown n=1  [1]
geomean   44.7 ns       32.4 ns                 -27.5 %

B/op      before      after      verdict    change
Handle-2  64 B ± 0 %  0 B ± 0 %  better   -100.0 %  p=0.004 n=6
Lookup-2  0 B ± ?     0 B ± ?    ~          +0.0 %  p unknown n=1  [2]
geomean   unknown     unknown              unknown                 [3]

±, low and high are 95 % intervals; p is Mann-Whitney's, corrected for all
  comparisons here
[1] one value a side cannot tell a change from noise; 6 a side can
[2] a 95 % interval of the median takes 6 values
[3] a median is not above 0, so there is no geometric mean
note: cpu differs: EPYC before, Xeon after
note: times also differ by what the machine did meanwhile, unless before and
  after ran in turns

what could not be read:
  b.txt: line 9: no measurement behind the iteration count: 'BenchmarkLookup-2 1000'
"""


def named(data, name):
    return read_bench(open_source(data, name=name))


def of_type(sites, sample_type, unit):
    return sites.assign(sample_type=sample_type, unit=unit)


def rendered(metrics=None, **parts):
    """A comparison of nothing but the parts given, as text."""
    metrics = compare_samples(NOTHING, NOTHING).metrics if metrics is None else metrics
    return render_compare_text(Comparison(metrics, **parts), before="a", after="b")


def test_the_whole_text():
    """
    What was found comes first, then a table for each unit, what to know, and what was not read.
    """
    compared = compare_bench(named(BEFORE, "a.txt"), named(AFTER, "b.txt"))

    assert EXPECTED == render_compare_text(compared, before="a.txt", after="b.txt")


@pytest.mark.parametrize("pair", PAIRS)
def test_captures_as_text(pair, golden):
    """
    Benchmarks with verdicts, levels without, RSS by moment and part, sites, and what to know.
    """
    before, after = PAIRS[pair]
    compared = compare_diagnoses(diagnosed(before), diagnosed(after))

    text = render_compare_text(compared, before=before.name, after=after.name)

    assert golden(f"compare-{pair}.txt", text) == text


@pytest.mark.parametrize(
    ("before", "after"),
    [pytest.param(a, b, id=f"{a.name}-{b.name}") for a, b in pairwise(CAPTURES)],
)
def test_captures_fit_a_terminal_of_80_columns(before, after):
    compared = compare_diagnoses(diagnosed(before), diagnosed(after))

    text = render_compare_text(compared, before=before.name, after=after.name)

    assert 80 >= max(map(len, text.splitlines()))


def test_a_long_name_stands_on_a_line_of_its_own():
    """
    The numbers stay in their columns, and nothing of the name is cut off.
    """
    name = "github.com/somebody/something/internal/parse.(*Parser).readEverything"
    flat = pd.DataFrame(
        {"function": ["main.f", name], "flat": 1024, "flat_low": 512, "flat_high": 2048}
    )
    sites = of_type(compare_sites(flat.iloc[:0], flat), "alloc_space", "bytes")

    lines = rendered(sites=sites).splitlines()

    assert f"{' ':6}     0 B  1.00 KiB  +1.00 KiB  ± 100 %  new" == lines[lines.index(name) + 1]


def test_counts_of_objects_are_not_bytes():
    flat = pd.DataFrame(
        {"function": ["f"], "flat": [123456], "flat_low": [123456], "flat_high": [123456]}
    )
    sites = of_type(compare_sites(flat.iloc[:0], flat), "alloc_objects", "count")

    assert "f       0  123 456  +123 456  ± 0 %  new\n" in rendered(sites=sites)


def test_the_largest_changes_are_shown_and_the_others_counted():
    names = [f"main.f{number:02}" for number in range(15)]
    flat = pd.DataFrame({"function": names, "flat": 1024, "flat_low": 512, "flat_high": 2048})
    sites = of_type(compare_sites(flat.iloc[:0], flat), "inuse_space", "bytes")

    text = rendered(sites=sites)

    assert "inuse_space: 15 new\n" in text
    assert "main.f09 " in text
    assert "main.f10 " not in text
    assert "and 5 more\n" in text


def test_sites_within_noise_are_counted_in_one_sentence():
    flat = pd.DataFrame({"function": ["f"], "flat": [9], "flat_low": [1], "flat_high": [20]})
    sites = of_type(compare_sites(flat, flat), "inuse_space", "bytes")

    assert "no site changed beyond sampling noise: inuse_space (1 ~)\n" in rendered(sites=sites)


def test_several_captures_a_side_have_medians_and_a_verdict():
    one = pd.DataFrame(
        {"name": "RSS", "unit": "B", "layer": "memory", "value": [1e6, 2e6, 3e6, 4e6, 5e6, 6e6]}
    )
    metrics = compare_samples(one, one.assign(value=one["value"] * 10)).metrics

    text = rendered(metrics=metrics)

    assert "1 metric: 1 worse\n" in text
    assert "RSS     3.34 MiB ± 71 %  33.4 MiB ± 71 %  worse    +900.0 %  p=0.002 n=6\n" in text


def test_a_home_directory_is_not_shown():
    damaged = (Damage("/home/ada/runs/a/smaps", "", "empty file"),)

    text = rendered(damaged=damaged)

    assert "  ~/runs/a/smaps: empty file\n" in text
    assert "ada" not in text


def test_nothing_measured_is_said():
    text = render_compare_text(compare_samples(NOTHING, NOTHING), before="a", after="b")

    assert "nothing measured on either side" in text


def test_a_name_cannot_steer_the_terminal():
    compared = compare_bench(*[read_bench(b"BenchmarkA\x1b[2J-2 1 5 ns/op\n")] * 2)

    text = render_compare_text(compared, before="a\x1b]0;b\x07", after="b")

    assert "\x1b" not in text
    assert "A\\x1b[2J" in text


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (1.5e-6, "sec/op", "1.50 µs"),
        (2048.0, "B/op", "2.00 KiB"),
        (2048.0, "B/s", "2.00 KiB"),
        (3e-3, "p99-sec", "3.00 ms"),
        (0.125, "fraction", "12.5 %"),
        (11.0, "allocs/op", "11"),
        (2.5, "hits/op", "2.5"),
        (12345.6, "hits/op", "12\u202f346"),
        (None, "sec/op", "unknown"),
        (pd.NA, "B", "unknown"),
    ],
)
def test_a_value_is_shown_in_its_units_prefix(value, unit, text):
    assert text == format_value(value, unit)


@pytest.mark.parametrize(
    ("p", "text"), [(0.0301, "p=0.030"), (1e-9, "p<0.001"), (1.0, "p=1.000"), (pd.NA, "p unknown")]
)
def test_a_p_is_never_shown_as_zero(p, text):
    assert text == format_p(p)


@pytest.mark.parametrize(
    ("median", "low", "high", "text"),
    [
        (100.0, 97.0, 101.0, "± 3 %"),
        (-100.0, -101.0, -97.0, "± 3 %"),
        (0.0, 0.0, 0.0, "± 0 %"),
        (0.0, 0.0, 5.0, "± ?"),
        (100.0, pd.NA, pd.NA, "± ?"),
    ],
)
def test_a_spread_is_the_farther_end(median, low, high, text):
    assert text == format_spread(median, low, high)


@pytest.mark.parametrize(
    ("difference", "unit", "text"),
    [
        (2048.0, "B", "+2.00 KiB"),
        (-2048.0, "B/s", "-2.00 KiB/s"),
        (0.0131, "fraction", "+1.3 pp"),
        (-1.5e-3, "s", "-1.50 ms"),
        (0.0, "count", "0"),
    ],
)
def test_a_difference_has_a_sign_and_its_unit(difference, unit, text):
    assert text == format_difference(difference, unit)


def test_a_level_has_its_whole_unit():
    assert ["1.00 KiB/s", "1.00 KiB"] == [format_level(1024.0, unit) for unit in ("B/s", "B")]
