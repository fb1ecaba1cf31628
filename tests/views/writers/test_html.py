"""The HTML report: one file, nothing loaded, everything from the capture escaped."""

import gzip
import json
import re
from base64 import b64encode
from hashlib import sha256
from html import escape
from html.parser import HTMLParser

import pytest

from gomem.units import format_bytes
from gomem.views.document import Bar, Bars, Document, Lead, Piece, Verdict
from gomem.views.report.report import report_document
from gomem.views.writers.html import write_html
from gomem.views.writers.scripts import flame_script, page_script
from tests.builders import (
    CAPTURES,
    FIXTURES,
    as_html,
    diagnosed,
    html_report,
    memstats_json,
    smaps_entry,
)
from tests.pprof_messages import INUSE_SPACE, function, location, sample, strings
from tests.views.ledgers import HEALTHY, SHRUNK, diagnosis_of, lazy_free_bytes

VOID = {"meta", "wbr", "br", "link", "img", "input", "hr"}
REFERENCES = (
    "https://github.com/golang/go/issues/", "https://go.dev/doc/", "https://pkg.go.dev/",
    "https://man7.org/linux/man-pages/", "https://docs.kernel.org/admin-guide/",
)  # fmt: skip
LOADS = {"src", "srcset", "data", "poster", "background", "action", "formaction", "manifest"}
EVIL = "main.</td><script"  # pprof strips what looks like template arguments, and leaves this


def scripts_of(text):
    """What stands in a page to be run."""
    return re.findall(r"<script[^>]*>(.*?)</script", text, re.DOTALL | re.IGNORECASE)


class Page(HTMLParser):
    """What is in a page, and whether every element that was opened was closed in its place."""

    def __init__(self, text):
        super().__init__()
        self.open, self.wrong = [], []
        self.tags, self.attributes, self.ids, self.headings, self.words = [], [], [], [], []
        self.feed(text)
        self.close()
        self.wrong += self.open

    def handle_starttag(self, tag, attrs):
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        self.ids += [value for name, value in attrs if name == "id"]
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)

    def handle_data(self, data):
        self.words.append(data)


@pytest.fixture(scope="module")
def shrunk():
    return html_report(SHRUNK)


@pytest.fixture(scope="module")
def page(shrunk):
    return Page(shrunk)


@pytest.mark.at_most(3)
@pytest.mark.parametrize("capture", CAPTURES, ids=lambda path: path.name)
def test_every_element_is_closed_and_every_id_is_unique(capture):
    page = Page(html_report(capture))

    assert [] == page.wrong
    assert len(page.ids) == len(set(page.ids))


def test_nothing_is_loaded_from_anywhere(page, shrunk):
    """
    Only links that the reader follows lead out, and only to Go's pages, the kernel's and man's.
    """
    assert [] == [one for one in page.attributes if one[1] in LOADS]
    hrefs = {(tag, value) for tag, name, value in page.attributes if name.endswith("href")}
    outside = {(tag, value) for tag, value in hrefs if not value.startswith("#")}
    assert outside
    assert all(tag == "a" and value.startswith(REFERENCES) for tag, value in outside)
    assert not re.search(r"@import|url\((?!#)", shrunk)
    assert not {"iframe", "object", "embed", "link", "img"} & set(page.tags)


def allowed(*scripts):
    """The policy of a page on which only these may run."""
    digests = [b64encode(sha256(one.encode()).digest()).decode() for one in scripts]
    sources = " ".join(f"'sha256-{digest}'" for digest in digests)
    own = f"style-src 'unsafe-inline'; script-src {sources}"
    return f"default-src 'none'; {own}; base-uri 'none'; form-action 'none'"


def policies_of(page):
    return [value for tag, name, value in page.attributes if value.startswith("default-src")]


def test_only_our_two_scripts_stand_in_the_page_and_it_allows_no_other(page, shrunk):
    """
    The policy has the digests of what stands between the tags; nothing may be loaded at all.
    """
    assert [page_script(), flame_script()] == scripts_of(shrunk)
    assert [allowed(page_script(), flame_script())] == policies_of(page)


def test_without_a_flame_graph_its_script_is_not_there_and_may_not_run(tmp_path):
    text = as_html(diagnosis_of(tmp_path, m_json=memstats_json(HeapAlloc=5)))

    assert [page_script()] == scripts_of(text)
    assert [allowed(page_script())] == policies_of(Page(text))


