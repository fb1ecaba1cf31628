"""The first screen: what uses the memory, what was found, and which sections are unfolded."""

from dataclasses import replace

import pytest

from gomem.analysis.memory.bounds import Interval
from gomem.causes import CAUSES
from gomem.diagnosis.diagnosis import diagnose
from gomem.diagnosis.first_sentence import first_and_rest
from gomem.diagnosis.owners import Owner, Owners
from gomem.text import Bytes, Text
from gomem.units import MIB
from gomem.views.document import Bars, Card, Figure, Folded, Lead, Tiles
from gomem.views.report.collector import collector_section
from gomem.views.report.ledger import SMALL
from gomem.views.report.limits import limits_section
from gomem.views.report.opening import LEADS, opening
from gomem.views.report.opening import bars_of as shown_bars
from gomem.views.report.report import SECTIONS, report_document
from gomem.views.report.verdict import together, verdict
from gomem.views.share import Hidden, share
from gomem.views.words import CLAIMED
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


def lengths_of(pieces):
    """How long a bar is without what is not in RSS."""
    return sum(piece.share for piece in pieces if piece.colour)


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
def test_the_bars_are_as_long_as_rss_and_never_longer_than_the_page(path):
    """
    And a thin one below, which says the same more finely, is as long as its bar.
    """
    diagnosis = diagnosed(path)
    bars = bars_of(diagnosis)
    rss = [one.rss_bytes for one in diagnosis.moments]

    filled = [lengths_of(bar.pieces) for bar in bars.bars]
    whole = [sum(one.share for one in bar.pieces) for bar in bars.bars]
    assert pytest.approx(1.0) == max(whole)
    assert pytest.approx(filled[-1] / filled[0]) == rss[-1] / rss[0]
    assert {len(bars.bars)} == {len(key.values) for key in bars.keys}
    for bar in bars.bars:
        assert not bar.finer or lengths_of(bar.finer) == pytest.approx(lengths_of(bar.pieces))


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
def test_both_bars_have_the_same_parts_and_the_legend_names_each(path):
    bars = bars_of(diagnosed(path))

    named = {(key.colour, key.hatch) for key in bars.keys if not key.is_finer}
    assert named == {(one.colour, one.hatch) for bar in bars.bars for one in bar.pieces}
    finer = {(key.colour, key.hatch) for key in bars.keys}
    assert {(one.colour, one.hatch) for bar in bars.bars for one in bar.finer} <= finer


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
def test_the_numbers_beside_the_bars_close_to_their_totals(path):
    """
    Each part between its bounds, and those that are small in one line; rounded as they are read.
    """
    owners = diagnosed(path).owners
    keys = [key for key in shown_bars(owners).keys if key.colour and not key.is_finer]

    for place, total in enumerate(owners.totals):
        low = sum(part.sizes[place].low for part in owners.parts)
        high = sum(part.sizes[place].high for part in owners.parts)
        assert low <= total + 1
        assert high >= total - 1
        written = [bounds_of(key.values[place]) for key in keys]
        assert sum(low for low, _ in written) <= 1.05 * total + MIB
        assert sum(high for _, high in written) >= 0.95 * total - MIB


def bounds_of(level):
    """The least and the most that a level can be, as it is said."""
    sizes = [part.value for part in Text(level).of(Bytes)]
    return 0 if level.startswith("≤") else sizes[0], sizes[-1]


@pytest.mark.at_most(5)
@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
def test_the_headline_stands_once(path):
    """
    No further finding and no title of a card says it again.
    """
    diagnosis = diagnosed(path)
    document = report_document(diagnosis)
    first = [document.verdict.sentence, *document.verdict.lines, *map(title_of, document.opening)]
    cards = [
        block.title
        for section in document.sections
        for block in section.blocks
        if isinstance(block, Card)
    ]

    headline = document.verdict.sentence.rstrip(".")
    assert 1 == sum(headline.lower() in words.lower() for words in (*first, *cards))
    if diagnosis.verdict.code is not None:
        assert cards.count("Main finding") == 1
    for block in document.opening:
        assert not isinstance(block, Lead) or block.code != diagnosis.verdict.code


