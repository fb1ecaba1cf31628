"""The first screen: whose the memory is, what was found, and which sections are unfolded."""

from dataclasses import replace

import pytest

from gomem.causes import CAUSES
from gomem.diagnosis.diagnosis import diagnose
from gomem.views.document import Bars, Figure, Lead, Tiles
from gomem.views.report.opening import LEADS, first_sentence, opening
from gomem.views.report.report import SECTIONS, report_document
from gomem.views.report.verdict import together
from gomem.views.share import Hidden, share
from tests.builders import CAPTURES, FIXTURES, diagnosed

ZEROING = FIXTURES / "captures/zeroing-go1.24.2"
BASELINE = FIXTURES / "captures/zeroing-go1.23.4"
LOG = FIXTURES / "captures/alloc-pressure-before-go1.27.3/gctrace.log"
HEAP = FIXTURES / "captures/alloc-pressure-before-go1.27.3/2-loaded/heap.pb.gz"
SPIKY = FIXTURES / "captures/spiky-go1.27.3"


def opened(diagnosis):
    return share(opening(diagnosis), Hidden())


def bars_of(diagnosis):
    (bars,) = [one for one in opened(diagnosis) if isinstance(one, Bars)]
    return bars


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
def test_the_bars_are_as_long_as_rss_and_never_longer_than_the_page(path):
    diagnosis = diagnosed(path)
    bars = bars_of(diagnosis)
    rss = [one.rss_bytes for one in diagnosis.moments]

    filled = [sum(one.share for one in bar.pieces if one.colour) for bar in bars.bars]
    whole = [sum(one.share for one in bar.pieces) for bar in bars.bars]
    assert pytest.approx(1.0) == max(whole)
    assert pytest.approx(filled[-1] / filled[0]) == rss[-1] / rss[0]
    assert {len(bars.bars)} == {len(key.values) for key in bars.keys}


def test_first_and_last_are_drawn_and_what_lay_far_above_both():
    cache = diagnosed(FIXTURES / "captures/cache-shrink-go1.12.17")
    names = [bar.name for bar in bars_of(cache).bars]

    assert (cache.moments[0].name, cache.moments[-1].name) == (names[0], names[-1])
    assert ["scrape-00", "settled"] == [bar.name for bar in bars_of(diagnosed(SPIKY)).bars]


def test_a_baseline_stands_above_its_counterpart():
    diagnosis = replace(diagnosed(ZEROING), baseline=diagnosed(BASELINE))

    before, after = bars_of(diagnosis).bars
    assert (("baseline, 2-loaded", "9.17 MiB"), ("2-loaded", "170 MiB")) == (
        (before.name, before.value), (after.name, after.value),
    )  # fmt: skip


def test_what_go_claims_and_never_had_is_hollow():
    (key,) = [one for one in bars_of(diagnosed(BASELINE)).keys if not one.colour]

    assert "claimed by Go, never resident" == key.name
    assert "165 MiB" == key.values[-1]


def test_a_heap_profile_alone_says_who_holds_it(tmp_path):
    tmp_path.joinpath("heap.pb.gz").write_bytes(HEAP.read_bytes())

    bars = bars_of(diagnose(tmp_path))
    assert "Who holds what is in use, of 17.2 MiB in all" == bars.caption
    assert "main.newService" == bars.bars[0].name
    assert "13.6 MiB, 79.0 % (9.13 MiB to 19.4 MiB)" == bars.bars[0].value.replace("\u00a0", " ")


def test_a_log_alone_has_tiles_and_its_saw_tooth(tmp_path):
    tmp_path.joinpath("gctrace.log").write_bytes(LOG.read_bytes())

    tiles, figure, *_ = opened(diagnose(tmp_path))
    assert isinstance(tiles, Tiles)
    assert isinstance(figure, Figure)
    assert {"collections": "491", "longest stop": "3.30 ms"}.items() <= {
        tile.name: tile.value for tile in tiles.tiles
    }.items()


def test_the_finding_that_the_verdict_names_has_its_next_step_there():
    diagnosis = diagnosed(SPIKY)
    leads = [one for one in opened(diagnosis) if isinstance(one, Lead)]

    assert LEADS == len(leads)
    assert (diagnosis.verdict.code, "") == (leads[0].code, leads[0].next_step)
    assert all(lead.next_step and lead.proof for lead in leads[1:])


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("Do this. Then that.", "Do this."),
        ("Move to Go 1.24.6 or 1.25. Then look.", "Move to Go 1.24.6 or 1.25."),
        ("Who closes it? Look.", "Who closes it?"),
        ("write runtime.ReadMemStats as JSON", "write runtime.ReadMemStats as JSON"),
    ],
)
def test_a_first_sentence_ends_before_a_capital(text, first):
    assert first == first_sentence(text)


def test_every_cause_of_memory_or_cpu_has_sections_that_bear_on_it():
    names = {part.name.replace("_", "-") for part in SECTIONS}
    for cause in CAUSES:
        assert set(cause.bears_on) <= names
        assert cause.bears_on or cause.code.startswith("data-")


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
def test_what_bears_on_the_verdict_is_unfolded_and_every_section_has_its_gist(path):
    diagnosis = diagnosed(path)
    document = report_document(diagnosis)

    unfolded = {section.name for section in document.sections if section.opened}
    there = {section.name for section in document.sections}
    bear = [name for one in CAUSES if one.code == diagnosis.verdict.code for name in one.bears_on]
    assert {"ledger", *bear} & there <= unfolded
    assert unfolded < there
    assert all(section.gist for section in document.sections)


def test_a_name_without_end_is_cut_where_it_stands_in_a_sentence():
    text = together(f"allocated by main.{'x' * 10_000} (160 MiB, -3 %)")

    assert len(text) < 350
    assert text.endswith("… (160\u00a0MiB, \u22123\u00a0%)")