def test_the_same_capture_gives_the_same_bytes(shrunk):
    assert shrunk == as_html(diagnosed(SHRUNK))


def test_the_verdict_comes_first(page):
    text = " ".join(" ".join(page.words).split())
    said = report_document(diagnosed(SHRUNK)).verdict

    sentence, fact = " ".join(said.sentence.split()), "Go release"
    places = [text.index(words) for words in ("▲ warning · certain", sentence, "Next", fact)]
    assert sorted(places) == places
    assert places[-1] < text.index("Findings")
    assert text.count(sentence) == 1


def test_headings_are_in_order(page):
    """
    No level is skipped on the way down.
    """
    steps = [lower - upper for upper, lower in zip(page.headings, page.headings[1:], strict=False)]

    assert 1 == page.headings[0]
    assert max(steps) <= 1


def test_every_table_has_a_caption_and_every_heading_a_scope(page):
    scopes = [value for tag, name, value in page.attributes if (tag, name) == ("th", "scope")]

    assert page.tags.count("table") == page.tags.count("caption")
    assert page.tags.count("th") == len(scopes)
    assert {"row", "col"} == set(scopes)


def test_a_region_that_scrolls_has_a_name_and_takes_the_focus(shrunk):
    """
    So that it can be scrolled with keys.
    """
    for tag in re.findall(r'<div class="scroll"[^>]*>', shrunk):
        assert 'tabindex="0"' in tag
        assert 'aria-label="' in tag


def test_every_moment_has_its_waterfall_and_its_table(shrunk):
    for moment in ("1-filled", "2-shrunk", "3-collected", "4-freed"):
        assert f"RSS by part at {moment}</title>" in shrunk
        assert f"<caption>RSS by part at {moment}</caption>" in shrunk


def panels_of(text):
    """Each panel: the places for which it is shown, whether it is hidden, its moment."""
    found = re.findall(
        r'<div data-of="([\d ]+)"( data-first| hidden)>\n<h3 class="of">([^<:]+)', text
    )
    return [(places, how.strip(), name) for places, how, name in found]


def test_the_moment_of_the_first_finding_is_shown_first(shrunk):
    """
    Until its reader moves the slider; then the same moment everywhere.
    """
    panels = panels_of(shrunk)

    hidden = [("1", "hidden", "1-filled"), ("2", "hidden", "2-shrunk")]
    hidden.append(("3", "hidden", "3-collected"))
    last = ("4", "data-first", "4-freed")
    assert {*hidden, last} == set(panels)
    assert [*hidden, last] == panels[:4]


def test_a_slider_chooses_between_the_moments_and_what_was_chosen_for_each_section(page):
    """
    Its first place is the report's own choice, and the others are the moments, in order.
    """
    (names,) = [value for tag, name, value in page.attributes if name == "data-names"]

    assert ["1-filled", "2-shrunk", "3-collected", "4-freed"] == json.loads(names)
    of_inputs = [(name, value) for tag, name, value in page.attributes if tag == "input"]
    assert {("type", "range"), ("min", "0"), ("max", "4"), ("value", "0")} <= {*of_inputs}
    steps = [value for _, name, value in page.attributes if name == "data-step"]
    assert ["-1", "1"] == steps
    assert 1 == page.tags.count("output")  # which says its name


def test_without_a_script_every_panel_is_readable_and_nothing_is_there_to_choose(shrunk):
    """
    A panel is hidden by an attribute that a style for browsers without scripts overrules.
    """
    (style,) = re.findall(r"<noscript><style>(.*)</style></noscript>", shrunk)

    assert "[data-of][hidden] { display: block; }" in style
    assert ".tools .when { display: none; }" in style
    assert shrunk.index("<noscript>") > shrunk.index("</style>")  # so that it wins
    assert '.querySelectorAll("[data-of]")' in page_script()


def test_a_page_of_one_moment_has_no_slider_and_hides_nothing(tmp_path):
    text = as_html(diagnosis_of(tmp_path, m_json=memstats_json(HeapAlloc=5)))

    assert "<noscript>" not in text
    assert 'type="range"' not in text
    assert [] == panels_of(text)


