"""A comparison as text."""

from itertools import pairwise

import pandas as pd
import pytest

from gomem.analysis.profiles.changes import compare_sites
from gomem.comparison.benchmarks import compare_bench
from gomem.comparison.comparison import compare, compare_diagnoses
from gomem.comparison.samples import Comparison, compare_samples
from gomem.errors import Damage
from gomem.inputs.gobench.table import read_bench
from gomem.sources.artefact import open_source
from gomem.views.comparison.document import comparison_document
from gomem.views.writers.text import write_text
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
# By hand: the medians' intervals are all six values; p is 2/924; the means are roots of
# 100 * 20 and 50 * 21, their ratio that of 1/2 * 21/20.
EXPECTED = """\
cpu EPYC → Xeon

✓ better: 2 of 4 benchmark metrics are better and 2 have too few runs; the
  largest change is \u2212100 % (Handle-2 B/op).
\u221228 % sec/op, geometric mean of 2 benchmarks
1 place could not be read.

Before: a.txt
After: b.txt

Benchmarks
Medians, sec/op
sec/op                before          after   change  verdict      p  n
───────────────────────────────────────────────────────────────────────
Handle-2        100 ns ± 3 %  50.0 ns ± 6 %  \u221250.0 %  better   0.002  6
Lookup-2             20.0 ns        21.0 ns   +5.0 %  ?            –  1
geometric mean       44.7 ns        32.4 ns  \u221227.5 %
note: Lookup-2: one value per side cannot tell small changes from noise; use at
  least 4 per side

Medians, B/op
B/op                before      after    change  verdict      p  n
──────────────────────────────────────────────────────────────────
Handle-2        64 B ± 0 %  0 B ± 0 %  \u2212100.0 %  better   0.002  6
Lookup-2               0 B        0 B     0.0 %  ?            –  1
geometric mean           –          –         –
note: Lookup-2: one value per side cannot tell small changes from noise; use at
  least 4 per side
note: no geometric mean: a median is 0
note: ±: half of the 95 % interval, in percent of the median
note: p is from a Mann-Whitney test, not corrected for multiple comparisons

Notes
• timings also depend on the load of the machine; interleave the runs of the two
  sides to cancel it
• cpu: from benchmark file

What could not be read
Missing from the numbers above:

b.txt: line 9: no measurement behind the iteration count ('BenchmarkLookup-2
  1000')

Made by gomem 0.1.0.
"""


def named(data, name):
    return read_bench(open_source(data, name=name))


def of_type(sites, sample_type, unit):
    return sites.assign(sample_type=sample_type, unit=unit, note="")


def text_of(compared, before="a", after="b"):
    return write_text(comparison_document(compared, before=before, after=after), width=80)


def rendered(metrics=None, **parts):
    """A comparison of nothing but the parts given, as text."""
    metrics = compare_samples(NOTHING, NOTHING).metrics if metrics is None else metrics
    return text_of(Comparison(metrics, **parts))


def test_the_whole_text():
    """
    What was found comes first, then a table for each unit, what to know, and what was not read.
    """
    compared = compare(named(BEFORE, "a.txt"), named(AFTER, "b.txt"))

    assert EXPECTED == text_of(compared, "a.txt", "b.txt")


@pytest.mark.parametrize("pair", PAIRS)
def test_captures_as_text(pair, golden):
    """
    Benchmarks with verdicts, levels without, RSS by moment and part, sites, and what to know.
    """
    before, after = PAIRS[pair]
    compared = compare_diagnoses(diagnosed(before), diagnosed(after))

    text = text_of(compared, before.name, after.name)

    assert golden(f"compare-{pair}.txt", text) == text


@pytest.mark.at_most(2)
@pytest.mark.parametrize(
    ("before", "after"),
    [pytest.param(a, b, id=f"{a.name}-{b.name}") for a, b in pairwise(CAPTURES)],
)
def test_captures_fit_a_terminal_of_80_columns(before, after):
    compared = compare_diagnoses(diagnosed(before), diagnosed(after))

    text = text_of(compared, before.name, after.name)

    assert 80 >= max(map(len, text.splitlines()))


