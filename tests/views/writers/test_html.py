"""The HTML report: one file, nothing loaded, everything from the capture escaped."""

import gzip
import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser

import pytest

from gomem.units import format_bytes
from gomem.views.writers.scripts import flame_script, page_script
from tests.builders import CAPTURES, as_html, diagnosed, html_report, memstats_json, smaps_entry
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
    verdict = "was released and still counts in RSS"

    assert text.index("▲ warning") < text.index(verdict) < text.index("Findings")


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


def test_every_moment_has_its_waterfall_and_its_table(shrunk):
    for moment in ("1-filled", "2-shrunk", "3-collected", "4-freed"):
        assert f"Resident memory, part by part: {moment}</title>" in shrunk
        assert f"<caption>Resident memory by part, {moment}</caption>" in shrunk


def test_the_moment_of_the_first_finding_is_shown_first(shrunk):
    """
    Until its reader chooses another; then the same moment everywhere, by style alone.
    """
    panels = re.findall(r'<div data-of="([\d ]+)"( data-first)?>\n<h3 class="of">([^<:]+)', shrunk)

    known = [("1", "", "1-filled"), ("2", "", "2-shrunk"), ("3", "", "3-collected")]
    last = ("4", " data-first", "4-freed")
    assert {*known, last} == set(panels)
    assert [*known, last] == panels[:4]
    for place in "1234":
        assert f'id="of-{place}"> {panels[int(place) - 1][2]}</label>' in shrunk
        assert f'has(#of-{place}:checked) [data-of]:not([data-of~="{place}"])' in shrunk


def test_rounded_numbers_have_their_digits_behind_them(shrunk):
    size = lazy_free_bytes()
    digits = f"{size:,}".replace(",", "\u202f")

    assert f'<span title="{digits} B">{format_bytes(size)}</span>' in shrunk


def test_a_healthy_capture_says_no_warning_and_what_was_looked_for():
    text = html_report(HEALTHY)

    assert '<p class="sentence">RSS is 60.3\u00a0MiB at 3-later: 26.3\u00a0MiB Go objects' in text
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
            "Go claims 5\u00a0B: 5\u00a0B Go objects, live or garbage",
            id="memstats",
        ),
        pytest.param(
            "smaps",
            smaps_entry(0xC000000000, 0xC004000000, rss_kib=64).encode(),
            "RSS is 64.0\u00a0KiB",
            id="smaps",
        ),
        pytest.param(
            "gctrace_log",
            b"gc 1 @0.013s 1%: 0.018+1.1+0.012 ms clock, 0.036+0.2/0.9/0.1+0.024 ms cpu, "
            b"4->4->2 MB, 4 MB goal, 0 MB stacks, 0 MB globals, 2 P\n",
            "1 collection stopped the world for ",
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