def title_of(block):
    return block.title if isinstance(block, Lead) else ""


def test_what_is_small_in_every_bar_is_one_part():
    """
    Of two bars on the scale of the longer: a part of under 1 % of it at each is small.
    """

    def owners(*sizes):
        parts = tuple(
            Owner(group, group, frozenset({group}), (Interval.exactly(size),) * 2, (size, size))
            for group, size in zip(("go_live", "native", "program"), sizes, strict=True)
        )
        return Owners("rss", ("a", "b"), (sum(sizes),) * 2, (0, 0), parts, {})

    names = [[key.name for key in shown_bars(owners(*sizes)).keys] for sizes in (
        (1000 - 2 * 1000 * SMALL + 2, 1000 * SMALL - 1, 1000 * SMALL - 1),
        (1000 - 2 * 1000 * SMALL + 1, 1000 * SMALL, 1000 * SMALL - 1),
    )]  # fmt: skip

    assert ["go_live", "others, each under 1 %"] == names[0]
    assert ["go_live", "native", "program"] == names[1]


def test_first_and_last_are_drawn_and_what_lay_far_above_both():
    cache = diagnosed(FIXTURES / "captures/cache-shrink-go1.12.17")
    names = [bar.name for bar in bars_of(cache).bars]

    assert (cache.moments[0].name, cache.moments[-1].name) == (names[0], names[-1])
    assert ["scrape-00", "settled"] == [bar.name for bar in bars_of(diagnosed(SPIKY)).bars]


def test_a_baseline_stands_above_its_counterpart():
    diagnosis = replace(diagnosed(ZEROING), baseline=diagnosed(BASELINE))

    before, after = bars_of(diagnosis).bars
    assert (("2-loaded of the baseline", "9.2 MiB"), ("2-loaded", "170 MiB")) == (
        (before.name, before.value), (after.name, after.value),
    )  # fmt: skip


def test_what_go_reserves_and_is_not_in_rss_is_hollow():
    (key,) = [one for one in bars_of(diagnosed(BASELINE)).keys if not one.colour]

    assert CLAIMED == key.name
    assert "165 MiB" == key.values[-1]


def test_a_heap_profile_alone_says_who_holds_it(tmp_path):
    tmp_path.joinpath("heap.pb.gz").write_bytes(HEAP.read_bytes())

    bars = bars_of(diagnose(tmp_path))
    assert "inuse_space: 17 MiB, by function" == bars.caption
    assert "main.newService" == bars.bars[0].name
    assert "14 MiB, 79 % (9.1 MiB to 19 MiB)" == bars.bars[0].value.replace("\u00a0", " ")


def test_a_log_alone_has_tiles_and_its_saw_tooth(tmp_path):
    tmp_path.joinpath("gctrace.log").write_bytes(LOG.read_bytes())

    tiles, figure, *_ = opened(diagnose(tmp_path))
    assert isinstance(tiles, Tiles)
    assert isinstance(figure, Figure)
    assert {"GCs": "491", "longest STW phase": "3.3 ms"}.items() <= {
        tile.name: tile.value for tile in tiles.tiles
    }.items()


def figures(blocks):
    return [block.plot.__name__ for block in blocks if isinstance(block, Figure)]


def test_the_heap_of_a_log_alone_is_drawn_once():
    """
    At the head of the page; with a profile beside it, in the log's own section.
    """
    alone, beside = diagnosed(LOG), diagnosed(LOG.parent)

    assert ["plot_gc_timeline"] == figures(opened(alone))
    assert "plot_gc_timeline" not in figures(collector_section(alone).blocks)
    assert "plot_gc_timeline" not in figures(opened(beside))
    assert "plot_gc_timeline" in figures(collector_section(beside).blocks)
    tables = [b.blocks[0] for b in collector_section(alone).blocks if isinstance(b, Folded)]
    assert any(table.columns[:3] == ("start", "GCs", "live heap") for table in tables)


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
def test_what_to_do_next_stands_once(path):
    """
    The finding that the verdict names does not say it again, nor does another's lead.
    """
    document = report_document(diagnosed(path))
    cards = [
        block
        for section in document.sections
        for block in section.blocks
        if isinstance(block, Card)
    ]
    leads = [step for block in document.opening if isinstance(block, Lead) for step in block.steps]

    assert document.verdict.steps
    said = [steps for card in cards for _, steps in card.explained]
    assert document.verdict.steps not in said
    assert not set(leads) & set(document.verdict.steps)


