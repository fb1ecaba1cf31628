"""The report's sections on sites and on growth say what the analyses say, and no more."""

import re
from dataclasses import replace

import pytest

import gomem
from gomem.analysis.profiles.growth import growth, series_of
from gomem.inputs.pprof.sites import top_sites
from gomem.text import Text
from gomem.views.document import Figure, Folded, Table, unchosen
from gomem.views.figures.growth import plot_growth
from gomem.views.json.report import report_json
from gomem.views.report.allocations import _sites_table, allocations_section
from gomem.views.report.growth import growth_section
from gomem.views.report.report import report_document
from gomem.views.report.shown import LISTED
from gomem.views.share import Hidden, share
from tests.builders import FIXTURES, as_text, diagnosed
from tests.causes.test_allocation_spike import taken
from tests.charts import marks
from tests.heap_profiles import bucket, heap, seen, stack

CAPTURES = FIXTURES / "captures"
SPIKY = CAPTURES / "spiky-go1.27.3"
HEALTHY = CAPTURES / "healthy-go1.27.3"
ESCAPES = FIXTURES / "escapes" / "alloc-pressure-before-go1.27.3.m2.txt"


def tables(blocks):
    """All tables of a section, also those that are folded."""
    for block in unchosen(blocks):
        if isinstance(block, Table):
            yield block
        elif isinstance(block, Folded):
            yield from tables(block.blocks)


def rows_of(table):
    """Texts of the cells by the first one."""
    return {cells[0].text: [cell.text for cell in cells[1:]] for cells in table.rows}


def test_growth_names_the_leak_its_shape_and_where_it_leads():
    """
    The audit trail keeps 16 KiB every 10 ms: a ramp; 19 s of it lead 57 s ahead.
    """
    diagnosis = diagnosed(SPIKY)
    row = diagnosis.growth.set_index("function").loc["main.newAuditRecord"]

    (table,) = tables(growth_section(diagnosis).blocks)

    shown = rows_of(table)["main.newAuditRecord"]
    assert ["ramp", "1.7 MiB/s", "128 MiB"] == [shown[0], shown[3], shown[5]]
    assert "projected, in 57 s" == table.columns[-1]
    assert row["projected"] == pytest.approx(128.25 * (1 << 20), rel=1e-3)
    assert "main.(*audit).append" in table.rows[0][0].note


def test_growth_says_how_many_profiles_it_is_of():
    """
    25 scrapes in 19 s, of which ten came before another collection.
    """
    words, *_ = growth_section(diagnosed(SPIKY)).blocks

    assert "inuse_space by stack in 15 distinct heap profiles over 19.0 s (10 more" in words.text


def test_growth_leaves_out_what_stays_as_it_is():
    diagnosis = diagnosed(SPIKY)

    (table,) = tables(growth_section(diagnosis).blocks)

    flat = set(diagnosis.growth.query("shape == 'flat'")["function"])
    assert flat
    assert set() == flat & set(rows_of(table))


def test_without_a_series_there_is_no_growth():
    assert growth_section(diagnosed(HEALTHY)) is None
    assert report_json(diagnosed(HEALTHY))["growth"] is None


def test_the_text_report_has_the_growth():
    text = as_text(diagnosed(SPIKY))

    assert "\nGrowth by stack\n" in text
    assert "main.newAuditRecord  ramp" in text


def test_the_first_moment_has_turnover_sizes_and_graphs():
    """
    150 of the 810 MiB read are in use, in the buffers that io.ReadAll grows from 512 bytes on.
    """
    section = share(allocations_section(diagnosed(SPIKY)), Hidden())

    churn, sizes = (
        next(table for table in tables(section.blocks) if table.caption.startswith(words))
        for words in ("Allocated and freed", "Objects in use by size")
    )
    assert ["810 MiB", "660 MiB"] == rows_of(churn)["io.ReadAll"][:2]
    assert ["io.ReadAll", "20.8 MiB", "2", "41.6 MiB"] == [c.text for c in sizes.rows[0][:4]]
    assert section.is_scripted
    left_out, choice = section.blocks
    by_name = {option.name: option.blocks for option in choice.options}
    profiles = len(diagnosed(SPIKY).capture.heap_profiles)
    assert LISTED == len(by_name) < profiles
    (said,) = left_out.lines
    assert said.startswith(f"sites are shown for {LISTED} of {profiles} snapshots")
    assert not set(by_name) & set(re.findall(r"scrape-\d+", said))
    assert {Table} == {type(block) for block in by_name["scrape-16"]}
    assert {Table, Figure} == {type(block) for block in by_name["scrape-00"]}


