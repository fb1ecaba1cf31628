"""A comparison as HTML: one file, nothing loaded, everything from the inputs escaped."""

import re

import pandas as pd
import pytest

from gomem.comparison.benchmarks import compare_bench
from gomem.comparison.comparison import compare, compare_diagnoses
from gomem.comparison.samples import ONE_VALUE_NOTE, compare_samples
from gomem.inputs.gobench.table import read_bench
from gomem.views.comparison.document import comparison_document
from gomem.views.writers.html import write_html
from gomem.views.writers.scripts import flame_script, page_script
from tests.builders import FIXTURES, diagnosed
from tests.views.writers.test_html import LOADS, Page, scripts_of

FOLDERS = FIXTURES / "captures"
PAIRS = {
    "cache-shrink": [FOLDERS / f"cache-shrink-go{release}" for release in ("1.12.17", "1.16.15")],
    "alloc-pressure": [FOLDERS / f"alloc-pressure-{s}-go1.27.3" for s in ("before", "after")],
}
FAST = b"".join(b"BenchmarkA-2 1 %d ns/op\n" % value for value in (10, 11, 12, 13, 14, 15))
SLOW = b"".join(b"BenchmarkA-2 1 %d ns/op\n" % value for value in (20, 21, 22, 23, 24, 25))


def page_of(compared, before="a", after="b"):
    return write_html(comparison_document(compared, before=before, after=after))


def html_of(pair):
    before, after = PAIRS[pair]
    compared = compare_diagnoses(diagnosed(before), diagnosed(after))
    return page_of(compared, before.name, after.name)


def words_of(text):
    return " ".join(" ".join(Page(text).words).split())


@pytest.fixture(scope="module", params=PAIRS)
def text(request):
    return html_of(request.param)


def test_every_element_is_closed_and_every_id_is_unique(text):
    page = Page(text)

    assert [] == page.wrong
    assert len(page.ids) == len(set(page.ids))


def test_nothing_is_loaded_from_anywhere(text):
    page = Page(text)

    assert [] == [one for one in page.attributes if one[1] in LOADS]
    assert {"#"} == {value[:1] for _, name, value in page.attributes if name.endswith("href")}
    assert not re.search(r"@import|url\((?!#)", text)
    assert not {"iframe", "object", "embed", "link", "img"} & set(page.tags)
    assert {page_script(), flame_script()} >= set(scripts_of(text))


def test_captures_have_the_change_by_call_and_the_script_for_it():
    """
    What was allocated open, what is in use folded; both hatch what may be noise.
    """
    text = html_of("alloc-pressure")

    section = text[text.index('id="allocations"') :]
    assert 2 == section.count('class="gomem-flame"')
    assert (
        'id="flame-allocated-change-noise"' in section[: section.index("<summary>inuse_space by")]
    )
    assert [page_script(), flame_script()] == scripts_of(text)


def test_headings_are_in_order_and_tables_have_captions(text):
    page = Page(text)
    steps = [lower - upper for upper, lower in zip(page.headings, page.headings[1:], strict=False)]

    assert (1, 1) == (page.headings[0], max(steps))
    assert page.tags.count("table") == page.tags.count("caption")


def test_the_same_captures_give_the_same_bytes():
    assert html_of("cache-shrink") == html_of("cache-shrink")


def test_captures_are_said_to_be_of_one_value_and_what_moved_stands_first():
    words = words_of(html_of("cache-shrink"))

    moved = "RSS fell from 184 MiB to 23 MiB (\u221288 %): heap that Go has released but "
    assert "✓ better" in words
    assert moved in words
    assert "only large changes of memory and GC stand out from noise." in words
    assert "gone warning released-but-resident" in words
    assert ONE_VALUE_NOTE not in words  # said once, at the top


@pytest.mark.parametrize(
    ("before", "after", "outcome"),
    [
        pytest.param(
            FAST,
            SLOW,
            "▲ worse 1 benchmark metric is worse; the largest",
            id="worse",
        ),
        pytest.param(SLOW, FAST, "✓ better 1 benchmark metric is better; the largest", id="better"),
        pytest.param(
            FAST, FAST, "● no change 1 benchmark metric shows no significant change.", id="the-same"
        ),
    ],
)
def test_the_outcome_stands_first_in_words_and_with_a_mark(before, after, outcome):
    compared = compare(read_bench(before), read_bench(after))

    assert outcome in words_of(page_of(compared))


def test_names_from_the_inputs_are_escaped():
    evil = read_bench(b"BenchmarkA<script>alert(1)</script>-2 1 5 ns/op\n")

    text = page_of(compare_bench(evil, evil), "<b>a", "<i>b")

    assert [page_script()] == scripts_of(text)
    assert "<b>a" not in text
    assert "A<script>alert(1)</script>-2" in "".join(Page(text).words)


def test_a_comparison_of_nothing_is_a_page_too():
    nothing = pd.DataFrame({"name": [], "unit": [], "value": []})

    text = page_of(compare_samples(nothing, nothing))

    assert "undecided No metric was measured on both sides." in words_of(text)
