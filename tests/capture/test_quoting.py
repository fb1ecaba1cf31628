"""A pasted text says the same, however the one who pasted it has quoted it."""

import html

import pytest

import gomem
from gomem.capture.quoting import without_quoting
from gomem.sources.artefact import Source
from tests.builders import FIXTURES

PASTED = FIXTURES / "pasted"
TEXTS = [
    "pprof-tables/top.txt",
    "several/fenced.md",
    "several/quoted.txt",
    "goroutines/go1.27.1-dump.txt",
    "kernel/held.status",
]


def each(prefix):
    return lambda text: "".join(f"{prefix}{line}".rstrip() + "\n" for line in text.splitlines())


WAYS = {
    "quoted": each("> "),
    "quoted without blanks": each(">"),
    "quoted twice": lambda text: each("> ")(each("> ")(text)),
    "in a fence that is quoted": lambda text: each("> ")(f"```\n{text}```\n"),
    "indented": each("    "),
    "a quote of an indented one": lambda text: each("> ")(each("    ")(text)),
    "escaped": html.escape,
    "a quote, escaped": lambda text: html.escape(each("> ")(text)),
    "with carriage returns": lambda text: text.replace("\n", "\r\n"),
    "with blanks at the end": lambda text: text.replace("\n", "   \n"),
}


def said(folder, text):
    folder.mkdir()
    (folder / "ticket.md").write_text(text)
    diagnosis = gomem.diagnose(folder / "ticket.md")
    verdict = diagnosis.verdict
    titles = [str(finding.title) for finding in diagnosis.findings]
    words = (verdict.headline, verdict.second, verdict.next_step, verdict.further)
    return [str(word).replace(str(folder), "") for word in words] + titles


@pytest.mark.at_most(30)
@pytest.mark.parametrize("name", TEXTS)
def test_a_quoted_text_says_what_the_plain_one_says(tmp_path, name):
    text = (PASTED / name).read_text()
    fenced = f"```\n{text}```\n"
    plain = {False: said(tmp_path / "plain", text), True: said(tmp_path / "fenced", fenced)}

    for way, quoted in WAYS.items():
        assert plain["fence" in way] == said(tmp_path / way, quoted(text)), way


@pytest.mark.parametrize("way", sorted(WAYS.keys() - {"in a fence that is quoted"}))
def test_the_text_below_a_quote_is_the_text(way):
    text = "Why is it so much?\n\n```\nVmRSS:\t  500 kB\n```\n\n> and\n> this\n"
    plain = without_quoting(Source("a.md", text.encode(), b""))

    quoted = without_quoting(Source("a.md", WAYS[way](text).encode(), b""))

    assert plain.data == quoted.data


def test_a_quote_between_sentences_is_read(tmp_path):
    text = (PASTED / "pprof-tables/top.txt").read_text()
    around = "This is what I see:\n\n{}\nWhy is it so much?\n"
    plain = said(tmp_path / "plain", around.format(f"```\n{text}```\n"))

    assert plain == said(tmp_path / "quoted", around.format(each("> ")(f"```\n{text}```\n")))


def test_a_prompt_is_no_quote():
    text = b"```\n> debug.memStats()\n{\n  Alloc: 5\n}\n```\n"

    assert text == without_quoting(Source("a.md", text, text)).data


def test_the_stored_bytes_stay():
    text = b"> one\n> two\n"

    found = without_quoting(Source("a.md", text, text))

    assert (b"one\ntwo\n", text) == (found.data, found.stored)