def test_a_long_name_is_folded():
    """
    The numbers stay in their columns, and nothing of the name is cut off.
    """
    name = "github.com/somebody/something/internal/parse.(*Parser).readEverything"
    flat = pd.DataFrame(
        {"function": ["main.f", name], "flat": 1024, "flat_low": 512, "flat_high": 2048}
    )
    sites = of_type(compare_sites(flat.iloc[:0], flat), "alloc_space", "bytes")

    lines = rendered(sites=sites).splitlines()

    place = next(place for place, line in enumerate(lines) if line.startswith(name[:20]))
    assert lines[place].endswith("  new       0 B  1.00 KiB  +1.00 KiB ± 100 %")
    assert name == lines[place].split()[0] + lines[place + 1]


def test_counts_of_objects_are_not_bytes():
    flat = pd.DataFrame(
        {"function": ["f"], "flat": [123456], "flat_low": [123456], "flat_high": [123456]}
    )
    sites = of_type(compare_sites(flat.iloc[:0], flat), "alloc_objects", "count")

    assert "\nf         new         0  123 456  +123 456 ± 0 %\n" in rendered(sites=sites)


def test_the_largest_changes_are_shown_and_the_others_counted():
    names = [f"main.f{number:02}" for number in range(15)]
    flat = pd.DataFrame({"function": names, "flat": 1024, "flat_low": 512, "flat_high": 2048})
    sites = of_type(compare_sites(flat.iloc[:0], flat), "inuse_space", "bytes")

    text = rendered(sites=sites)

    assert "inuse_space: 15 sites new\n" in text
    assert "main.f09 " in text
    assert "main.f10 " not in text
    assert [["5", "other", "sites"], ["total", "0", "B"]] == [
        line.split()[:3] for line in text.splitlines() if line.startswith(("5 other", "total"))
    ]


def test_sites_within_noise_are_one_sentence():
    flat = pd.DataFrame({"function": ["f"], "flat": [9], "flat_low": [1], "flat_high": [20]})
    sites = of_type(compare_sites(flat, flat), "inuse_space", "bytes")

    shown = rendered(sites=sites)
    assert "\nNo allocation site changed beyond sampling noise.\n" in shown
    assert "within sampling noise\n" not in shown  # no count of each sample type


def test_several_captures_a_side_have_medians_and_a_verdict():
    one = pd.DataFrame(
        {"name": "RSS", "unit": "B", "layer": "memory", "value": [1e6, 2e6, 3e6, 4e6, 5e6, 6e6]}
    )
    metrics = compare_samples(one, one.assign(value=one["value"] * 10)).metrics

    text = rendered(metrics=metrics)

    assert "\nRSS     3.34 MiB ± 71 %  33.4 MiB ± 71 %     ×10  worse    0.002  6\n" in text
    assert "note: ±: half of the 95 % interval, in percent of the median\n" in text


def test_of_too_few_runs_for_an_interval_no_spread_is_explained():
    four = pd.DataFrame(
        {"name": "RSS", "unit": "B", "layer": "memory", "value": [1e6, 2e6, 3e6, 4e6]}
    )

    text = rendered(metrics=compare_samples(four, four.assign(value=four["value"] * 10)).metrics)

    assert ", medians of 4 runs per side\n" in text
    assert "note: no 95 % interval of the median: it needs at least 6 values per side\n" in text
    assert "±" not in text


def test_a_home_directory_is_not_shown():
    damaged = (Damage("/home/ada/runs/a/smaps", "", "empty file"),)

    text = rendered(damaged=damaged)

    assert "\n~/runs/a/smaps: whole file: empty file\n" in text
    assert "ada" not in text


def test_nothing_measured_is_said():
    text = text_of(compare_samples(NOTHING, NOTHING))

    assert "No metric was measured on both sides." in text


def test_a_name_cannot_steer_the_terminal():
    compared = compare_bench(*[read_bench(b"BenchmarkA\x1b[2J-2 1 5 ns/op\n")] * 2)

    text = text_of(compared, before="a\x1b]0;b\x07")

    assert "\x1b" not in text
    assert "A\\x1b[2J" in text
