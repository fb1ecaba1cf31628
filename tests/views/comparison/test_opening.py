"""The first screen of a comparison: the number, the bars on common parts, what changed."""

from dataclasses import replace

import pytest

from gomem.comparison.benchmarks import compare_bench
from gomem.comparison.builds import compare_many
from gomem.comparison.comparison import compare_diagnoses
from gomem.inputs.gobench.table import read_bench
from gomem.text import Bytes, BytesChange, Count
from gomem.views.comparison import words
from gomem.views.comparison.builds import builds_document
from gomem.views.comparison.document import MAX_TITLE, comparison_document, title_of
from gomem.views.comparison.opening import MAX_CHANGED, bars_between, changed_table, size_of
from gomem.views.document import Bars, Table
from tests.builders import FIXTURES, diagnosed

FOLDERS = FIXTURES / "captures"
ZEROING = ("zeroing-go1.23.4", "zeroing-go1.24.2", "zeroing-go1.24.6")
PRESSURE = ("alloc-pressure-before-go1.27.3", "alloc-pressure-after-go1.27.3")


@pytest.fixture(scope="module")
def zeroing():
    return compare_diagnoses(*(diagnosed(FOLDERS / name) for name in ZEROING[:2]))


@pytest.fixture(scope="module")
def pressure():
    return compare_diagnoses(*(diagnosed(FOLDERS / name) for name in PRESSURE))


def bench(scale, names=("A",)):
    lines = (f"Benchmark{n}-2 1 {v * scale} ns/op\n" for n in names for v in range(10, 16))
    return read_bench("".join(lines).encode())


def document_of(compared, before="old", after="new"):
    return comparison_document(compared, before=before, after=after)


def test_what_differs_is_the_title(zeroing):
    assert "go1.23.4 → go1.24.2" == document_of(zeroing).title


def test_where_no_setting_differs_the_sides_are(pressure):
    document = document_of(pressure)

    assert "old → new" == document.title
    assert [("Before", "old"), ("After", "new")] == [
        (label, value.partition(";")[0]) for label, value in document.facts
    ]


def test_many_settings_have_no_room_in_a_title():
    assert "a → b" == title_of("a", "b", "x" * (MAX_TITLE + 1))
    assert "x" * MAX_TITLE == title_of("a", "b", "x" * MAX_TITLE)


def test_rss_is_the_large_number_with_its_change(zeroing):
    size = size_of(zeroing)
    rss = zeroing.metrics[zeroing.metrics["name"] == "RSS"].iloc[0]

    assert Bytes(rss["after_median"]) == size.value.replace("\u00a0", " ")
    assert str(BytesChange(rss["difference"])) in size.name.replace("\u00a0", " ")


def test_of_benchmarks_it_is_the_mean_change_of_their_times():
    size = size_of(compare_bench(bench(1, "AB"), bench(2, "AB")))

    assert "+100 %" == size.value
    assert str(Count(2, "benchmark")) in size.name.replace("\u00a0", " ")


def test_nothing_that_both_sides_have_has_no_number():
    assert None is size_of(compare_bench(bench(1), bench(1)))


def test_both_bars_have_the_same_parts(zeroing):
    (bars,) = bars_between([("old", None), ("new", zeroing)])
    before, after = bars.bars

    assert ("old", "new") == (before.name, after.name)
    assert all(
        len(key.values) == 2 and "–" not in key.values for key in bars.keys if not key.is_finer
    )
    colours = [{(piece.colour, piece.hatch) for piece in bar.pieces} for bar in bars.bars]
    assert colours[0] == colours[1]


def test_what_was_reserved_alone_is_hollow_before_and_filled_after(zeroing):
    """
    161 MiB that were only reserved are now in RSS: both bars are about as long.
    """
    (bars,) = bars_between([("old", None), ("new", zeroing)])
    lengths = [sum(piece.share for piece in bar.pieces) for bar in bars.bars]
    hollow = [sum(p.share for p in bar.pieces if not p.colour) for bar in bars.bars]

    assert lengths == pytest.approx([1, 1], abs=0.05)
    assert hollow == pytest.approx([0.95, 0.02], abs=0.03)


def test_the_legend_begins_with_what_moved_most(zeroing):
    (bars,) = bars_between([("old", None), ("new", zeroing)])

    first = bars.keys[0]
    assert first.change.of(BytesChange)[0].value == pytest.approx(161 << 20, rel=0.02)


def test_benchmark_files_have_no_bars():
    compared = compare_bench(bench(1), bench(2))

    assert () == bars_between([("old", None), ("new", compared)])
    assert [Table] == [type(block) for block in document_of(compared).opening]


def test_changes_stand_below_the_bars_the_headline_first(zeroing):
    bars, changed = document_of(zeroing).opening

    assert (Bars, Table) == (type(bars), type(changed))
    assert ("metric", "before", "after", "change", "verdict") == changed.columns
    assert "RSS" == changed.rows[0][0].text


def test_at_most_ten_are_shown_and_the_caption_counts_the_others(pressure):
    metrics = words.changed_metrics(pressure)
    (changed,) = changed_table(metrics)

    assert MAX_CHANGED == len(changed.rows) < len(metrics)
    assert f"{MAX_CHANGED} of {len(metrics)}" in changed.caption


def test_no_metric_changed_has_no_table():
    compared = compare_bench(bench(1), bench(1))

    assert () == changed_table(words.changed_metrics(compared))


def test_of_different_programs_nothing_is_called_changed(zeroing):
    other = replace(zeroing, unlike="These are different programs.")

    assert words.changed_metrics(other).empty


def test_what_too_few_collections_say_little_of_is_left_out(zeroing):
    assert "gc_cpu_fraction" in zeroing.too_little
    assert "gc_cpu_fraction" not in set(words.changed_metrics(zeroing)["name"])


def test_half_is_as_far_as_twice():
    names = ("Halved", "Tripled", "Doubled")
    scales = dict(zip(names, (0.5, 3, 2), strict=True))
    sides = [
        read_bench("".join(
            f"Benchmark{name}-2 1 {value * (scale if is_after else 1)} ns/op\n"
            for name, scale in scales.items() for value in range(10, 16)
        ).encode())
        for is_after in (False, True)
    ]  # fmt: skip

    ordered = words.largest_first(compare_bench(*sides).metrics)

    assert ["Tripled-2", "Halved-2", "Doubled-2"] == ordered["name"].tolist()


def test_all_else_is_folded_with_its_gist(zeroing):
    sections = document_of(zeroing).sections

    assert all(section.gist for section in sections)
    assert not any(section.opened for section in sections)


def test_each_build_has_a_bar_on_common_parts():
    compared = compare_many({name: FOLDERS / name for name in ZEROING})
    document = builds_document(compared)
    (bars,) = document.opening

    assert list(ZEROING) == [bar.name for bar in bars.bars]
    assert {len(ZEROING)} == {len(key.values) for key in bars.keys}
    assert all(section.gist for section in document.sections)
    # No one build is what became of another.
    assert {""} == {key.change for key in bars.keys}