def test_a_command_stands_apart_and_is_whole():
    document = report_document(diagnosed(FIXTURES / "captures/zeroing-go1.24.6"))
    commands = [step.text for step in document.verdict.steps if step.is_command]

    text = write_html(document)

    assert commands
    for command in commands:
        assert f'<pre class="command"><code>{escape(command, quote=False)}</code></pre>' in text


def test_what_rss_consists_of_is_in_words_only_where_no_bar_shows_it():
    verdict = Verdict("info", "note", "It is full.", where="RSS is 5 MiB: 5 MiB Go heap.")
    bars = Bars("RSS by owner", (Bar("1", "5 MiB", (Piece(1.0, "red"),)),))
    lead = Lead("Also full", "info", "note", "full", "", (), "findings")

    with_bars, with_leads, bare = (
        write_html(Document("report", "api", (), verdict, (), opening=opening))
        for opening in ((bars, lead), (lead,), ())
    )

    assert verdict.where not in with_bars
    assert verdict.where in with_leads
    assert verdict.where in bare


def test_rounded_numbers_have_their_digits_behind_them(shrunk):
    size = lazy_free_bytes()
    digits = f"{size:,}".replace(",", "\u202f")

    assert f'<span title="{digits} B">{format_bytes(size)}</span>' in shrunk


def test_a_healthy_capture_says_no_warning_and_what_was_looked_for():
    text = html_report(HEALTHY)

    assert '<p class="sentence">RSS is 60\u00a0MiB at 3-later: 26\u00a0MiB live heap' in text
    assert ">healthy<" in text
    assert 'class="tone warning"' not in text
    assert "<code>idle-heap-kept</code>" in text


def test_inputs_are_there_with_their_digests(shrunk):
    for digest in diagnosed(SHRUNK).capture.artefacts["sha256"]:
        assert digest in shrunk


def test_names_from_the_capture_cannot_become_markup(tmp_path):
    """
    Not the names of folders and files, not those of functions, not text that could not be read.
    """
    heap = INUSE_SPACE + sample(1, value=8) + location(1, 1) + function(1, 3)
    heap += strings("", "inuse_space", "bytes", EVIL, "", "<i>.go")
    folder = tmp_path / "<b>capture"
    for moment in ("<i>one", "<i>two"):
        (folder / moment).mkdir(parents=True)
        (folder / moment / "m.json").write_bytes(memstats_json(HeapAlloc=8, HeapInuse=8))
        (folder / moment / "<u>memstats.json").write_text('{"HeapAlloc": <s>of nothing</s>')
        (folder / moment / "heap.pb").write_bytes(heap)

    text = as_html(diagnosis_of(folder))

    page = Page(text)
    assert [] == page.wrong
    assert not {"i", "u", "s"} & set(page.tags)
    assert "<b>capture" not in text
    assert [page_script(), flame_script()] == scripts_of(text)
    for name in ("&lt;b&gt;capture", "&lt;i&gt;one", "&lt;u&gt;memstats", "&lt;s&gt;of nothing"):
        assert name in text
    assert "&gt;&lt;script</code>" in text


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        pytest.param(
            "m_json",
            memstats_json(HeapAlloc=5, HeapInuse=5),
            "Go retains 5\u00a0B: 5\u00a0B Go objects and garbage",
            id="memstats",
        ),
        pytest.param(
            "smaps",
            smaps_entry(0xC000000000, 0xC004000000, rss_kib=64).encode(),
            "RSS is 64\u00a0KiB",
            id="smaps",
        ),
        pytest.param(
            "gctrace_log",
            b"gc 1 @0.013s 1%: 0.018+1.1+0.012 ms clock, 0.036+0.2/0.9/0.1+0.024 ms cpu, "
            b"4->4->2 MB, 4 MB goal, 0 MB stacks, 0 MB globals, 2 P\n",
            "1\u00a0GC: ",
            id="gctrace",
        ),
    ],
)
def test_a_capture_of_one_file_gives_a_whole_page(tmp_path, name, data, says):
    text = as_html(diagnosis_of(tmp_path, **{name: data}))

    assert [] == Page(text).wrong
    assert says in text


def test_what_could_not_be_read_has_its_place_on_the_page(tmp_path):
    cut = gzip.compress(b"x" * 1000)[:20]
    text = as_html(diagnosis_of(tmp_path, m_json=memstats_json(HeapAlloc=5), heap_pb_gz=cut))

    assert "What could not be read</h2>" in text
    assert "gzip stream ends early" in text
