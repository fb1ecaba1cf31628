"""The flame graph needs no script, says exact numbers, and lets nothing through unescaped."""

import re
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

import gomem
from gomem.analysis.profiles.call_tree import MAX_DEPTH, MAX_FRAMES
from gomem.views.figures.flame_graph import LESS, MAX_NAME, MORE, WIDTH, shortened
from gomem.views.report.shown import FIGURES
from gomem.views.writers.notebook import render_notebook_html
from gomem.views.writers.scripts import flame_script, source_of
from tests.builders import FIXTURES, as_html, diagnosed, html_report
from tests.heap_profiles import bucket, heap, seen, stack

SVG = "{http://www.w3.org/2000/svg}"
SPIKY = FIXTURES / "captures" / "spiky-go1.27.3"
HEALTHY = FIXTURES / "captures" / "healthy-go1.27.3"
NAMES = ("main.leaf", "main.root", "main.other")


@pytest.fixture(scope="module")
def settled():
    return gomem.read_pprof(SPIKY / "settled" / "heap.pb.gz")


def drawn(graph):
    """Of each frame: its title's lines and its rectangles."""
    root = ET.fromstring(graph.svg())  # noqa: S314 - our own
    return {
        group.find(f"{SVG}title").text.split("\n")[0]: (
            group.find(f"{SVG}title").text.split("\n")[1:],
            group.findall(f"{SVG}rect"),
        )
        for group in root.iter(f"{SVG}g")
    }


def test_every_frame_says_its_exact_numbers(settled):
    """
    The sampled bytes to the last digit, as in the profile; the share; the interval.
    """
    flat = settled.top("inuse_space").set_index("function").loc["io.ReadAll", "flat"]

    lines, _ = drawn(gomem.flame(settled))["io.ReadAll"]

    assert f"{flat:,}".replace(",", "\u202f") + " B" in lines[0]
    assert "(72.4 %)" in lines[0]
    assert "95 % interval: 148 MiB to 159 MiB" == lines[1]


def test_frames_are_as_wide_as_what_they_have(settled):
    total = settled.total("inuse_space")
    top = settled.top("inuse_space").set_index("function")

    _, (rect,) = drawn(gomem.flame(settled))["main.unpack"]

    share = top.loc["main.unpack", "cum"] / total
    assert pytest.approx(share * WIDTH, abs=1) == float(rect.get("width"))


def test_calls_hang_below_their_callers_or_stand_above(settled):
    def top(graph, name):
        return float(drawn(graph)[name][1][0].get("y"))

    icicle, upwards = gomem.flame(settled), gomem.flame(settled, upwards=True)

    assert top(icicle, "all") < top(icicle, "main.unpack") < top(icicle, "io.ReadAll")
    assert top(upwards, "all") > top(upwards, "main.unpack") > top(upwards, "io.ReadAll")


def test_the_svg_has_no_script_and_loads_nothing(settled):
    svg = gomem.flame(settled).svg()

    assert "<script" not in svg
    assert set() == set(re.findall(r'(?:href|src)="[^#"]', svg))
    assert {"http://www.w3.org/2000/svg"} == set(re.findall(r"https?://[^\"<]*", svg))


def test_orange_is_more_blue_is_less_and_noise_is_hatched():
    """
    100 sightings gone, 100 new, and 10 where there were 9: that may be chance.
    """
    names = ("main.gone", "main.root", "main.new", "main.same")
    before = heap(seen(100, 64), seen(9, 64, leaf=4), names=names)
    after = heap(seen(100, 64, leaf=3), seen(10, 64, leaf=4), names=names)

    frames = drawn(gomem.flame(after, before, "inuse_space"))

    fills = {name: [rect.get("fill") for rect in rects] for name, (_, rects) in frames.items()}
    assert [LESS[-1]] == fills["main.gone"]
    assert [MORE[-1]] == fills["main.new"]
    assert [MORE[1], "url(#flame-noise)"] == fills["main.same"]
    assert any(line.endswith("; within noise") for line in frames["main.same"][0])


def test_names_from_the_profile_are_escaped():
    name = "main.\"&'<script"
    graph = gomem.flame(heap(seen(9, 64), names=(name, "main.root")))

    assert "<script" not in graph.svg()
    assert name in drawn(graph)


def test_two_graphs_on_one_page_share_no_id(settled):
    ids = [
        set(re.findall(r' id="([^"]+)"', gomem.flame(settled, settled, name=name).svg()))
        for name in ("one", "two")
    ]

    assert set() == ids[0] & ids[1]