def test_json_says_the_same_as_the_analyses():
    diagnosis = diagnosed(SPIKY)
    report = report_json(diagnosis)

    sizes = {one["moment"]: one["sizes"] for one in report["object_sizes"]}
    churn = {one["moment"]: one["sites"] for one in report["turnover"]}
    assert (
        diagnosis.facts.profiles.object_sizes("settled").iloc[0]["bytes"]
        == sizes["settled"][0]["bytes"]
    )
    assert (
        diagnosis.facts.profiles.turnover("settled").iloc[0]["function"]
        == churn["settled"][0]["function"]
    )
    grown = report["growth"]
    assert list(diagnosis.growth["slope"]) == [stack["slope"] for stack in grown["stacks"]]
    assert [15, 10, 3 * grown["seconds"]] == [
        grown[name] for name in ("profiles", "repeated", "horizon_seconds")
    ]
    assert [] == report["reasons"]


def test_json_says_why_lines_allocate_and_hides_homes(tmp_path):
    """
    The source's folder is the builder's; a redacted report has the file's name alone.
    """
    heap_file = CAPTURES / "alloc-pressure-before-go1.27.3" / "2-loaded" / "heap.pb.gz"
    tmp_path.joinpath("heap.pb.gz").write_bytes(heap_file.read_bytes())
    tmp_path.joinpath("build.txt").write_bytes(ESCAPES.read_bytes())
    diagnosis = gomem.diagnose(tmp_path)

    (plain,), (redacted,) = (
        report_json(diagnosis, redact=redact)["reasons"] for redact in (False, True)
    )

    first = plain["lines"][0]
    assert ["main.render", "/app/alloc-pressure/handler.go", 24] == [
        first[name] for name in ("function", "file", "line")
    ]
    assert "assigned through a pointer" in first["why"]
    assert "handler.go" == redacted["lines"][0]["file"]


def test_a_profile_of_one_sample_type_has_neither_turnover_nor_sizes(tmp_path):
    profile = heap(seen(9, 64))
    only = profile.columns.value[:, 3:]
    types = profile.columns.sample_types[3:]
    part = replace(profile, columns=replace(profile.columns, value=only, sample_types=types))
    tmp_path.joinpath("heap.pb.gz").write_bytes(part.to_pprof())

    report = report_document(gomem.diagnose(tmp_path))

    (section,) = [one for one in report.sections if one.name == "allocations"]
    assert ["inuse_space"] == [one.caption.split(" at ")[0] for one in tables(section.blocks)]
    assert any(isinstance(block, Figure) for block in unchosen(section.blocks))


def test_the_figure_of_growth_has_the_levels_of_each_profile():
    """
    A line a stack, a mark a profile; the largest slope first.
    """
    diagnosis = diagnosed(SPIKY)

    drawing = plot_growth(diagnosis.facts.profiles.heap_series, diagnosis.growth)

    lines = marks.lines(drawing.chart.panels[0])[:4]
    assert ["main.newAuditRecord", "main.collectBatch", "io.ReadAll", "main.warm"] == [
        line.label for line in lines
    ]
    levels = diagnosis.facts.profiles.heap_series.values.loc[diagnosis.growth["stack"].iloc[0]]
    assert list(levels) == list(lines[0].y)
    assert "main.newAuditRecord: ramp, 0 B at first, 32.5 MiB at last" in drawing.description


def test_a_name_that_looks_like_a_formula_or_a_tag_is_drawn_as_it_is():
    """
    Nothing in it means anything to who draws it, or to the page.
    """
    names = ("main.$\\frac{<script$", "main.root")
    series = series_of(
        {
            str(second): taken(second, heap(seen(10 + 10 * second, 4096), names=names))
            for second in range(6)
        }
    )

    svg = plot_growth(series, growth(series)).svg()

    assert "<script" not in svg
    assert "main.$\\frac{&lt;script$" in svg


def test_the_flame_graph_of_rss_stands_before_that_of_the_heap():
    diagnosis = diagnosed(HEALTHY)
    moment = diagnosis.sites_first

    section = allocations_section(diagnosis)

    drawn = [block for block in unchosen(section.blocks) if isinstance(block, Figure)]
    trees = [tree for figure in drawn if (tree := figure.numbers().get("tree")) is not None]
    at = next(place for place, tree in enumerate(trees) if tree.sample_type == "rss")
    assert "inuse_space" == trees[at + 1].sample_type
    frames = trees[at].frames
    assert ["all", "RSS"] == frames["name"].head(2).tolist()
    assert diagnosis.by_moment[moment].rss_bytes == frames["value"].iloc[1]


def test_without_rss_there_is_none():
    profile = HEALTHY / "2-steady" / "heap.pb.gz"

    section = allocations_section(gomem.diagnose(profile))

    drawn = [block for block in unchosen(section.blocks) if isinstance(block, Figure)]
    assert ["inuse_space"] == [figure.numbers()["tree"].sample_type for figure in drawn]


def test_the_rows_of_a_sites_table_add_up_to_its_total():
    """
    9 KB of the samples have no stack: no function has them, but the total does.
    """
    sites = top_sites(heap(bucket(9, 9000), stack(), period_type=False), "inuse_space")

    shown = _sites_table(sites, Text("1"), None)

    (rest,) = shown.total
    shares = [cells[shown.columns.index("of total")].text for cells in (*shown.rows, rest)]
    assert "without a stack" == rest[0].text
    assert ["50.0 %", "50.0 %"] == shares
