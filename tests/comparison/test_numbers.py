"""One quantity has one number in a comparison, or says of which runs and of what time it is."""

import pytest

from gomem.comparison.comparison import compare_diagnoses
from gomem.text import BytesChange
from gomem.units import MIB
from gomem.views.comparison import words
from gomem.views.comparison.document import comparison_document
from gomem.views.document import Table
from tests.builders import FIXTURES, diagnosed

CAPTURES, CHANGES = FIXTURES / "captures", FIXTURES / "changes"
SIDES = {
    "cache-shrink": ("cache-shrink-go1.12.17", "cache-shrink-go1.27.3"),
    "alloc-pressure": ("alloc-pressure-before-go1.27.3", "alloc-pressure-after-go1.27.3"),
    "zeroing": ("zeroing-go1.23.4", "zeroing-go1.24.2"),
    "buffers": ("buffers/each", "buffers/pooled"),
    "pools": ("alloc-pressure/before", "alloc-pressure/after"),
}
NEAR = 0.15  # what sampling and one GC of ten leave open of a profile's total
SAMPLED = {"alloc_space": "alloc_bytes_per_request", "alloc_objects": "mallocs_per_request"}


def runs_of(name):
    folder = CAPTURES / name
    paths = [folder] if folder.is_dir() else sorted((CHANGES / name).glob("*.tar.gz"))
    return [diagnosed(path) for path in paths]


@pytest.fixture(scope="module", params=SIDES, ids=str)
def compared(request):
    before, after = map(runs_of, SIDES[request.param])
    return compare_diagnoses(before, after)


def tables_of(compared, section):
    document = comparison_document(compared, before="old", after="new")
    (found,) = (one for one in document.sections if one.name == section)
    return [block for block in found.blocks if isinstance(block, Table)]


@pytest.mark.at_most(3)
def test_what_the_sentence_says_of_owners_stands_in_their_table(compared):
    """
    Both are of the runs in the middle, of which the parts add up to RSS.
    """
    groups = words.groups_of(compared, words.pair_of(compared, "of_metrics"))
    for change in compared.change.reason.of(BytesChange):
        near = (groups["change_low"] <= change.value + 1) & (
            change.value - 1 <= groups["change_high"]
        )
        assert near.any(), compared.change.reason
    if groups["before"].notna().all() and groups["after"].notna().all():
        change = compared.change
        assert abs(groups["before"].sum() - change.earlier.rss_bytes) < len(groups)
        assert abs(groups["after"].sum() - change.later.rss_bytes) < len(groups)


def test_rates_of_gc_are_of_the_window_that_their_table_names(compared):
    tables = {str(table.caption): table for table in tables_of(compared, "collector")}
    for caption, table in tables.items():
        named = {row[0].text for row in table.rows}
        assert ("GCs per second" in named) <= ("from " in caption), caption
        assert ("GCs in the log" in named) <= ("whole log" in caption), caption
    rates = compared.metrics.set_index("name")
    for row in compared.windows.to_dict("records"):
        if row["runs"] == 1 and "collections_per_second" in compared.by_counters:
            rate = rates.loc["collections_per_second", f"{row['side']}_median"]
            assert pytest.approx(rate * row["seconds"]) == row["collections"]


def test_what_sites_allocate_adds_up_to_what_the_counters_say(compared):
    """
    A profile's total is an estimate, and of another time if few GCs ran: then there is none.
    """
    metrics = compared.metrics.set_index("name")
    per = set(compared.site_rates["per"]) if len(compared.site_rates) else set()
    for sample_type, counter in SAMPLED.items():
        rows = compared.site_rates
        if per != {"request"} or counter not in metrics.index:
            continue
        rows = rows[rows["sample_type"] == sample_type]
        for side in ("before", "after"):
            exact = metrics.loc[counter, f"{side}_median"]
            assert pytest.approx(exact, rel=NEAR) == float(rows[side].sum())
    if per == {"second"}:
        rows = compared.site_rates.query("sample_type == 'alloc_space'")
        for side in ("before", "after"):
            exact = metrics.loc["allocation_rate_bytes_per_second", f"{side}_median"]
            assert pytest.approx(exact, rel=NEAR, abs=MIB) == float(rows[side].sum())


def test_a_site_does_not_shrink_where_the_counters_say_that_nothing_did():
    """
    The counters differ by 0.04 %: what 24 GCs publish cannot tell that from one GC's worth.
    """
    compared = compare_diagnoses(*map(runs_of, SIDES["buffers"]))

    metrics = compared.metrics.set_index("name")
    assert "same" == metrics.loc["mallocs_per_request", "verdict"]
    sites = compared.site_rates.query("sample_type == 'alloc_objects' and before > 100")
    assert ["~"] * len(sites) == sites["state"].tolist()