def test_a_name_that_says_nothing_is_left_out(tmp_path):
    """
    What is hidden, and a folder that is called `capture`, as the collector's own is.
    """
    folder = tmp_path / "capture"
    folder.mkdir()
    for name in ("memstats.json", "smaps"):
        folder.joinpath(name).write_bytes((ZEROING / "1-start" / name).read_bytes())
    named = {
        case: (document.title, dict(document.facts))
        for case, document in {
            "unnamed": report_document(diagnose(folder)),
            "hidden": report_document(diagnose(folder / "memstats.json"), redact=True),
            "named": report_document(diagnose(folder / "memstats.json")),
        }.items()
    }

    assert "Go program" == named["hidden"][0]
    assert "memstats.json" == named["named"][0] == named["named"][1]["Capture"]
    for case in ("unnamed", "hidden"):
        assert "Capture" not in named[case][1]
        assert "1" == named[case][1]["Snapshots"]


def test_of_many_moments_the_worst_are_said_to_be_some():
    (table, *_) = limits_section(diagnosed(SPIKY)).blocks

    shown = f"the {len(table.rows)} snapshots with the highest worst case, of 25"
    assert table.caption.endswith(f"{shown}.")


def test_the_findings_that_the_verdict_does_not_name_follow_it():
    diagnosis = diagnosed(SPIKY)
    leads = [one for one in opened(diagnosis) if isinstance(one, Lead)]

    others = [one for one in diagnosis.findings if one.code != diagnosis.verdict.code]
    assert [one.code for one in others if not one.code.startswith("data-")][:LEADS] == [
        lead.code for lead in leads
    ]
    for lead, finding in zip(leads, others, strict=False):
        assert lead.proof
        assert all(step.text.strip() for step in lead.steps)
        assert finding.confidence in lead.label


def test_what_is_missing_is_no_finding_on_the_first_screen(tmp_path):
    tmp_path.joinpath("heap.pb.gz").write_bytes(HEAP.read_bytes())
    diagnosis = diagnose(tmp_path)

    assert "data-missing" in [one.code for one in diagnosis.findings]
    assert not any(isinstance(one, Lead) for one in opened(diagnosis))


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
    assert first == first_and_rest(text)[0]


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


def test_a_text_with_two_tables_is_one_file_with_two_parts(tmp_path):
    table = "NAME      CPU(cores)   MEMORY(bytes)\napi-7c9   3m           71Mi\n"
    stacks = "goroutine 1 [running]:\nmain.main()\n\t/app/main.go:3 +0x1\n"
    (tmp_path / "ticket.md").write_text(f"It grows:\n```\n{table}```\nAnd:\n```\n{stacks}```\n")
    document = report_document(diagnosed(tmp_path / "ticket.md"))

    assert "1 (2 parts)" == dict(document.facts)["Files"]
    (tmp_path / "alone").mkdir()
    (tmp_path / "alone" / "a.txt").write_text(table)
    alone = report_document(diagnosed(tmp_path / "alone"))
    assert "1" == dict(alone.facts)["Files"]


@pytest.mark.parametrize("count", [1, 3])
def test_one_snapshot_is_not_called_healthy(count, tmp_path):
    """
    Its parts are known to the byte, and nothing shows whether they grow.
    """
    recorded = FIXTURES / "captures/healthy-go1.27.3"
    for moment in ("3-later", "2-steady", "1-start")[:count]:
        (tmp_path / moment).mkdir()
        for name in ("smaps", "memstats.json"):
            (tmp_path / moment / name).write_bytes((recorded / moment / name).read_bytes())

    shown = verdict(diagnose(tmp_path))

    assert ("good" if count > 1 else "neutral") == shown.tone