def test_a_name_that_is_no_id_is_refused(settled):
    with pytest.raises(ValueError, match="not an id"):
        gomem.flame(settled, name="1 2")


@pytest.mark.parametrize(
    ("name", "width", "label"),
    [
        ("main.handle", 200, "main.handle"),
        ("example.com/a/b/pkg.(*T).Method", 200, "pkg.(*T).Method"),
        ("example.com/a/pkg.Map[example.com/b/c.Key]", 300, "pkg.Map[example.com/b/c.Key]"),
        ("main.handle", 40, "main…"),
        ("main.handle", 10, ""),
    ],
)
def test_as_much_of_a_name_as_fits(name, width, label):
    assert label == shortened(name, width)


def test_it_survives_nbconvert(settled):
    """
    In a page made of a notebook stand all its titles and the script. nbconvert writes attributes
    anew, in lower case, which browsers read as they were.
    """
    import nbformat  # with what it imports, two seconds
    from nbconvert import HTMLExporter

    graph = gomem.flame(settled)
    output = nbformat.v4.new_output("display_data", {"text/html": graph._repr_html_()})
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("", outputs=[output])])

    page, _ = HTMLExporter().from_notebook_node(notebook)
    own = render_notebook_html(nbformat.writes(notebook), title="a postmortem")

    titles = re.findall(r"<title>[^<]+</title><rect", graph.svg())
    assert titles == re.findall(r"<title>[^<]+</title><rect", page)
    assert flame_script() in page
    assert titles == re.findall(r"<title>[^<]+</title><rect", own)
    assert flame_script() in own
    assert f"script-src {source_of(flame_script())}" in own


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        pytest.param("main.a\x00\x1b[31m\nb", r"main.a\x00\x1b[31m\nb", id="control characters"),
        pytest.param("main.\u202eevil", r"main.\u202eevil", id="from right to left"),
        pytest.param("main." + "x" * 100_000, "main." + "x" * (MAX_NAME - 6) + "…", id="endless"),
    ],
)
def test_a_name_is_one_line_that_can_be_shown(name, shown):
    graph = gomem.flame(heap(seen(9, 64), names=(name, "main.root")))

    assert shown in drawn(graph)
    assert len(graph.svg()) < 20_000


def test_endless_stacks_and_countless_frames_are_bounded():
    """
    A stack of 100 000 calls, and 10 000 ways of one call each: what is left out is counted in the
    last frame that is drawn.
    """
    deep = gomem.flame(heap(stack(*[1] * 100_000)))
    ways = [f"main.f{number}" for number in range(200)]
    pairs = [bucket(1, 64, leaf=1 + n % 100, root=101 + n // 100) for n in range(10_000)]
    wide = gomem.flame(heap(*pairs, names=ways), least_width=0.0)

    assert MAX_DEPTH + 1 == len(deep.tree.frames)
    assert 9000 == deep.tree.frames["hidden"].iloc[-1]
    assert 100 < len(wide.tree.frames) <= MAX_FRAMES
    whole = wide.tree.frames
    assert whole["value"].iloc[0] == (whole["own"] + whole["hidden"]).sum()


def test_an_empty_profile_is_one_frame_without_a_width():
    graph = gomem.flame(heap())

    assert ["all"] == list(drawn(graph))
    assert 'data-w="0.000000"' in graph.svg()


def test_the_report_has_it_under_who_allocates():
    page = html_report(SPIKY)

    section = page[page.index('id="allocations" class="section"') :].partition("<summary>")[2]
    section = section.partition('class="section"')[0]
    first = section.partition("data-first")[2].partition("data-of")[0]
    drawn = r'class="figure flame".*?"([\w-]+)-title'
    assert ["flame-rss", "flame", "flame-allocated"] == re.findall(drawn, first)
    others = {name for name in re.findall(drawn, section) if name.startswith("flame-")}
    others -= {"flame-rss"}
    assert {"flame-1", "flame-5", "flame-20"} <= others
    assert len(others) <= FIGURES


def test_a_redacted_report_has_it_too():
    """
    Moments have other names there; functions keep theirs.
    """
    assert 'class="figure flame"' in as_html(diagnosed(HEALTHY), redact=True)


def test_against_a_baseline_the_report_has_the_change_too():
    before, after = (
        FIXTURES / "captures" / f"alloc-pressure-{side}-go1.27.3" for side in ("before", "after")
    )

    page = as_html(replace(diagnosed(after), baseline=diagnosed(before)))

    assert 'id="flame-change-noise"' in page
    assert 'id="flame-allocated-change-noise"' in page
